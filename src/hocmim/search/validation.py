"""How many features: K chosen by cross-validation, on the codes.

The rows are divided into folds. In each, the search of the selection is made on the training rows,
which gives the features for every K at once. A simple model, the nearest neighbours by the codes of
the first K features, predicts the test rows. The K with the best mean score is chosen. The baseline
is K = 0: the frequencies of the classes, or the mean, of the training rows.

model
    The 5 nearest training rows, and all others that are as near as the fifth. The distance is the
    sum over the features: |a − b| / (L − 1) for the codes a and b of a column of numbers with L
    bins, 1 for different levels of other columns and for a missing value and another one. The
    prediction is (Σ over m neighbours + w prior) / (m + w): m votes, and w votes for the baseline.
    For each K and fold, w is the one that is best in the other folds. A weak dependence has many
    votes for the baseline, so that it is not taken for none.
accuracy
    For people: the share of the test rows whose class most of the near rows have; of equal classes
    the one that is more frequent in the training rows. Of a quantity R².
score
    Classes: the mean of log p(class of the row), which sees rare classes. A quantity: R². Of
    several targets the mean of theirs.
baseline
    A number of features is better than none if the mean gain of a row over K = 0 is at least
    ``MIN_GAIN`` standard errors. If the best K is not, K is 1, so that a pipeline still runs, and
    the user is told that the column may be noise.

Unlike a sum of effects of single columns (naive Bayes, logistic regression) near rows see columns
that tell something together only. Model, score and rule are compared with others on tables that
played no part in their design: ``docs/development/choose_k.md``. Everything is read from the
encoded table, so that a table of any kind and size will do; of more than ``MAX_ROWS`` rows a sample
is used. Rows of one group, and copies of a weighted row, are on one side of a split.
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
from hocmim.text import count, one_line, quote

N_FOLDS = 5
N_NEIGHBORS = 5
# Votes for the baseline, beside those of the neighbours.
PRIOR_VOTES = np.array([0.5, 1, 2, 4, 8, 16, 32, 64])
# How many standard errors the gain over the baseline has to be.
MIN_GAIN = 2.0
# Rows that are used at most: the time of the model grows with their square.
MAX_ROWS = 5000
# The largest K that is tried.
MAX_FEATURES = 50
# A distance of 1 between two levels, in whole numbers: sums do not depend on the order.
UNIT = 1 << 16
SEED = 0
NAME_WIDTH = 40
LOG_PROBABILITY, R2, MEAN_SCORE = "mean log probability", "R²", "mean score"


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validated scores for each number of features.

    Attributes
    ----------
    sizes : ndarray of int64
        0, 1, 2, …: the numbers of features.
    scores : ndarray of float64, shape (n_folds, len(sizes))
    accuracy : ndarray of float64, shape (n_folds, len(sizes))
    gain_errors : ndarray of float64, shape (len(sizes),)
        The standard error of the mean gain over K = 0, by rows, or by groups of rows.
    measure : {"mean log probability", "R²", "mean score"}
        What the scores are; "mean score" for several targets of different kinds.
    baseline : str
        What K = 0 predicts, for a sentence: the most frequent class, or "the mean".
    n_rows : int
        Rows that were used.
    n_rows_in_all : int
    """

    sizes: NDArray[np.int64]
    scores: Values
    accuracy: Values
    gain_errors: Values
    measure: str
    baseline: str
    n_rows: int
    n_rows_in_all: int

    @property
    def best(self) -> int:
        """The number of features with the best mean score; 1 if that is not better than none."""
        return self._highest if self.beats_baseline else 1

    @property
    def score(self) -> float:
        """The mean score with the chosen number of features."""
        return float(self.scores.mean(axis=0)[self.best])

    @property
    def baseline_score(self) -> float:
        """The mean score without features."""
        return float(self.scores.mean(axis=0)[0])

    @property
    def beats_baseline(self) -> bool:
        """Whether some number of features predicts better than none, beyond chance."""
        return self.is_better(self._highest)

    def is_better(self, size: int) -> bool:
        """Whether this number of features predicts better than none, beyond chance."""
        mean = self.scores.mean(axis=0)
        return bool(mean[size] - mean[0] > MIN_GAIN * self.gain_errors[size])

    @property
    def _highest(self) -> int:
        return 1 + int(np.argmax(comparison_key(self.scores.mean(axis=0)[1:])))

    def in_words(self) -> str:
        """Return what was chosen, with the baseline beside it."""
        rows = f"{count(len(self.scores), 'fold')} of {count(self.n_rows, 'row')}"
        if self.n_rows < self.n_rows_in_all:
            rows += f", a sample of {self.n_rows_in_all:,}"
        chosen = f"Cross-validation ({rows}) chose {count(self.best, 'column')}."
        if not self.beats_baseline:
            chosen = f"{self.nothing_beats_it()} Cross-validation ({rows}):"
        score, none = self.score, self.baseline_score
        if self.measure == LOG_PROBABILITY:
            found = (
                f"the class of an unseen row gets a probability of {np.exp(score):.1%} (geometric "
                f"mean); without a column, {np.exp(none):.1%}"
            )
        elif self.measure == R2:
            found = f"R² on unseen rows is {score:.3f}; without a column, {none:.3f}"
        else:
            found = f"the mean score is {score:.3f}; without a column, {none:.3f}"
        return f"{chosen} {found if chosen.endswith(':') else found[0].upper() + found[1:]}."

    def nothing_beats_it(self) -> str:
        """Return the sentence that no number of columns is of use, and what is selected then."""
        return nothing_beats(self.baseline)


