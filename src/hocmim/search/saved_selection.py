"""A selection as the content of a file and back. Nothing that comes from a file is trusted."""

from __future__ import annotations

from dataclasses import is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from hocmim.data.documents import format_document, parse_document
from hocmim.data.values import array_of, from_json, indices_below, is_count, require, to_json
from hocmim.search.constraints import Spending
from hocmim.search.discovery import ErrorControl
from hocmim.search.selection import Failure, Interaction, Selection, Step, Stopping

_CLASSES = (Step, Stopping, Failure, Selection, ErrorControl, Spending, Interaction)
RECORDS = {record.__name__: record for record in _CLASSES}


def read_value(value: Any) -> Any:
    """Return a value in which steps, stoppings and selections may occur."""
    return from_json(value, RECORDS)


def selection_content(selection: Selection) -> Any:
    """Return a selection as JSON."""
    return to_json(selection, RECORDS)


def selection_from(content: Any, n_features: int | None = None) -> Selection:
    """Return the selection that ``selection_content`` described, of so many features."""
    selection = read_value(content)
    require(isinstance(selection, Selection), "it has no selection")
    _check_fields(selection)
    relevance = array_of(selection.relevance, np.float64, (n_features,), "relevance")
    n_features = len(relevance)
    check_steps(list(selection.steps), n_features)
    check_stopping(selection.stopping, n_features)
    if selection.p_values is not None:
        array_of(selection.p_values, np.float64, (len(selection),), "p_values")
    _check_indices(selection.closed, n_features)
    for interaction in selection.interactions:
        _check_indices(interaction.members, n_features)
    if selection.spending is not None:
        costs = array_of(selection.spending.costs, np.float64, (n_features,), "costs")
        require(bool((costs > 0).all() and np.isfinite(costs).all()), "costs must be positive")
        budget = selection.spending.budget
        require(budget is None or budget > 0, "budget must be positive")
    return selection


def check_steps(steps: Any, n_features: int) -> None:
    """Raise MalformedError unless these are steps of a selection from so many features."""
    require(isinstance(steps, list), "steps must be a list")
    for step in steps:
        _check_step(step, n_features)
        if step.runner_up is not None:
            _check_step(step.runner_up, n_features)
            require(step.runner_up.runner_up is None, "a runner-up has a runner-up")
    indices = [step.index for step in steps]
    require(len(set(indices)) == len(indices), "a feature is selected twice")


def _check_step(step: Any, n_features: int) -> None:
    require(isinstance(step, Step), "a step is of another kind")
    _check_candidate(step, n_features)
    details = step.details
    order = details.get("order", 0)
    require(type(order) is int and -1 <= order <= n_features, "order is out of range")
    if "representative_set" in details:
        members = details["representative_set"]
        if isinstance(members, np.ndarray):
            members = members.astype(np.int64, casting="safe")
        indices_below(np.asarray(members, np.int64), n_features, "representative_set")


def check_stopping(stopping: Any, n_features: int) -> None:
    """Raise MalformedError unless this is None or says why a selection stopped."""
    if stopping is None:
        return
    require(isinstance(stopping, Stopping), "stopping is of another kind")
    _check_candidate(stopping, n_features)
    indices_below(stopping.given, n_features, "given")


def _check_candidate(one: Step | Stopping, n_features: int) -> None:
    """Check the fields of a step or a stopping, and the features that it names."""
    _check_fields(one)
    for each in (one, *one.failures):
        _check_indices((each.index, *each.interaction), n_features)


def _check_indices(indices: tuple[int, ...], n_features: int) -> None:
    require(all(index < n_features for index in indices), "an index is out of range")


def _check_fields(record: Any) -> None:
    """Check that every field of a record is of the type that its class says."""
    for name, kind in get_type_hints(type(record)).items():
        is_right = _is_of(getattr(record, name), kind)
        require(is_right, f"{name} of a {type(record).__name__} is of another kind")


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value is of a type; an integer is a count, and records have valid fields."""
    origin, of = get_origin(kind) or kind, get_args(kind)
    if origin is UnionType:
        return any(_is_of(value, one) for one in of)
    if origin is tuple:
        return type(value) is tuple and all(_is_of(each, of[0]) for each in value)
    if origin is int:
        return is_count(value)
    if is_dataclass(value) and type(value) is origin:
        _check_fields(value)
    return type(value) is origin


def selection_to_json(selection: Selection) -> str:
    """Return a selection as the text of a file."""
    return format_document("selection", {"selection": selection_content(selection)}).decode()


def selection_from_json(text: str) -> Selection:
    """Return the selection of the text of a file."""
    data = text.encode("utf-8", "surrogatepass")
    return parse_document(
        data, "selection", "The text", lambda content: selection_from(content["selection"])
    )
