"""The saved form of a selector: the selection, and how the columns were read and coded.

That is what applying a selection to another table needs. A file holds values only, no code and no
rows; a pickle holds everything else.
"""

from __future__ import annotations

from importlib import import_module
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config

from hocmim.coding.encoder import Encoder
from hocmim.coding.saved_encoder import (
    encoder_content,
    encoder_from,
    features_from,
    groups_content,
    names_from,
)
from hocmim.coding.target import Target
from hocmim.data.documents import read_document, write_document
from hocmim.data.reading import TableReading
from hocmim.data.values import (
    UnsupportedError,
    array_of,
    from_json,
    indices_below,
    is_count,
    require,
    to_json,
)
from hocmim.errors import InvalidParameterError, warn_user
from hocmim.parameters import BOOLEAN, PATH, check_value, checked
from hocmim.search.constraints import Budget
from hocmim.search.saved_selection import selection_content, selection_from
from hocmim.search.selection import Selection
from hocmim.search.stopping import StopTest
from hocmim.selectors.base import WITHOUT_EFFECT, InformationSelector, Selector
from hocmim.selectors.filters._base import Filter

# Parameters that are records.
RECORDS = {kind.__name__: kind for kind in (Target, StopTest, Budget)}
# What the criteria of hocmim say about a step.
DETAILS = (int, float, np.ndarray)
# What ``set_output`` may have asked for.
OUTPUTS = ("default", "pandas", "polars")
# The fitted attributes of the target, and the types they may have.
OF_TARGET: dict[str, tuple[type, ...]] = {
    "target_kind_": (str, tuple),
    "target_strategy_": (str,),
    "classes_": (np.ndarray, list, type(None)),
    "target_cuts_": (np.ndarray, list, type(None)),
}


def save(selector: Selector, path: str | PathLike[str], *, overwrite: bool) -> Path:
    """Write a fitted selector to a file."""
    check_value("path", path, PATH)
    check_value("overwrite", overwrite, BOOLEAN)
    return write_document(path, "selector", _content(selector), overwrite=overwrite)


@checked(path=PATH)
def load(path: str | PathLike[str]) -> Selector:
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
        and ``selection_`` work. ``explain`` and the pictures of redundancy need the codes of the
        rows, which a file does not have.

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
    return read_document(path, "selector", _restored)


# --- writing --------------------------------------------------------------------------------------


def _content(selector: Selector) -> dict[str, Any]:
    kind = type(selector)
    if not isinstance(selector, (InformationSelector, Filter)):
        raise InvalidParameterError(
            f"A {kind.__name__} has no file of its own: pickle it, or save the selector in it."
        )
    if kind.__module__.partition(".")[0] != "hocmim":
        raise InvalidParameterError(
            f"{kind.__qualname__} is a class of your own, and a file holds no code. Save its "
            "selection_ with selection_.to_json(), or use a selector of hocmim."
        )
    names = selector.features_.column_names
    reading = getattr(selector, "reading_", None)
    content: dict[str, Any] = {
        "class": kind.__name__,
        "parameters": _parameters(selector),
        "n_columns": selector.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
        "groups": groups_content(selector.features_),
        "identifiers": to_json(selector.identifiers_),
        "output": _get_output_config("transform", selector)["dense"],
        "reading": None if reading is None else reading.content(),
        "selection": selection_content(selector.selection_),
        "target": {
            name: to_json(getattr(selector, name)) for name in OF_TARGET if hasattr(selector, name)
        },
    }
    if isinstance(selector, Filter):
        content["scores"] = to_json(selector.feature_scores_)
        content["order"] = to_json(selector._order.astype(np.int64))
    else:
        content["encoder"] = encoder_content(selector.encoder_)
        content["n_samples"] = selector._n_samples
        content["time_kinds"] = [[j, name] for j, name in selector._time_kinds.items()]
    return content


def _parameters(selector: Selector) -> dict[str, Any]:
    """Return the parameters that a file can hold; warn about others."""
    found, dropped = {}, []
    for name, value in selector.get_params(deep=False).items():
        if name in WITHOUT_EFFECT:
            continue
        if isinstance(value, Encoder):
            value = value.get_params(deep=False)
        try:
            found[name] = to_json(value, RECORDS)
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
            "The loaded selector has the default in its place. What was fitted is saved."
        )
    return found


# --- reading --------------------------------------------------------------------------------------


def _restored(content: dict[str, Any]) -> Selector:
    selector = _find_class(content["class"])(**_given(content["parameters"]))
    n_columns = content["n_columns"]
    require(is_count(n_columns) and n_columns > 0, "n_columns must be a count")
    names = names_from(content["names"], n_columns)
    features = features_from(content["groups"], n_columns, names)
    selection = selection_from(content["selection"], len(features))
    for name, types in OF_TARGET.items():
        if name in content["target"] or isinstance(selector, InformationSelector):
            value = from_json(content["target"][name])
            require(isinstance(value, types), f"{name} is of another type")
            setattr(selector, name, value)
    require(content["output"] in OUTPUTS, f"output must be one of {', '.join(OUTPUTS)}")
    if content["output"] != OUTPUTS[0]:
        selector.set_output(transform=content["output"])
    if content["reading"] is not None:
        selector.reading_ = TableReading.from_content(content["reading"])
    found = from_json(content["identifiers"])
    selector.identifiers_ = indices_below(found, n_columns, "identifiers", distinct=True)
    if isinstance(selector, Filter):
        scores = from_json(content["scores"])
        order = indices_below(from_json(content["order"]), n_columns, "order", distinct=True)
        require(len(order) == n_columns, "order must have all columns")
        array_of(scores, np.float64, (n_columns,), "scores")
        selector.restore(selection, features, scores, order)
    else:
        _restore_information(selector, content, selection, features)
    return selector


def _restore_information(
    selector: InformationSelector, content: dict[str, Any], selection: Selection, features: Any
) -> None:
    encoder = encoder_from(content["encoder"])
    require(encoder.n_features_in_ == features.n_columns, "n_columns does not fit the encoder")
    steps = [step for one in selection.steps for step in (one, one.runner_up) if step]
    values = [value for step in steps for value in step.details.values()]
    require(all(isinstance(value, DETAILS) for value in values), "details must be numbers")
    require(is_count(content["n_samples"]), "n_samples must be a count")
    time_kinds = {}
    for j, kind in content["time_kinds"]:
        require(is_count(j) and j < features.n_columns and isinstance(kind, str), "time_kinds")
        time_kinds[j] = kind
    if selector.target_strategy_ == "mean":
        parts: tuple[Any, ...] = selector.classes_, selector.target_cuts_
        are_lists = all(isinstance(part, list) for part in parts)
        is_one_number = are_lists and len({len(part) for part in parts}) == 1
        require(is_one_number, "classes_ and target_cuts_ have other numbers of targets")
    selector.restore(selection, features, encoder, content["n_samples"], time_kinds)


def _given(content: Any) -> dict[str, Any]:
    """Return the parameters of a file."""
    require(isinstance(content, dict), "parameters must be an object")
    given = {name: from_json(value, RECORDS) for name, value in content.items()}
    if isinstance(given.get("encoder"), dict):
        given["encoder"] = Encoder(**given["encoder"])
    return given


def _find_class(name: Any) -> Any:
    """Return the public selector of that name."""
    require(isinstance(name, str) and name.isidentifier(), "class must be a name")
    kind = getattr(import_module("hocmim"), name, None)
    is_selector = isinstance(kind, type) and issubclass(kind, (InformationSelector, Filter))
    require(is_selector, f"there is no selector {name!r} in this version of hocmim")
    return kind
