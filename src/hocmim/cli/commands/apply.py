"""Apply a saved selection to another table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from hocmim.cli import options, show
from hocmim.cli.command import Command
from hocmim.cli.data import check_column, read_file
from hocmim.cli.pipes import standard_output
from hocmim.coding.cuts import ColumnDescriptions
from hocmim.data import files
from hocmim.data.formulas import neutralise_table
from hocmim.data.reading import TableReading
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.selectors.saving import load
from hocmim.text import count, did_you_mean, escaped, some_of

# Columns that an error names.
SHOWN_COLUMNS = 20


@click.command(cls=Command)
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE")
@options.option(
    "-o",
    "--output",
    default="-",
    metavar="OUT",
    help="Write to this file (CSV, TSV, Parquet, Arrow); - is CSV on standard output.  [default: "
    "-]",
)
@options.option(
    "--keep",
    multiple=True,
    metavar="COL",
    help="Also write this column of FILE, such as an identifier, before the others. Repeatable.",
)
@options.option(
    "--missing-columns",
    type=click.Choice(["error", "empty", "substitute"]),
    default="error",
    show_default=True,
    help="If FILE lacks selected columns: an error, columns without values, or their substitutes, "
    "under their own names.",
)
@options.option("--encoded", is_flag=True, help="Write the codes of the columns, not their values.")
@options.text_file
@options.safe_csv
@options.force
@options.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")
def apply(
    model: Path, file: str, output: str, keep: tuple[str, ...], missing_columns: str,
    encoded: bool, text: dict[str, Any], safe_csv: bool, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write the columns of FILE that MODEL has selected, the best first.

    MODEL is a file of 'hocmim select --save', which also holds how text was read, or of
    selector.save. The target is written too if FILE has it: the result is that of 'hocmim select
    -o'. Columns are found by their names; other columns of FILE are ignored. If the model was
    fitted without names, FILE must have the same number of columns. FILE may be anything that
    'hocmim select' reads, and - for CSV from standard input.

    \b
    Examples:
      hocmim apply model.json new.csv -o reduced.csv
      hocmim apply model.json new.parquet --keep id -o reduced.parquet
      zcat new.csv.gz | hocmim apply model.json - --encoded | head
    """
    if output != "-":
        files.output_format(Path(output))
        show.check_output(output, force)
    selector = load(model)
    reading = getattr(selector, "reading_", TableReading())
    table = read_file(
        file,
        quiet,
        header=reading.has_header and not text.pop("no_header", False),
        missing=(*reading.missing, *text.pop("missing", ())),
        as_text=reading.as_text,
        **text,
    )
    names = _names(selector, table, file)
    chosen = selector.selected_.tolist()
    wanted = [names[j] for j in chosen]
    target = [name for name in reading.target if name in table.column_names]
    if missing_columns == "substitute" and encoded:
        raise InvalidParameterError(
            "--encoded writes the codes of the selected columns, and the model has none of their "
            "substitutes. Leave out one of --encoded and --missing-columns substitute."
        )
    if missing_columns == "substitute":
        wanted = _with_substitutes(reading, wanted, table.column_names, quiet)
    if missing_columns != "empty":
        _check_columns(reading, wanted, table.column_names, file)
    reduced = reading.select(table, [*wanted, *target])
    reduced = reduced.replace_schema_metadata(None)
    if encoded:
        with show.printed_warnings(quiet):
            reduced = _codes(selector, reduced, chosen)
    for at, name in enumerate(keep):
        reduced = _with_kept(reduced, table, at, name, file)
    if output == "-":
        _print(reduced, safe_csv)
        return
    hint = show.OVERWRITE_HINT
    files.write_table(reduced, output, overwrite=force, hint=hint, is_safe=safe_csv)
    if not quiet:
        rows = count(reduced.num_rows, "row")
        show.say(f"Wrote {output}: {rows}, {count(reduced.num_columns, 'column')}.")


def _names(selector: Any, table: Any, file: str) -> list[str]:
    """Return the name in the file of each column of the fit."""
    given = getattr(selector, "feature_names_in_", None)
    if given is not None:
        return [str(name) for name in given]
    if table.num_columns != selector.n_features_in_:
        raise InvalidTableError(
            f"The model was fitted on {selector.n_features_in_} columns without names, and "
            f"{file!r} has {table.num_columns}. Pass a table with the same columns."
        )
    return list(table.column_names)


def _check_columns(
    reading: TableReading, names: Sequence[str], known: Sequence[str], file: str
) -> None:
    """Raise an error that names all selected columns that a file lacks, and their substitutes."""
    absent = [name for name in names if name not in known]
    if not absent:
        return
    listed = some_of([show.quoted(name) for name in absent], SHOWN_COLUMNS)
    replaced = {
        name: [show.quoted(other) for other in reading.substitutes.get(name, ()) if other in known]
        for name in absent[:SHOWN_COLUMNS]
    }
    advice = [
        f" {show.quoted(name)} could be replaced by {' or '.join(others)}."
        for name, others in replaced.items()
        if others
    ]
    near = did_you_mean(absent[0], known) if len(absent) == 1 and not advice else ""
    raise InvalidTableError(
        f"{show.place(file)} lacks {len(absent)} of the {count(len(names), 'selected column')}: "
        f"{listed}.{near}{''.join(advice)} --missing-columns empty writes them without values, "
        "--missing-columns substitute writes the columns that can replace them."
    )


def _with_substitutes(
    reading: TableReading, names: Sequence[str], known: Sequence[str], quiet: bool
) -> list[str]:
    """Return the columns with the best substitute in the place of each that a file lacks.

    A column stays if none of its substitutes is there, or all are among the columns already.
    """
    found = list(names)
    for at, name in enumerate(names):
        others = reading.substitutes.get(name, ())
        there = [other for other in others if other in known and other not in found]
        if name in known or not there:
            continue
        found[at] = there[0]
        if not quiet:
            show.say(f"{show.quoted(there[0])} is written in place of {show.quoted(name)}.")
    return found


def _codes(selector: Any, reduced: Any, chosen: list[int]) -> Any:
    """Return a table with the codes of the selected columns, by the encoder of the model."""
    import pyarrow as pa

    encoder = getattr(selector, "encoder_", None)
    if encoder is None:
        raise InvalidParameterError(
            f"{selector.display_name} of this model does not encode rows. Leave out --encoded."
        )
    names = reduced.column_names[: len(chosen)]
    parts = [encoder.of_columns(j, j + 1).columns_ for j in chosen]
    own = encoder.with_columns(ColumnDescriptions.concatenate(parts), names)
    codes = own.transform(reduced.select(names))
    for k, name in enumerate(names):
        reduced = reduced.set_column(k, name, pa.array(codes.column(k).codes))
    return reduced


def _with_kept(reduced: Any, table: Any, at: int, name: str, file: str) -> Any:
    check_column(name, table.column_names, file)
    if name in reduced.column_names:
        reduced = reduced.drop_columns([name])
    return reduced.add_column(min(at, reduced.num_columns), name, table.column(name))


def _print(reduced: Any, is_safe: bool) -> None:
    table = neutralise_table(reduced) if is_safe else reduced
    with standard_output():
        sys.stdout.flush()
        if sys.stdout.isatty():  # names and values must not move the cursor
            buffer = BytesIO()
            files.write_text(table, buffer)
            sys.stdout.write(escaped(buffer.getvalue().decode()))
        else:
            files.write_text(table, sys.stdout.buffer)
