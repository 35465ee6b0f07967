"""A fitted encoder and the features of a table, as the content of a file and back.

Nothing that comes from a file is trusted: lengths, orders and numbers of levels are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS
from hocmim.coding.cuts import CATEGORIES, KINDS, ColumnDescriptions, Ragged
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, Group
from hocmim.data.values import (
    UnsupportedError,
    array_of,
    from_json,
    indices_below,
    is_count,
    require,
    to_json,
)
from hocmim.errors import InvalidParameterError
from hocmim.parameters import check_parameters

PARAMETERS = tuple(Encoder._parameter_constraints)


def encoder_content(encoder: Encoder) -> dict[str, Any]:
    """Return a fitted encoder as JSON."""
    columns, names = encoder.columns_, encoder.names
    arrays = {
        "kind": columns.kind,
        "n_levels": columns.n_levels,
        "has_missing": columns.has_missing,
        "cuts": columns.cuts.values,
        "n_cuts": columns.cuts.counts,
        "levels": columns.levels.values,
        "n_numbers": columns.levels.counts,
        "most_frequent": columns.most_frequent,
        "n_most_frequent": columns.n_most_frequent,
        "identifiers": columns.identifiers,
    }
    try:
        categories = {str(j): to_json(levels) for j, levels in columns.categories.items()}
    except UnsupportedError as error:
        raise InvalidParameterError(
            f"A column has categories of type {error}, which a file cannot hold. Convert them to "
            "strings or numbers before fit."
        ) from error
    return {
        "parameters": {name: to_json(getattr(encoder, name)) for name in PARAMETERS},
        "names": None if names is None else [str(name) for name in names],
        "columns": {name: to_json(array) for name, array in arrays.items()},
        "categories": categories,
        "n_pooled": {str(j): number for j, number in columns.n_pooled.items()},
    }


def encoder_from(content: dict[str, Any]) -> Encoder:
    """Return the encoder that ``encoder_content`` described; MalformedError if it is not valid."""
    encoder = Encoder(**{name: from_json(one) for name, one in content["parameters"].items()})
    check_parameters(encoder)
    arrays = {name: from_json(array) for name, array in content["columns"].items()}
    kind = array_of(arrays["kind"], np.int8, (None,), "kind")
    n_columns = len(kind)
    require(bool(((kind >= 0) & (kind < len(KINDS))).all()), "kind must be known")
    n_levels = array_of(arrays["n_levels"], np.int64, (n_columns,), "n_levels")
    n_pooled = _pooled(content["n_pooled"], kind)
    columns = ColumnDescriptions(
        kind,
        n_levels,
        array_of(arrays["has_missing"], bool, (n_columns,), "has_missing"),
        _ragged(arrays["cuts"], arrays["n_cuts"], n_columns, "cuts"),
        _ragged(arrays["levels"], arrays["n_numbers"], n_columns, "levels"),
        _categories(content["categories"], kind, n_levels, n_pooled),
        n_pooled,
        array_of(arrays["most_frequent"], np.int64, (n_columns,), "most_frequent"),
        array_of(arrays["n_most_frequent"], np.int64, (n_columns,), "n_most_frequent"),
        indices_below(arrays["identifiers"], n_columns, "identifiers", distinct=True),
    )
    _check_levels(columns)
    is_count_of_rows = bool((columns.n_most_frequent >= 0).all())
    require(is_count_of_rows, "n_most_frequent must not be negative")
    return encoder.with_columns(columns, names_from(content["names"], n_columns))


def _pooled(content: Any, kind: NDArray[np.int8]) -> dict[int, int]:
    """Return how many categories are pooled, by column."""
    require(isinstance(content, dict), "n_pooled must be an object")
    known = {str(j): j for j in np.flatnonzero(kind == CATEGORIES).tolist()}
    is_right = all(j in known and is_count(n) and n > 0 for j, n in content.items())
    require(is_right, "n_pooled must be counts of columns of categories")
    return {known[j]: n for j, n in content.items()}


def _check_levels(columns: ColumnDescriptions) -> None:
    """Check that every code which the encoder can give is below the number of levels."""
    n_levels, is_number = columns.n_levels, columns.kind != CATEGORIES
    arity, n_cuts, frequent = columns.arity, columns.cuts.counts, columns.most_frequent
    require(bool((n_levels >= 0).all()), "n_levels must not be negative")
    require(bool((arity <= MAX_LEVELS).all()), f"a column has more than {MAX_LEVELS} levels")
    n_codes = np.where(is_number, n_cuts + 1, n_levels)
    is_right = (n_codes == n_levels) | ((n_levels == 0) & (n_cuts == 0))
    require(bool(is_right.all()), "the cuts do not fit the number of levels")
    n_numbers = np.where(columns.is_cut | ~is_number, 0, n_levels)
    require(bool((columns.levels.counts == n_numbers).all()), "levels have the wrong number")
    is_level = (frequent >= 0) & (frequent < np.maximum(arity, 1))
    require(bool(is_level.all()), "a level does not exist")


def _ragged(values: Any, counts: Any, n_rows: int, name: str) -> Ragged:
    """Return rows of sorted finite numbers."""
    values = array_of(values, np.float64, (None,), name)
    counts = array_of(counts, np.int64, (n_rows,), f"the numbers of {name}")
    in_range = bool(((counts >= 0) & (counts <= len(values))).all())
    require(in_range and int(counts.sum()) == len(values), f"{name} have the wrong length")
    require(bool(np.isfinite(values).all()), f"{name} must be finite")
    rows = Ragged.from_counts(values, counts)
    rises = np.ones(len(values), bool)
    rises[1:] = values[1:] >= values[:-1]
    rises[rows.offsets[:-1][counts > 0]] = True  # the first of a row
    require(bool(rises.all()), f"{name} must be sorted")
    return rows


def _categories(
    content: Any,
    kind: NDArray[np.int8],
    n_levels: NDArray[np.int64],
    n_pooled: dict[int, int],
) -> dict[int, list[Any]]:
    found = {}
    for j in np.flatnonzero(kind == CATEGORIES).tolist():
        levels = from_json(content[str(j)])
        n_kept = n_levels[j] - (j in n_pooled)
        is_list = isinstance(levels, list) and len(levels) == n_kept
        require(is_list, "categories have the wrong length")
        require(len(set(levels)) == len(levels), "categories must be distinct")
        found[j] = levels
    return found


def names_from(names: Any, n_columns: int) -> list[str] | None:
    """Return the names of the columns, or None; MalformedError for anything else."""
    if names is None:
        return None
    is_right = isinstance(names, list) and len(names) == n_columns
    require(is_right and all(isinstance(name, str) for name in names), "names must be strings")
    return names


def groups_content(features: Features) -> list[list[Any]]:
    """Return the groups of columns as JSON."""
    return [[group.name, list(group.columns)] for group in features.groups]


def features_from(groups: Any, n_columns: int, names: Sequence[str] | None) -> Features:
    """Return the features of ``n_columns`` columns; MalformedError if the groups are not valid."""
    require(isinstance(groups, list), "groups must be a list")
    found = []
    for group in groups:
        name, columns = group
        is_group = isinstance(name, str) and isinstance(columns, list) and len(columns) > 0
        is_group = is_group and all(is_count(j) and j < n_columns for j in columns)
        require(is_group and columns == sorted(columns), "a group must be a name and columns")
        found.append(Group(name, tuple(columns)))
    members = [j for group in found for j in group.columns]
    require(len(set(members)) == len(members), "a column must be in one group only")
    require(found == sorted(found, key=lambda g: g.columns[0]), "groups must be sorted")
    return Features(n_columns, names, tuple(found))
