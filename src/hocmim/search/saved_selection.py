"""A selection as the content of a file and back. Nothing that comes from a file is trusted."""

from __future__ import annotations

from typing import Any

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
    relevance = array_of(selection.relevance, np.float64, (n_features,), "relevance")
    n_features = len(relevance)
    require(isinstance(selection.steps, tuple), "steps must be a tuple")
    check_steps(list(selection.steps), n_features)
    check_stopping(selection.stopping, n_features)
    if selection.p_values is not None:
        array_of(selection.p_values, np.float64, (len(selection),), "p_values")
    _check_constraints(selection, n_features)
    _check_error_control(selection.error_control)
    _check_interactions(selection.interactions, n_features)
    _check_notes(selection.notes)
    return selection


def _check_notes(notes: Any) -> None:
    is_tuple = isinstance(notes, tuple)
    require(is_tuple and all(isinstance(note, str) for note in notes), "notes must be strings")


def _check_interactions(interactions: Any, n_features: int) -> None:
    require(isinstance(interactions, tuple), "interactions must be a tuple")
    for one in interactions:
        require(isinstance(one, Interaction), "an interaction is of another kind")
        _check_members(one.members, n_features)
        numbers = (one.g, one.p_value, one.adjusted_p_value, one.synergy, one.information)
        require(all(type(number) is float for number in numbers), "an interaction has numbers")
        require(is_count(one.df), "df must be a count")


def _check_members(members: Any, n_features: int) -> None:
    require(isinstance(members, tuple), "the features of an interaction must be a tuple")
    for index in members:
        _check_index(index, n_features)


def _check_constraints(selection: Selection, n_features: int) -> None:
    spending = selection.spending
    for closed in (selection.excluded, selection.identifiers, selection.constants):
        require(isinstance(closed, tuple), "excluded, identifiers and constants must be tuples")
        for index in closed:
            _check_index(index, n_features)
    if spending is None:
        return
    require(isinstance(spending, Spending), "spending is of another kind")
    costs = array_of(spending.costs, np.float64, (n_features,), "costs")
    require(bool((costs > 0).all() and np.isfinite(costs).all()), "costs must be positive")
    budget = spending.budget
    require(budget is None or (type(budget) is float and budget > 0), "budget must be positive")


def _check_error_control(control: Any) -> None:
    if control is None:
        return
    require(isinstance(control, ErrorControl), "error_control is of another kind")
    require(isinstance(control.rate, str) and isinstance(control.test, str), "rate, test: strings")
    require(type(control.level) is float, "level must be a number")
    counts = (control.n_samples, control.n_features, control.n_targets)
    require(all(is_count(n) for n in counts), "n_samples, n_features, n_targets: counts")
    optional = (control.n_permutations, control.seed, control.n_groups)
    require(
        all(n is None or type(n) is int for n in optional),
        "n_permutations, seed, n_groups: integers",
    )
    require(type(control.given_selected) is bool, "given_selected: true or false")
    require(isinstance(control.weights, str), "weights: a string")
    require(is_count(control.n_sets), "n_sets: a count")


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
    _check_index(step.index, n_features)
    require(type(step.score) is float, "a score must be a number")
    require(type(step.is_kept) is bool, "is_kept must be true or false")
    require(type(step.lacked_room) is bool, "lacked_room must be true or false")
    _check_failures(step.failures, n_features)
    _check_members(step.interaction, n_features)
    details = step.details
    require(isinstance(details, dict), "the details of a step must be a dict")
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
    require(isinstance(stopping.reason, str), "the reason must be a string")
    _check_index(stopping.index, n_features)
    numbers = (stopping.score, stopping.p_value)
    require(all(type(number) is float for number in numbers), "score and p_value: numbers")
    indices_below(stopping.given, n_features, "given")
    _check_failures(stopping.failures, n_features)
    _check_members(stopping.interaction, n_features)


def _check_failures(failures: Any, n_features: int) -> None:
    require(isinstance(failures, tuple), "failures must be a tuple")
    for failure in failures:
        require(isinstance(failure, Failure), "a failure is of another kind")
        _check_index(failure.index, n_features)
        _check_members(failure.interaction, n_features)
        numbers = (failure.score, failure.p_value)
        require(all(type(number) is float for number in numbers), "score and p_value: numbers")


def _check_index(index: Any, n_features: int) -> None:
    require(is_count(index) and index < n_features, "an index is out of range")


def selection_to_json(selection: Selection) -> str:
    """Return a selection as the text of a file."""
    return format_document("selection", {"selection": selection_content(selection)}).decode()


def selection_from_json(text: str) -> Selection:
    """Return the selection of the text of a file."""
    data = text.encode("utf-8", "surrogatepass")
    return parse_document(
        data, "selection", "The text", lambda content: selection_from(content["selection"])
    )
