"""How the documentation is built: ``make docs``, without a network."""

from __future__ import annotations

import importlib
import re
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

# Where the classes are shown that have no public name of their own: `name` in a docstring.
ELSEWHERE = {
    "InformationSelector": "hocmim.selectors.information",
    "RankingSelector": "hocmim.selectors.base",
    "Explanation": "hocmim.insight.explain",
    "Contest": "hocmim.insight.explain",
    "Trace": "hocmim.insight.explain",
    "Stopping": "hocmim.search.stopping",
    "Stability": "hocmim.selectors.stability",
    "Codes": "hocmim.coding.codes",
    "Column": "hocmim.coding.codes",
    "ColumnDescription": "hocmim.coding.encoder",
    "BlockTerms": "hocmim.information.counting",
    "Joint": "hocmim.information.counting",
}
NAMES = {name: f"hocmim.{name}" for name in hocmim.__all__} | {
    name: f"{module}.{name}" for name, module in ELSEWHERE.items()
}
MODULES = {
    "hocmim.information.estimators": "/api/estimators",
    "hocmim.search.stopping": "/stopping",
}
# X_j, k_x(z), Σ_{j∈S} (a longer name such as n_bins is no formula); and what is markup by mistake.
SUBSCRIPT = (
    r"(?<![^\W\d_])([^\W\d_]\u0304?)_([A-Za-z0-9]{1,2})(?![A-Za-z0-9_])|(?<=\w)_\{([^{}]+)\}"
)
FORMULA = re.compile(SUBSCRIPT + r"|\||(?<=\w)_(?!\w)")
# The type of a parameter as numpydoc sets it, and the classes it may name.
TYPE = re.compile(r"(\s*\*\*[^ ]+\*\* : )(.+)")
CLASS = re.compile(rf"\b({'|'.join([*ELSEWHERE, 'Encoder', 'Criterion'])})\b")
IN_LITERAL = re.compile(r"(``.+?``)")


def restructure(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make a docstring meant for reading into reStructuredText.

    ``HOCMIM`` becomes a link, and so does a type that has a page; the bars of |S| and I(X;Y|Z) are
    no substitutions, the last sign of selected_ makes no reference of it, the j of X_j is set low.
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
    """The class of that name."""
    module, _, name = fullname.rpartition(".")
    return getattr(importlib.import_module(module), name)


def methods_of(fullname: str) -> list[str]:
    """Every public method written here: of a base class that has a page, or else of the class."""
    found: dict[str, str] = {}
    for base in class_of(fullname).__mro__:
        shown = NAMES[base.__name__] if base.__name__ in ELSEWHERE else fullname
        for name, value in vars(base).items() if base.__module__.startswith("hocmim") else ():
            if not name.startswith("_") and isinstance(value, FunctionType | classmethod):
                found.setdefault(name, f"{shown}.{name}")
    return list(found.values())


def is_selector(fullname: str) -> bool:
    """Whether a class has the methods of scikit-learn's own selectors."""
    return hasattr(class_of(fullname), "get_support")


autosummary_context = {"methods_of": methods_of, "is_selector": is_selector}


def adapt_links(app: Any, docname: str, source: list[str]) -> None:
    """Links written for reading the pages in the repository, as they are to be here.

    A script of the gallery has a page; another file outside of this folder is a download.
    """
    text = re.sub(r"\]\(\.\./examples/gallery/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])
    source[0] = re.sub(r"\]\((\.\./[\w./-]+)\)", r"](path:\1)", text)


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("autodoc-process-docstring", restructure, priority=600)
    app.connect("source-read", adapt_links)
