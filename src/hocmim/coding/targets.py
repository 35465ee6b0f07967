"""Several targets: y with more than one column.

"joint"
    The targets are one variable, whose levels are the combinations of values that occur. This needs
    at least ``ROWS_PER_CELL`` rows for each combination on average; with fewer, information about
    the combinations is mostly chance, and "mean" is used.
"mean"
    The score of a column is the mean of its scores for each target.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Column
from hocmim.coding.groups import join_columns
from hocmim.coding.target import DEFAULT_OPTIONS, Target, TargetOptions, encode_target
from hocmim.data.target import as_target
from hocmim.errors import InvalidTableError

ROWS_PER_CELL = 5


def encode_targets(
    y: Any, n_rows: int | None = None, options: TargetOptions = DEFAULT_OPTIONS
) -> Target:
    """Return the codes of a target of one column or of several.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_targets)
    n_rows : int, optional
        The length it must have.
    options : TargetOptions
        For every column; ``options.strategy`` for several.
    """
    values = as_target(y, n_rows, several=True)
    if values.ndim == 1:
        return encode_target(values, n_rows, options)
    return join_targets([encode_target(column, None, options) for column in values.T], options)


def join_targets(targets: list[Target], options: TargetOptions) -> Target:
    """Return several targets as one."""
    if options.strategy == "joint":
        joint = _join([target.column for target in targets])
        if joint is not None:
            labels = _joint_labels(targets, joint)
            return Target(joint, labels, None, targets=tuple(targets), strategy="joint")
    first = targets[0]
    return Target(first.column, first.classes, first.cuts, "", None, tuple(targets), "mean")


def _join(columns: list[Column]) -> Column | None:
    """Return the combinations of values as one column; None if they are too many."""
    try:
        joint = join_columns(columns, "y")
    except InvalidTableError:  # more combinations than a column can have levels
        return None
    return joint if ROWS_PER_CELL * joint.arity <= len(joint.codes) else None


def _joint_labels(targets: list[Target], joint: Column) -> NDArray[Any]:
    """Return what each combination is, in words."""
    _, first = np.unique(joint.codes, return_index=True)
    labels = [_labels(target) for target in targets]
    codes = [target.column.codes for target in targets]
    found = np.empty(joint.arity, object)
    for cell, row in enumerate(first.tolist()):
        parts = zip(labels, codes, strict=True)
        found[cell] = ", ".join(names[int(code[row])] for names, code in parts)
    return found


def _labels(target: Target) -> list[str]:
    """Return the classes as text, or the bins."""
    if target.cuts is None:
        assert target.classes is not None
        return [str(value) for value in target.classes.tolist()]
    cuts = [f"{cut:g}" for cut in target.cuts]
    between = [f"{low} to {high}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]}", *between, f"from {cuts[-1]}"]
