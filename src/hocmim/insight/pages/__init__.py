"""The frame of a self-contained HTML page: everything inside it, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any


def document(title: str, body: str, *, style: str, scripts: Sequence[str], data: Any) -> str:
    """A page that may load nothing and run nothing but these scripts.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    style : str
        CSS.
    scripts : sequence of str
        Run in this order, at the end of the page; ``data`` is there for them as JSON in the
        element ``#data``. Any other script, a handler in the markup included, is refused by the
        policy of the page.
    data : object
        Anything JSON can hold.
    """
    running = "\n".join(f"<script>{script}</script>" for script in scripts)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style></head><body>",
            body,
            f'<script type="application/json" id="data">{_json(data)}</script>',
            f"{running}</body></html>",
        ]
    )


def asset(package: str, *path: str) -> str:
    """The text of a file that comes with a package."""
    return resources.files(package).joinpath(*path).read_text("utf-8")


def sorting_script() -> str:
    """Lets a click on a heading of a ``table.sortable`` sort it."""
    return asset("hocmim.insight.pages", "sort.js")


def _policy(scripts: Sequence[str]) -> str:
    """What the page may load: only what is inside it."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src {hashes}"
    )


def _json(data: Any) -> str:
    """JSON that cannot end the element it is in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")
