"""Entropy, mutual information and conditional mutual information of columns and sets of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS, Codes, Column
from hocmim.data.columns import Categories
from hocmim.data.table import as_table
from hocmim.errors import InvalidTableError
from hocmim.information.counting import BlockTerms, Joint
from hocmim.information.estimators import ESTIMATORS, SECOND_ORDER_ESTIMATOR
from hocmim.parameters import check_value, one_of

_UNITS = {"nats": 1.0, "bits": math.log(2.0)}


def entropy(X: Any, *, estimator: str = SECOND_ORDER_ESTIMATOR, unit: str = "nats") -> float:
    """H(X), the entropy of one column or of a set of columns taken together.

    Parameters
    ----------
    X : array, series or table
        One column (1-D) or several (2-D). Values are levels as they are: nothing is cut into bins;
        a missing value is a level of its own.
    estimator : str
        One of ``hocmim.information.estimators.ESTIMATORS``.
    unit : {"nats", "bits"}

    Examples
    --------
    >>> from hocmim import entropy
    >>> entropy([0, 1, 0, 1], unit="bits")
    1.0
    """
    _check_parameters(estimator, unit)
    x = _joint(X, "X")
    return _in_unit(_terms(_constant(x), x, estimator).joint_entropy(_nothing(x)), unit)


def mi(X: Any, Z: Any, *, estimator: str = SECOND_ORDER_ESTIMATOR, unit: str = "nats") -> float:
    """I(X;Z), the mutual information of two columns or sets of columns.

    Parameters
    ----------
    X, Z : array, series or table
        One column (1-D) or several (2-D) each, of equal length.
    estimator, unit
        As in ``entropy``.

    Examples
    --------
    >>> from hocmim import mi
    >>> mi([0, 0, 1, 1], [0, 0, 1, 1], unit="bits")
    1.0
    """
    _check_parameters(estimator, unit)
    x, z = _joint(X, "X"), _joint(Z, "Z")
    _check_lengths(X=x, Z=z)
    return _in_unit(_terms(_constant(x), z, estimator).joint(x), unit)


def cmi(
    X: Any, Y: Any, Z: Any, *, estimator: str = SECOND_ORDER_ESTIMATOR, unit: str = "nats"
) -> float:
    """I(X;Y|Z), the information X and Y share beyond what Z says.

    A shrunken estimate is not symmetric in X and Y: X is the candidate, and the table has rows
    (x, z) and columns y.

    Parameters
    ----------
    X, Y, Z : array, series or table
        One column (1-D) or several (2-D) each, of equal length.
    estimator, unit
        As in ``entropy``.

    Examples
    --------
    An exclusive or: neither x nor z says anything of y alone.

    >>> from hocmim import cmi, mi
    >>> x, z, y = [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]
    >>> mi(x, y, unit="bits"), cmi(x, y, z, unit="bits")
    (0.0, 1.0)
    """
    _check_parameters(estimator, unit)
    x, y, z = _joint(X, "X"), _joint(Y, "Y"), _joint(Z, "Z")
    _check_lengths(X=x, Y=y, Z=z)
    if x.n_cells > MAX_LEVELS:
        raise InvalidTableError(
            f"X has {x.n_cells} levels; the first argument of cmi may have at most {MAX_LEVELS}. "
            "Cut its columns into fewer bins."
        )
    candidate = Column(x.cells.astype(np.uint16), x.n_cells)
    return _in_unit(_terms(candidate, y, estimator).conditional(z), unit)


def _joint(X: Any, name: str) -> Joint:
    """Join the columns of X, with every distinct value a level."""
    try:
        # Asked of the type: the columns of a lazy frame are an expensive question.
        if not hasattr(X, "ndim") and not hasattr(type(X), "columns"):
            X = np.asarray(X)
        if getattr(X, "ndim", 2) == 1:
            X = np.asarray(X)[:, None]
    except MemoryError:
        raise
    except Exception as error:  # each library has its own for types that NumPy does not have
        raise InvalidTableError(
            f"{name} cannot be read as columns. Give every row the same number of values, numbers "
            "or strings."
        ) from error
    table = as_table(X)
    joint = Joint(np.zeros(table.n_rows, np.uint32), 1)
    for block in table.blocks():
        if isinstance(block, Categories):
            joint = _with_levels(joint, block.codes + 1, len(block.levels) + 1)
            continue
        for values in block.values.T:
            levels, codes = np.unique(values, return_inverse=True)
            joint = _with_levels(joint, codes, len(levels))
    return joint


def _with_levels(joint: Joint, codes: NDArray[Any], n_levels: int) -> Joint:
    """Join levels of any number: two columns of digits where one does not hold them."""
    if n_levels <= MAX_LEVELS:
        return joint.with_column(Column(codes.astype(np.uint16), n_levels))
    low = Column((codes & 0xFFFF).astype(np.uint16), MAX_LEVELS)
    high = Column((codes >> 16).astype(np.uint16), (n_levels >> 16) + 1)
    return joint.with_column(low).with_column(high)


def _constant(like: Joint) -> Column:
    return Column(np.zeros(len(like.cells), np.uint8), 1)


def _nothing(like: Joint) -> Joint:
    return Joint(np.zeros(len(like.cells), np.uint32), 1)


def _terms(x: Column, y: Joint, estimator: str) -> BlockTerms:
    return BlockTerms(Codes.from_columns([x]), y, estimator)


def _check_parameters(estimator: str, unit: str) -> None:
    check_value("estimator", estimator, [one_of(ESTIMATORS)])
    check_value("unit", unit, [one_of(tuple(_UNITS))])


def _in_unit(values: NDArray[np.float64], unit: str) -> float:
    return float(values[0]) / _UNITS[unit]


def _check_lengths(**joints: Joint) -> None:
    lengths = {name: len(joint.cells) for name, joint in joints.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InvalidTableError(f"All arguments must have as many rows: {found}.")
