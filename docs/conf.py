"""Configuration of the documentation: ``make docs`` builds it without a network."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import matplotlib

import hocmim

matplotlib.use("Agg")

project = "hocmim"
author = "The hocmim developers"
project_copyright = "the hocmim developers, MIT licence"
version = release = hocmim.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
exclude_patterns = ["gallery/*.py", "gallery/*.ipynb"]
# Blocks without a language are output and formulas.
highlight_language = "none"
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # autosummary_context holds functions

html_theme = "furo"
html_title = f"hocmim {version}"
html_static_path = ["_static"]
html_css_files = ["hocmim.css"]
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False  # the list of modules: no page links to it
copybutton_exclude = ".linenos, .gp, .go"

templates_path = ["_templates"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 80

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("hocmim",),
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
}

# --- the API reference ----------------------------------------------------------------------------

# The modules of classes without a public name. A docstring links to them by ``name``.
ELSEWHERE = {
    "InformationSelector": "hocmim.selectors.base",
    "Selector": "hocmim.selectors.base",
    "Explanation": "hocmim.insight.explain",
    "StepScore": "hocmim.insight.explain",
    "Trace": "hocmim.insight.trace",
    "Selection": "hocmim.search.selection",
    "Stopping": "hocmim.search.selection",
    "Stability": "hocmim.selectors.stability",
    "Codes": "hocmim.coding.codes",
    "Column": "hocmim.coding.codes",
    "ColumnDescription": "hocmim.coding.cuts",
    "BlockTerms": "hocmim.information.counting",
    "Joint": "hocmim.information.counting",
}
NAMES = {name: f"hocmim.{name}" for name in hocmim.__all__} | {
    name: f"{module}.{name}" for name, module in ELSEWHERE.items()
}
MODULES = {
    "hocmim.information.estimators": "/api/estimators",
    "hocmim.search.stopping": "/how_many",
    "hocmim.search.discovery": "/how_many",
}
# X_j, k_x(z), Σ_{j∈S}, but not a longer name such as n_bins; and characters that would be markup.
SUBSCRIPT = (
    r"(?<![^\W\d_])([^\W\d_]\u0304?)_([A-Za-z0-9]{1,2})(?![A-Za-z0-9_])|(?<=\w)_\{([^{}]+)\}"
)
FORMULA = re.compile(SUBSCRIPT + r"|\||(?<=\w)_(?!\w)")
# The type of a parameter as numpydoc writes it, and the classes it can contain.
TYPE = re.compile(r"(\s*\*\*[^ ]+\*\* : )(.+)")
CLASS = re.compile(rf"\b({'|'.join([*ELSEWHERE, 'Encoder', 'Criterion'])})\b")
IN_LITERAL = re.compile(r"(``.+?``)")


def restructure(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert a plain docstring to reStructuredText.

    ``HOCMIM`` becomes a link, and so does a type that has a page. The bars of |S| and I(X;Y|Z) and
    the underscore of selected_ are escaped. The j of X_j becomes a subscript.
    """
    for at, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            continue
        if typed := TYPE.fullmatch(line):
            types = FORMULA.sub(_set, typed[2])
            lines[at] = typed[1] + CLASS.sub(lambda name: _link(name[0]), types)
            continue
        parts = IN_LITERAL.split(line)
        parts[::2] = [FORMULA.sub(_set, part) for part in parts[::2]]
        parts[1::2] = [_link(part) for part in parts[1::2]]
        lines[at] = "".join(parts)


def _set(found: re.Match[str]) -> str:
    letter, short, braced = found.groups(default="")
    low = short or braced
    return rf"{letter}\ :sub:`{low}`\ " if low else rf"\{found[0]}"


def _link(literal: str) -> str:
    name = literal.strip("`")
    if name in MODULES:
        return f":doc:`{name} <{MODULES[name]}>`"
    plain = name.removesuffix("()")
    return f":py:obj:`{name} <{NAMES[plain]}>`" if plain in NAMES else literal


def class_of(fullname: str) -> type:
    """Return the class with this name."""
    module, _, name = fullname.rpartition(".")
    return getattr(importlib.import_module(module), name)


def methods_of(fullname: str) -> list[str]:
    """Return the public methods of a class and of its base classes in this package."""
    found: dict[str, str] = {}
    for base in class_of(fullname).__mro__:
        shown = NAMES[base.__name__] if base.__name__ in ELSEWHERE else fullname
        for name, value in vars(base).items() if base.__module__.startswith("hocmim") else ():
            if not name.startswith("_") and isinstance(value, FunctionType | classmethod):
                found.setdefault(name, f"{shown}.{name}")
    return list(found.values())


def is_selector(fullname: str) -> bool:
    """Return whether a class has the methods of scikit-learn's selectors."""
    return hasattr(class_of(fullname), "get_support")


autosummary_context = {"methods_of": methods_of, "is_selector": is_selector}


def selectors_page() -> str:
    """Return the page that lists every selector of the registry."""
    groups: dict[bool, list[str]] = {True: [], False: []}
    for kind in selectors():
        groups[is_criterion_based(kind)].append(f"   hocmim.{kind.__name__}")
    return SELECTORS_PAGE.format(
        information="\n".join(groups[True]), filters="\n".join(groups[False])
    )


SELECTORS_PAGE = """# All selectors

## Information-theoretic selectors

```{{eval-rst}}
.. autosummary::
   :toctree: .
   :nosignatures:

{information}
```

## Filters on raw numbers

```{{eval-rst}}
.. autosummary::
   :toctree: .
   :nosignatures:

{filters}
```
"""


def selectors() -> list[type]:
    """Return the classes of all methods, in the order of the registry."""
    return [type(hocmim.make_selector(name)) for name in hocmim.list_methods()]


def is_criterion_based(kind: type) -> bool:
    """Return whether a selector maximises a criterion of information."""
    return hasattr(kind, "explain")


def write_selectors_page() -> None:
    """Write the list of selectors before Sphinx looks for pages."""
    page = Path(__file__).parent / "api" / "generated" / "selectors.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.exists() or page.read_text("utf-8") != selectors_page():
        page.write_text(selectors_page(), "utf-8")


def add_other_methods(app: Any, docname: str, source: list[str]) -> None:
    """Add a row for every method of the registry that the tables of a page do not have."""
    if docname != "choosing":
        return
    for marker, is_of_criterion in (("criteria", True), ("filters", False)):
        rows = ""
        for kind in selectors():
            name = kind.__name__
            has_row = re.search(rf"^\| `{name}[`(]", source[0], re.MULTILINE)
            if is_criterion_based(kind) == is_of_criterion and not has_row:
                summary = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("|", r"\|")
                rows += f"| `{name}` | {' '.join(summary.split())} | | | |\n"
        source[0] = source[0].replace(f"<!-- other {marker} -->\n", rows)


def adapt_links(app: Any, docname: str, source: list[str]) -> None:
    """Adapt links that are written for reading the pages in the repository.

    A script of the gallery has a page. Other files outside of docs/ become downloads.
    """
    up = "../" * docname.count("/")
    outside = re.escape(up + "../")
    gallery = rf"\]\({outside}examples/gallery/(\w+)\.py\)"
    text = re.sub(gallery, rf"]({up}gallery/\1.rst)", source[0])
    source[0] = re.sub(rf"\]\(({outside}[\w./-]+)\)", r"](path:\1)", text)


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx."""
    write_selectors_page()
    app.connect("autodoc-process-docstring", restructure, priority=600)
    app.connect("source-read", add_other_methods)
    app.connect("source-read", adapt_links)
