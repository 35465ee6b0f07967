"""Parts of the rows: those of a split or of a resample, and a selector fitted on them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hocmim.data.row_groups import RowGroups
from hocmim.data.table import take_rows
from hocmim.errors import InvalidParameterError
from hocmim.parameters import check_value, whole
from hocmim.search.progress import ProgressCallback
from hocmim.search.stopping import StopTest
from hocmim.selectors.base import Selector
from hocmim.text import value_text

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def make_folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    groups: RowGroups | None = None,
    *,
    has_classes: bool,
    seed: int | None = 0,
) -> list[Fold]:
    """Return training and test rows of each split.

    ``cv`` is a number of folds, which are shuffled, stratified by class, and keep groups together;
    or a splitter of scikit-learn, which may read X; or what its ``split`` returns.
    """
    splitter = _make_splitter(cv, groups is not None, has_classes, seed)
    try:
        with warnings.catch_warnings():  # about a class with fewer rows than folds
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            found = [(_rows(a), _rows(b)) for a, b in splitter.split(X, y, groups)]
    except (ValueError, TypeError, IndexError) as error:
        is_number = isinstance(cv, Integral)
        problem = "cv is too large for this table" if is_number else "cv does not fit"
        raise InvalidParameterError(f"{problem}: {str(error).rstrip('.')}.") from error
    _check_folds(found, len(y), groups)
    return found


def _make_splitter(cv: Any, has_groups: bool, has_classes: bool, seed: int | None) -> Any:
    model_selection = import_module("sklearn.model_selection")
    if isinstance(cv, bool) or not (isinstance(cv, Integral) or _is_splitter(cv)):
        raise InvalidParameterError(
            f"cv must be a number of folds, a splitter such as GroupKFold(5), or a list of "
            f"(training rows, test rows). Got {value_text(cv)} instead."
        )
    if not isinstance(cv, Integral):
        return model_selection.check_cv(cv)
    check_value("cv", cv, [whole(2)])
    name = ("Stratified" if has_classes else "") + ("GroupKFold" if has_groups else "KFold")
    return getattr(model_selection, name)(int(cv), shuffle=True, random_state=seed)


def _is_splitter(cv: Any) -> bool:
    if isinstance(cv, (str, bytes, Mapping, np.ndarray, type)):
        return False
    return hasattr(cv, "split") or hasattr(cv, "__iter__")


def _rows(part: Any) -> NDArray[np.int64]:
    """Return the indices of rows; a mask is allowed too."""
    rows = np.asarray(part)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)


def _check_folds(folds: Sequence[Fold], n_rows: int, groups: RowGroups | None) -> None:
    if len(folds) < 2:
        raise InvalidParameterError(f"cv must give at least two splits. It gives {len(folds)}.")
    for number, (train, test) in enumerate(folds, 1):
        if len(train) < 2 or len(test) < 1:
            raise InvalidParameterError(
                f"Split {number} of cv has {len(train)} training rows and {len(test)} test "
                "rows. It needs at least two training rows and one test row."
            )
        if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n_rows:
            raise InvalidParameterError(
                f"Split {number} of cv has a row that X does not have: X has {n_rows} rows."
            )
        shared = np.intersect1d(train, test)
        if len(shared):
            raise InvalidParameterError(
                f"Split {number} of cv has row {shared[0]} on both sides. Training and test "
                "rows must differ."
            )
        if groups is not None and np.isin(groups[test], groups[train]).any():
            raise InvalidParameterError(
                f"Split {number} of cv has rows of one group on both sides. Pass a number of "
                "folds, or a splitter that keeps groups together, such as GroupKFold(5)."
            )


def fit_on_rows(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    rows: NDArray[np.int64],
    identifiers: NDArray[np.int64] | None,
    *,
    groups: RowGroups | None = None,
    are_counts: bool = False,
    warns: bool = False,
    progress: ProgressCallback | None = None,
) -> Any:
    """Return a copy of a selector, fitted on some rows, of which some may be repeated.

    A selector that takes weights gets each row once: it finds the same scores, and its test does
    not take the copies for independent rows, unless they are counts. Another one gets the copies.
    ``groups`` is for a selector with a test. ``identifiers`` are those of all rows: some rows do
    not show them.
    """
    made, given = clone(selector), dict[str, Any]()
    accepted = signature(made.fit).parameters
    if isinstance(made, Selector) and "sample_weight" in accepted:
        once, times = np.unique(rows, return_counts=True)
        if len(once) < len(rows):
            rows, given["sample_weight"] = once, times if are_counts else times.astype(np.float64)
    is_tested = isinstance(getattr(made, "n_features_to_select", None), (str, StopTest))
    if groups is not None and is_tested and "groups" in accepted:
        given["groups"] = groups[rows]
    if progress is not None and "progress" in accepted:
        given["progress"] = progress
    part = take_rows(X, rows)
    if isinstance(made, Selector):
        return made.fit_part(part, y[rows], identifiers, warns=warns, **given)
    return made.fit(part, y[rows], **given)


def draw_rows(
    strata: NDArray[np.int64], fraction: float, with_replacement: bool, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw a fraction of the rows, in order; stratified, with at least one row of each stratum."""
    parts = []
    for stratum in range(strata.max() + 1):
        rows = np.flatnonzero(strata == stratum)
        size = max(1, round(fraction * len(rows)))
        parts.append(rng.choice(rows, size, replace=with_replacement))
    return np.sort(np.concatenate(parts))


def draw_groups(
    groups: RowGroups,
    classes: NDArray[np.int64],
    fraction: float,
    with_replacement: bool,
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """Draw a fraction of the groups with all their rows, stratified by their most frequent class.

    A group that is drawn twice has its rows twice.
    """
    counts = np.zeros((groups.max() + 1, classes.max() + 1), np.int64)
    np.add.at(counts, (groups, classes), 1)
    present = np.flatnonzero(counts.sum(axis=1))
    majority = np.unique(counts[present].argmax(axis=1), return_inverse=True)[1]
    drawn = present[draw_rows(majority, fraction, with_replacement, rng)]
    times = np.bincount(drawn, minlength=len(counts))
    return np.repeat(np.arange(len(groups)), times[groups])
