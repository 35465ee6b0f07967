"""Notes on columns to check before a selection is trusted. No column is changed or dropped.

=============  ====================================================================================
copies target  I(X;Y) ≥ 0.95 H(Y) (plug-in, on codes that hold 5 rows a level on average or more),
               or numbers whose ranges in the classes do not overlap: a leak of the target?
id-like        at least 95% of the values are distinct, of 20 or more: strings, whole numbers,
               dates. Numbers with a fraction are measurements, even if all are distinct. Which
               of them ``fit`` leaves out: see ``hocmim.coding.identifiers``.
constant       one value, or none at all
many levels    strings or categories with fewer than 10 rows a level on average, where information
               is overestimated
uneven bins    one bin of a column that was cut holds more than 80% of the rows
missing        the share of missing values
=============  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder, most_frequent
from hocmim.coding.groups import column_name
from hocmim.coding.identifiers import ID_ROWS, ID_SHARE, MAX_EXACT_WHOLE, are_nearly_distinct
from hocmim.coding.target import DEFAULT_OPTIONS, Target, TargetOptions
from hocmim.coding.targets import encode_targets
from hocmim.data.columns import Categories, Numbers
from hocmim.data.numeric import extreme_exponents
from hocmim.data.table import Table, as_table
from hocmim.information.counting import BlockTerms, Joint
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.insight.encoding import describe_bins, format_cuts
from hocmim.insight.observed import ObservedTable
from hocmim.parameters import HasMethods, checked
from hocmim.text import percent, quote

KINDS = ("copies target", "id-like", "constant", "many levels", "uneven bins", "missing")

COPY_SHARE = 0.95
COPY_ROWS_PER_LEVEL = 5
# R² of a column of numbers for a target that is a quantity.
COPY_R2 = 0.99
ROWS_PER_LEVEL = 10
MAX_BIN_SHARE = 0.8
NANOSECONDS_PER_MICROSECOND = 1000
# The ranges of more classes than this are not compared.
MAX_CLASSES = 64

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Note:
    """Something to check in one column.

    Attributes
    ----------
    kind : one of ``KINDS``
    index : int
        The column.
    name : str
        Its name, or its index if the table has no names.
    message : str
        What was found, to be read after the name; ``str(note)`` is the complete sentence.
    value : float
        The number in the message: the share of H(Y) explained (1 if the ranges of the classes do
        not overlap), or of the variance of a quantity; the share of distinct or of missing values,
        the number of levels, or the share of the rows in the largest bin.
    """

    kind: str
    index: int
    name: str
    message: str
    value: float

    def __str__(self) -> str:
        return f"{quote(self.name)} {self.message}"


ENCODER = HasMethods(("fit_transform", "transform_column"), "an Encoder", or_none=True)


@checked(
    encoder=ENCODER,
    target_options=HasMethods(("decide",), "what selector.target_options() returns"),
    left_out=HasMethods(("__iter__", "__contains__"), "indices of columns"),
)
def data_notes(
    X: Any,
    y: Any,
    *,
    encoder: Encoder | None = None,
    target_options: TargetOptions = DEFAULT_OPTIONS,
    left_out: Collection[int] = (),
) -> list[Note]:
    """Find the columns of a table that need a second survey.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Anything a selector takes.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        A column that copies one of several targets is noted.
    encoder : Encoder, optional
        Fitted on X, such as ``selector.encoder_``. By default one is fitted, with its defaults.
    target_options : TargetOptions
        How y is encoded, such as ``selector.target_options()``.
    left_out : collection of int
        The columns that are no candidates, such as ``selector.identifiers_``.

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
    '1' explains 100% of the target: is it known before the target is?
    '0' looks like an identifier: 100 of its 100 values are distinct.
    '2' has the same value in every row.
    """
    table = as_table(X)
    if encoder is None:
        encoder = Encoder(n_jobs=-1).fit(table, y)
    target = encode_targets(y, table.n_rows, target_options)
    survey = ValueSurvey(table.n_columns, target)
    observed = ObservedTable(table, [survey.add])
    codes = encoder.transform(observed)
    observed.finish()
    return notes_from(codes, [one.column for one in target.each], survey, encoder, table, left_out)


def notes_from(
    codes: Codes,
    targets: Sequence[Column],
    survey: ValueSurvey,
    encoder: Encoder,
    table: Table,
    left_out: Collection[int] = (),
) -> list[Note]:
    """Return the notes on a table, from its codes and a survey of its values.

    Parameters
    ----------
    codes : Codes
        Of all columns.
    targets : sequence of Column
        A column is a copy if it is a copy of one of them.
    survey : ValueSurvey
        Of the same rows.
    encoder : Encoder
        Of the codes.
    table : Table
        For the names of the columns, and which of them hold dates.
    left_out : collection of int
        The columns that are no candidates.
    """
    notes = [
        *_copies(np.max([_share_explained(codes, y) for y in targets], axis=0), survey),
        *_ids(survey, left_out),
        *_constants(survey),
        *_many_levels(survey),
        *_uneven_bins(codes, encoder, table),
        *_missing(survey, codes.n_samples),
    ]
    return [Note(kind, j, column_name(table.names, j), text, v) for kind, j, text, v in notes]


# --- the notes: kind, column, message, value ------------------------------------------------------

_Found = Iterator[tuple[str, int, str, float]]


def _copies(share: NDArray[np.float64], survey: ValueSurvey) -> _Found:
    is_separated, r2 = survey.is_separated, survey.r2
    is_copy = (share >= COPY_SHARE) | is_separated | (r2 >= COPY_R2)
    for j in np.flatnonzero(is_copy).tolist():
        value = 1.0 if is_separated[j] else float(share[j])
        if share[j] >= COPY_SHARE:
            found = f"explains {percent(min(1.0, round(share[j], 12)))} of the target"
        elif is_separated[j]:
            found = "separates the classes without error (their ranges do not overlap)"
        else:
            value = min(1.0, round(float(r2[j]), 12))
            found = f"explains {percent(value)} of the variance of the target"
        yield "copies target", j, f"{found}: is it known before the target is?", value


# After the note on a column that was left out.
LEFT_OUT = " It was left out. To keep it as a candidate: identifiers='keep', or --keep-identifiers."


def _ids(survey: ValueSurvey, left_out: Collection[int]) -> _Found:
    for j in np.flatnonzero(survey.is_id).tolist():
        distinct, present = int(survey.n_distinct[j]), int(survey.n_present[j])
        found = f"{distinct} of its {present} values are distinct"
        end = LEFT_OUT if j in left_out else ""
        yield "id-like", j, f"looks like an identifier: {found}.{end}", distinct / present


def _constants(survey: ValueSurvey) -> _Found:
    for j in np.flatnonzero(survey.is_constant).tolist():
        if survey.n_present[j]:
            yield "constant", j, "has the same value in every row.", 1.0
        else:
            yield "constant", j, "has no values: all are missing.", 0.0


def _many_levels(survey: ValueSurvey) -> _Found:
    many = (
        survey.is_category & ~survey.is_id & (survey.n_distinct * ROWS_PER_LEVEL > survey.n_present)
    )
    for j in np.flatnonzero(many & (survey.n_distinct > 2)).tolist():
        levels = int(survey.n_distinct[j])
        yield (
            "many levels",
            j,
            f"has {levels} levels, {survey.n_present[j] / levels:.1f} rows each on average: its "
            "relevance is overestimated.",
            float(levels),
        )


# What to do about a bin with most of the rows, by discretizer.
_ADVICE = {
    "uniform": 'Try the discretizer "quantile", bins of equal frequency.',
    "quantile": "Many rows have the same value. Check that this value does not stand for a missing "
    "one.",
    "mdlp": 'MDLP found no other cut that separates the classes. Try the discretizer "quantile".',
}


def _uneven_bins(codes: Codes, encoder: Encoder, table: Table) -> _Found:
    for j, code in enumerate(most_frequent(codes).tolist()):
        share = int(np.count_nonzero(codes.column(j).codes == code)) / codes.n_samples
        if share <= MAX_BIN_SHARE:
            continue
        column = encoder.columns_[j]
        if column.kind != "cut" or code == column.missing:
            continue
        time_kind = table.time_kinds([j]).get(j)
        where = describe_bins(format_cuts(column.cuts.tolist(), time_kind))[code]
        yield (
            "uneven bins",
            j,
            f"has {percent(share)} of its rows in one bin ({where}): the values in this bin count "
            f"as equal. {_ADVICE[encoder.discretizer]}",
            share,
        )


def _missing(survey: ValueSurvey, n_rows: int) -> _Found:
    for j in np.flatnonzero((survey.n_present < n_rows) & (survey.n_present > 0)).tolist():
        n_missing = n_rows - int(survey.n_present[j])
        share = n_missing / n_rows
        yield "missing", j, f"is missing in {n_missing} of {n_rows} rows ({share:.1%}).", share


# --- the survey -----------------------------------------------------------------------------------


def _share_explained(codes: Codes, y: Column) -> NDArray[np.float64]:
    """I(X;Y) / H(Y) of every column with enough rows a level, 0 of the others."""
    joint = Joint.of([y])
    # The information of y with itself is its entropy.
    entropy = BlockTerms(Codes.from_columns([y]), joint, PLUGIN_ESTIMATOR).relevance()[0]
    share = BlockTerms(codes, joint, PLUGIN_ESTIMATOR).relevance() / entropy
    return np.where(codes.arity * COPY_ROWS_PER_LEVEL <= codes.n_samples, share, 0.0)


class ValueSurvey:
    """Properties of the raw values of all columns, collected block by block.

    Blocks may be added in any order and from several threads.

    Parameters
    ----------
    n_columns : int
    target : Target

    Attributes
    ----------
    n_present : ndarray of int64
        How many values are not missing.
    n_distinct : ndarray of int64
        How many are distinct: of categories, and of whole numbers that may all be distinct; 0 for
        other columns.
    is_constant, is_category : ndarray of bool
    is_separated : ndarray of bool
        Whether the ranges of the classes do not overlap, for one of the targets.
    r2 : ndarray of float64
        For a target that is a quantity: the squared correlation with each column of numbers, the
        largest of several targets.
    """

    def __init__(self, n_columns: int, target: Target) -> None:
        self.n_present = np.zeros(n_columns, np.int64)
        self.n_distinct = np.zeros(n_columns, np.int64)
        self.is_constant = np.zeros(n_columns, bool)
        self.is_category = np.zeros(n_columns, bool)
        self.is_separated = np.zeros(n_columns, bool)
        self.r2 = np.zeros(n_columns)
        self._values = [one.values for one in target.each if one.values is not None]
        are_classes = [one for one in target.each if one.classes is not None]
        self._ranges = [_ClassRanges(one.column) for one in are_classes]

    @property
    def is_id(self) -> Flags:
        """Whether a column looks like an identifier."""
        return are_nearly_distinct(self.n_distinct, self.n_present)

    def add(self, block: Numbers | Categories) -> None:
        """Add the values of a block of columns."""
        if isinstance(block, Categories):
            self._add_categories(block)
        else:
            self._add_numbers(block)

    def _add_categories(self, block: Categories) -> None:
        j = block.start
        self.is_category[j] = True
        self.n_present[j] = (block.codes >= 0).sum()
        self.n_distinct[j] = len(block.levels)
        has_missing = self.n_present[j] < len(block.codes)
        self.is_constant[j] = len(block.levels) + has_missing <= 1

    def _add_numbers(self, block: Numbers) -> None:
        values = block.values
        columns = slice(block.start, block.start + values.shape[1])
        n_rows = len(values)
        present = n_rows - _count_missing(values)
        low, high = _range(values, present)
        self.n_present[columns] = present
        self.is_constant[columns] = (present == 0) | ((present == n_rows) & (low == high))
        # n distinct whole numbers need a range of at least n - 1.
        needed = np.maximum(ID_SHARE * present, ID_ROWS)
        with np.errstate(over="ignore"):  # a range beyond the largest number is wide enough
            is_wide = high - low >= needed - 1
        for j in np.flatnonzero(is_wide & (present >= ID_ROWS)).tolist():
            self.n_distinct[block.start + j] = _distinct_whole(values[:, j])
        varies = (low < high) & (present >= ID_ROWS)
        for ranges in self._ranges:
            self.is_separated[columns] |= varies & ranges.are_separated(values)
        for y in self._values:
            for j in np.flatnonzero(varies).tolist():
                found = _squared_correlation(values[:, j], y)
                self.r2[block.start + j] = max(self.r2[block.start + j], found)


def _squared_correlation(column: NDArray[Any], y: NDArray[np.float64]) -> float:
    """Return the squared correlation over the rows without a missing value."""
    x = column.astype(np.float64)
    is_known = ~np.isnan(x)
    if not is_known.all():
        x, y = x[is_known], y[is_known]
    x, y = (one - one.mean() for one in (_scaled(x), _scaled(y)))
    scale = float(x @ x) * float(y @ y)
    return float(x @ y) ** 2 / scale if scale > 0 else 0.0


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values; very large or small ones times a power of two: squares would overflow."""
    exponent = extreme_exponents(values)
    return np.ldexp(values, -exponent) if exponent else values


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
    """Whether numbers are whole; from 2^53 (dates in nanoseconds), whole microseconds."""
    is_whole = np.where(
        np.abs(values) < MAX_EXACT_WHOLE,
        values == np.rint(values),
        values % NANOSECONDS_PER_MICROSECOND == 0,
    )
    return bool(is_whole.all())


class _ClassRanges:
    """The ranges of columns in each class; rows are sorted by class once."""

    def __init__(self, classes: Column) -> None:
        self._order = np.argsort(classes.codes, kind="stable")
        ordered = classes.codes[self._order]
        self._starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])

    def are_separated(self, values: NDArray[Any]) -> Flags:
        """Whether the ranges do not overlap; False if a class has no values."""
        apart = np.zeros(values.shape[1], bool)
        if len(self._starts) > MAX_CLASSES:
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