def nothing_beats(baseline: str) -> str:
    """Return the sentence that no number of columns is of use, and what is selected then."""
    return (
        f"No number of columns predicts better than always answering {baseline}. As few as "
        "possible are selected, and they may be noise."
    )


SearchRows = Callable[[Encoded, int], Selection]


def cross_validate(
    encoded: Encoded, search_rows: SearchRows, most: int, progress: Progress | None = None
) -> Validation:
    """Return the scores of each number of features, up to ``most``.

    ``search_rows(part, k)`` selects k features of some rows.
    """
    codes = encoded.codes
    if not isinstance(codes, Codes):
        raise InvalidParameterError(
            "n_features_to_select='cv' needs the codes on this machine, and those of a Dask "
            "collection stay on the workers. Pass a number, or 'significant'."
        )
    rng = np.random.default_rng(SEED)
    units = _units(encoded)
    rows = sample_rows(units, rng)
    folds = _folds(encoded.target.column.codes[rows], units[rows], rng)
    n_folds, n_select = int(folds.max()) + 1, min(most, MAX_FEATURES)
    targets = encoded.target.each
    parts: list[list[Values]] = [[] for _ in targets]
    right: list[list[Values]] = [[] for _ in targets]
    if progress is not None:
        progress.begin("validate", "cross-validation", n_folds)
    for fold in range(n_folds):
        train, test = rows[folds != fold], rows[folds == fold]
        selection = search_rows(encoded.take(train), n_select)
        chosen = [codes.column(int(k)) for k in selection.indices]
        searched = Fold(train, test, chosen, _n_ordered(encoded, selection))
        for k, (scores, hits) in enumerate(_row_scores(searched, targets)):
            parts[k].append(_padded(scores, n_select + 1))
            if hits is not None:
                right[k].append(_padded(hits, n_select + 1)[0])
        if progress is not None:
            progress.count("cross-validation, {} folds")
    weighed = [_weighed(part) for part in parts]
    row_scores = np.mean(weighed, axis=0)
    answers = [np.concatenate(one, axis=1) if one else scores
               for one, scores in zip(right, weighed, strict=True)]  # fmt: skip
    fold_of_column = np.sort(folds)
    in_order = units[rows][np.argsort(folds, kind="stable")]
    kinds = {one.kind for one in targets}
    measure = R2 if kinds == {"quantity"} else LOG_PROBABILITY

    def by_fold(values: Values) -> Values:
        return np.array([values[:, fold_of_column == fold].mean(axis=1) for fold in range(n_folds)])

    return Validation(
        np.arange(n_select + 1),
        by_fold(row_scores),
        by_fold(np.mean(answers, axis=0)),
        _gain_errors(row_scores - row_scores[0], in_order),
        MEAN_SCORE if len(kinds) > 1 else measure,
        _baseline(targets, rows),
        len(rows),
        encoded.n_samples,
    )


def _baseline(targets: Sequence[EncodedTarget], rows: NDArray[np.int64]) -> str:
    """Return what is predicted without a column, in words."""
    classes = targets[0].classes
    return baseline_in_words(
        None if classes is None else classes[targets[0].column.codes[rows]], len(targets)
    )


def baseline_in_words(classes: NDArray[Any] | None, n_targets: int = 1) -> str:
    """Return what is predicted without a column; ``classes`` of the rows, None for a quantity."""
    if n_targets > 1:
        return "the most frequent class or the mean of each target"
    if classes is None:
        return "the mean"
    found, counts = np.unique(classes, return_counts=True)
    return quote(one_line(str(found[counts.argmax()]), NAME_WIDTH))


def _padded(values: Values, length: int) -> Values:
    """Repeat the last size: with fewer features than asked for nothing changes any more."""
    missing = length - values.shape[1]
    return np.concatenate([values, np.repeat(values[:, -1:], missing, axis=1)], axis=1)


# --- rows -----------------------------------------------------------------------------------------


def _units(encoded: Encoded) -> NDArray[np.int64]:
    """Return the unit of each sample: rows of one unit stay on one side of a split."""
    if encoded.row_groups is not None:
        return np.asarray(encoded.row_groups, np.int64)
    if encoded.row_counts is not None:
        return np.repeat(np.arange(len(encoded.row_counts)), encoded.row_counts)
    return np.arange(encoded.n_samples)


