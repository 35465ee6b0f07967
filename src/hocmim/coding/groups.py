"""Features: what can be selected, and the parameters that name features.

A *feature* is a group of columns, or a column that is in no group. Features are numbered by their
first columns, from left to right.

The code of a group is the joint of the codes of its columns. Its levels are the combinations that
occur, sorted by the last column, then by the column before it, and so on. The columns of a one-hot
encoding give exactly the code of the column they were made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.coding.codes import MAX_LEVELS, Codes, Column, as_small_integers
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.text import count, did_you_mean, value_text

# Up to this number of possible combinations, a lookup table replaces sorting.
TABLE_CELLS = 1 << 22


class Group(NamedTuple):
    """Columns under one name, in the order of the table."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a table: groups of columns, and the columns in no group."""

    n_columns: int
    column_names: Sequence[str] | None = None
    groups: tuple[Group, ...] = ()  # sorted by their first columns

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (self.n_columns, self.column_names, self.groups)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first column of each feature."""
        if not self.groups:
            return np.arange(self.n_columns, dtype=np.int64)
        later = [j for group in self.groups for j in group.columns[1:]]
        return np.delete(np.arange(self.n_columns, dtype=np.int64), later)

    @cached_property
    def of_column(self) -> NDArray[np.int64]:
        """The feature each column belongs to."""
        features = np.empty(self.n_columns, np.int64)
        features[self.first] = np.arange(len(self.first))
        for group in self.groups:
            features[list(group.columns)] = features[group.columns[0]]
        return features

    @cached_property
    def _group_of(self) -> dict[int, Group]:
        """The groups by the index of their feature."""
        return {int(self.of_column[group.columns[0]]): group for group in self.groups}

    @cached_property
    def names(self) -> Sequence[str] | None:
        """The name of each feature; None if neither columns nor groups have names."""
        if not self.groups:
            return self.column_names
        names = [column_name(self.column_names, int(j)) for j in self.first]
        for k, group in self._group_of.items():
            names[k] = group.name
        return names

    @property
    def counted(self) -> str:
        """What to call the features in a message that counts them."""
        return "features, where a group of columns counts as one" if self.groups else "columns of X"

    def columns(self, k: int) -> tuple[int, ...]:
        """Return the columns of feature k."""
        if self.groups and k in self._group_of:
            return self._group_of[k].columns
        return (int(self.first[k]),)

    def expand(self, features: ArrayLike) -> NDArray[np.int64]:
        """Return the columns of several features, one feature after the other."""
        if not self.groups:
            return self.first[np.asarray(features, np.int64)]
        columns = [j for k in np.asarray(features).tolist() for j in self.columns(k)]
        return np.array(columns, np.int64)

    def alone(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of the columns that are in no group."""
        if not self.groups:
            return columns
        return np.setdiff1d(columns, [j for group in self.groups for j in group.columns])

    def sizes(self, features: ArrayLike) -> NDArray[np.int64]:
        """Return the number of columns of each of several features."""
        if not self.groups:
            return np.ones(len(np.asarray(features)), np.int64)
        return np.array([len(self.columns(k)) for k in np.asarray(features).tolist()], np.int64)

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each column that has a name, and of the first column of each group."""
        return {group.name: group.columns[0] for group in self.groups} | _places(self.column_names)

    def join(self, codes: Codes) -> Codes:
        """Return the codes of the features, given those of the columns."""
        if not self.groups:
            return codes
        return replace(join_groups(codes, self.groups), can_have_planes=codes.can_have_planes)

    def find(self, feature: int | str) -> int:
        """Return the feature of that name, or the feature of the column of that name or index."""
        if isinstance(feature, str) and self.names is not None:
            if feature in self.places:
                return int(self.of_column[self.places[feature]])
            raise InvalidParameterError(
                f"There is no feature {feature!r}.{did_you_mean(feature, self.places)}"
            )
        if _is_index(feature) and 0 <= int(feature) < self.n_columns:
            return int(self.of_column[int(feature)])
        names_too = " or a name" if self.names is not None else ""
        raise InvalidParameterError(
            f"feature must be an index from 0 to {self.n_columns - 1}{names_too}. "
            f"Got {value_text(feature)} "
            "instead."
        )


# --- codes ----------------------------------------------------------------------------------------


def join_groups(codes: Codes, groups: Sequence[Group]) -> Codes:
    """Return the codes of features: groups of columns joined, the other columns unchanged.

    Columns of groups are counted from the first column of these codes.
    """
    group_at = {group.columns[0]: group for group in groups}
    later = {j for group in groups for j in group.columns[1:]}
    columns, names = [], []
    for j in range(codes.n_columns):
        if j in group_at:
            members = [codes.column(i) for i in group_at[j].columns]
            columns.append(join_columns(members, group_at[j].name))
            names.append(group_at[j].name)
        elif j not in later:
            columns.append(codes.column(j))
            names.append(column_name(codes.names, j))
    return Codes.from_columns(columns, None if codes.names is None else names)


def join_columns(columns: Sequence[Column], name: str) -> Column:
    """Join several columns into one; ``name`` is the name of the group in an error message."""
    joint = np.zeros(len(columns[0].codes), np.int64)
    n_levels = 1
    for column in columns:
        cells = joint + n_levels * column.codes.astype(np.int64)
        joint, n_levels = _contiguous(cells, n_levels * column.arity)
        if n_levels > MAX_LEVELS:
            raise InvalidTableError(
                f"The {len(columns)} columns of the group {name!r} of feature_groups have more "
                f"than {MAX_LEVELS} combinations of values. Make the group smaller, or cut its "
                "columns into fewer bins (n_bins)."
            )
    return Column(as_small_integers(joint, n_levels), n_levels)


def _contiguous(cells: NDArray[np.int64], n_cells: int) -> tuple[NDArray[np.int64], int]:
    """Number the cells that occur from 0, in order; return their number too."""
    if n_cells > TABLE_CELLS:
        occurring, ranks = np.unique(cells, return_inverse=True)
        return ranks, len(occurring)
    occurs = np.zeros(n_cells, bool)
    occurs[cells] = True
    return (np.cumsum(occurs) - 1)[cells], int(occurs.sum())


# --- the parameter --------------------------------------------------------------------------------


def resolve_groups(
    feature_groups: Any, n_columns: int, column_names: Sequence[str] | None
) -> Features:
    """Read the parameter ``feature_groups`` of a selector.

    A dict of names and columns, or a list of lists of columns; columns are names or indices. A
    group without a name is named after its first column.
    """
    if feature_groups is None:
        return Features(n_columns, column_names)
    places = _places(column_names)
    groups = []
    for name, listed in _named_lists(feature_groups):
        label = f"the group {name!r}" if isinstance(name, str) else f"group {name}"
        members = sorted(
            find_column(column, places, n_columns, "feature_groups", f" in {label}")
            for column in listed
        )
        if not members:
            raise InvalidParameterError(
                f"{label[0].upper()}{label[1:]} of feature_groups is empty. Name its columns, or "
                "leave it out."
            )
        if not isinstance(name, str):
            rest = f" + {len(members) - 1} more" if len(members) > 1 else ""
            name = f"{column_name(column_names, members[0])}{rest}"
        groups.append(Group(name, tuple(members)))
    _check_disjoint(groups, column_names)
    _check_names(groups, places, n_columns)
    return Features(n_columns, column_names, tuple(sorted(groups, key=lambda g: g.columns[0])))


def _named_lists(feature_groups: Any) -> list[tuple[str | int, list[Any]]]:
    """Return the groups as pairs: a name (or the position of a group without one) and columns."""
    if isinstance(feature_groups, Mapping):
        pairs = list(feature_groups.items())
        is_named = all(isinstance(name, str) for name, _ in pairs)
    else:
        is_list = isinstance(feature_groups, Iterable) and not isinstance(feature_groups, str)
        pairs = list(enumerate(feature_groups)) if is_list else []
        is_named = is_list
    if not is_named or any(
        isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable)
        for _, columns in pairs
    ):
        raise InvalidParameterError(
            "feature_groups must be a dict of names and columns, such as {'colour': ['red', "
            f"'green']}}, or a list of lists of columns. Got {value_text(feature_groups)} instead."
        )
    return [(name, list(columns)) for name, columns in pairs]


def find_column(
    column: Any, places: Mapping[str, int], n_columns: int, parameter: str, where: str = ""
) -> int:
    """Return the index of a column that a parameter gives by its name or its index.

    ``places`` has the index of each name; ``where`` says for a message where in the parameter the
    column is.
    """
    if isinstance(column, str):
        if column in places:
            return places[column]
        if not places:
            raise InvalidParameterError(
                f"{parameter} has the column {column!r}{where}, but the columns of X have no "
                "names. Use indices of columns, or pass a DataFrame."
            )
        raise InvalidParameterError(
            f"{parameter} has the column {column!r}{where}, but X has no column of this name."
            f"{did_you_mean(column, places)}"
        )
    if _is_index(column) and 0 <= int(column) < n_columns:
        return int(column)
    raise InvalidParameterError(
        f"{parameter} has {column!r}{where}. Give a column by its name, or by its index from 0 to "
        f"{n_columns - 1}."
    )


def _check_disjoint(groups: Sequence[Group], column_names: Sequence[str] | None) -> None:
    group_of: dict[int, Group] = {}
    for group in groups:
        for j in group.columns:
            if j in group_of:
                column = repr(column_names[j]) if column_names is not None else str(j)
                both = group_of[j]
                where = (
                    f"twice in the group {group.name!r}"
                    if both is group
                    else f"in two groups, {both.name!r} and {group.name!r}"
                )
                raise InvalidParameterError(
                    f"feature_groups has the column {column} {where}. A column belongs to one "
                    "feature only: remove it once."
                )
            group_of[j] = group


def _check_names(groups: Sequence[Group], places: Mapping[str, int], n_columns: int) -> None:
    """Raise an error if a group has the name of another feature."""
    shown = places or {str(j): j for j in range(n_columns)}
    for group in groups:
        if group.name in shown and shown[group.name] not in group.columns:
            raise InvalidParameterError(
                f"feature_groups has a group named {group.name!r}, but the column of this name is "
                "not in it. Give the group another name."
            )


def _is_index(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _places(names: Sequence[str] | None) -> dict[str, int]:
    return {} if names is None else {str(name): j for j, name in enumerate(names)}


def column_name(names: Sequence[str] | None, index: int) -> str:
    """Return the name of a column, or its index if the columns have no names."""
    return str(index) if names is None else str(names[index])


# --- parameters that name features, or give a number for each ------------------------------------


def resolve_columns(chosen: Any, features: Features, parameter: str) -> tuple[int, ...]:
    """Return the features that a parameter names, in the order of the table.

    ``chosen`` is a name or an index, several of them, a mask with one boolean for each column, or a
    function of the array of column names (indices if the columns have no names) that returns any of
    these. A column of a group, or the name of the group, stands for the group.
    """
    if chosen is None:
        return ()
    if callable(chosen):
        names = features.column_names
        chosen = chosen(np.array(range(features.n_columns) if names is None else names))
    if isinstance(chosen, (str, Integral)) and not isinstance(chosen, bool):
        chosen = [chosen]
    if not isinstance(chosen, Iterable) or isinstance(chosen, Mapping):
        raise InvalidParameterError(
            f"{parameter} must be names or indices of columns, a mask with one boolean for each "
            "column, a function of the column names that returns one of these, or None. Got "
            f"{value_text(chosen)} instead."
        )
    listed = list(chosen)
    if listed and all(isinstance(item, (bool, np.bool_)) for item in listed):
        if len(listed) != features.n_columns:
            raise InvalidParameterError(
                f"{parameter} is a mask of {count(len(listed), 'boolean')}, but X has "
                f"{count(features.n_columns, 'column')}. Pass one boolean for each column."
            )
        listed = np.flatnonzero(listed).tolist()
    return tuple(sorted({_find(item, features, parameter) for item in listed}))


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

    A sequence has one cost for each column. In a dict, or a Series with the names of columns as its
    index, other columns cost 1; the name of a group gives the cost of the whole group.
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
