"""Targets that are quantities, in the selectors and in what is built on them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsRegressor

from hocmim import CMIM, HOCMIM, MIM, StabilitySelector, compare_methods, make_selector
from hocmim.coding.target import TargetOptions, encode_target
from hocmim.data.target import TARGET_KINDS
from hocmim.errors import HocmimWarning, InvalidParameterError, InvalidTargetError
from hocmim.insight.report.material import collect
from hocmim.selectors.registry import METHODS

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def fitted_without_warning(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HocmimWarning)
        return selector.fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_every_selector_has_the_parameter(method):
    selector = make_selector(method)
    assert selector.get_params()["target_kind"] == "auto"
    selector.set_params(target_kind="number", n_features_to_select=2)
    with pytest.raises(InvalidParameterError, match="target_kind must be one of 'auto'"):
        selector.fit(X, Y)


def test_whole_numbers_become_a_quantity_with_a_warning():
    with pytest.warns(HocmimWarning, match="y has 214 distinct whole numbers, so it is treated as"):
        guessed = HOCMIM(5).fit(X, Y)
    declared = fitted_without_warning(HOCMIM(5, target_kind="quantity"), X, Y)
    fractions = fitted_without_warning(HOCMIM(5), X, Y / 7)
    for selector in (guessed, declared, fractions):
        assert selector.selected_.tolist() == declared.selected_.tolist()
        assert selector.scores_.tobytes() == declared.scores_.tobytes()
        assert selector.target_kind_ == "quantity"
        assert selector.classes_ is None
        assert len(selector.target_cuts_) == 2
    assert X.columns[declared.selected_[:2]].tolist() == ["s5", "bmi"]
    with pytest.warns(HocmimWarning):
        assert len(HOCMIM("auto").fit(X, Y).selected_) > 0
    classes = fitted_without_warning(HOCMIM(5, target_kind="classes"), X, Y)
    assert (classes.target_kind_, len(classes.classes_)) == ("classes", 214)


def test_the_warning_is_at_the_line_that_calls_fit():
    for fit in (
        MIM(1).fit,
        make_selector("Fisher", n_features_to_select=1).fit,
        make_selector("FS-OLS", n_features_to_select=1).fit,
        StabilitySelector(MIM(1), 2).fit,
        lambda X, y: compare_methods(X, y, ["MIM"], 1, n_folds=2, n_resamples=0),
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
    for options in (TargetOptions("quantity", 4), TargetOptions("quantity", 7, "uniform")):
        selector = MIM(
            2,
            discretizer="mdlp",
            target_kind=options.kind,
            target_bins=options.bins,
            target_discretizer=options.discretizer,
        ).fit(X, Y)
        expected = encode_target(Y, options=options)
        np.testing.assert_array_equal(selector.target_cuts_, expected.cuts)
        assert selector.target_options() == options
        assert selector.basis(X, Y).target.cuts is selector.target_cuts_
    with pytest.raises(InvalidParameterError, match="target_discretizer must be one of"):
        MIM(2, target_discretizer="mdlp").fit(X, Y)
    with pytest.raises(InvalidParameterError, match="target_bins must be an integer"):
        MIM(2, target_bins=1).fit(X, Y)


def test_a_quantity_of_few_values_has_a_bin_for_each():
    y = np.tile([1.0, 2.0, 7.0], 50)
    target = encode_target(y, options=TargetOptions("quantity"))
    assert target.cuts.tolist() == [2.0, 7.0]
    assert target.column.codes.tolist() == [0, 1, 2] * 50


@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_files_and_memory_agree(tmp_path, kind):
    frame = X.assign(y=Y)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HocmimWarning)
        by_path = CMIM(4, target_kind=kind).fit(tmp_path / "t.parquet", "y")
        expected = CMIM(4, target_kind=kind).fit(X, Y)
    assert by_path.target_kind_ == expected.target_kind_
    assert by_path.selected_.tolist() == expected.selected_.tolist()
    assert by_path.scores_.tobytes() == expected.scores_.tobytes()


# --- what is built on selectors -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "inner"), [("quantity", "auto"), ("auto", "quantity"), ("auto", "auto")]
)
def test_stability_decides_once_for_all_resamples(own, inner):
    stable = StabilitySelector(MIM(2, target_kind=inner), 5, target_kind=own)
    if own == inner:
        with pytest.warns(HocmimWarning) as caught:
            stable.fit(X, Y)
        assert len(caught) == 1
    else:
        fitted_without_warning(stable, X, Y)
    assert stable.target_kind_ == "quantity"
    expected = StabilitySelector(MIM(2), 5).fit(X, Y / 7)
    np.testing.assert_array_equal(stable.selections_, expected.selections_)
    assert stable.target_options() == TargetOptions("quantity")


@pytest.mark.parametrize(
    ("methods", "kind"),
    [
        (["MIM", "CMIM"], "quantity"),
        ({"MIM": MIM(3, target_kind="quantity"), "CMIM": CMIM(3)}, "auto"),
        (["MIM", "CMIM"], "auto"),
    ],
)
def test_compare_uses_regression_scores(methods, kind):
    options = {"n_folds": 3, "n_resamples": 0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HocmimWarning)
        found = compare_methods(X, Y, methods, 3, target_kind=kind, **options)
    is_guess = kind == "auto" and isinstance(methods, list)
    assert len([w for w in caught if w.category is HocmimWarning]) == is_guess
    expected = compare_methods(X, Y / 7, ["MIM", "CMIM"], 3, **options)
    assert found.measure == expected.measure == "1 − R²"
    for one, other in zip(found.results, expected.results, strict=True):
        assert one.selected == other.selected
        np.testing.assert_allclose(one.errors, other.errors)


def test_compare_as_declared():
    declared = {"a": MIM(2, target_kind="classes"), "b": MIM(2, target_kind="quantity")}
    with pytest.raises(InvalidParameterError, match="declared as classes and as a quantity"):
        compare_methods(X, Y, declared)
    y = np.round(Y / 100) / 2  # fractions
    found = compare_methods(X, y, ["MIM"], 2, n_folds=3, n_resamples=2, target_kind="classes")
    assert found.measure == "error"
    with pytest.raises(InvalidParameterError, match="model must be a classifier"):
        compare_methods(X, y, ["MIM"], 2, target_kind="classes", model=KNeighborsRegressor())


def test_compare_passes_how_the_target_is_cut():
    options = {"target_bins": 2, "target_discretizer": "uniform"}
    found = compare_methods(
        X, Y, ["JMI", "Fisher"], 3, n_folds=2, n_resamples=0, target_kind="quantity", **options
    )
    expected = make_selector("JMI", n_features_to_select=3, target_kind="quantity", **options)
    assert found.results[0].selected == tuple(expected.fit(X, Y).selected_.tolist())
    fisher = make_selector("Fisher", n_features_to_select=3, target_kind="quantity").fit(X, Y)
    assert found.results[1].selected == tuple(fisher.selected_.tolist())


def test_the_report_reads_the_target_as_the_selector_did():
    selector = HOCMIM(3, target_kind="quantity", target_bins=6).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HocmimWarning)
        material = collect(selector, X, Y)
    assert material.evidence.n_classes == 6
    assert material.evidence.basis.target.cuts is not None


def test_words_are_refused_as_a_quantity():
    words = pd.Series(np.where(Y > 100, "high", "low"))
    with pytest.raises(InvalidTargetError, match="y is not numeric"):
        MIM(2, target_kind="quantity").fit(X, words)
