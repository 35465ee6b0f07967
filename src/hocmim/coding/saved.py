"""A fitted encoder and the features of a table, as the content of a file and back.

Nothing that comes from a file is trusted: lengths, orders and numbers of levels are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS
from hocmim.coding.cuts import Ragged, check_bins, get_discretizer
from hocmim.coding.encoder import Encoder
from hocmim.coding.fitted import CATEGORIES, CUT, KINDS, Fitted
from hocmim.coding.groups import Features, Group
from hocmim.coding.rare import check_max_levels
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


def encoder_content(encoder: Encoder) -> dict[str, Any]:
    """Return a fitted encoder as JSON."""
    fitted, (frequent, n_frequent) = encoder.fitted_parts(), encoder.most_frequent
    arrays = {
        "kind": fitted.kind.astype(np.int8),
        "cuts": fitted.cuts.values,
        "n_cuts": fitted.cuts.counts,
        "levels": fitted.levels.values,
        "n_numbers": fitted.levels.counts,
        "has_missing": fitted.has_missing,
        "n_levels": fitted.n_levels,
        "most_frequent": frequent,
        "n_most_frequent": n_frequent,
        "identifiers": encoder.identifiers_,
    }
    try:
        categories = {str(j): to_json(levels) for j, levels in fitted.categories.items()}
    except UnsupportedError as error:
        raise InvalidParameterError(
            f"A column has categories of type {error}, which a file cannot hold. Convert them to "
            "strings or numbers before fit."
        ) from error
    names = getattr(encoder, "feature_names_in_", None)
    return {
        "discretizer": encoder.discretizer,
        "n_bins": encoder.n_bins,
        "max_levels": encoder.max_levels,
        "names": None if names is None else [str(name) for name in names],
        "columns": {name: to_json(array) for name, array in arrays.items()},
        "categories": categories,
        "n_pooled": {str(j): number for j, number in fitted.n_pooled.items()},
    }


def encoder_from(content: dict[str, Any]) -> Encoder:
    """Return the encoder that ``encoder_content`` described; MalformedError if it is not valid."""
    get_discretizer(content["discretizer"])
    n_bins = check_bins("n_bins", content["n_bins"])
    columns = {name: from_json(array) for name, array in content["columns"].items()}
    kind = array_of(columns["kind"], np.int8, (None,), "kind")
    n_columns = len(kind)
    require(bool(((kind >= 0) & (kind < len(KINDS))).all()), "kind must be known")
    names = names_from(content["names"], n_columns)
    cuts = _ragged(columns["cuts"], columns["n_cuts"], n_columns, "cuts")
    levels = _ragged(columns["levels"], columns["n_numbers"], n_columns, "levels")
    has_missing = array_of(columns["has_missing"], bool, (n_columns,), "has_missing")
    n_levels = array_of(columns["n_levels"], np.int64, (n_columns,), "n_levels")
    # Files of the first form have no pooled levels, and the code of new values instead.
    n_pooled = _pooled(content.get("n_pooled", {}), kind)
    categories = _categories(content["categories"], kind, n_levels, n_pooled)
    fitted = Fitted(kind, cuts, levels, categories, has_missing, n_levels, n_pooled)
    nothing = np.zeros(n_columns, np.int64)
    found = columns["most_frequent"] if "most_frequent" in columns else columns["unknown"]
    frequent = array_of(found, np.int64, (n_columns,), "most_frequent")
    _check_levels(fitted, frequent)
    n_frequent = columns.get("n_most_frequent", nothing)
    n_frequent = array_of(n_frequent, np.int64, (n_columns,), "n_most_frequent")
    require(bool((n_frequent >= 0).all()), "n_most_frequent must not be negative")
    found = columns.get("identifiers", nothing[:0])
    identifiers = indices_below(found, n_columns, "identifiers", distinct=True)
    return Encoder.from_fitted(
        fitted,
        names,
        frequent,
        n_frequent,
        identifiers.tolist(),
        discretizer=content["discretizer"],
        n_bins=n_bins,
        max_levels=check_max_levels(content.get("max_levels")),
    )


def _pooled(content: Any, kind: NDArray[np.int8]) -> dict[int, int]:
    """Return how many categories are pooled, by column."""
    require(isinstance(content, dict), "n_pooled must be an object")
    known = {str(j): j for j in np.flatnonzero(kind == CATEGORIES).tolist()}
    is_right = all(j in known and is_count(n) and n > 0 for j, n in content.items())
    require(is_right, "n_pooled must be counts of columns of categories")
    return {known[j]: n for j, n in content.items()}


def _check_levels(fitted: Fitted, most_frequent: NDArray[np.int64]) -> None:
    """Check that every code which the encoder can give is below the number of levels."""
    n_levels, is_number = fitted.n_levels, fitted.kind != CATEGORIES
    require(bool((n_levels >= 0).all()), "n_levels must not be negative")
    require(bool((fitted.arity <= MAX_LEVELS).all()), f"a column has more than {MAX_LEVELS} levels")
    is_empty = n_levels == 0
    n_codes = np.where(is_number, fitted.cuts.counts + 1, n_levels)
    is_right = (n_codes == n_levels) | (is_empty & (fitted.cuts.counts == 0))
    require(bool(is_right.all()), "the cuts do not fit the number of levels")
    n_numbers = np.where((fitted.kind == CUT) | ~is_number, 0, n_levels)
    require(bool((fitted.levels.counts == n_numbers).all()), "levels have the wrong number")
    highest = np.maximum(fitted.arity, 1)
    is_level = (most_frequent >= 0) & (most_frequent < highest)
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
