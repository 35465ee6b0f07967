"""What ``fit`` takes and leaves: y by name, a fit that Ctrl-C ends."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hocmim import HOCMIM, JMI, FisherScore, RobustHOCMIM, SelectorCV, StabilitySelector, StopTest
from hocmim.errors import InvalidTargetError

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=120)
X = pd.DataFrame(RNG.normal(size=(120, 5)) + Y[:, None] * [0, 1, 0, 2, 0.3], columns=[*"abcde"])
TABLE = X.assign(target=Y)[[*"ab", "target", *"cde"]]
SELECTORS = [
    RobustHOCMIM(3),
    HOCMIM("significant"),
    FisherScore(3),
    StabilitySelector(JMI(2), 4),
    StabilitySelector(JMI(2), cv=3),
    SelectorCV(JMI(), cv=3),
]


@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_the_target_is_a_column_of_the_table(selector, container):
    expected = selector.fit(X, Y)
    found = (expected.selected_.tolist(), expected.scores_.tobytes())
    selector.fit(container(TABLE), "target")
    assert (selector.selected_.tolist(), selector.scores_.tobytes()) == found
    assert selector.feature_names_in_.tolist() == [*"abcde"]
    assert selector.transform(container(TABLE)).shape == (120, selector.n_features_)


def test_weights_and_groups_with_the_target_by_name():
    weight, groups = np.arange(120) % 3, np.arange(120) // 2
    for selector in (RobustHOCMIM(3), StabilitySelector(JMI(2), 4), SelectorCV(JMI(), cv=3)):
        expected = selector.fit(X, Y, sample_weight=weight, groups=groups).scores_.tobytes()
        selector.fit(TABLE, "target", sample_weight=weight, groups=groups)
        assert selector.scores_.tobytes() == expected


def test_a_name_that_no_column_has():
    for selector in SELECTORS:
        with pytest.raises(InvalidTargetError, match=r"no column of this name.*'target'"):
            selector.fit(TABLE, "tarket")


@pytest.mark.parametrize("asked", [4, StopTest(0.9)])
def test_control_c_leaves_what_is_selected_so_far(asked):
    def interrupt(event):
        if event.done == 2:
            raise KeyboardInterrupt

    selector = JMI(asked)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, Y, progress=interrupt)
    whole = JMI(asked).fit(X, Y)
    assert selector.selected_.tolist() == whole.selected_[:2].tolist()
    assert selector.scores_.tobytes() == whole.scores_[:2].tobytes()
    assert selector.transform(X).shape == (120, 2)
    assert selector.explain(int(selector.selected_[0])).rank == 1
    if asked == 4:
        assert selector.extend(4).scores_.tobytes() == whole.scores_.tobytes()
    else:
        assert selector.p_values_.tolist() == whole.p_values_[:2].tolist()


def test_control_c_before_anything_is_selected():
    def interrupt(event):
        raise KeyboardInterrupt

    selector = JMI(3)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, Y, progress=interrupt)
    assert not hasattr(selector, "selected_")
