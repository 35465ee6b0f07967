"""Reading the table of a command: the features, the target, and messages about both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hocmim.cli import show
from hocmim.cli.options import Source
from hocmim.cli.parameters import Given, parameters_of, split_columns
from hocmim.coding.target import Target, TargetKind, decide_kind
from hocmim.data.files import column_types, format_of, numbers_as_text, read_table
from hocmim.data.formats import Format
from hocmim.data.reading import SAMPLE_ROWS, TableReading, TextConverter
from hocmim.data.recognize import ColumnReading
from hocmim.data.rows import Piece
from hocmim.data.target import as_target
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.search.progress import Progress
from hocmim.text import count, did_you_mean, some_of

NAMES = {"classes": "classes", "quantity": "a quantity"}
BALANCED = "balanced"
SHOWN_CLASSES, SHOWN_NAMES, SHOWN_TEXT_COLUMNS = 4, 8, 3
# How the user settles how text is read, for messages.
TEXT_OPTIONS = {name: f"--{name} {{}}" for name in ("decimal", "thousands", "dates")}


@dataclass(frozen=True)
class Data:
    """A table and its target, in the form selectors accept.

    ``X`` and ``y`` are a pyarrow table and an array; or, if the selector reads the file itself, a
    RowSource and the name of the target. ``y`` has a column for each of several targets, or is a
    list of names. ``types`` are those of the features. The kind of ``target`` is decided, unless
    the selector reads the file itself or there are several targets. ``table`` is the complete file,
    ``n_without_target`` how many rows are excluded because their target is missing.
    """

    X: Any
    y: Any
    types: dict[str, str]
    n_rows: int
    target: Target
    table: Any = None
    n_without_target: int = 0
    weights: Any = None
    reading: TableReading = field(default_factory=TableReading)
    groups: Any = None
    kinds: tuple[TargetKind, ...] = ()

    @cached_property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.types)

    @property
    def is_in_memory(self) -> bool:
        """Whether the table is in memory."""
        return self.table is not None

    def needs_memory(self, what: str) -> None:
        """Raise an error if the table is not in memory; ``what`` needs it, with the verb."""
        if not self.is_in_memory:
            raise InvalidParameterError(
                f"{what} the table in memory. Leave out --cluster and --codes-dir."
            )


def load(source: Source, given: Given, quiet: bool, *, in_memory: bool = False) -> Data:
    """Read the table, unless the selector may read the file itself; print what it contains."""
    keys = {name: f"target_{name}" for name in parameters_of(Target)}
    target = Target(**{name: given[key] for name, key in keys.items() if key in given})
    if not in_memory and _selector_reads(source, given):
        data = _by_path(source, target)
    else:
        data = _in_memory(source, target, quiet)
    if not quiet:
        _print_contents(source, data)
    return data


def _selector_reads(source: Source, given: Given) -> bool:
    if "cluster" not in given and "codes_dir" not in given:
        return False
    return format_of(source.file) == Format("parquet")


def _by_path(source: Source, target: Target) -> Data:
    from hocmim.data.sources import open_source

    given = {"weights": source.weights, "groups": source.groups, "as": source.kinds}
    given |= {name: getattr(source, name) for name in TEXT_OPTIONS}
    for name in (name for name, value in given.items() if value):
        raise InvalidParameterError(
            f"--{name} cannot be used with --cluster or --codes-dir on a Parquet file, which is "
            "not read into memory."
        )
    rows, _ = open_source(source.file)
    names = [str(name) for name in rows.columns]
    dropped = _dropped(source, names)
    rows = replace(rows, columns=tuple(name for name in names if name not in dropped))
    features = [name for name in names if name not in (*dropped, *source.target)]
    _check_features(source, features)
    types: dict[str, str] = column_types(rows.pieces[0].head(rows.columns)) if rows.pieces else {}
    _warn_of_text(rows.pieces, [name for name, word in types.items() if word == "text"])
    types = {name: types.get(name, "text") for name in features}
    y = source.target[0] if len(source.target) == 1 else list(source.target)
    return Data(rows, y, types, rows.n_rows, target, reading=_reading(source, ()))


def _warn_of_text(pieces: Sequence[Piece], names: Sequence[str]) -> None:
    """Warn of columns that would be numbers or dates if the file were read into memory."""
    if not names:
        return
    _, sample = next(pieces[0].tables([names], SAMPLE_ROWS * len(names)))
    found = [one.name for one in TextConverter().learn(sample).columns if one.is_converted]
    if found:
        show.warn(
            f"{some_of([show.quoted(name) for name in found], SHOWN_NAMES)} can be read as "
            "numbers or dates, but text stays text in a file that is not read into memory. "
            "Convert the file, or leave out --cluster and --codes-dir."
        )


def _in_memory(source: Source, target: Target, quiet: bool) -> Data:
    table, read = read_columns(source, quiet)
    known = with_target(source, table)
    X = known.drop_columns(list(dict.fromkeys((*source.target, *_row_columns(source)))))
    y = read_target(source, known, target)
    kinds = tuple(decide_kind(as_target(one), target.kind) for one in (y.T if y.ndim > 1 else [y]))
    if len(kinds) == 1:
        target = replace(target, kind=kinds[0].name)
    return Data(
        X,
        y,
        column_types(X),
        known.num_rows,
        target,
        table,
        table.num_rows - known.num_rows,
        _weights(known, source),
        read,
        None if source.groups is None else _groups(known.column(source.groups)),
        kinds,
    )


# --- columns --------------------------------------------------------------------------------------


def read_file(file: str, quiet: bool, **options: Any) -> Any:
    """Read a file by ``read_table``, with a bar on the terminal."""
    with show.bar("reading", quiet) as move:
        return read_table(file, None if move is None else Progress("", move).move, **options)


def read_columns(source: Source, quiet: bool) -> tuple[Any, TableReading]:
    """Return the table without the dropped columns, with its text read, and how it was read."""
    settings = TextConverter(
        decimal=source.decimal,
        thousands=source.thousands,
        dates=source.dates,
        columns=dict(source.kinds),
    )
    settings.check()
    is_comma = source.decimal == "," or source.thousands == "."
    as_text = [name for name, kind in source.kinds if kind != "number"]
    table = read_file(
        source.file,
        quiet,
        delimiter=source.delimiter,
        encoding=source.encoding,
        missing=source.missing,
        header=not source.no_header,
        as_text=as_text,
        has_points=not is_comma,
    )
    for name, _ in source.kinds:
        check_column(name, table.column_names, source.file)
    table = table.drop_columns(_dropped(source, table.column_names))
    others = (*source.target, *_row_columns(source))
    _check_features(source, [name for name in table.column_names if name not in others])
    kinds = {name: kind for name, kind in source.kinds if name in table.column_names}
    reading = settings.set_params(columns=kinds).learn(table)
    return reading.apply(table), _reading(source, reading.columns)


def _reading(source: Source, learnt: tuple[ColumnReading, ...]) -> TableReading:
    return TableReading(learnt, source.target, source.missing, not source.no_header)


def check_column(name: str, names: Sequence[str], file: str) -> None:
    """Raise an error that suggests similar names if there is no column of this name."""
    if name not in names:
        listed = some_of([show.quoted(each) for each in names], SHOWN_NAMES)
        hint = did_you_mean(name, names) or f" Its columns are {listed}."
        where = show.place(file)
        raise InvalidParameterError(f"There is no column {show.quoted(name)} in {where}.{hint}")


def _dropped(source: Source, names: Sequence[str]) -> list[str]:
    """Check the columns that options name; return those to drop."""
    dropped = list(dict.fromkeys(split_columns(source.drop, names)))
    for name in (*source.target, *_row_columns(source), *dropped):
        check_column(name, names, source.file)
    for name in source.target:
        if name in dropped:
            raise InvalidParameterError(f"{show.quoted(name)} is the target and cannot be dropped.")
    return dropped


def _row_columns(source: Source) -> list[str]:
    """Return the columns of weights and of groups of rows, which are no features."""
    if source.groups is not None and source.groups in source.target:
        raise InvalidParameterError(
            f"{show.quoted(source.groups)} is the target and cannot be --groups."
        )
    weights = None if source.weights == BALANCED else source.weights
    return [name for name in (weights, source.groups) if name is not None]


def _check_features(source: Source, names: Sequence[str]) -> None:
    if not names:
        raise InvalidTableError(
            f"{source.file!r} has no columns besides the target {show.quoted(source.target_name)}. "
            "If it has, pass its delimiter with --delimiter."
        )


# --- target and rows ------------------------------------------------------------------------------


def with_target(source: Source, table: Any) -> Any:
    """Return the rows whose target is known."""
    for name in source.target:
        table = table.filter(table.column(name).is_valid())
    return table


def read_target(source: Source, known: Any, target: Target) -> Any:
    """Return the target as an array; for several, with a column for each."""
    columns = [_target(known.column(name), name, target) for name in source.target]
    if len(columns) == 1:
        return columns[0]
    y = np.empty((known.num_rows, len(columns)), object)
    for number, column in enumerate(columns):
        y[:, number] = column
    return y


def _target(column: Any, name: str, target: Target) -> Any:
    """Return a target as an array with at least two values."""
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)
    name = show.quoted(name)
    if len(column) == 0:
        raise InvalidTargetError(f"The target {name} has no values: all are missing.")
    y = column.to_numpy()
    if len(column.unique()) < 2:
        raise InvalidTargetError(
            f"The target {name} has only one value ({show.quoted(str(y[0]))}). It needs at least "
            "two."
        )
    if target.kind == "quantity" and y.dtype.kind not in "iuf":
        raise InvalidTargetError(
            f"The target {name} is not numeric, so it is not a quantity. Leave out --target-kind."
        )
    return y


def _weights(known: Any, source: Source) -> Any:
    """Return the weight of each row, "balanced", or None."""
    if source.weights in (None, BALANCED):
        return source.weights
    kind = column_types(known)[source.weights]
    if kind not in ("integer", "float"):
        raise InvalidParameterError(
            f"The weights {show.quoted(source.weights)} must be numbers. They are {kind}."
        )
    return known.column(source.weights).to_numpy()


def _groups(column: Any) -> Any:
    """Return the label of each row; a row without one is a group of its own."""
    labels = np.array([str(value) for value in column.to_pylist()], object)
    is_missing = np.array(column.is_null())
    labels[is_missing] = [f"\0{row}" for row in np.flatnonzero(is_missing)]
    return labels


# --- what is printed ------------------------------------------------------------------------------


def _print_contents(source: Source, data: Data) -> None:
    counts = Counter(data.types.values()).most_common()
    types = ", ".join(f"{number:,} {word}" for word, number in counts)
    features = count(len(data.types), "feature")
    show.say(f"{source.place}: {count(data.n_rows, 'row')}, {features} ({types})")
    if not data.is_in_memory:
        show.say("The file is not read into memory.", "dim")
        print_text_columns(data.reading.columns)
        return
    columns = data.y.T if data.y.ndim == 2 else [data.y]
    for name, y, kind in zip(source.target, columns, data.kinds, strict=True):
        show.say(f"target {show.quoted(name)}: {_describe_target(kind, as_target(y))}")
    if data.n_without_target:
        show.warn(f"{count(data.n_without_target, 'row')} without a target excluded.")
    print_text_columns(data.reading.columns)
    odd = numbers_as_text(data.X)
    if odd:
        values = dict.fromkeys(show.quoted(value) for others in odd.values() for value in others)
        is_one = len(odd) == 1
        show.warn(
            f"{some_of([show.quoted(name) for name in odd], SHOWN_NAMES)} "
            f"{'is' if is_one else 'are'} text because of values like "
            f"{some_of(list(values), SHOWN_NAMES)}. If these are missing values, pass them with "
            "--missing, or pass --as NAME=number."
        )


def print_text_columns(columns: Sequence[ColumnReading]) -> None:
    """Print how columns of text were read: a line for each, or one for many read in one way."""
    ways: dict[Any, list[ColumnReading]] = {}
    for column in columns:
        ways.setdefault((column.kind, column.way), []).append(column)
    for same in ways.values():
        write = show.warn if same[0].kind == "ambiguous" else show.say
        if len(same) <= SHOWN_TEXT_COLUMNS:
            for column in same:
                write(column.sentence(TEXT_OPTIONS))
        else:
            named = some_of([show.quoted(one.name) for one in same], SHOWN_NAMES)
            n_failed = sum(one.n_failed for one in same)
            failed = f" {count(n_failed, 'value')} did not parse in all." if n_failed else ""
            write(
                f"{named}: like {same[0].sentence(TEXT_OPTIONS)}{failed} hocmim columns shows each."
            )


def _describe_target(kind: TargetKind, y: Any) -> str:
    """Return what a target holds; if that is a guess, also how to declare something else."""
    values, counts = np.unique(y, return_counts=True)
    other = "classes" if kind.is_quantity else "quantity"
    guess = f". A guess: if it holds {NAMES[other]}, pass --target-kind {other}"
    end = guess if kind.guess else ""
    if kind.is_quantity:
        return f"a quantity, {len(values):,} distinct values{end}"
    order = np.argsort(-counts, kind="stable")[:SHOWN_CLASSES]
    shown = ", ".join(f"{show.quoted(str(values[i]))} {counts[i]:,}" for i in order)
    more = ", …" if len(values) > SHOWN_CLASSES else ""
    return f"{len(values):,} classes ({shown}{more}){end}"
