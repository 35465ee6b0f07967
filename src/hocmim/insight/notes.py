"""What to look at in a table before a selection from it is trusted. Nothing is changed or dropped.

=============  ====================================================================================
copies target  I(X;Y) ≥ 0.95 H(Y) (plug-in, on codes that hold 5 rows a level on average or more),
               or numbers whose ranges in the classes do not meet: known only with the target?
id-like        at least 95% of the values are distinct, of 20 or more: strings, whole numbers,
               dates. Numbers with a fraction are measurements, however distinct.
constant       one value, or none
many levels    strings or categories with fewer than 10 rows a level on average, where information
               is overestimated
missing        the share of missing values
=============  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import column_name
from hocmim.coding.target import encode_target
from hocmim.data.columns import Categories, Numbers
from hocmim.data.table import Table, as_table
from hocmim.information.counting import BlockTerms, Joint

KINDS = ("copies target", "id-like", "constant", "many levels", "missing")

COPY_SHARE = 0.95
COPY_ROWS_PER_LEVEL = 5
ID_SHARE = 0.95
ID_ROWS = 20
ROWS_PER_LEVEL = 10
# Beyond 2^53 every floating-point number is whole.
MOST_WHOLE = 2.0**53
MICROSECOND = 1000
# Ranges of more classes than these are not compared.
MOST_CLASSES = 64

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Note:
    """Something to look at in one column.

    Attributes
    ----------
    kind : one of ``KINDS``
    index : int
        The column.
    name : str
        Its name, or its index if the table has no names.
    message : str
        What was found, to be read after the name; ``str(note)`` is the whole sentence.
    value : float
        What the message gives in words: the share of H(Y) explained (1 where the ranges of the
        classes do not meet), of distinct values, or of missing values; the number of levels.
    """

    kind: str
    index: int
    name: str
    message: str
    value: float

    def __str__(self) -> str:
        return f"{self.name!r} {self.message}"


def data_notes(
    X: Any, y: Any, *, encoder: Encoder | None = None, target_bins: int = 5
) -> list[Note]:
    """Look through a table for columns that need a second look.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Anything a selector takes.
    y : array of shape (n_samples,)
    encoder : Encoder, optional
        Fitted on X: ``selector.encoder_``. Without it one with the defaults is.
    target_bins : int
        Into how many bins a continuous y is cut.

    Returns
    -------
    list of Note
        In the order of ``KINDS``, then of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hocmim.insight.notes import data_notes
    >>> y = np.arange(100) % 2
    >>> X = np.column_stack([np.arange(100), 1 - y, np.zeros(100), np.arange(100) // 10])
    >>> for note in data_notes(X, y):
    ...     print(note)
    '1' says 100% of what there is to know about the target: is it known before the target is?
    '0' looks like an identifier: 100 of its 100 values are distinct.
    '2' has the same value in every row.
    """
    table = as_table(X)
    if encoder is None:
        encoder = Encoder(n_jobs=-1).fit(table, y)
    target = encode_target(y, table.n_rows, bins=target_bins, discretizer=encoder.discretizer)
    share = _share_explained(encoder.transform(table), target.column)
    look = _Look.at(table, target.column if target.classes is not None else None)
    notes = [
        *_copies(share, look.lies_apart),
        *_ids(look),
        *_constants(look),
        *_many_levels(look),
        *_missing(look, table.n_rows),
    ]
    return [Note(kind, j, column_name(table.names, j), text, v) for kind, j, text, v in notes]


# --- the notes: kind, column, message, value ------------------------------------------------------

_Found = Iterator[tuple[str, int, str, float]]


def _copies(share: NDArray[np.float64], lies_apart: Flags) -> _Found:
    for j in np.flatnonzero((share >= COPY_SHARE) | lies_apart).tolist():
        if share[j] >= COPY_SHARE:
            found = f"says {share[j]:.0%} of what there is to know about the target"
        else:
            found = "tells the classes apart without error: their ranges do not meet"
        value = 1.0 if lies_apart[j] else float(share[j])
        yield "copies target", j, f"{found}: is it known before the target is?", value


def _ids(look: _Look) -> _Found:
    for j in np.flatnonzero(look.is_id).tolist():
        distinct, present = int(look.n_distinct[j]), int(look.n_present[j])
        found = f"{distinct} of its {present} values are distinct"
        yield "id-like", j, f"looks like an identifier: {found}.", distinct / present


def _constants(look: _Look) -> _Found:
    for j in np.flatnonzero(look.is_constant).tolist():
        if look.n_present[j]:
            yield "constant", j, "has the same value in every row.", 1.0
        else:
            yield "constant", j, "has no values: all are missing.", 0.0


def _many_levels(look: _Look) -> _Found:
    many = look.is_category & ~look.is_id & (look.n_distinct * ROWS_PER_LEVEL > look.n_present)
    for j in np.flatnonzero(many & (look.n_distinct > 2)).tolist():
        levels = int(look.n_distinct[j])
        yield (
            "many levels",
            j,
            f"has {levels} levels, {look.n_present[j] / levels:.1f} rows each on average: what it "
            "says about the target is overestimated.",
            float(levels),
        )


def _missing(look: _Look, n_rows: int) -> _Found:
    for j in np.flatnonzero((look.n_present < n_rows) & (look.n_present > 0)).tolist():
        n_missing = n_rows - int(look.n_present[j])
        share = n_missing / n_rows
        yield "missing", j, f"lacks {n_missing} of {n_rows} values ({share:.1%}).", share


# --- what they are made from ----------------------------------------------------------------------


def _share_explained(codes: Codes, y: Column) -> NDArray[np.float64]:
    """I(X;Y) / H(Y) of every column of few levels, 0 of the others."""
    joint = Joint.of([y])
    # The information of y with itself is its entropy.
    entropy = BlockTerms(Codes.from_columns([y]), joint, "plugin").relevance()[0]
    share = BlockTerms(codes, joint, "plugin").relevance() / entropy
    return np.where(codes.arity * COPY_ROWS_PER_LEVEL <= codes.n_samples, share, 0.0)


class _Look(NamedTuple):
    """What the raw values of the columns are like, one element a column."""

    n_present: Counts
    n_distinct: Counts  # of categories and of whole numbers that may be distinct; 0 of others
    is_constant: Flags
    is_category: Flags
    lies_apart: Flags

    @property
    def is_id(self) -> Flags:
        enough = self.n_present >= ID_ROWS
        return enough & (self.n_distinct >= ID_SHARE * self.n_present)

    @classmethod
    def at(cls, table: Table, classes: Column | None) -> _Look:
        D = table.n_columns
        look = cls(np.zeros(D, np.int64), np.zeros(D, np.int64), *np.zeros((3, D), bool))
        by_class = _ByClass(classes) if classes is not None else None
        for block in table.blocks():
            if isinstance(block, Categories):
                look._at_categories(block)
            else:
                look._at_numbers(block, by_class)
        return look

    def _at_categories(self, block: Categories) -> None:
        j = block.start
        self.is_category[j] = True
        self.n_present[j] = (block.codes >= 0).sum()
        self.n_distinct[j] = len(block.levels)
        has_missing = self.n_present[j] < len(block.codes)
        self.is_constant[j] = len(block.levels) + has_missing <= 1

    def _at_numbers(self, block: Numbers, by_class: _ByClass | None) -> None:
        values = block.values
        columns = slice(block.start, block.start + values.shape[1])
        n_rows = len(values)
        present = n_rows - _count_missing(values)
        low, high = _range(values, present)
        self.n_present[columns] = present
        self.is_constant[columns] = (present == 0) | ((present == n_rows) & (low == high))
        # As many distinct whole numbers need as wide a range.
        needed = np.maximum(ID_SHARE * present, ID_ROWS)
        for j in np.flatnonzero((high - low >= needed - 1) & (present >= ID_ROWS)).tolist():
            self.n_distinct[block.start + j] = _distinct_whole(values[:, j])
        if by_class is not None:
            varies = (low < high) & (present >= ID_ROWS)
            self.lies_apart[columns] = varies & by_class.lie_apart(values)


def _count_missing(values: NDArray[Any]) -> Counts:
    if values.dtype.kind != "f":
        return np.zeros(values.shape[1], np.int64)
    return np.asarray(np.isnan(values).sum(axis=0), np.int64)


def _range(values: NDArray[Any], present: Counts) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of each column as floating-point numbers, 0 and 0 if it has none."""
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    low = np.fmin.reduce(values, axis=0).astype(np.float64)
    high = np.fmax.reduce(values, axis=0).astype(np.float64)
    return np.where(present > 0, low, 0.0), np.where(present > 0, high, 0.0)


def _distinct_whole(column: NDArray[Any]) -> int:
    """How many distinct values a column of whole numbers or dates has; 0 for any other column."""
    if column.dtype.kind == "f":
        column = column[~np.isnan(column)]
        if not _are_whole(column[:ID_ROWS]) or not _are_whole(column):
            return 0
    ordered = np.sort(column)
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


def _are_whole(values: NDArray[Any]) -> bool:
    """Whether numbers are whole, and not for want of digits: dates are whole microseconds."""
    is_whole = np.where(
        np.abs(values) < MOST_WHOLE, values == np.rint(values), values % MICROSECOND == 0
    )
    return bool(is_whole.all())


class _ByClass:
    """Rows in the order of their classes."""

    def __init__(self, classes: Column) -> None:
        self._order = np.argsort(classes.codes, kind="stable")
        ordered = classes.codes[self._order]
        self._starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])

    def lie_apart(self, values: NDArray[Any]) -> Flags:
        """Whether the ranges of a column in the classes do not meet (no values: they do)."""
        apart = np.zeros(values.shape[1], bool)
        if len(self._starts) > MOST_CLASSES:
            return apart
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        ordered = values[self._order]
        low = np.fmin.reduceat(ordered, self._starts, axis=0)
        high = np.fmax.reduceat(ordered, self._starts, axis=0)
        rank = np.argsort(low, axis=0)
        low, high = (np.take_along_axis(part, rank, axis=0) for part in (low, high))
        apart[:] = (high[:-1] < low[1:]).all(axis=0)
        return apart
