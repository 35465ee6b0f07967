"""The table of a command: read, its target taken out, and what there is to say about it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hocmim.cli import show
from hocmim.cli.options import Settings, Source
from hocmim.coding.encoder import Encoder
from hocmim.data.files import column_types, file_format, numbers_as_text, read_table
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError

# A target of whole numbers with more classes than this may be meant as a quantity.
MANY_CLASSES = 50
SHOWN_CLASSES = 4
SHOWN_NAMES = 8


@dataclass(frozen=True)
class Data:
    """A table and its target, as a selector takes them.

    Attributes
    ----------
    X : pyarrow Table or str
        The features; the path itself of a Parquet file that the selector reads on its own.
    y : array or str
        The target, or then its name.
    types : dict of str to str
        What each feature holds, in a word.
    n_rows : int
    table : pyarrow Table or None
        The file as it was read.
    n_without_target : int
        Rows that were left out for want of a target.
    """

    X: Any
    y: Any
    types: dict[str, str]
    n_rows: int
    table: Any = None
    n_without_target: int = 0

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.types)

    @property
    def is_read(self) -> bool:
        """Whether the table is in memory."""
        return not isinstance(self.X, str)


def load(source: Source, settings: Settings | None, quiet: bool) -> Data:
    """Read the table, or leave that to the selector; say what was found."""
    by_selector = settings is not None and _selector_reads(source, settings)
    data = _by_path(source) if by_selector else _in_memory(source)
    if not quiet:
        _say_what_it_is(source, data)
    return data


def _selector_reads(source: Source, settings: Settings) -> bool:
    if settings.engine == "local" and settings.codes_dir is None:
        return False
    return source.file != "-" and file_format(Path(source.file)) == ("parquet", False)


def _by_path(source: Source) -> Data:
    from pyarrow import dataset

    if source.drop or source.target_kind != "auto":
        raise InvalidParameterError(
            "--drop and --target-kind do not go with --engine dask or --codes-dir on a Parquet "
            "file, which is read by the workers: write a file without these columns first."
        )
    rows = dataset.dataset(source.file, format="parquet")
    check_column(source.target, rows.schema.names, source.file)
    types = column_types(rows)
    del types[source.target]
    _check_features(source, types)
    return Data(source.file, source.target, types, rows.count_rows())


def _in_memory(source: Source) -> Data:
    table = read_table(
        source.file,
        delimiter=source.delimiter,
        encoding=source.encoding,
        missing=source.missing,
        header=not source.no_header,
    )
    for name in (source.target, *source.drop):
        check_column(name, table.column_names, source.file)
    if source.target in source.drop:
        raise InvalidParameterError(f"{source.target!r} is the target and cannot be dropped.")
    known = table
    n_without = table.column(source.target).null_count
    if n_without:
        known = table.filter(table.column(source.target).is_valid())
    X = known.drop_columns([source.target, *dict.fromkeys(source.drop)])
    types = column_types(X)
    _check_features(source, types)
    y = _target(known.column(source.target), source)
    return Data(X, y, types, known.num_rows, table, n_without)


def check_column(name: str, names: Sequence[str], file: str) -> None:
    """Raise an error that suggests the nearest names unless there is a column of that name."""
    if name in names:
        return
    near = difflib.get_close_matches(name.casefold(), [n.casefold() for n in names], n=3)
    likely = [n for n in names if n.casefold() in near]
    if likely:
        hint = f"Did you mean {' or '.join(map(show.quoted, likely[:3]))}?"
    else:
        rest = f" and {len(names) - SHOWN_NAMES} others" if len(names) > SHOWN_NAMES else ""
        hint = f"It has {', '.join(map(show.quoted, names[:SHOWN_NAMES]))}{rest}."
    place = "standard input" if file == "-" else repr(file)
    raise InvalidParameterError(f"There is no column {show.quoted(name)} in {place}. {hint}")


def _check_features(source: Source, types: dict[str, str]) -> None:
    if not types:
        raise InvalidTableError(
            f"{source.file!r} has no columns to select from besides the target "
            f"{show.quoted(source.target)}. If it has, its delimiter is another: see --delimiter."
        )


def _target(column: Any, source: Source) -> Any:
    """The target as an array, with at least two values."""
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)
    name = show.quoted(source.target)
    if len(column) == 0:
        raise InvalidTargetError(f"The target {name} has no values: all are missing.")
    y = column.to_numpy()
    if len(column.unique()) < 2:
        raise InvalidTargetError(
            f"The target {name} has only one value ({show.quoted(str(y[0]))}), so no column can "
            "tell anything about it."
        )
    if source.target_kind == "classes":
        return np.array([str(value) for value in y], dtype=object)
    if source.target_kind == "quantity":
        if y.dtype.kind not in "iuf":
            raise InvalidTargetError(
                f"The target {name} is no quantity: it holds no numbers. Leave out --target-kind."
            )
        return Encoder().fit_transform(y[:, None]).column(0).codes
    return y


def _say_what_it_is(source: Source, data: Data) -> None:
    kinds = Counter(data.types.values()).most_common()
    found = ", ".join(f"{number:,} of {word}" for word, number in kinds)
    where = "standard input" if source.file == "-" else source.file
    show.say(
        f"{where}: {show.counted(data.n_rows, 'row')}, "
        f"{show.counted(len(data.types), 'feature')}: {found}"
    )
    if not data.is_read:
        show.say("It is read by the engine: its columns are not looked through first.", "dim")
        return
    show.say(f"target {show.quoted(source.target)}: {_what_target(source, data)}")
    _say_what_is_odd(data)


def _say_what_is_odd(data: Data) -> None:
    if data.n_without_target:
        show.warn(f"Left out: {show.counted(data.n_without_target, 'row')} without a target.")
    for name, others in numbers_as_text(data.X).items():
        values = ", ".join(show.quoted(value) for value in others)
        show.warn(
            f"{show.quoted(name)} is text because of values like {values}. If they stand for "
            "missing ones, say so with --missing."
        )


def _what_target(source: Source, data: Data) -> str:
    y = data.y
    if source.target_kind == "quantity" or (y.dtype.kind == "f" and (y != np.rint(y)).any()):
        return "a quantity, cut into bins"
    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:SHOWN_CLASSES]
    shown = ", ".join(f"{show.quoted(str(classes[i]))} {counts[i]:,}" for i in order)
    more = ", …" if len(classes) > SHOWN_CLASSES else ""
    text = f"{len(classes):,} classes ({shown}{more})"
    if len(classes) > MANY_CLASSES and y.dtype.kind in "iuf":
        text += ". If it is a quantity, say --target-kind quantity"
    return text
