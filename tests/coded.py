"""The codes of a table, for tests of what is counted on them."""

from hocmim import Encoder


def encode(X, y=None, *, n_jobs=None, **parameters):
    """Return the codes of a table."""
    return Encoder(**parameters).fit_transform(X, y, n_jobs=n_jobs)
