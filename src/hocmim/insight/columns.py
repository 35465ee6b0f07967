"""What hocmim makes of each column of a table: its levels or bins, missing values, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import column_name
from hocmim.data.table import as_table
from hocmim.insight.encoding import Encoding, describe_column
from hocmim.insight.notes import ENCODER, data_notes
from hocmim.parameters import checked

# Notes of these kinds compare a column with the target, or repeat what is in the encoding.
OF_TARGET, IN_ENCODING = "copies target", "missing"


@dataclass(frozen=True)
class ColumnSummary:
    """What hocmim makes of one column.

    Attributes
    ----------
    index : int
    name : str
        Or the index, if the columns have no names.
    encoding : Encoding
        Its bins or levels.
    n_missing : int
        Rows without a value.
    notes : tuple of str
        What to check, such as "looks like an identifier: …".
    """

    index: int
    name: str
    encoding: Encoding
    n_missing: int
    notes: tuple[str, ...]


@checked(encoder=ENCODER)
def describe_columns(
    X: Any, y: Any = None, *, encoder: Encoder | None = None
) -> list[ColumnSummary]:
    """Describe what hocmim makes of each column of a table.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Anything in memory that a selector takes.
    y : array of shape (n_samples,), optional
        The target: then columns that copy it are noted.
    encoder : Encoder, optional
        How to encode; by default as selectors do by default.

    Examples
    --------
    >>> from hocmim import describe_columns
    >>> for column in describe_columns([[1.5, "a"], [2.5, "b"], [None, "a"]]):
    ...     print(column.name, "|", column.encoding)
    0 | levels as they are, 2 values: 1.5, 2.5; missing values are a level of their own
    1 | levels as they are, 2 categories: a, b
    """
    table = as_table(X)
    if encoder is None:
        encoder = Encoder(n_jobs=-1)
    codes = encoder.fit_transform(table, y)
    # The notes need a target; without one, the notes that concern it are left out.
    target = np.arange(table.n_rows) % 2 if y is None else y
    notes = data_notes(table, target, encoder=encoder)
    skipped = (IN_ENCODING,) if y is not None else (IN_ENCODING, OF_TARGET)
    kinds = table.time_kinds(range(table.n_columns))
    summaries = []
    for j, column in enumerate(encoder.columns_):
        n_missing = 0
        if column.missing is not None:
            n_missing = int((codes.column(j).codes == column.missing).sum())
        summaries.append(
            ColumnSummary(
                j,
                column_name(table.names, j),
                describe_column(column, kinds.get(j)),
                n_missing,
                tuple(n.message for n in notes if n.index == j and n.kind not in skipped),
            )
        )
    return summaries
