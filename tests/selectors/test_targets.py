"""Targets that are quantities, in the selectors and in what is built on them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import warned
from hocmim import CMIM, HOCMIM, MIM, Encoder, StabilitySelector, Target, make_selector
from hocmim.coding.target import encode_target
from hocmim.errors import HocmimWarning, InvalidParameterError, InvalidTargetError
from hocmim.insight.basis import basis_of
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.ONE_BIN)

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def fitted_without_warning(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HocmimWarning)
        return selector.fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_every_selector_has_the_parameter(method):
    selector = make_selector(method)
    assert selector.get_params()["target"] is None
    selector.set_params(target="number", n_features_to_select=2)
    with pytest.raises(InvalidParameterError, match=r"target must be .*'quantity'"):
        selector.fit(X, Y)


def test_whole_numbers_become_a_quantity_with_a_warning():
    with pytest.warns(HocmimWarning, match="y has 214 distinct whole numbers, so it is treated as"):
        guessed = HOCMIM(5).fit(X, Y)
    declared = fitted_without_warning(HOCMIM(5, target="quantity"), X, Y)
    fractions = fitted_without_warning(HOCMIM(5), X, Y / 7)
    for selector in (guessed, declared, fractions):
        assert selector.selected_.tolist() == declared.selected_.tolist()
        assert selector.scores_.tobytes() == declared.scores_.tobytes()
        assert selector.target_kind_ == "quantity"
        assert selector.classes_ is None
        assert len(selector.target_cuts_) == 2
    assert X.columns[declared.selected_[:2]].tolist() == ["s5", "bmi"]
    with pytest.warns(HocmimWarning):
        assert len(HOCMIM("significant").fit(X, Y).selected_) > 0
    classes = fitted_without_warning(HOCMIM(5, target="classes"), X, Y)
    assert (classes.target_kind_, len(classes.classes_)) == ("classes", 214)


def test_the_warning_is_at_the_line_that_calls_fit():
    for fit in (
        MIM(1).fit,
        make_selector("Fisher", n_features_to_select=1).fit,
        make_selector("FS-OLS", n_features_to_select=1).fit,
        StabilitySelector(MIM(1), 2).fit,
    ):
        with pytest.warns(HocmimWarning) as caught:
            fit(X, Y)
        assert [warning.filename for warning in caught] == [__file__]


def test_a_second_fit_decides_again():
    selector = MIM(1)
    with pytest.warns(HocmimWarning):
        selector.fit(X, Y)
    assert selector.target_kind_ == "quantity"
    fitted_without_warning(selector, X, Y > 100)
    assert selector.target_kind_ == "classes"


def test_the_target_has_bins_of_its_own():
    for target in (
        Target("quantity", bins=4),
        Target("quantity", bins=7, discretizer="uniform"),
    ):
        selector = MIM(2, encoder=Encoder(discretizer="mdlp"), target=target).fit(X, Y)
        expected = encode_target(Y, target=target)
        np.testing.assert_array_equal(selector.target_cuts_, expected.cuts)
        assert basis_of(selector, X, Y).target.cuts is selector.target_cuts_
    for wrong in ({"discretizer": "mdlp"}, {"bins": 1}, {"kind": "number"}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            Target(**wrong)


def test_a_quantity_of_few_values_has_a_bin_for_each():
    y = np.tile([1.0, 2.0, 7.0], 50)
    target = encode_target(y, target=Target("quantity"))
    assert target.cuts.tolist() == [2.0, 7.0]
    assert target.column.codes.tolist() == [0, 1, 2] * 50


@pytest.mark.parametrize("kind", [None, "classes", "quantity"])
def test_files_and_memory_agree(tmp_path, kind):
    frame = X.assign(y=Y)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HocmimWarning)
        by_path = CMIM(4, target=kind).fit(tmp_path / "t.parquet", "y")
        expected = CMIM(4, target=kind).fit(X, Y)
    assert by_path.target_kind_ == expected.target_kind_
    assert by_path.selected_.tolist() == expected.selected_.tolist()
    assert by_path.scores_.tobytes() == expected.scores_.tobytes()


# --- what is built on selectors -------------------------------------------------------------------


@pytest.mark.parametrize(("own", "inner"), [("quantity", None), (None, "quantity"), (None, None)])
def test_stability_decides_once_for_all_resamples(own, inner):
    stable = StabilitySelector(MIM(2, target=inner), 5, target=own)
    if own == inner:
        with pytest.warns(HocmimWarning) as caught:
            stable.fit(X, Y)
        assert len(caught) == 1
    else:
        fitted_without_warning(stable, X, Y)
    assert stable.target_kind_ == "quantity"
    expected = StabilitySelector(MIM(2), 5).fit(X, Y / 7)
    np.testing.assert_array_equal(stable.selections_, expected.selections_)


def test_words_are_refused_as_a_quantity():
    words = pd.Series(np.where(Y > 100, "high", "low"))
    with pytest.raises(InvalidTargetError, match="y is not numeric"):
        MIM(2, target="quantity").fit(X, words)