def sample_rows(units: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the samples to use: all, or about ``MAX_ROWS`` of them, whole units at random."""
    if len(units) <= MAX_ROWS:
        return np.arange(len(units))
    sizes = np.bincount(units)
    order = rng.permutation(len(sizes))
    n_rows = np.cumsum(sizes[order])
    n_units = max(2 * N_FOLDS, int(np.searchsorted(n_rows, MAX_ROWS, side="right")))
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


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the rows, and the columns that were selected on the training rows."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    columns: Sequence[Column]
    n_ordered: Sequence[int]


def _row_scores(fold: Fold, targets: Sequence[EncodedTarget]) -> list[tuple[Values, Values | None]]:
    """Return the score of each test row: shape (votes for the baseline, 0, 1, 2, … features, rows).

    And whether the near rows name its class, of shape (1, 0, 1, 2, … features, rows); None for a
    quantity. For each target. The mean over the rows is the score of the fold.
    """
    train, test = fold.train, fold.test
    shape = len(test), len(train)
    distance, limit = np.zeros(shape, np.int32), np.empty(len(test), np.int32)
    models: list[_NearClasses | _NearValues] = [
        _NearClasses(one, fold) if one.values is None else _NearValues(one, fold) for one in targets
    ]
    found = [[model.without_columns()] for model in models]
    for column, n_numbers in zip(fold.columns, fold.n_ordered, strict=True):
        codes = column.codes.astype(np.uint16)
        apart = _distances(column.arity, n_numbers)
        k = min(N_NEIGHBORS, len(train))
        _native.grow_nearest(codes[train], codes[test], apart, k, distance, limit)
        for model, scores in zip(models, found, strict=True):
            scores.append(model.with_near_rows(distance, limit))
    return [
        (np.stack(scores, axis=1), model.right) for model, scores in zip(models, found, strict=True)
    ]


class _NearClasses:
    """The log probability of the class of each test row."""

    def __init__(self, target: EncodedTarget, fold: Fold) -> None:
        codes, self._n_classes = target.column.codes, target.column.arity
        counts = np.bincount(codes[fold.train], minlength=self._n_classes)
        place = np.empty(self._n_classes, np.int32)  # the most frequent class is 0
        place[np.argsort(-counts, kind="stable")] = np.arange(self._n_classes)
        self._train, self._test = place[codes[fold.train]], place[codes[fold.test]]
        prior = (counts + 1 / self._n_classes) / (len(fold.train) + 1)
        self._prior = prior[codes[fold.test]]
        self._right = [self._test == 0]

    @property
    def right(self) -> Values:
        """Whether the class of each test row was named, with 0, 1, 2, … features."""
        return np.array(self._right, np.float64)[None]

    def without_columns(self) -> Values:
        return np.tile(np.log(self._prior), (len(PRIOR_VOTES), 1))

    def with_near_rows(self, distance: NDArray[np.int32], limit: NDArray[np.int32]) -> Values:
        hits, n_near, most = (np.empty_like(limit) for _ in range(3))
        _native.count_near(
            distance, limit, self._train, self._test, self._n_classes, hits, n_near, most
        )
        self._right.append(most == self._test)
        votes = PRIOR_VOTES[:, None]
        return np.log((hits + votes * self._prior) / (n_near + votes))


class _NearValues:
    """One minus the squared error of each test row, in units of their mean without columns."""

    right = None

    def __init__(self, target: EncodedTarget, fold: Fold) -> None:
        assert target.values is not None
        values = target.values.astype(np.float64)
        self._train, self._test = values[fold.train], values[fold.test]
        self._prior = self._train.mean()
        self._unit = float(((self._test - self._prior) ** 2).mean()) or 1.0

    def without_columns(self) -> Values:
        return np.tile(1 - (self._test - self._prior) ** 2 / self._unit, (len(PRIOR_VOTES), 1))

    def with_near_rows(self, distance: NDArray[np.int32], limit: NDArray[np.int32]) -> Values:
        sums, n_near = np.empty(len(limit)), np.empty_like(limit)
        _native.sum_near(distance, limit, self._train, sums, n_near)
        votes = PRIOR_VOTES[:, None]
        expected = (sums + votes * self._prior) / (n_near + votes)
        return 1 - (self._test - expected) ** 2 / self._unit


def _weighed(folds: Sequence[Values]) -> Values:
    """Return the scores of the rows with the votes for the baseline that are best elsewhere.

    Takes what ``_row_scores`` gives for each fold; returns the shape (sizes, rows), fold by fold.
    """
    sums = np.array([one.sum(axis=2) for one in folds])  # (folds, votes, sizes)
    best = np.argmax(comparison_key(sums.sum(axis=0) - sums), axis=1)
    sizes = np.arange(sums.shape[2])
    return np.concatenate([one[at, sizes] for one, at in zip(folds, best, strict=True)], axis=1)


def _gain_errors(gains: Values, units: NDArray[np.int64]) -> Values:
    """Return the standard error of the mean gain of each size; a unit is one observation."""
    distinct, unit = np.unique(units, return_inverse=True)
    apart = gains - gains.mean(axis=1, keepdims=True)
    sums = np.array([np.bincount(unit, one, len(distinct)) for one in apart])
    n = len(distinct)
    return np.sqrt((sums**2).sum(axis=1) * n / max(n - 1, 1)) / gains.shape[1]
