"""Reading a fitted selector from a file."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

from hocmim.data.documents import read_document
from hocmim.data.values import require
from hocmim.parameters import PATH, checked
from hocmim.selectors.base import RankingSelector


@checked(path=PATH)
def load(path: str | PathLike[str]) -> Any:
    """Return the fitted selector that ``selector.save(path)`` wrote.

    The file is checked completely before anything is used. It holds values only: loading runs no
    code of the file.

    Parameters
    ----------
    path : path

    Returns
    -------
    selector
        Fitted, of the class that was saved. ``transform``, ``get_feature_names_out``, ``trace_``
        and ``selection_`` work; ``explain`` and the pictures of redundancy need a file that was
        saved with ``with_codes=True``.

    Raises
    ------
    InvalidFileError
        If the file is damaged, is not the file of a selector, or is of a later version.

    Examples
    --------
    >>> import hocmim
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> path = hocmim.make_selector("icap").fit(X, y).save("model.json")  # doctest: +SKIP
    >>> hocmim.load("model.json").get_feature_names_out()  # doctest: +SKIP
    """
    return read_document(
        path, "selector", lambda content: RankingSelector.from_content(content, find_class)
    )


def find_class(name: Any) -> type[RankingSelector]:
    """Return the public selector of that name."""
    require(isinstance(name, str) and name.isidentifier(), "class must be a name")
    kind = getattr(import_module("hocmim"), name, None)
    is_selector = isinstance(kind, type) and issubclass(kind, RankingSelector)
    require(is_selector, f"there is no selector {name!r} in this version of hocmim")
    assert kind is not None
    return kind
