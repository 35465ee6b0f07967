"""Parameters that name some columns of a table, or give a number for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.groups import Features, column_name, find_column
from hocmim.errors import InvalidParameterError
from hocmim.text import count, value_text


def resolve_columns(chosen: Any, features: Features, parameter: str) -> tuple[int, ...]:
    """Return the features that a parameter names, in the order of the table.

    Parameters
    ----------
    chosen : str, int, sequence of names or indices, mask, callable or None
        One column or several. A mask has one boolean for each column. A callable is called with
        the array of column names (indices if the columns have no names) and returns any of the
        others. A column of a group, or the name of the group, stands for the group.
    features : Features
    parameter : str
        Its name, for messages.

    Raises
    ------
    InvalidParameterError
        If it is of another kind, or a column does not exist.
    """
    if chosen is None:
        return ()
    if callable(chosen):
        names = features.column_names
        chosen = chosen(np.array(range(features.n_columns) if names is None else names))
    if isinstance(chosen, (str, Integral)) and not isinstance(chosen, bool):
        chosen = [chosen]
    if not isinstance(chosen, Iterable) or isinstance(chosen, Mapping):
        raise _wrong_kind(parameter, chosen)
    listed = list(chosen)
    if listed and all(isinstance(item, (bool, np.bool_)) for item in listed):
        if len(listed) != features.n_columns:
            raise InvalidParameterError(
                f"{parameter} is a mask of {count(len(listed), 'boolean')}, but X has "
                f"{count(features.n_columns, 'column')}. Pass one boolean for each column."
            )
        listed = np.flatnonzero(listed).tolist()
    return tuple(sorted({_find(item, features, parameter) for item in listed}))


def _wrong_kind(parameter: str, value: Any) -> InvalidParameterError:
    return InvalidParameterError(
        f"{parameter} must be names or indices of columns, a mask with one boolean for each "
        "column, a function of the column names that returns one of these, or None. Got "
        f"{value_text(value)} instead."
    )


def _find(item: Any, features: Features, parameter: str) -> int:
    """Return the feature of a name or an index."""
    j = find_column(item, features.places, features.n_columns, parameter)
    return int(features.of_column[j])


def check_disjoint(keep: Sequence[int], exclude: Sequence[int], features: Features) -> None:
    """Raise an error if a feature is to be kept and excluded."""
    both = sorted(set(keep) & set(exclude))
    if both:
        raise InvalidParameterError(
            f"{column_name(features.names, both[0])!r} is in keep and in exclude. Remove it from "
            "one of the two."
        )
    if len(exclude) == len(features):
        raise InvalidParameterError("exclude has all columns of X: nothing is left to select.")


def resolve_costs(costs: Any, features: Features) -> NDArray[np.float64] | None:
    """Return the cost of every feature: for a group, the sum of its columns.

    Parameters
    ----------
    costs : sequence of numbers, dict of name or index to number, Series, or None
        A sequence has one cost for each column, in the order of the table. In a dict, or a Series
        with the names of columns as its index, the other columns cost 1; the name of a group gives
        the cost of the whole group.
    features : Features
    """
    if costs is None:
        return None
    if hasattr(costs, "items") and hasattr(costs, "index") and not isinstance(costs, Mapping):
        costs = dict(costs.items())  # a Series
    if isinstance(costs, Mapping):
        return _costs_by_name(costs, features)
    listed = [] if isinstance(costs, (str, Real)) or not isinstance(costs, Iterable) else [*costs]
    if len(listed) != features.n_columns:
        raise InvalidParameterError(
            f"costs must have one positive number for each of the {features.n_columns} columns of "
            f"X, or be a dict of names and numbers. Got {value_text(costs)} instead."
        )
    of_column = [_cost(cost, j, features) for j, cost in enumerate(listed)]
    return _sum_by_feature(np.array(of_column), features)


def _costs_by_name(costs: Mapping[Any, Any], features: Features) -> NDArray[np.float64]:
    of_column = np.ones(features.n_columns)
    of_group: dict[int, float] = {}
    names = () if features.column_names is None else features.column_names
    groups = {group.name for group in features.groups}.difference(map(str, names))
    for name, cost in costs.items():
        j = find_column(name, features.places, features.n_columns, "costs")
        if isinstance(name, str) and name in groups:
            of_group[int(features.of_column[j])] = _cost(cost, name, features)
        else:
            of_column[j] = _cost(cost, j, features)
    total = _sum_by_feature(of_column, features)
    for k, cost in of_group.items():
        total[k] = cost
    return total


def _sum_by_feature(of_column: NDArray[np.float64], features: Features) -> NDArray[np.float64]:
    total = np.zeros(len(features))
    np.add.at(total, features.of_column, of_column)
    return total


def _cost(cost: Any, column: int | str, features: Features) -> float:
    is_number = isinstance(cost, (Real, np.number)) and not isinstance(cost, (bool, np.bool_))
    if is_number and 0 < float(cost) < np.inf:
        return float(cost)
    name = column if isinstance(column, str) else column_name(features.column_names, column)
    raise InvalidParameterError(
        f"costs must be positive numbers. The cost of column {name!r} is {cost!r}."
    )
