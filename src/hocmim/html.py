"""Tables as HTML, for notebooks. Names are untrusted input and are always escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from hocmim.text import one_line, visible

MAX_NAME_LENGTH = 200


class Name(str):
    """The name of a column, in a cell of a table."""


def table(
    titles: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", note: str = ""
) -> str:
    """Return a table as HTML, with a line above and below it if these are given.

    Numbers are aligned to the right, numbers with a fraction have four decimals. None is shown
    as a dash.
    """
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    lines = [f"<p>{escape(caption)}</p>"] if caption else []
    if rows:
        lines.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if note:
        lines.append(f"<p>{escape(note)}</p>")
    # A wide table scrolls by itself.
    return f'<div style="overflow-x:auto">{"".join(lines)}</div>'


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "<td>–</td>"
    if isinstance(value, (int, float)):
        text = f"{value:.4f}" if isinstance(value, float) else f"{value:,}"
        return f'<td style="text-align:right">{escape(text)}</td>'
    if isinstance(value, Name):
        value = one_line(visible(value), MAX_NAME_LENGTH)
    return f'<td style="text-align:left">{escape(str(value))}</td>'
