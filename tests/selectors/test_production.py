"""What other tools need of a fitted selector: a plain step of scikit-learn, and a log."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.utils.validation import check_is_fitted

from hocmim import JMI, FisherScore, RobustHOCMIM, SelectorCV, StabilitySelector


@pytest.fixture(scope="module")
def table():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    "selector",
    [
        RobustHOCMIM(5),
        JMI(4, feature_groups={"means": [0, 1, 2]}),
        FisherScore(3),
        SelectorCV([JMI(5)], cv=2),
        StabilitySelector(JMI(5), n_resamples=3),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_step_of_scikit_learn_does_what_transform_does(table, selector):
    X, y = table
    selector.fit(X, y)
    step = selector.to_sklearn()
    assert type(step).__module__.startswith("sklearn.")
    check_is_fitted(step)
    np.testing.assert_array_equal(step.transform(X), selector.transform(X))
    shuffled = X[X.columns[::-1]]  # by name
    np.testing.assert_array_equal(step.transform(shuffled), selector.transform(X))
    assert step.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    frame = step.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(frame, X[selector.get_feature_names_out()])


def test_a_step_for_arrays(table):
    X, y = table[0].to_numpy(), table[1]
    selector = JMI(3).fit(X, y)
    step = selector.to_sklearn()
    np.testing.assert_array_equal(step.transform(X), selector.transform(X))
    with pytest.raises(ValueError, match="30 features"):
        step.transform(X[:, :20])


def test_the_logger_gets_what_verbose_prints(table, caplog, capsys):
    JMI(2).fit(*table)
    assert not caplog.records
    with caplog.at_level(logging.INFO, logger="hocmim"):
        JMI(2).fit(*table)
    assert "1/2  worst perimeter" in caplog.text
    assert capsys.readouterr().err == ""
    JMI(2, verbose=1).fit(*table)
    assert "1/2  worst perimeter" in capsys.readouterr().err
