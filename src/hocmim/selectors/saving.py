"""Saving a fitted selector to a file, and its parameters as JSON."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.groups import Features
from hocmim.coding.saved import features_from, groups_content, names_from
from hocmim.data.checks import set_features
from hocmim.data.documents import write_document
from hocmim.data.values import (
    UnsupportedError,
    array_of,
    from_json,
    indices_below,
    require,
    to_json,
)
from hocmim.errors import InvalidParameterError, warn_user
from hocmim.parameters import BOOLEAN, PATH, checked
from hocmim.search.saved import selection_content, selection_from
from hocmim.search.selection import Selection

# Parameters that say how and where to compute. They change no result and are not saved.
FindClass = Callable[[Any], type[Any]]
OF_THE_MACHINE = ("engine", "codes_dir", "checkpoint", "n_jobs", "verbose")


class SavedSelector:
    """A selector that can be saved to a file.

    A subclass adds what it needs to ``_content`` and reads it in ``_set_content``. Attributes that
    hold only values are listed in ``saved_attributes``, with the types they may have.
    """

    saved_attributes: ClassVar[dict[str, tuple[type, ...]]] = {
        "target_kind_": (str, tuple),
        "identifiers_": (np.ndarray,),
    }

    n_features_in_: int

    @checked(path=PATH, overwrite=BOOLEAN, with_codes=BOOLEAN)
    def save(
        self, path: str | PathLike[str], *, overwrite: bool = False, with_codes: bool = False
    ) -> Path:
        """Write the fitted selector to a JSON file; :func:`hocmim.load` reads it.

        The file holds no code, and none of the rows unless ``with_codes`` is True.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether to replace an existing file.
        with_codes : bool
            Whether to save the codes of the selected columns and of y, one or two bytes a value.
            ``explain`` and the pictures of redundancy need them.

        Returns
        -------
        Path
            Of the file.
        """
        check_is_fitted(self)
        return write_document(
            path, "selector", selector_content(self, with_codes), overwrite=overwrite
        )

    def _content(self, with_codes: bool) -> dict[str, Any]:
        """Return what was fitted, as JSON."""
        names = getattr(self, "feature_names_in_", None)
        found = {
            name: to_json(getattr(self, name))
            for name in self.saved_attributes
            if hasattr(self, name)
        }
        return {
            "n_columns": self.n_features_in_,
            "names": None if names is None else [str(name) for name in names],
            "attributes": found,
        }

    def _set_content(self, content: dict[str, Any], n_columns: int) -> None:
        """Set the fitted attributes; ``n_columns`` is the length of what has one value a column."""
        require(content["n_columns"] == n_columns, "n_columns does not fit the other values")
        set_features(self, n_columns, names_from(content["names"], n_columns))
        for name, types in self.saved_attributes.items():
            if name in content["attributes"]:
                value = from_json(content["attributes"][name])
                require(isinstance(value, types), f"{name} is of another type")
                setattr(self, name, value)
        if hasattr(self, "identifiers_"):
            indices_below(self.identifiers_, n_columns, "identifiers_", distinct=True)

    @classmethod
    def from_content(cls, content: dict[str, Any], find_class: FindClass) -> Any:
        """Return the fitted selector that ``selector_content`` described."""
        selector = parameters_from(content, find_class)
        selector._set_content(content["fitted"])
        return selector


class SavedRanking(SavedSelector):
    """A selector whose selection is saved as the ranking of its columns."""

    selected_: NDArray[np.int64]
    scores_: NDArray[np.float64]
    ranking_: NDArray[np.int64]
    features_: Features
    selection_: Selection

    def _content(self, with_codes: bool) -> dict[str, Any]:
        parts = {"selected": self.selected_, "scores": self.scores_, "ranking": self.ranking_}
        features = getattr(self, "features_", None)
        return {
            **super()._content(with_codes),
            **{name: to_json(value) for name, value in parts.items()},
            "groups": None if features is None else groups_content(features),
            "selection": selection_content(self.selection_),
        }

    def _set_content(self, content: dict[str, Any], n_columns: int | None = None) -> None:
        ranking = array_of(from_json(content["ranking"]), np.int64, (n_columns,), "ranking")
        n_columns = len(ranking)
        super()._set_content(content, n_columns)
        selected = indices_below(
            from_json(content["selected"]), n_columns, "selected", distinct=True
        )
        scores = array_of(from_json(content["scores"]), np.float64, (len(selected),), "scores")
        require(bool((ranking >= 1).all()), "ranking must be at least 1")
        names = getattr(self, "feature_names_in_", None)
        features = features_from(content["groups"] or [], n_columns, names)
        if content["groups"] is not None:
            self.features_ = features
        self._set_columns(selected, scores, ranking, features)
        if "selection" in content:
            selection = selection_from(content["selection"], len(features))
            is_same = np.array_equal(selection.indices, self.selection_.indices)
            require(is_same, "the selection does not fit the selected columns")
            self.selection_ = selection

    def _set_columns(self, selected: Any, scores: Any, ranking: Any, features: Any) -> None:
        """Set the selection from values of columns: a group once, at its first column."""
        is_first = np.isin(selected, features.first)
        chosen = features.of_column[selected[is_first]]
        require(np.array_equal(features.expand(chosen), selected), "a group is selected in part")
        ranks = ranking[features.first]
        self._set_selection(chosen, scores[is_first], ranks, features)  # type: ignore[attr-defined]


def selector_content(selector: SavedSelector, with_codes: bool) -> dict[str, Any]:
    """Return a fitted selector as JSON: its class, its parameters, what was fitted."""
    kind = type(selector)
    if kind.__module__ != "hocmim" and not kind.__module__.startswith("hocmim."):
        raise InvalidParameterError(
            f"{kind.__qualname__} is a class of your own, and a file holds no code. Save its "
            "selection_ with selection_.to_json(), or use a selector of hocmim."
        )
    return {
        **parameters_content(selector),
        "fitted": selector._content(with_codes),
    }


def parameters_content(selector: Any) -> dict[str, Any]:
    """Return the class and the parameters of a selector as JSON."""
    parameters, dropped = {}, []
    for name, value in selector.get_params(deep=False).items():
        if name in OF_THE_MACHINE:
            continue
        if isinstance(value, SavedSelector):
            parameters[name] = {"selector": parameters_content(value)}
            continue
        try:
            parameters[name] = to_json(value)
        except UnsupportedError as error:
            if signature(type(selector)).parameters[name].default is Parameter.empty:
                raise InvalidParameterError(
                    f"{type(selector).__name__} cannot be saved: a file cannot hold its {name}, "
                    f"which is of type {error}. Save its selection_ with selection_.to_json()."
                ) from error
            dropped.append(f"{name} (of type {error})")
    if dropped:
        warn_user(
            f"A file cannot hold the parameter {', '.join(dropped)} of {type(selector).__name__}. "
            "The loaded selector has the default in its place, or None. What was fitted is saved."
        )
    return {"class": type(selector).__name__, "parameters": parameters}


def parameters_from(content: dict[str, Any], find_class: FindClass) -> Any:
    """Return a selector that is not fitted; ``find_class`` returns the class of a name."""
    kind = find_class(content["class"])
    given: dict[str, Any] = {}
    for name, declared in signature(kind).parameters.items():
        value = content["parameters"].get(name)
        if name in OF_THE_MACHINE or name not in content["parameters"]:
            if declared.default is declared.empty:
                given[name] = None  # a file could not hold it
        elif isinstance(value, dict) and "selector" in value:
            given[name] = parameters_from(value["selector"], find_class)
        else:
            given[name] = from_json(value)
    return kind(**given)
