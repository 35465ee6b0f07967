"""Self-contained HTML pages: a page loads nothing from outside and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any


def document(title: str, body: str, *, style: str, scripts: Sequence[str], data: Any) -> str:
    """Return a page that loads nothing and runs only these scripts.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    style : str
        CSS.
    scripts : sequence of str
        Run in this order, at the end of the page. They find ``data`` as JSON in the element
        ``#data``. The security policy of the page refuses all other scripts, also handlers in the
        markup.
    data : object
        Anything JSON can represent.

    Notes
    -----
    An element of the class ``scroll`` and a menu (``nav ul``) that are wider than the screen fade
    out at the edge behind which there is more.
    """
    scripts = [*scripts, asset(__name__, "scroll.js")]
    style += asset(__name__, "scroll.css")
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
    """Return the text of a file of a package."""
    return resources.files(package).joinpath(*path).read_text("utf-8")


def sorting_script() -> str:
    """Return the script that sorts a ``table.sortable`` when a heading is clicked."""
    return asset("hocmim.insight.pages", "sort.js")


def _policy(scripts: Sequence[str]) -> str:
    """Return the content security policy: only these scripts, no network."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src {hashes}"
    )


def _json(data: Any) -> str:
    """Return JSON without "<", so that it cannot close the element it is in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")
