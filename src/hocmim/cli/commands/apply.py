"""Apply a saved selection to another table."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from hocmim.cli import options, show
from hocmim.cli.command import Command
from hocmim.cli.data import check_column
from hocmim.cli.pipes import standard_output
from hocmim.data import files
from hocmim.data.formulas import neutralise_table
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.selectors.saving import load
from hocmim.text import count, escaped


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
    "--order",
    type=click.Choice(["table", "selection"]),
    default="table",
    show_default=True,
    help="Order of the columns: as in the table of the fit, or the best first.",
)
@options.option(
    "--keep",
    multiple=True,
    metavar="COL",
    help="Also write this column of FILE, such as an identifier, before the others. Repeatable.",
)
@options.option("--encoded", is_flag=True, help="Write the codes of the columns, not their values.")
@options.text_file
@options.safe_csv
@options.force
@options.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")
def apply(
    model: Path, file: str, output: str, order: str, keep: tuple[str, ...], encoded: bool,
    text: dict[str, Any], safe_csv: bool, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write the columns of FILE that MODEL has selected.

    MODEL is a file of 'hocmim select --save' or of selector.save. Columns are found by their names;
    other columns of FILE are ignored. If the model was fitted without names, FILE must have the
    same number of columns. FILE may be anything that 'hocmim select' reads, and - for CSV from
    standard input.

    \b
    Examples:
      hocmim apply model.json new.csv -o reduced.csv
      hocmim apply model.json new.parquet --keep id --order selection -o reduced.parquet
      zcat new.csv.gz | hocmim apply model.json - --encoded | head
    """
    if output != "-":
        files.output_format(Path(output))
        show.check_output(output, force)
    selector = load(model)
    table = files.read_table(file, header=not text.pop("no_header", False), **text)
    chosen = _columns(selector, order)
    names = _names(selector, table, file)
    reduced = _codes(selector, table, chosen, names) if encoded else _values(table, chosen, names)
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


def _columns(selector: Any, order: str) -> list[int]:
    """Return the indices of the selected columns."""
    chosen = selector.selected_.tolist()
    return sorted(chosen) if order == "table" else chosen


def _names(selector: Any, table: Any, file: str) -> list[str]:
    """Return the name in the file of each column of the fit."""
    given = getattr(selector, "feature_names_in_", None)
    if given is None:
        if table.num_columns != selector.n_features_in_:
            raise InvalidTableError(
                f"The model was fitted on {selector.n_features_in_} columns without names, and "
                f"{file!r} has {table.num_columns}. Pass a table with the same columns."
            )
        return list(table.column_names)
    names = [str(name) for name in given]
    for j in selector.selected_.tolist():
        check_column(names[j], table.column_names, file)
    return names


def _values(table: Any, chosen: list[int], names: list[str]) -> Any:
    return table.select([names[j] for j in chosen])


def _codes(selector: Any, table: Any, chosen: list[int], names: list[str]) -> Any:
    """Return the codes of the columns, by the encoder of the model."""
    import pyarrow as pa

    encoder = getattr(selector, "encoder_", None)
    if encoder is None:
        raise InvalidParameterError(
            f"{selector.display_name} of this model does not encode rows. Leave out --encoded."
        )
    columns = []
    for j in chosen:
        column = table.select([names[j]])
        of_column = encoder.of_columns(j, j + 1)
        if not hasattr(encoder, "feature_names_in_"):
            of_column.feature_names_in_ = [names[j]]
        columns.append(pa.array(of_column.transform(column).column(0).codes))
    return pa.table(columns, names=[names[j] for j in chosen])


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
