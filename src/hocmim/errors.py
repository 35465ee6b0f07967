"""The errors and warnings of hocmim: each says what is wrong and how to correct it.

Every error is also a ``ValueError``, a ``TypeError`` or another built-in error, like the errors of
scikit-learn, so that code can catch it without importing hocmim.
"""

from __future__ import annotations

import inspect
import warnings

# Modules that are not the user's code: scikit-learn calls ``fit`` in place of the user.
OWN_MODULES = ("hocmim.", "sklearn.")


class HocmimError(Exception):
    """Base of all errors of hocmim."""


class HocmimWarning(UserWarning):
    """A warning of hocmim; ``warnings.filterwarnings`` switches all of them off by this class."""


class TextWarning(HocmimWarning):
    """Columns of text look like numbers or dates, and are treated as categories."""


class DataWarning(HocmimWarning):
    """Something in the data that can make a selection misleading: see ``hocmim.check_table``.

    ``warnings.filterwarnings("ignore", category=hocmim.DataWarning)`` switches it off. ``finding``
    is what was found, if it is of ``check_table``.
    """

    def __init__(self, message: str, finding: object = None) -> None:
        super().__init__(message)
        self.finding = finding


class InvalidTableError(HocmimError, ValueError):
    """The table X cannot be used: its shape, its names or one of its values is wrong."""


class InvalidColumnError(HocmimError, TypeError):
    """A column of X has values that are not numbers, booleans or strings."""


class InvalidTargetError(HocmimError, ValueError):
    """The target y cannot be used."""


class InvalidWeightsError(HocmimError, ValueError):
    """The sample weights cannot be used."""


class InvalidParameterError(HocmimError, ValueError):
    """A parameter has a wrong value; the message says which values are allowed."""


class InvalidCriterionError(HocmimError, ValueError):
    """A criterion of your own returned something else than one finite score a column."""


class InvalidFileError(HocmimError, ValueError):
    """A checkpoint or a file of codes is damaged, or belongs to other data or parameters."""


class MissingDependencyError(HocmimError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""


class ClusterError(HocmimError, ConnectionError):
    """The Dask cluster is not reachable, has no workers, or has too little memory."""


def warn_about_data(message: str) -> None:
    """Give a DataWarning at the line of the user's code that called hocmim."""
    warn_user(message, DataWarning)


def warn_user(message: str | HocmimWarning, category: type[HocmimWarning] = HocmimWarning) -> None:
    """Give a warning at the line of the user's code that called hocmim."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(OWN_MODULES):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# What to install for the Dask engine.
DASK = ("dask[array,dataframe]", "distributed", "pyarrow")


def not_installed(what: str, *packages: str) -> MissingDependencyError:
    """Return the error for packages that are not installed, as pip takes them.

    ``what`` needs them, with the verb: "Pictures need". The message recommends the packages and not
    an extra of hocmim: a checkout may not be in an index.
    """
    plain = [package.partition("[")[0] for package in packages]
    listed = " and ".join(filter(None, [", ".join(plain[:-1]), plain[-1]]))
    it = "it" if len(packages) == 1 else "them"
    quoted = " ".join(f"'{package}'" if "[" in package else package for package in packages)
    return MissingDependencyError(f"{what} {listed}. Install {it} with: pip install {quoted}")


def check_installed(what: str, *packages: str) -> None:
    """Raise the error of ``not_installed`` if one of these packages is not installed."""
    from importlib.util import find_spec

    names = [package.partition("[")[0].replace("-", "_") for package in packages]
    absent = [package for package, name in zip(packages, names, strict=True) if not find_spec(name)]
    if absent:
        raise not_installed(what, *absent)
