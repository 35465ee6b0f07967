"""What is odd in a table: one survey, for the warnings of ``fit``, the command line and the page.

============  =====================================================================================
leak          a column tells nearly all of the target: I(X;Y) ≥ 0.95 H(Y) (plug-in, codes with 5
              rows per level or more; a quantity is cut as the columns are), or numbers whose ranges
              in the classes do not overlap (60 rows or more), or whose rank correlation with a
              quantity is 0.99 or more (Spearman's ρ, or −ρ), or between whose levels, 3 or more, it
              does not overlap
identifier    the column identifies the rows: the rule of ``hocmim.coding.identifiers``
text          a column of text that can be read as numbers or dates, but is coded as categories
constant      one value, or none at all
many levels   fewer than 10 rows per level on average: information is easily overestimated
uneven bins   one bin of a column that was cut holds more than 80 % of the rows
rounded       whole numbers beyond 2^53, some of which are equal as floating-point numbers
missing       some values are missing
duplicates    more than 1 % of the rows repeat another row: ``hocmim.insight.duplicates``
============  =====================================================================================

The survey works on the codes of the table. Raw values are read for the few columns that may be
leaks, and only if there is a table to read them from. No column is changed or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column, RemoteCodes
from hocmim.coding.cuts import DEFAULT_DISCRETIZER, Ragged
from hocmim.coding.encoded import split_target
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name
from hocmim.coding.target import EncodedTarget, Target, encode_target
from hocmim.data.columns import Numbers, Span
from hocmim.data.recognize import recognize
from hocmim.data.table import Table, as_table
from hocmim.errors import DataWarning, InvalidTableError, TextWarning, warn_user
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR, plugin_entropy
from hocmim.insight.duplicates import count_repeated_rows
from hocmim.insight.encoding import Encoding, describe_bins, describe_column, format_cuts
from hocmim.parameters import checked
from hocmim.text import count, one_line, percent, quote, some_of

LEAK, IDENTIFIER, TEXT, CONSTANT, MANY_LEVELS, UNEVEN, ROUNDED, MISSING, DUPLICATES = KINDS = (
    "leak",
    "identifier",
    "text",
    "constant",
    "many levels",
    "uneven bins",
    "rounded",
    "missing",
    "duplicates",
)
# What makes a selection misleading: ``fit`` warns about these.
WARNED = (LEAK, IDENTIFIER, TEXT, UNEVEN, ROUNDED, DUPLICATES)

# Columns that a sentence names, and characters of a value in it.
MAX_NAMED, MAX_VALUE = 5, 20
LEAK_SHARE = 0.95
LEAK_ROWS_PER_LEVEL = 5
# Spearman's rank correlation with a quantity, and the fewest levels of a coarse copy of it.
LEAK_CORRELATION, LEAK_LEVELS = 0.99, 3
# Columns with less than this share of H(Y) are no leaks, and at most so many are examined.
SUSPICIOUS_SHARE, MAX_EXAMINED = 0.25, 64
# Fewer values show nothing. Without an exception in n rows, up to 3 / n of new rows may be
# exceptions (confidence 95 %): at most 1 − LEAK_SHARE from 60 rows on. In smaller tables, such as
# those of genes, some column often separates the classes. Rows on which most columns that are no
# leaks are recognised.
MIN_ROWS, MIN_ROWS_OF_CLASSES, SAMPLE_ROWS = 20, 60, 1000
ROWS_PER_LEVEL = 10
MAX_BIN_SHARE = 0.8
# Discretizers that cut a column by its own values: the same values give the same codes.
BY_VALUE = ("uniform", "quantile")

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Finding:
    """One kind of oddity, and the columns that have it. ``str(finding)`` is the whole text.

    Attributes
    ----------
    kind : str
        One of the kinds of ``hocmim.insight.checks``.
    columns : tuple of int
        The columns; of a group of columns that is one feature, all of them.
    names : tuple of str
        Of the columns, or of the features that are groups.
    details : tuple of str
        For each name what was found, to be read after the name.
    sentence : str
        What was found, with names and counts.
    advice : str
        What to do about it.
    shares : tuple of float
        For each name: of a leak, how much of the target it explains; the share of missing rows.
    """

    kind: str
    columns: tuple[int, ...]
    names: tuple[str, ...]
    details: tuple[str, ...]
    sentence: str
    advice: str
    shares: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.sentence} {self.advice}"


class _Odd(NamedTuple):
    """A column, or feature, with something odd, and what that is."""

    place: int
    detail: str
    share: float = 0.0


@checked(
    encoder=[Encoder, None],
)
def check_table(
    X: Any, y: Any = None, *, encoder: Encoder | None = None, target: Target | str | None = None
) -> list[Finding]:
    """Look for columns to check before a selection is trusted.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        Anything in memory that a selector takes.
    y : array of shape (n_samples,) or (n_samples, n_targets), or str, optional
        The target, or the name of its column. Without it, leaks are not looked for.
    encoder : Encoder, optional
        How columns are coded; a fitted one, such as ``selector.encoder_``, is used as it is.
    target : {None, "classes", "quantity"}
        What y is; None: decided from its values.

    Returns
    -------
    list of Finding
        One for each kind that was found. ``print`` them, or read ``kind``, ``names``, ``details``.

    Examples
    --------
    >>> import numpy as np
    >>> from hocmim.insight.checks import check_table
    >>> y = np.arange(100) % 2
    >>> X = np.column_stack([np.arange(100), 1 - y, np.zeros(100), np.arange(100) // 10])
    >>> for finding in check_table(X, y):
    ...     print(finding.kind, finding.names, finding.details)
    leak ('1',) ('explains 100% of the target',)
    identifier ('0',) ('identifies the rows',)
    constant ('2',) ('has the same value in every row',)
    """
    X, y = split_target(X, y)
    table = as_table(X)
    encoder = Encoder() if encoder is None else encoder
    is_fitted = hasattr(encoder, "columns_")
    how = encoder.transform if is_fitted else partial(encoder.fit_transform, y=y)
    codes = how(table, n_jobs=-1)
    targets: Sequence[EncodedTarget] = ()
    if y is not None:
        targets = encode_target(y, table.n_rows, Target.of(target)).each
    return check_codes(encoder, codes, targets, names=table.names, table=table)


def check_codes(
    encoder: Encoder,
    codes: Codes | RemoteCodes,
    targets: Sequence[EncodedTarget],
    *,
    names: Sequence[str] | None = None,
    features: Features | None = None,
    kinds: Collection[str] = KINDS,
    relevance: Values | None = None,
    identifiers: Collection[int] | None = None,
    excluded: Collection[int] = (),
    treatment: str = "drop",
    table: Table | None = None,
) -> list[Finding]:
    """Look for odd columns in a table that is already encoded.

    ``codes`` are those of the columns, or of ``features`` if these are given. ``relevance`` is that
    of each by any estimator, if there is one target; ``identifiers`` are columns, by default those
    the encoder found. Nothing is said about ``excluded`` columns. ``treatment`` is what is done
    with identifiers. ``table`` has the values of columns that may be leaks, and dates.
    """
    features = Features(len(encoder.columns_), names) if features is None else features
    n_rows = codes.n_samples
    odd: dict[str, Sequence[_Odd]] = {}
    if LEAK in kinds and targets:
        odd[LEAK] = _leaks(encoder, codes, targets, features, relevance, table)
    if IDENTIFIER in kinds:
        marked = encoder.identifiers_.tolist() if identifiers is None else sorted(identifiers)
        odd[IDENTIFIER] = [_Odd(j, "identifies the rows") for j in marked]
    if TEXT in kinds:
        odd[TEXT] = _texts(encoder, table)
    if {CONSTANT, MANY_LEVELS, MISSING} & set(kinds):
        assert isinstance(codes, Codes)
        odd |= _levels(encoder, codes, n_rows)
    if UNEVEN in kinds:
        odd[UNEVEN] = _uneven(encoder, n_rows, table)
    if ROUNDED in kinds and table is not None:
        odd[ROUNDED] = _rounded(encoder, table)
    for kind in odd:
        of_place = features.columns if kind == LEAK else lambda j: (j,)
        odd[kind] = [one for one in odd[kind] if not set(of_place(one.place)) & set(excluded)]
    advice = {UNEVEN: _UNEVEN_ADVICE.get(encoder.discretizer, "Try another discretizer.")}
    if treatment != "drop":
        advice[IDENTIFIER] = _NOT_LEFT_OUT
    target = "the target" if len(targets) == 1 else "one of the targets"
    found = []
    for kind in [kind for kind in KINDS if kind in kinds and odd.get(kind)]:
        of = features.names if kind == LEAK else features.column_names
        names = [column_name(of, one.place) for one in odd[kind]]
        columns = [features.columns(k) if kind == LEAK else (k,) for k, *_ in odd[kind]]
        nearly = "" if all(one.share >= 1 for one in odd[kind]) else "nearly "
        amount = f"{nearly}all of {target}"
        found.append(
            Finding(
                kind,
                tuple(j for each in columns for j in each),
                tuple(names),
                tuple(one.detail for one in odd[kind]),
                *_say(kind, names, advice.get(kind, ""), amount),
                tuple(one.share for one in odd[kind]),
            )
        )
    if DUPLICATES in kinds and isinstance(codes, Codes):
        found += _duplicates(codes, targets, table)
    return found


def _duplicates(
    codes: Codes, targets: Sequence[EncodedTarget], table: Table | None
) -> list[Finding]:
    """Return the finding on rows that repeat another row, if there are enough of them."""
    n_repeated = count_repeated_rows(codes, targets, table)
    if not n_repeated:
        return []
    equal = "values" if table is not None else "codes"
    sentence = (
        f"{n_repeated:,} of {codes.n_samples:,} rows repeat another row: all {equal} are equal, "
        "that of the target too."
    )
    advice = (
        "A test takes each for an observation of its own, and is too sure if they are copies. Drop "
        "copies. If equal rows belong together, pass groups; if one row stands for several "
        "observations, pass their number as sample_weight, integers."
    )
    return [Finding(DUPLICATES, (), (), (), sentence, advice)]


def warn_about(findings: Sequence[Finding]) -> None:
    """Give a warning for each finding that can make a selection misleading."""
    for finding in findings:
        if finding.kind == TEXT:
            warn_user(str(finding), TextWarning)
        elif finding.kind in WARNED:
            warn_user(DataWarning(str(finding), finding))


def warn_about_identifiers(
    names: Sequence[str] | None, columns: Iterable[int], treatment: str
) -> None:
    """Warn for a filter about columns that identify the rows, unless they are kept."""
    which = [column_name(names, int(j)) for j in columns]
    if which and treatment != "keep":
        sentence, advice = _say(IDENTIFIER, which, "" if treatment == "drop" else _NOT_LEFT_OUT)
        # A filter has no encoder: the parameter is its own.
        own = re.sub(r"Encoder\((identifiers='\w+')\)", r"\1", advice)
        warn_user(DataWarning(f"{sentence} {own}"))


def only_identifiers() -> InvalidTableError:
    """Return the error for a table in which there is nothing to select."""
    return InvalidTableError(
        "Every column of X identifies the rows, so that there is nothing to select. To select from "
        "them, pass Encoder(identifiers='keep')."
    )


# --- the sentences --------------------------------------------------------------------------------

# What to say of one column and of several, and what to do: {n} columns, {names}.
_WORDS = {
    LEAK: (
        "{names} explains {amount}.|{names} explain {amount}.",
        "Is it known before the target is? If not, exclude it.|"
        "Are they known before the target is? If not, exclude them.",
    ),
    IDENTIFIER: (
        "{n} identifies the rows: {names}.|{n} identify the rows: {names}.",
        "It is no candidate. To select from it too, pass Encoder(identifiers='keep').|"
        "They are no candidates. To select from them too, pass Encoder(identifiers='keep').",
    ),
    TEXT: (
        "{n} of text that looks like numbers or dates is treated as categories: {names}.|"
        "{n} of text that looks like numbers or dates are treated as categories: {names}.",
        "To read text as numbers or dates, pass X through hocmim.TextConverter.",
    ),
    CONSTANT: (
        "{n} has one value or none: {names}.|{n} have one value or none: {names}.",
        "It tells nothing about the target.|They tell nothing about the target.",
    ),
    MANY_LEVELS: (
        f"{{n}} has fewer than {ROWS_PER_LEVEL} rows per level: {{names}}.|"
        f"{{n}} have fewer than {ROWS_PER_LEVEL} rows per level: {{names}}.",
        "What such a column tells about the target is easily overestimated. "
        "Encoder(max_levels=…) pools rare levels.",
    ),
    UNEVEN: (
        f"{{n}} has one bin with more than {MAX_BIN_SHARE:.0%} of the rows, whose values count as "
        f"equal: {{names}}.|{{n}} have one bin with more than {MAX_BIN_SHARE:.0%} of the rows, "
        "whose values count as equal: {names}.",
        "",
    ),
    ROUNDED: (
        "{n} of whole numbers beyond 2^53 was rounded, so that different values count as equal: "
        "{names}.|{n} of whole numbers beyond 2^53 were rounded, so that different values count as "
        "equal: {names}.",
        "Subtract a number, or convert to strings if they are codes.",
    ),
    MISSING: (
        "{n} has missing values: {names}.|{n} have missing values: {names}.",
        "Missing is a level of its own.",
    ),
}
_NOT_LEFT_OUT = (
    "What it says about the target does not hold for new rows. To leave it out, pass "
    "Encoder(identifiers='drop').|What they say about the target does not hold for new rows. To "
    "leave them out, pass Encoder(identifiers='drop')."
)
# What to do about a bin with most of the rows, by discretizer.
_UNEVEN_ADVICE = {
    "uniform": 'Try the discretizer "quantile", bins of equal frequency.',
    "quantile": "Many rows have the same value. Check that this value does not stand for a missing "
    "one.",
    "mdlp": 'MDLP found no other cut that separates the classes. Try the discretizer "quantile".',
}


def _say(kind: str, names: Sequence[str], advice: str = "", amount: str = "") -> tuple[str, str]:
    """Return what was found and what to do, for one column or several."""
    sentence, usual = _WORDS[kind]
    one_or_more = slice(0, 1) if len(names) == 1 else slice(-1, None)
    listed = some_of([quote(name) for name in names], MAX_NAMED)
    [text], [todo] = ((t.split("|"))[one_or_more] for t in (sentence, advice or usual))
    return text.format(n=count(len(names), "column"), names=listed, amount=amount), todo


# --- leaks ----------------------------------------------------------------------------------------


def _leaks(
    encoder: Encoder,
    codes: Codes | RemoteCodes,
    targets: Sequence[EncodedTarget],
    features: Features,
    relevance: Values | None,
    table: Table | None,
) -> list[_Odd]:
    """Return the features that tell nearly all of a target."""
    found: dict[int, _Odd] = {}
    for target in targets:
        y, alike = target.column, _cut_alike(target, encoder)
        information = relevance if len(targets) == 1 else None
        # Bins of equal width hide a copy of a skewed quantity that is cut into quantiles.
        is_hidden = target.values is not None and encoder.discretizer != DEFAULT_DISCRETIZER
        if isinstance(codes, Codes) and (information is None or is_hidden):
            information = BlockTerms(codes, Joint.of([alike]), PLUGIN_ESTIMATOR).relevance()
            y = alike
        if information is None:
            continue
        least = SUSPICIOUS_SHARE * plugin_entropy(np.bincount(y.codes))
        suspects = np.flatnonzero(information >= least)
        suspects = suspects[np.argsort(-information[suspects], kind="stable")[:MAX_EXAMINED]]
        columns = [codes.column(int(k)) for k in np.sort(suspects)]
        for x, share in zip(columns, _shares(columns, alike), strict=True):
            share, text = min(1.0, round(float(share), 12)), ""
            if share >= LEAK_SHARE and x.arity * LEAK_ROWS_PER_LEVEL <= len(y.codes):
                text = f"explains {percent(share)} of the target"
            elif table is not None and len(features.columns(x.index)) == 1:
                share, text = _leak_in_values(table, features.columns(x.index)[0], target, share)
            if text:
                found.setdefault(x.index, _Odd(x.index, text, share))
    return [found[k] for k in sorted(found)]


def _cut_alike(target: EncodedTarget, encoder: Encoder) -> Column:
    """Return a quantity cut as the columns are, so that a copy has the same codes; or classes."""
    values = target.values
    if values is None or len(values) != len(target.column.codes):
        return target.column
    name = encoder.discretizer if encoder.discretizer in BY_VALUE else DEFAULT_DISCRETIZER
    alike = Encoder(discretizer=name, n_bins=encoder.n_bins)
    return alike.fit_transform(values[:, None]).column(0)


def _shares(columns: Sequence[Column], y: Column) -> Values:
    """I(X;Y) / H(Y) of some columns, plug-in."""
    if not columns:
        return np.zeros(0)
    terms = BlockTerms(Codes.from_columns(columns), Joint.of([y]), PLUGIN_ESTIMATOR)
    return terms.relevance() / plugin_entropy(np.bincount(y.codes))


def _leak_in_values(table: Table, j: int, target: EncodedTarget, share: float) -> tuple[float, str]:
    """Return how much a column of numbers tells of the target, and how; "" if it is no leak."""
    block = table.read(Span(j, j + 1))
    if not isinstance(block, Numbers):
        return share, ""
    x = block.values[:, 0].astype(np.float64)
    is_present = ~np.isnan(x)
    x = x[is_present]
    if len(x) < MIN_ROWS:
        return share, ""
    if target.values is not None:
        y = target.values[is_present]
        for rows in (slice(SAMPLE_ROWS), slice(None)):
            correlation = _rank_correlation(x[rows], y[rows])
            if abs(correlation) < LEAK_CORRELATION:
                return share, _coarse_copy(x, y)
        return share, f"has a rank correlation of {correlation:.3f} with the target"
    classes = target.column.codes
    lacks_class = len(np.unique(classes[is_present])) < len(np.unique(classes))
    if len(x) < MIN_ROWS_OF_CLASSES or lacks_class:
        return share, ""
    for rows in (slice(SAMPLE_ROWS), slice(None)):
        if not _are_separated(x[rows], classes[is_present][rows]):
            return share, ""
    return 1.0, "separates the classes without error (their ranges do not overlap)"


def _coarse_copy(x: Values, y: Values) -> str:
    """Say that a column is a quantity in a few levels, such as its quartile; "" if it is not."""
    levels, sizes = np.unique(x, return_counts=True)
    is_coarse = len(levels) >= LEAK_LEVELS and sizes.min() >= LEAK_ROWS_PER_LEVEL
    if is_coarse and _are_separated(y, x):
        return f"is the target in {len(levels)} levels (their ranges do not overlap)"
    return ""


def _are_separated(x: Values, classes: NDArray[Any]) -> bool:
    """Whether the ranges of numbers in each class do not overlap."""
    order = np.argsort(classes, kind="stable")
    ordered, x = classes[order], x[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    low, high = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    rank = np.argsort(low)
    return bool((high[rank][:-1] < low[rank][1:]).all())


def _rank_correlation(x: Values, y: Values) -> float:
    """Return Spearman's correlation; 0 if one does not vary."""
    a, b = (_ranks(values) for values in (x, y))
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0


def _ranks(values: Values) -> Values:
    """Return centred ranks; equal values share their mean rank."""
    _, places, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes + 1) / 2)[places]
    return np.asarray(ranks - ranks.mean())


