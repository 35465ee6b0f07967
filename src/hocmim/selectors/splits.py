"""Training and test rows of a cross-validation, for any splitter and for groups of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.row_groups import RowGroups
from hocmim.errors import InvalidParameterError
from hocmim.parameters import check_value, whole
from hocmim.search.stopping import StopTest
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
    split_params: Mapping[str, Any] | None = None,
) -> list[Fold]:
    """Return training and test rows of each split.

    Parameters
    ----------
    cv : int, splitter or iterable of (training rows, test rows)
        A number of folds, which are shuffled, stratified by class, and keep groups together; or a
        splitter of scikit-learn, or what its ``split`` returns.
    X : table
        For splitters that read it.
    y : ndarray
        Classes, or a quantity.
    groups : ndarray of int64, optional
        The group of each row.
    has_classes : bool
        Whether y holds classes.
    seed : int or None
        Seed of the shuffled folds.
    split_params : mapping, optional
        What else the splitter gets.

    Raises
    ------
    InvalidParameterError
        If the rows cannot be split so, or if rows of one group are on both sides of a split.
    """
    splitter = make_splitter(cv, groups is not None, has_classes, seed)
    given = dict(split_params or {})
    try:
        with warnings.catch_warnings():  # about a class with fewer rows than folds
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            if groups is not None:
                given["groups"] = groups
            found = [(_rows(a), _rows(b)) for a, b in splitter.split(X, y, **given)]
    except (ValueError, TypeError, IndexError) as error:
        is_number = isinstance(cv, Integral)
        problem = "cv is too large for this table" if is_number else "cv does not fit"
        raise InvalidParameterError(f"{problem}: {str(error).rstrip('.')}.") from error
    _check_folds(found, len(y), groups)
    return found


def make_splitter(cv: Any, has_groups: bool, has_classes: bool, seed: int | None = 0) -> Any:
    """Return the splitter that ``cv`` describes; see ``make_folds``."""
    model_selection = import_module("sklearn.model_selection")

    if isinstance(cv, bool) or not (isinstance(cv, Integral) or _is_splitter(cv)):
        raise InvalidParameterError(
            f"cv must be a number of folds, a splitter such as GroupKFold(5), or a list of "
            f"(training rows, test rows). Got {value_text(cv)} instead."
        )
    if not isinstance(cv, Integral):
        return model_selection.check_cv(cv)
    check_value("cv", cv, [whole(2)])
    if not has_groups:
        kind = model_selection.StratifiedKFold if has_classes else model_selection.KFold
        return kind(int(cv), shuffle=True, random_state=seed)
    if has_classes:
        return model_selection.StratifiedGroupKFold(int(cv), shuffle=True, random_state=seed)
    return model_selection.GroupKFold(int(cv), shuffle=True, random_state=seed)


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


def without_copies(
    selector: Any, rows: NDArray[np.int64], *, are_counts: bool = False
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return rows, some of them repeated, as each row once and the argument ``sample_weight``.

    A selector that takes weights finds the same scores, and its test does not take the copies for
    independent rows, unless they are counts. Another selector gets the rows as they are.
    """
    if "sample_weight" not in signature(selector.fit).parameters:
        return rows, {}
    once, times = np.unique(rows, return_counts=True)
    if len(once) == len(rows):
        return rows, {}
    return once, {"sample_weight": times if are_counts else times.astype(np.float64)}


def groups_for(selector: Any, groups: RowGroups) -> dict[str, RowGroups]:
    """Return the argument ``groups`` for a selector whose ``fit`` takes it and needs it."""
    is_tested = isinstance(getattr(selector, "n_features_to_select", None), (str, StopTest))
    takes_groups = "groups" in signature(selector.fit).parameters
    return {"groups": groups} if is_tested and takes_groups else {}
