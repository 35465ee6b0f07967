"""Checks of a table: finite values, and the columns an estimator was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from hocmim.data.columns import Numbers
from hocmim.data.table import Table
from hocmim.errors import InvalidTableError
from hocmim.text import escaped


def check_finite(table: Table) -> None:
    """Raise InvalidTableError if a column has an infinite value, or a missing one."""
    for block in table.blocks():
        if isinstance(block, Numbers):
            reject_infinite(table, block.values, block.start)
            is_missing = np.isnan(block.values).any(axis=0)
        else:
            is_missing = np.array([(block.codes < 0).any()])
        if is_missing.any():
            raise _missing(table, block.start + int(np.argmax(is_missing)))


def reject_infinite(table: Table, values: NDArray[Any], start: int = 0) -> None:
    """Raise an error that names the first column of ``values`` with an infinite value."""
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        raise infinite_value(table, start + int(np.argmax(infinite)))


def infinite_value(table: Table, j: int) -> InvalidTableError:
    """Return the error for an infinite value in column j."""
    return InvalidTableError(
        f"Input X contains infinity (inf) in {table.label(j)}. Replace it with a finite value, or "
        "with NaN if the value is missing."
    )


def _missing(table: Table, j: int) -> InvalidTableError:
    return InvalidTableError(
        f"Input X contains NaN (a missing value) in {table.label(j)}. This method needs complete "
        "columns: fill in missing values first, for example with sklearn.impute.SimpleImputer."
    )


def check_features(estimator: Any, table: Table, *, reset: bool) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` of an estimator, or check X against them."""
    if reset:
        set_features(estimator, table.n_columns, table.names)
        return
    X = table.native if table.names else table
    try:
        validate_data(estimator, X, skip_check_array=True, reset=False)
    except ValueError as error:
        raise InvalidTableError(escaped(str(error))) from None


def set_features(estimator: Any, n_columns: int, names: Sequence[str] | None) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` of an estimator."""
    estimator.n_features_in_ = n_columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
