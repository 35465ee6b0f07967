"""Importing less: libraries that scikit-learn, scipy and pyarrow import, but commands do not use.

scikit-learn imports large parts of scipy for a few functions, scipy imports all of NumPy, its tests
and its Fortran tools included, and pyarrow and scikit-learn import pandas if it is installed. These
parts take most of the time of ``import sklearn``, which is most of the time of a small selection.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

import click

DEFERRED = (
    "numpy.f2py",
    "numpy.testing",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
)
LEFT_OUT = "pandas"


def defer_imports() -> None:
    """Load the modules of ``DEFERRED`` when they are first used, until the command ends."""
    if _Deferring not in sys.meta_path:
        sys.meta_path.insert(0, _Deferring)
        click.get_current_context().call_on_close(lambda: sys.meta_path.remove(_Deferring))


def leave_out_pandas() -> None:
    """Make libraries treat pandas as not installed until the command ends.

    Nothing happens if pandas is already imported.
    """
    if LEFT_OUT not in sys.modules:
        sys.meta_path.insert(0, _LeavingOut)
        click.get_current_context().call_on_close(lambda: sys.meta_path.remove(_LeavingOut))


class _LeavingOut:
    """A finder for which pandas is not installed."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == LEFT_OUT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


class _Deferring:
    """A finder whose module is loaded when one of its attributes is first used."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in DEFERRED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