# --- the other kinds ------------------------------------------------------------------------------


def _texts(encoder: Encoder, table: Table | None) -> list[_Odd]:
    """Return the columns of text that can be read as numbers or dates.

    Decided on the distinct values, each counted once. With at most ``n_bins`` distinct values
    numbers are not cut either, so such columns are left out. So are columns whose type in the table
    says that they are categories.
    """
    found = []
    for j, levels in encoder.columns_.categories.items():
        if len(levels) <= encoder.n_bins or not isinstance(levels[0], str):
            continue
        reading = recognize(list(levels), np.ones(len(levels), np.int64))
        if reading is None or reading.kind == "code" or _is_declared(table, j):
            continue
        example = one_line(reading.example or levels[len(levels) // 2], MAX_VALUE)
        found.append(_Odd(j, f"holds text such as {example!r} that could be numbers or dates"))
    return found


def _is_declared(table: Table | None, j: int) -> bool:
    """Whether the type of a column of a DataFrame says that it holds categories."""
    dtype = getattr(table, "dtype", None)
    return dtype is not None and str(dtype(j)).startswith(("Categorical", "Enum"))


def _levels(encoder: Encoder, codes: Codes, n_rows: int) -> dict[str, Sequence[_Odd]]:
    """Return the columns that are constant, that have many levels, and with missing values."""
    constant, many, missing = [], [], []
    identifiers = set(encoder.identifiers_.tolist())
    for j, column in enumerate(encoder.columns_):
        n_missing = 0
        if column.missing is not None:
            n_missing = int(np.count_nonzero(codes.column(j).codes == column.missing))
        if column.arity <= 1 and column.kind != "cut":
            is_empty = column.missing is not None
            text = (
                "has no values: all are missing" if is_empty else "has the same value in every row"
            )
            constant.append(_Odd(j, text))
            continue
        if n_missing:
            share = n_missing / n_rows
            text = f"is missing in {n_missing:,} of {n_rows:,} rows ({share:.1%})"
            missing.append(_Odd(j, text, share))
        n_levels, n_present = column.arity - (column.missing is not None), n_rows - n_missing
        is_category = column.kind == "categories" and j not in identifiers
        if is_category and n_levels > 2 and n_levels * ROWS_PER_LEVEL > n_present:
            each = f"{n_present / n_levels:.1f} rows each on average"
            many.append(_Odd(j, f"has {n_levels:,} levels, {each}"))
    missing.sort(key=lambda one: (-one.share, one.place))
    return {CONSTANT: constant, MANY_LEVELS: many, MISSING: missing}


def _uneven(encoder: Encoder, n_rows: int, table: Table | None) -> list[_Odd]:
    """Return the columns that were cut and have nearly all rows in one bin."""
    frequent, n_frequent = encoder.columns_.most_frequent, encoder.columns_.n_most_frequent
    found = []
    is_uneven = encoder.columns_.is_cut & (n_frequent > MAX_BIN_SHARE * n_rows)
    for j in np.flatnonzero(is_uneven).tolist():
        column, code = encoder.columns_[j], int(frequent[j])
        if code == column.missing:
            continue
        time_kind = None if table is None else table.time_kinds([j]).get(j)
        where = describe_bins(format_cuts(column.cuts.tolist(), time_kind))[code]
        share = percent(int(n_frequent[j]) / n_rows)
        found.append(_Odd(j, f"has {share} of its rows in one bin ({where})"))
    return found


def _rounded(encoder: Encoder, table: Table) -> list[_Odd]:
    """Return the columns of whole numbers with different values that are equal as floats."""
    found = []
    for j in sorted({*_beyond(encoder.columns_.cuts), *_beyond(encoder.columns_.levels)}):
        if table.time_kinds([j]):
            continue  # nanoseconds
        values = getattr(table.read(Span(j, j + 1)), "values", np.empty(0))
        if values.dtype.kind in "iu":
            distinct = np.unique(values)
            n_equal = len(distinct) - len(np.unique(distinct.astype(np.float64)))
            if n_equal:
                found.append(_Odd(j, f"has {count(n_equal, 'value')} equal to another by rounding"))
    return found


def _beyond(numbers: Ragged) -> list[int]:
    """Return the rows with a number of 2^53 or more, from which on floats leave out integers."""
    at = np.flatnonzero(np.abs(numbers.values) >= 2.0**53)
    return np.unique(np.searchsorted(numbers.offsets, at, side="right") - 1).tolist()


# --- column by column -----------------------------------------------------------------------------


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
        What to check, such as "identifies the rows".
    """

    index: int
    name: str
    encoding: Encoding
    n_missing: int
    notes: tuple[str, ...]


@checked(
    encoder=[Encoder, None],
)
def describe_columns(
    X: Any, y: Any = None, *, encoder: Encoder | None = None
) -> list[ColumnSummary]:
    """Describe what hocmim makes of each column of a table.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Anything in memory that a selector takes.
    y : array of shape (n_samples,), optional
        The target: then leaks are noted.
    encoder : Encoder, optional
        How to encode; by default as selectors do by default.

    Examples
    --------
    >>> from hocmim.insight.checks import describe_columns
    >>> for column in describe_columns([[1.5, "a"], [2.5, "b"], [None, "a"]]):
    ...     print(column.name, "|", column.encoding)
    0 | levels as they are, 2 values: 1.5, 2.5; missing values are a level of their own
    1 | levels as they are, 2 categories: a, b
    """
    X, y = split_target(X, y)
    table = as_table(X)
    encoder = Encoder() if encoder is None else encoder
    codes = encoder.fit_transform(table, y, n_jobs=-1)
    notes: dict[int, list[str]] = {}
    for finding in check_table(table, y, encoder=encoder):
        if finding.kind != MISSING:
            for j, detail in zip(finding.columns, finding.details, strict=True):
                notes.setdefault(j, []).append(detail)
    kinds = table.time_kinds(range(table.n_columns))
    return [
        ColumnSummary(
            j,
            column_name(table.names, j),
            describe_column(column, kinds.get(j)),
            0
            if column.missing is None
            else int(np.count_nonzero(codes.column(j).codes == column.missing)),
            tuple(notes.get(j, ())),
        )
        for j, column in enumerate(encoder.columns_)
    ]
