"""Importing less: libraries that scikit-learn and pyarrow import, but commands do not use.

scikit-learn imports scipy.stats for one function, and pandas if it is installed; pyarrow imports
pandas to convert columns to arrays. Both libraries together take more than half of the time of
``import sklearn``, which is most of the time of a small selection.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

import click

DEFERRED = "scipy.stats"
LEFT_OUT = "pandas"


def import_scikit_learn() -> None:
    """Import scikit-learn; scipy.stats is loaded when it is first used."""
    if "sklearn" not in sys.modules:
        with _deferred():
            import sklearn.base  # noqa: F401


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
        spec = PathFinder.find_spec(name, path, target) if name == DEFERRED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def _deferred() -> Iterator[None]:
    sys.meta_path.insert(0, _Deferring)
    try:
        yield
    finally:
        sys.meta_path.remove(_Deferring)
