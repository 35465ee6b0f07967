"""What the target of one or several selectors holds: decided once, on all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hocmim.coding.targets import ROWS_PER_CELL
from hocmim.data.target import (
    TARGET_KINDS,
    TargetKind,
    as_target,
    decide_kind,
    summarize_target,
    warn_about_guess,
)
from hocmim.errors import InvalidParameterError
from hocmim.parameters import OneOf, check_value


def with_target_kind(selector: Any, y: NDArray[Any], kind: str) -> tuple[Any, TargetKind]:
    """Return a selector that knows the kind of the target, and the kind.

    Parameters
    ----------
    selector : estimator
        A copy is returned; its ``target_kind``, if it has one and it is "auto", is set.
    y : ndarray
    kind : {"auto", "classes", "quantity"}
        "auto": the kind the selector declares, or else the one y looks like.
    """
    declared = selector.get_params(deep=False).get("target_kind")
    if kind == "auto" and declared in TARGET_KINDS:
        kind = declared
    found = decide_kind(summarize_target(y), kind)
    return with_kind(selector, found.name), found


def with_kind(selector: Any, kind: str) -> Any:
    """Return a copy of a selector that knows the kind of the target, if it declares none."""
    selector = clone(selector)
    if selector.get_params(deep=False).get("target_kind") == "auto":
        selector.set_params(target_kind=kind)
    return selector


def common_kind(selectors: Mapping[str, Any], y: NDArray[Any], kind: str) -> TargetKind:
    """Return the kind of the target: declared, declared by selectors, or found. A guess warns."""
    check_value("target_kind", kind, OneOf(TARGET_KINDS))
    declared = {
        name: selector.get_params(deep=False).get("target_kind", "auto")
        for name, selector in selectors.items()
    }
    kinds = {kind, *declared.values()} - {"auto"}
    if len(kinds) > 1:
        raise InvalidParameterError(
            "The target is declared as classes and as a quantity: target_kind is "
            f"{kind!r}, and the methods have {declared}. Declare one kind."
        )
    found = decide_kind(summarize_target(y), kinds.pop() if kinds else "auto")
    warn_about_guess(found)
    return found


def with_known_kinds(
    selectors: Mapping[str, Any], y: NDArray[Any], kind: str
) -> tuple[dict[str, Any], list[TargetKind]]:
    """Return selectors that know the kind of the target, and the kind; of each target if several.

    Selectors get the kind of several targets if it is the same for all.
    """
    kinds = [common_kind(selectors, one, kind) for one in each(y)]
    if y.ndim == 1:
        known = {
            name: with_target_kind(selector, y, kinds[0].name)[0]
            for name, selector in selectors.items()
        }
        return known, kinds
    return {name: with_target_kinds(one, y, kind)[0] for name, one in selectors.items()}, kinds


def each(y: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the targets: y itself, or its columns."""
    return [y] if y.ndim == 1 else [as_target(column) for column in y.T]


def strata(y: NDArray[Any], kind: TargetKind) -> NDArray[np.int64]:
    """Return the stratum of each row, for stratified resampling: its class; 0 for a quantity."""
    if kind.is_quantity:
        return np.zeros(len(y), np.int64)
    return np.unique(y, return_inverse=True)[1]


def with_target_kinds(selector: Any, y: NDArray[Any], kind: str) -> tuple[Any, list[TargetKind]]:
    """Return a selector that knows the kind of several targets, if they are of one kind."""
    found = [with_target_kind(selector, column, kind)[1] for column in each(y)]
    is_one = len({one.name for one in found}) == 1
    return with_kind(selector, found[0].name) if is_one else clone(selector), found


def joint_strata(y: NDArray[Any], kinds: TargetKind | Sequence[TargetKind]) -> NDArray[np.int64]:
    """Return the combination of classes of each row; 0 if they are many, or not all classes."""
    if isinstance(kinds, TargetKind):
        if y.ndim == 1:
            return strata(y, kinds)
        kinds = [kinds] * y.shape[1]
    found = [strata(column, kind) for column, kind in zip(each(y), kinds, strict=True)]
    cells = np.unique(np.column_stack(found), axis=0, return_inverse=True)[1].ravel()
    is_rare = ROWS_PER_CELL * (cells.max() + 1) > len(cells)
    return np.zeros(len(y), np.int64) if is_rare else cells
