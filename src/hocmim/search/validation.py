"""How many features: K chosen by cross-validation, on the codes.

The rows are divided into folds. In each, the search of the selection is made on the training rows,
which gives the features for every K at once. A simple model, the nearest neighbours by the codes of
the first K features, predicts the test rows. The K with the best mean score is chosen; K = 0, which
always predicts the frequencies of the training rows, is the baseline.

model
    The 5 nearest training rows. The distance is the sum over the features: |a − b| / (L − 1) for
    the codes a and b of a column of numbers with L bins, 1 for different levels of other columns
    and for a missing value and another one. The prediction is (Σ over neighbours + prior) / 6, the
    prior being that of the training rows: a vote of five and one of the prior.
score
    Classes: the mean of log p(class of the row), which sees rare classes. A quantity: R². Of
    several targets the mean of theirs.

Codes are enough: on public tables K chosen this way gives errors like those of ``SelectorCV`` with
nearest neighbours on the values, in less time (``benchmarks/how_many.py``). Everything is read
from the encoded table, so that a table of any kind and size will do; of more than ``MAX_ROWS`` rows
a sample is used. Rows of one group, and copies of a weighted row, are on one side of a split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim import _native
from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoded import Encoded
from hocmim.coding.target import EncodedTarget
from hocmim.errors import InvalidParameterError
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Values
from hocmim.search.progress import Progress
from hocmim.search.selection import Selection
from hocmim.text import count

N_FOLDS = 5
N_NEIGHBORS = 5
# Rows that are used at most: the time of the model grows with their square.
MAX_ROWS = 2000
# The largest K that is tried.
MAX_FEATURES = 50
# A distance of 1 between two levels, in whole numbers: sums do not depend on the order.
UNIT = 1 << 16
SEED = 0


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validated scores for each number of features.

    Attributes
    ----------
    sizes : ndarray of int64
        0, 1, 2, …: the numbers of features.
    scores : ndarray of float64, shape (n_folds, len(sizes))
    accuracy : ndarray of float64, shape (n_folds, len(sizes))
        The share of right predictions; for a quantity R². Of several targets the mean.
    measure : str
        What the scores are: "mean log probability", "R²" or "mean score".
    n_rows : int
        Rows that were used.
    n_rows_in_all : int
    """

    sizes: NDArray[np.int64]
    scores: Values
    accuracy: Values
    measure: str
    n_rows: int
    n_rows_in_all: int

    @property
    def best(self) -> int:
        """The number of features with the best mean score, at least 1."""
        return 1 + int(np.argmax(comparison_key(self.scores.mean(axis=0)[1:])))

    def in_words(self) -> str:
        """Return what was chosen, with the baseline beside it."""
        share, none = (self.accuracy.mean(axis=0)[size] for size in (self.best, 0))
        rows = f"{count(len(self.scores), 'fold')} of {count(self.n_rows, 'row')}"
        if self.n_rows < self.n_rows_in_all:
            rows += f", a sample of {self.n_rows_in_all:,}"
        chosen = f"Cross-validation ({rows}) chose {count(self.best, 'column')}"
        model = "the five nearest rows by these columns"
        if self.measure == "mean log probability":
            found = f"predict {share:.1%} of unseen rows right; always the most frequent class, "
            found += f"{none:.1%}"
        elif self.measure == "R²":
            found = f"explain {max(share, 0):.1%} of the variance of unseen rows; the mean, 0%"
        else:
            found = f"have a mean score of {share:.3f}; without a column, {none:.3f}"
        verdict = "" if self.beats_baseline else " No number of columns predicts better than none."
        return f"{chosen}: {model} {found}.{verdict}"

    @property
    def beats_baseline(self) -> bool:
        """Whether some number of features predicts better than none."""
        mean = comparison_key(self.scores.mean(axis=0))
        return bool(mean[self.best] > mean[0])


SearchRows = Callable[[Encoded, int], Selection]


def cross_validate(
    encoded: Encoded, search_rows: SearchRows, most: int, progress: Progress | None = None
) -> Validation:
    """Return the scores of each number of features.

    Parameters
    ----------
    encoded : Encoded
        The whole table, on this machine.
    search_rows : callable
        ``search_rows(part, k)`` selects k features of some rows.
    most : int
        The largest number of features that can be selected.
    progress : Progress, optional
    """
    codes = encoded.codes
    if not isinstance(codes, Codes):
        raise InvalidParameterError(
            "n_features_to_select='cv' needs the codes on this machine, and those of a Dask "
            "collection stay on the workers. Pass a number, or 'significant'."
        )
    rng = np.random.default_rng(SEED)
    units = _units(encoded)
    rows = _sample(units, rng)
    folds = _folds(encoded.target.column.codes[rows], units[rows], rng)
    n_select = min(most, MAX_FEATURES)
    scores, accuracy = [], []
    for fold in range(folds.max() + 1):
        train, test = rows[folds != fold], rows[folds == fold]
        train = rng.permutation(train)  # of equally near rows the first counts as nearer
        selection = search_rows(encoded.take(train), n_select)
        chosen = [codes.column(int(k)) for k in selection.indices]
        near = _nearest(chosen, _n_ordered(encoded, selection), train, test)
        found = [_score(one, near, train, test) for one in encoded.target.each]
        padded = [_padded(np.mean(part, axis=0), n_select + 1) for part in zip(*found, strict=True)]
        scores.append(padded[0])
        accuracy.append(padded[1])
        if progress is not None:
            progress.on_fold(fold + 1, int(folds.max()) + 1)
    kinds = {one.kind for one in encoded.target.each}
    measure = "R²" if kinds == {"quantity"} else "mean log probability"
    return Validation(
        np.arange(n_select + 1),
        np.array(scores),
        np.array(accuracy),
        "mean score" if len(kinds) > 1 else measure,
        len(rows),
        encoded.n_samples,
    )


