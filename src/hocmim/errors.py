"""The errors hocmim raises: each says what is wrong and what to do about it.

Every one is also a ``ValueError``, a ``TypeError`` or another built-in error, so that code which
knows nothing of hocmim catches it as it would catch scikit-learn's own.
"""


class HocmimError(Exception):
    """Base of everything hocmim raises on purpose."""


class InvalidTableError(HocmimError, ValueError):
    """The table X cannot be used as it is: its shape, its names or a value in it."""


class InvalidColumnError(HocmimError, TypeError):
    """A column of X holds something that is neither a number, a truth value nor a string."""


class InvalidTargetError(HocmimError, ValueError):
    """The target y cannot be used as it is."""


class InvalidWeightsError(HocmimError, ValueError):
    """The weights of the rows cannot be used as they are."""


class InvalidParameterError(HocmimError, ValueError):
    """A parameter has a value it may not have; the message lists what it may be."""


class InvalidFileError(HocmimError, ValueError):
    """A file hocmim keeps (a checkpoint, codes) is damaged, or belongs to something else."""


class MissingDependencyError(HocmimError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""


class ClusterError(HocmimError, ConnectionError):
    """The Dask cluster is gone, has no workers or too little memory for the task."""
