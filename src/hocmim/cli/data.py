"""Reading the table of a command: the features, the target, and messages about both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocmim.cli import show
from hocmim.cli.imports import defer_imports, leave_out_pandas
from hocmim.cli.options import Settings, Source
from hocmim.data.databases import parse_address
from hocmim.data.files import column_types, numbers_as_text, read_table
from hocmim.data.formats import Format, file_format
from hocmim.data.raw_text import KeptText
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.text import count, did_you_mean, some_of

if TYPE_CHECKING:
    from hocmim.data.conversion import ColumnReading
    from hocmim.data.recognize import TextSettings
    from hocmim.data.target import TargetKind

NAMES = {"classes": "classes", "quantity": "a quantity"}
SHOWN_CLASSES = 4
BALANCED = "balanced"
SHOWN_NAMES = 8
# How the user settles how text is read, for messages.
TEXT_OPTIONS = {name: f"--{name} {{}}" for name in ("decimal", "thousands", "dates")}
SHOWN_TEXT_COLUMNS = 10


@dataclass(frozen=True)
class Data:
    """A table and its target, in the form selectors accept.

    Attributes
    ----------
    X : pyarrow Table or RowSource
        The features; or the rows of a Parquet file, if the selector reads the file itself.
    y : array, str or list of str
        The target, with a column for each of several; or the name of its column, or the names, if
        the selector reads the file itself.
    types : dict of str to str
        The type of each feature.
    n_rows : int
    table : pyarrow Table or None
        The complete file.
    n_without_target : int
        Rows that are excluded because their target is missing.
    target_kind : {"auto", "classes", "quantity"}
        What the target holds; "auto" if the selector reads the file itself and decides.
    weights : array, "balanced" or None
        How often each row counts, relative to the others.
    text_columns : tuple of ColumnReading
        How columns of text that look like numbers or dates were read.
    groups : array or None
        The group of each row.
    """

    X: Any
    y: Any
    types: dict[str, str]
    n_rows: int
    table: Any = None
    n_without_target: int = 0
    target_kind: str = "auto"
    weights: Any = None
    text_columns: tuple[ColumnReading, ...] = ()
    groups: Any = None

    @cached_property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.types)

    @property
    def is_in_memory(self) -> bool:
        """Whether the table is in memory."""
        return self.table is not None


def load(source: Source, settings: Settings | None, quiet: bool) -> Data:
    """Read the table, unless the selector reads the file itself; print what it contains."""
    if settings is None or settings.engine == "local":
        leave_out_pandas()
        defer_imports()
    by_selector = settings is not None and _selector_reads(source, settings)
    data = _by_path(source) if by_selector else _in_memory(source)
    if not quiet:
        _print_contents(source, data)
    return data


def _selector_reads(source: Source, settings: Settings) -> bool:
    if settings.engine == "local" and settings.codes_dir is None:
        return False
    if source.file == "-" or "?sheet=" in source.file or parse_address(source.file) is not None:
        return False
    return file_format(Path(source.file)) == Format("parquet")


def _by_path(source: Source) -> Data:
    from dataclasses import replace

    from hocmim.data.sources import open_source
    from hocmim.data.text_source import convert_source, first_rows

    if source.weights or source.groups:
        raise InvalidParameterError(
            "--weights and --groups cannot be used with --engine dask or --codes-dir on a Parquet "
            "file, which is not read into memory."
        )
    rows, _ = open_source(source.file)
    names = [str(name) for name in rows.columns]
    settings = text_settings(source)
    _check_kinds(source, settings, names)
    dropped = _check_names(source, names)
    rows = replace(rows, columns=tuple(name for name in names if name not in dropped))
    rows, read = convert_source(rows, settings)
    features = [str(name) for name in rows.columns if name not in source.target]
    _check_features(source, features)
    first = first_rows(rows, features)
    types = dict.fromkeys(features, "text") if first is None else column_types(first)
    y = source.target[0] if len(source.target) == 1 else list(source.target)
    kind = source.target_kind
    return Data(rows, y, types, rows.n_rows, target_kind=kind, text_columns=read)


def _in_memory(source: Source) -> Data:
    table, read = _read_columns(source)
    known = _with_target(source, table)
    X = known.drop_columns(list(dict.fromkeys((*source.target, *_row_columns(source)))))
    y, kind = _targets(known, source)
    n_without = table.num_rows - known.num_rows
    weights = _weights(known, source)
    groups = None if source.groups is None else _groups(known.column(source.groups))
    settings = kind, weights, read, groups
    return Data(X, y, column_types(X), known.num_rows, table, n_without, *settings)


def load_columns(source: Source) -> tuple[Any, tuple[ColumnReading, ...], Any]:
    """Return the rows of a file with a target, how its text was read, and the target or None."""
    leave_out_pandas()
    defer_imports()
    table, read = _read_columns(source)
    known = _with_target(source, table)
    return known, read, _targets(known, source)[0] if source.target else None


def _read_columns(source: Source) -> tuple[Any, tuple[ColumnReading, ...]]:
    """Return the table without the dropped columns, and how its text was read."""
    table = read_file(source)
    dropped = _check_names(source, table.column_names)
    table = table.drop_columns(list(dict.fromkeys(dropped)))
    others = (*source.target, *_row_columns(source))
    _check_features(source, [name for name in table.column_names if name not in others])
    return convert(source, table)


def _check_names(source: Source, names: Sequence[str]) -> list[str]:
    """Check the columns that options name; return those to drop."""
    for name in (*source.target, *_row_columns(source)):
        check_column(name, names, source.file)
    dropped = _dropped(source, names)
    for name in source.target:
        if name in dropped:
            raise InvalidParameterError(f"{name!r} is the target and cannot be dropped.")
    return dropped


def _row_columns(source: Source) -> list[str]:
    """Return the columns of weights and of groups of rows, which are no features."""
    if source.groups is not None and source.groups in source.target:
        raise InvalidParameterError(f"{source.groups!r} is the target and cannot be --groups.")
    weights = None if source.weights == BALANCED else source.weights
    return [name for name in (weights, source.groups) if name is not None]


def _with_target(source: Source, table: Any) -> Any:
    """Return the rows whose target is known."""
    for name in source.target:
        table = table.filter(table.column(name).is_valid())
    return table


def read_file(source: Source) -> Any:
    """Read the file as a pyarrow table; check the options that describe its text."""
    settings = text_settings(source)
    settings.check()
    is_comma = source.decimal == "," or source.thousands == "."
    table = read_table(
        source.file,
        delimiter=source.delimiter,
        encoding=source.encoding,
        missing=source.missing,
        header=not source.no_header,
        kept=KeptText(
            [name for name, kind in settings.kinds.items() if kind != "number"], is_comma
        ),
    )
    _check_kinds(source, settings, table.column_names)
    return table


def _check_kinds(source: Source, settings: TextSettings, names: Sequence[str]) -> None:
    """Check the columns whose kind the user declares."""
    for name in settings.kinds:
        check_column(name, names, source.file)
        if name in source.target and settings.kinds[name] == "date-parts":
            raise InvalidParameterError(
                f"{show.quoted(name)} is the target and cannot be split into parts."
            )


def text_settings(source: Source) -> TextSettings:
    """Return what the options say about numbers and dates that are written as text."""
    from hocmim.data.recognize import TextSettings

    return TextSettings(source.decimal, source.thousands, source.dates, dict(source.kinds))


def convert(source: Source, table: Any) -> tuple[Any, tuple[ColumnReading, ...]]:
    """Return the table with its text read as numbers and dates, and how it was read."""
    from dataclasses import replace

    from hocmim.data.conversion import TextConversion  # takes long to import

    settings = text_settings(source)
    kinds = {name: kind for name, kind in settings.kinds.items() if name in table.column_names}
    conversion = TextConversion.learn(table, replace(settings, kinds=kinds))
    return conversion.apply(table), conversion.columns


def _targets(known: Any, source: Source) -> tuple[Any, str]:
    """Return the target or several as an array, and the kind to declare to the selector."""
    import numpy as np

    columns = [_target(known.column(name), name, source) for name in source.target]
    if len(columns) == 1:
        return columns[0], _decide_kind(source, columns[0]).name
    y = np.empty((known.num_rows, len(columns)), object)
    for number, column in enumerate(columns):
        y[:, number] = column
    return y, source.target_kind


def _dropped(source: Source, names: Sequence[str]) -> list[str]:
    """Return the columns to exclude: "a,b" is two columns, unless one has this name."""
    columns = []
    for text in source.drop:
        columns += [text] if text in names else text.split(",")
    for name in columns:
        check_column(name, names, source.file)
    return columns


def _weights(known: Any, source: Source) -> Any:
    """Return the weight of each row, "balanced", or None."""
    if source.weights in (None, BALANCED):
        return source.weights
    column = known.column(source.weights)
    if column_types(known)[source.weights] not in ("integer", "float"):
        raise InvalidParameterError(
            f"The weights {show.quoted(source.weights)} must be numbers. They are "
            f"{column_types(known)[source.weights]}."
        )
    return column.to_numpy()


def _groups(column: Any) -> Any:
    """Return the label of each row; a row without one is a group of its own."""
    import numpy as np

    labels = np.array([str(value) for value in column.to_pylist()], object)
    is_missing = np.array(column.is_null())
    labels[is_missing] = [f"\0{row}" for row in np.flatnonzero(is_missing)]
    return labels


def check_column(name: str, names: Sequence[str], file: str) -> None:
    """Raise an error that suggests similar names if there is no column of this name."""
    if name in names:
        return
    hint = did_you_mean(name, names)
    if not hint:
        hint = f" Its columns are {_listed(names)}."
    place = "standard input" if file == "-" else repr(file)
    raise InvalidParameterError(f"There is no column {show.quoted(name)} in {place}.{hint}")


def _listed(names: Sequence[str]) -> str:
    return some_of([show.quoted(name) for name in names], SHOWN_NAMES)


def _check_features(source: Source, names: Collection[str]) -> None:
    if not names:
        raise InvalidTableError(
            f"{source.file!r} has no columns besides the target {show.quoted(source.target_name)}. "
            "If it has, pass its delimiter with --delimiter."
        )


def _target(column: Any, target: str, source: Source) -> Any:
    """Return the target as an array with at least two values."""
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)
    name = show.quoted(target)
    if len(column) == 0:
        raise InvalidTargetError(f"The target {name} has no values: all are missing.")
    y = column.to_numpy()
    if len(column.unique()) < 2:
        raise InvalidTargetError(
            f"The target {name} has only one value ({show.quoted(str(y[0]))}). It needs at least "
            "two."
        )
    if source.target_kind == "quantity" and y.dtype.kind not in "iuf":
        raise InvalidTargetError(
            f"The target {name} is not numeric, so it is not a quantity. Leave out --target-kind."
        )
    return y


def _decide_kind(source: Source, y: Any) -> TargetKind:
    from hocmim.data.target import as_target, decide_kind, summarize_target

    return decide_kind(summarize_target(as_target(y)), source.target_kind)


def _print_contents(source: Source, data: Data) -> None:
    counts = Counter(data.types.values()).most_common()
    types = ", ".join(f"{number:,} {word}" for word, number in counts)
    where = "standard input" if source.file == "-" else source.file
    show.say(f"{where}: {count(data.n_rows, 'row')}, {count(len(data.types), 'feature')} ({types})")
    if not data.is_in_memory:
        show.say("The file is not read into memory, so its columns are not checked.", "dim")
        print_text_columns(data.text_columns)
        return
    from hocmim.data.target import as_target

    columns = data.y.T if data.y.ndim == 2 else [data.y]
    for name, y in zip(source.target, columns, strict=True):
        show.say(f"target {show.quoted(name)}: {_describe_target(source, as_target(y))}")
    _print_problems(data)


def _print_problems(data: Data) -> None:
    if data.n_without_target:
        show.warn(f"{count(data.n_without_target, 'row')} without a target excluded.")
    print_text_columns(data.text_columns)
    for name, others in numbers_as_text(data.X).items():
        values = ", ".join(show.quoted(value) for value in others)
        show.warn(
            f"{show.quoted(name)} is text because of values like {values}. If these are missing "
            "values, pass them with --missing, or pass --as NAME=number."
        )


def print_text_columns(columns: Sequence[ColumnReading]) -> None:
    """Print how columns of text were read, one line a column, of the first few."""
    for column in columns[:SHOWN_TEXT_COLUMNS]:
        is_open = column.reading is not None and column.reading.kind == "ambiguous"
        (show.warn if is_open else show.say)(column.sentence(TEXT_OPTIONS))
    n_more = len(columns) - SHOWN_TEXT_COLUMNS
    if n_more > 0:
        show.say(f"… and {count(n_more, 'other column')} of text. hocmim columns lists all.", "dim")


def _describe_target(source: Source, y: Any) -> str:
    """Return what a target holds; if that is a guess, also how to declare something else."""
    import numpy as np

    kind = _decide_kind(source, y)
    values, counts = np.unique(y, return_counts=True)
    other = "classes" if kind.is_quantity else "quantity"
    guess = f". A guess: if it holds {NAMES[other]}, pass --target-kind {other}"
    if kind.is_quantity:
        return f"a quantity, {len(values):,} distinct values{guess if kind.guess else ''}"
    order = np.argsort(-counts, kind="stable")[:SHOWN_CLASSES]
    shown = ", ".join(f"{show.quoted(str(values[i]))} {counts[i]:,}" for i in order)
    more = ", …" if len(values) > SHOWN_CLASSES else ""
    return f"{len(values):,} classes ({shown}{more}){guess if kind.guess else ''}"