def _padded(values: Values, length: int) -> Values:
    """Repeat the last value: with fewer features than asked for nothing changes any more."""
    return np.concatenate([values, np.full(length - len(values), values[-1])])


# --- rows -----------------------------------------------------------------------------------------


def _units(encoded: Encoded) -> NDArray[np.int64]:
    """Return the unit of each sample: rows of one unit stay on one side of a split."""
    if encoded.row_groups is not None:
        return np.asarray(encoded.row_groups, np.int64)
    if encoded.row_counts is not None:
        return np.repeat(np.arange(len(encoded.row_counts)), encoded.row_counts)
    return np.arange(encoded.n_samples)


def _sample(units: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the samples to use: all, or about ``MAX_ROWS`` of them, whole units at random."""
    if len(units) <= MAX_ROWS:
        return np.arange(len(units))
    sizes = np.bincount(units)
    order = rng.permutation(len(sizes))
    n_units = max(2 * N_FOLDS, int(np.searchsorted(np.cumsum(sizes[order]), MAX_ROWS)))
    is_used = np.zeros(len(sizes), bool)
    is_used[order[:n_units]] = True
    return np.flatnonzero(is_used[units])


def _folds(
    classes: NDArray[Any], units: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the fold of each row: units are dealt out class by class, at random within a class."""
    distinct, unit = np.unique(units, return_inverse=True)
    n_folds = min(N_FOLDS, len(distinct))
    if n_folds < 2:
        raise InvalidParameterError(
            "n_features_to_select='cv' needs at least two groups of rows. Pass a number."
        )
    counts = np.zeros((len(distinct), int(classes.max()) + 1), np.int64)
    np.add.at(counts, (unit, classes), 1)
    shuffled = rng.permutation(len(distinct))
    by_class = shuffled[np.argsort(counts[shuffled].argmax(axis=1), kind="stable")]
    fold = np.empty(len(distinct), np.int64)
    fold[by_class] = np.arange(len(distinct)) % n_folds
    return fold[unit]


# --- the model ------------------------------------------------------------------------------------


def _n_ordered(encoded: Encoded, selection: Selection) -> list[int]:
    """Return how many of the first levels of each selected feature have an order.

    Those of a column of numbers, but not its level of missing values; 0 for other columns and for
    groups of columns.
    """
    found = []
    for k in selection.indices.tolist():
        members = encoded.features.columns(k)
        column = encoded.encoder.columns_[members[0]] if len(members) == 1 else None
        is_number = column is not None and column.kind != "categories"
        found.append(column.arity - (column.missing is not None) if column and is_number else 0)
    return found


def _distances(arity: int, n_ordered: int) -> NDArray[np.int32]:
    """Return the distance of each pair of levels; the first ``n_ordered`` have an order."""
    levels = np.arange(arity)
    table = np.where(levels[:, None] == levels, 0, UNIT)
    if n_ordered > 1:
        numbers = levels[:n_ordered]
        apart = np.abs(numbers[:, None] - numbers)
        table[:n_ordered, :n_ordered] = apart * UNIT // (n_ordered - 1)
    return table.astype(np.int32)


def _nearest(
    columns: Sequence[Column],
    n_ordered: Sequence[int],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the places in ``train`` of the nearest rows: shape (K, n_test, n_neighbors)."""
    k = min(N_NEIGHBORS, len(train))
    near = np.empty((len(columns), len(test), k), np.int32)
    distance = np.zeros((len(test), len(train)), np.int32)
    for place, (column, n_numbers) in enumerate(zip(columns, n_ordered, strict=True)):
        codes = column.codes.astype(np.uint16)
        apart = _distances(column.arity, n_numbers)
        _native.grow_nearest(codes[train], codes[test], apart, distance, near[place])
    return near


def _score(
    target: EncodedTarget,
    near: NDArray[np.int32],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> tuple[Values, Values]:
    """Return the score and the accuracy with 0, 1, 2, … features."""
    n_sizes, n_test = len(near) + 1, len(test)
    if target.is_quantity and target.values is not None:
        values = target.values
        prior = values[train].mean()
        total = float(((values[test] - prior) ** 2).sum()) or 1.0
        r2 = np.zeros(n_sizes)
        for size in range(1, n_sizes):
            found = values[train][near[size - 1]]
            predicted = (found.sum(axis=1) + prior) / (found.shape[1] + 1)
            r2[size] = 1 - ((values[test] - predicted) ** 2).sum() / total
        return r2, r2
    classes, n_classes = target.column.codes, target.column.arity
    prior = (np.bincount(classes[train], minlength=n_classes) + 1 / n_classes) / (len(train) + 1)
    y_train, y_test = classes[train], classes[test].astype(np.int64)
    log_p, accuracy = np.empty(n_sizes), np.empty(n_sizes)
    for size in range(n_sizes):
        p = np.tile(prior, (n_test, 1))
        if size:
            votes = y_train[near[size - 1]].astype(np.int64)
            np.add.at(p, (np.arange(n_test)[:, None], votes), 1.0)
            p /= votes.shape[1] + 1
        log_p[size] = np.log(p[np.arange(n_test), y_test]).mean()
        accuracy[size] = (p.argmax(axis=1) == y_test).mean()
    return log_p, accuracy
