"""The errors and warnings of hocmim: each says what is wrong and how to correct it.

Every error is also a ``ValueError``, a ``TypeError`` or another built-in error, like the errors of
scikit-learn, so that code can catch it without importing hocmim.
"""

import inspect
import warnings


class HocmimError(Exception):
    """Base of all errors of hocmim."""


class HocmimWarning(UserWarning):
    """A warning of hocmim; ``warnings.filterwarnings`` switches all of them off by this class."""


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


def warn_user(message: str) -> None:
    """Give a HocmimWarning at the line outside hocmim that called it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("hocmim."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, HocmimWarning, stacklevel=level)
