"""What ``fit`` warns about, from what the encoder and the search know: no value is read again.

The kinds are those of ``notes.py`` that can make a selection misleading. Each gives one sentence,
a ``DataWarning``, that names the columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.cuts import DEFAULT_DISCRETIZER
from hocmim.coding.encoder import Encoder, encode
from hocmim.coding.groups import Features, column_name
from hocmim.coding.target import Target
from hocmim.errors import InvalidTableError, warn_about_data
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.insight.notes import COPY_ROWS_PER_LEVEL, COPY_SHARE, MAX_BIN_SHARE
from hocmim.search.engines.remote import RemoteCodes
from hocmim.text import count, quote, some_of

IDENTIFIERS = ("drop", "keep", "warn")
# Columns that are named in a sentence.
MAX_NAMED = 5
# Other estimators give less than the plug-in one; columns below this share of H(Y) are no copies.
LEAST_SHARE = 0.7
# Columns whose information is computed again by the plug-in estimator.
MAX_CHECKED = 64
# Discretizers that cut a column by its own values: the same values give the same codes.
BY_VALUE = ("uniform", "quantile")

Indices = NDArray[np.int64]


def named(names: Sequence[str] | None, columns: Sequence[int]) -> str:
    """Return the names of columns, shortened if they are many."""
    return some_of([quote(column_name(names, j)) for j in columns], MAX_NAMED)


def warn_about_identifiers(names: Sequence[str] | None, columns: Indices, mode: str) -> None:
    """Say which columns identify the rows, and what was done with them."""
    if mode == "keep" or not len(columns):
        return
    which, one = named(names, columns.tolist()), len(columns) == 1
    found = f"{count(len(columns), 'column')} {'identifies' if one else 'identify'} the rows"
    if mode == "drop":
        it = "it as a candidate" if one else "them as candidates"
        was = "was left out" if one else "were left out"
        warn_about_data(f"{found} and {was}: {which}. Pass identifiers='keep' to keep {it}.")
    else:
        it = "it says" if one else "they say"
        warn_about_data(
            f"{found}: {which}. What {it} about the target does not hold for new rows. Pass "
            f"identifiers='drop' to leave {'it' if one else 'them'} out."
        )


def only_identifiers() -> InvalidTableError:
    """Return the error for a table in which there is nothing to select."""
    return InvalidTableError(
        "Every column of X identifies the rows, so that there is nothing to select. Pass "
        "identifiers='keep' to select from them."
    )


def warn_about_columns(
    encoder: Encoder,
    features: Features,
    codes: Codes | RemoteCodes,
    targets: Sequence[Target],
    relevance: Values | None,
    left_out: Indices,
) -> None:
    """Warn about columns that give the target away, and about bins that hold nearly all rows.

    Parameters
    ----------
    encoder : Encoder
    features : Features
    codes : Codes or RemoteCodes
        Of the features.
    targets : sequence of Target
        A column is named if it gives one of them away.
    relevance : ndarray or None
        Of each feature; None for several targets.
    left_out : ndarray of int64
        Features that are no candidates.
    """
    found = [_copies(codes, y.column, relevance, _cut_alike(y, encoder)) for y in targets]
    copies = np.setdiff1d(np.concatenate(found), left_out)
    _warn_about_copies(named(features.names, copies.tolist()), len(copies), len(targets))
    uneven = _uneven(encoder, len(targets[0].column.codes))
    if len(uneven):
        which = named(features.column_names, uneven.tolist())
        warn_about_data(
            f"One bin holds more than {MAX_BIN_SHARE:.0%} of the rows of {which}: the values in it "
            "count as equal. hocmim.insight.notes.data_notes(X, y) says what to do."
        )


def warn_about_ranked(
    names: Sequence[str] | None, columns: Sequence[Column], indices: Indices, y: Column
) -> None:
    """Warn about columns that give the target away, among the first ones of a ranking.

    Parameters
    ----------
    names : sequence of str or None
        Of all columns of the table.
    columns : sequence of Column
        The first columns, coded; at most ``MAX_CHECKED`` are of use.
    indices : ndarray of int64
        Their indices in the table.
    y : Column
        Classes, or a quantity that is cut as the columns are.
    """
    if columns:
        copies = np.sort(indices[_copies(Codes.from_columns(list(columns)), y, None, y)])
        _warn_about_copies(named(names, copies.tolist()), len(copies), 1)


def _warn_about_copies(which: str, n_copies: int, n_targets: int) -> None:
    if n_copies:
        explain, are_they = ("explains", "Is it") if n_copies == 1 else ("explain", "Are they")
        target = "the target" if n_targets == 1 else "one of the targets"
        warn_about_data(
            f"{which} {explain} nearly all of {target}. {are_they} known before the target is?"
        )


def _cut_alike(target: Target, encoder: Encoder) -> Column:
    """Return a quantity cut as the columns are, so that a copy has the same codes; or classes."""
    values = target.values
    if values is None or len(values) != len(target.column.codes):
        return target.column
    name = encoder.discretizer if encoder.discretizer in BY_VALUE else DEFAULT_DISCRETIZER
    return encode(values[:, None], discretizer=name, n_bins=encoder.n_bins).column(0)


def _copies(
    codes: Codes | RemoteCodes, y: Column, relevance: Values | None, y_alike: Column
) -> Indices:
    """Return the features that explain nearly all of the target, as ``notes.py`` defines it.

    ``relevance`` is about y; ``y_alike`` is the target cut as the columns are.
    """
    entropy = _entropy(y)
    if relevance is None:  # that of the search is about several targets
        if not isinstance(codes, Codes):
            return np.empty(0, np.int64)
        relevance = BlockTerms(codes, Joint.of([y]), PLUGIN_ESTIMATOR).relevance()
    suspects = np.flatnonzero(relevance >= LEAST_SHARE * entropy)
    if entropy == 0 or not len(suspects):
        return np.empty(0, np.int64)
    suspects = suspects[np.argsort(-relevance[suspects], kind="stable")[:MAX_CHECKED]]
    columns = [codes.column(int(k)) for k in np.sort(suspects)]
    columns = [x for x in columns if x.arity * COPY_ROWS_PER_LEVEL <= len(y.codes)]
    if not columns:
        return np.empty(0, np.int64)
    terms = BlockTerms(Codes.from_columns(columns), Joint.of([y_alike]), PLUGIN_ESTIMATOR)
    is_copy = terms.relevance() >= COPY_SHARE * _entropy(y_alike)
    return np.array([x.index for x in columns], np.int64)[is_copy]


def _entropy(y: Column) -> float:
    """Return H(Y), plug-in."""
    n_rows = np.bincount(y.codes, minlength=1)
    p = n_rows[n_rows > 0] / len(y.codes)
    return float(-(p * np.log(p)).sum())


def _uneven(encoder: Encoder, n_samples: int) -> Indices:
    """Return the columns that were cut and have nearly all rows in one bin."""
    frequent, n_frequent = encoder.most_frequent
    suspects = np.flatnonzero(encoder.is_cut & (n_frequent > MAX_BIN_SHARE * n_samples))
    missing = [encoder.columns_[j].missing for j in suspects.tolist()]
    return np.array(
        [j for j, code in zip(suspects, missing, strict=True) if frequent[j] != code], np.int64
    )
