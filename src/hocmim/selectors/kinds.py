"""What the target of one or several selectors holds: decided once, on all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hocmim.coding.target import (
    ROWS_PER_CELL,
    Target,
    TargetKind,
    decide_kind,
    warn_about_guess,
)
from hocmim.data.target import as_target
from hocmim.errors import InvalidParameterError

Declared = Target | str | None


def kind_of(selector: Any) -> str:
    """Return the kind of target that a selector declares, or "auto"."""
    return Target.of(selector.get_params(deep=False).get("target")).kind


def with_kind(selector: Any, kind: str) -> Any:
    """Return a copy of a selector that knows the kind of the target, if it declares none."""
    made = clone(selector)
    given = made.get_params(deep=False)
    if "target" in given and kind_of(made) == "auto":
        made.set_params(target=replace(Target.of(given["target"]), kind=kind))
    return made


def common_kind(selectors: Mapping[str, Any], y: NDArray[Any], target: Declared) -> TargetKind:
    """Return the kind of the target: declared, declared by selectors, or found. A guess warns."""
    kind = Target.of(target).kind
    declared = {name: kind_of(selector) for name, selector in selectors.items()}
    kinds = {kind, *declared.values()} - {"auto"}
    if len(kinds) > 1:
        raise InvalidParameterError(
            "The target is declared as classes and as a quantity: target is "
            f"{kind!r}, and the methods have {declared}. Declare one kind."
        )
    found = decide_kind(y, kinds.pop() if kinds else "auto")
    warn_about_guess(found)
    return found


def with_known_kinds(
    selectors: Mapping[str, Any], y: NDArray[Any], target: Declared
) -> tuple[dict[str, Any], list[TargetKind]]:
    """Return selectors that know the kind of the target, and the kind; of each target if several.

    Selectors get the kind of several targets if it is the same for all.
    """
    kinds = [common_kind(selectors, one, target) for one in target_columns(y)]
    names = {kind.name for kind in kinds}
    known = {
        name: with_kind(selector, kinds[0].name) if len(names) == 1 else clone(selector)
        for name, selector in selectors.items()
    }
    return known, kinds


def target_columns(y: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the targets: y itself, or its columns."""
    return [y] if y.ndim == 1 else [as_target(column) for column in y.T]


def strata(y: NDArray[Any], kinds: Sequence[TargetKind]) -> NDArray[np.int64]:
    """Return the stratum of each row, for stratified resampling: its class; 0 for a quantity.

    Of several targets the combination of classes; 0 if they are many.
    """
    found = [
        np.zeros(len(y), np.int64) if kind.is_quantity else np.unique(one, return_inverse=True)[1]
        for one, kind in zip(target_columns(y), kinds, strict=True)
    ]
    if y.ndim == 1:
        return found[0]
    cells = np.unique(np.column_stack(found), axis=0, return_inverse=True)[1].ravel()
    is_rare = ROWS_PER_CELL * (cells.max() + 1) > len(cells)
    return np.zeros(len(y), np.int64) if is_rare else cells
