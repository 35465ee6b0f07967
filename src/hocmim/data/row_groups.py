"""Groups of rows: rows that belong together, such as all rows of one patient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.target import as_target
from hocmim.errors import InvalidParameterError, InvalidTargetError
from hocmim.text import value_text

RowGroups = NDArray[np.int64]


def as_row_groups(groups: Any, n_rows: int) -> RowGroups | None:
    """Return the number of each row's group, from 0 in the order of the labels; None for None.

    ``groups`` has a label for each row, a number or a string. An error if one is missing, or if
    there is one group only.
    """
    if groups is None:
        return None
    try:
        labels = as_target(groups)
    except InvalidTargetError as error:
        raise InvalidParameterError(
            "groups must have one label for each row, a number or a string, and none may be "
            "missing. Give rows without a group a label of their own."
        ) from error
    if len(labels) != n_rows:
        raise InvalidParameterError(
            f"groups has {len(labels)} labels and X has {n_rows} rows. Pass one label for each row."
        )
    found, codes = np.unique(labels, return_inverse=True)
    if len(found) < 2:
        raise InvalidParameterError(
            f"groups has only one label, {value_text(found[0])}. At least two groups are needed."
        )
    return codes.astype(np.int64)
