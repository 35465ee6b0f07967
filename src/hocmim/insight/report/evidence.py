"""The numbers of a report: what was selected, and for every column why it was taken or left.

``explain`` runs a criterion again on one column; here it runs on blocks of them. The winners of all
steps are known, so that each block goes through the whole selection by itself, on any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features
from hocmim.coding.target import encode_target
from hocmim.criteria.base import Criterion
from hocmim.data.checks import check_features
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.data.weights import repeated_rows
from hocmim.errors import InvalidTableError, InvalidTargetError
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.insight.explain import Kept, pairwise_redundancy
from hocmim.search.selection import Stopping
from hocmim.search.stopping import Margins, mean_of_g

# Columns a thread explains at a time.
BLOCK_COLUMNS = 512
# Of more selected features, redundancy is computed with the first of them only.
MOST_COMPARED = 500
# Of more, the map of redundancy shows the first of them only.
MOST_MAPPED = 60
# Scores kept for the curves of a page, steps times columns.
MOST_CURVE_POINTS = 400_000


@dataclass(frozen=True, eq=False)
class Answers:
    """Why each column was taken or left, one element a column.

    Attributes
    ----------
    score : ndarray of float64
        When it was taken, or in the last step it was left in.
    nearest_step : ndarray of int64
        The step, from 1, where a column that was left came nearest to being taken; 0 if there was
        no search.
    nearest_score : ndarray of float64
        Its score then.
    curve : ndarray of float64, shape (n steps shown, D)
        Its score at each of ``curve_steps``; NaN after it was taken.
    order : ndarray of int64
        Of its representative set in its last step; −1 if the criterion has none.
    members : list of ndarray of int64
        These sets, as places in the order of selection, from 0.
    most_redundant, next_redundant, most_synergistic : ndarray of int64
        Places of the features taken before it that repeat most of what it says of Y, second most,
        and least; −1 if there are none, or what they share is not of that sign.
    redundancy : ndarray of float64, shape (3, D)
        I(X;s) − I(X;s|Y) with each of the three, in nats.
    """

    score: Values
    nearest_step: NDArray[np.int64]
    nearest_score: Values
    curve: Values
    order: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    most_redundant: NDArray[np.int64]
    next_redundant: NDArray[np.int64]
    most_synergistic: NDArray[np.int64]
    redundancy: Values


@dataclass(frozen=True, eq=False)
class Cumulative:
    """I(S;Y) of the first 1, 2, … selected features, in nats.

    Attributes
    ----------
    plugin : ndarray of float64
        The plug-in value: too large in small samples, H(Y) once every sample is alone in its cell.
    chance : ndarray of float64
        What the plug-in gives on average if y is permuted: the part that cells alone explain.
    supported : ndarray of float64
        The largest ``plugin − chance`` of any of the first features: what chance cannot explain.
        I(S;Y) can only grow with S, so that what fewer features tell, more of them tell too.
    n_cells : ndarray of int64
        Cells of S that occur.
    """

    plugin: Values
    chance: Values
    supported: Values
    n_cells: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """All numbers of a report. What there is for each feature has one element a feature.

    Attributes
    ----------
    selector : estimator
    basis : Basis
        What it selected from.
    best : list of (feature, score)
        The best candidate of each step: the features taken, and last the one a selection ended
        before.
    stopping : Stopping or None
        Why it ended early, told in features.
    relevance : ndarray of float64
    answers : Answers
    curve_steps : ndarray of int64
        The steps, from 0, whose scores are in ``answers.curve``.
    redundancy : ndarray of float64
        Of each pair of the first selected features.
    cumulative : Cumulative
    target_entropy : float
        H(Y), plug-in.
    n_classes : int
    """

    selector: Any
    basis: Basis
    best: list[tuple[int, float]]
    stopping: Stopping | None
    relevance: Values
    answers: Answers
    curve_steps: NDArray[np.int64]
    redundancy: Values
    cumulative: Cumulative
    target_entropy: float
    n_classes: int

    @property
    def n_features(self) -> int:
        """Columns, a group of them counted as one."""
        return len(self.relevance)

    @property
    def n_samples(self) -> int:
        """N."""
        return self.basis.codes.n_samples

    @property
    def selected(self) -> NDArray[np.int64]:
        """The features taken, in order."""
        return self.basis.kept.indices

    @property
    def method(self) -> str:
        """What to call the selector."""
        return type(self.selector).__name__

    @property
    def by_search(self) -> bool:
        """Whether features were taken one after the other, by a criterion."""
        return self.basis.criterion is not None

    def name(self, k: int) -> str:
        """The name of feature k, or ``column j``."""
        names = self.basis.features.names
        return f"column {self.basis.features.first[k]}" if names is None else str(names[k])

    def column_name(self, j: int) -> str:
        """The name of column j, or ``column j``."""
        names = self.basis.features.column_names
        return f"column {j}" if names is None else str(names[j])

    @property
    def p_values(self) -> Values | None:
        """Of each feature taken, with "auto"."""
        p_values = getattr(self.selector, "p_values_", None)
        return None if p_values is None else p_values[self._first_selected]

    @property
    def scores(self) -> Values:
        """Of each feature taken, when it was."""
        return self.selector.scores_[self._first_selected]

    @property
    def _first_selected(self) -> NDArray[np.int64]:
        """Where the first column of each feature taken is among the columns taken."""
        sizes = self.basis.features.sizes(self.selected)
        return np.cumsum(sizes) - sizes


@dataclass(frozen=True, eq=False)
class Basis:
    """What was selected from, as codes.

    Attributes
    ----------
    features : Features
        Columns, and groups of them.
    encoder : Encoder
        Of the columns.
    codes : Codes
        Of the features.
    kept : Kept
        The selected features and y.
    criterion : Criterion or None
        What the search maximised; None if there was no search.
    estimator : str
        Of relevance and redundancy.
    target_cuts : ndarray of float64 or None
    """

    features: Features
    encoder: Encoder
    codes: Codes
    kept: Kept
    criterion: Criterion | None
    estimator: str
    target_cuts: NDArray[np.float64] | None


def gather(selector: Any, X: Any, y: Any) -> Evidence:
    """Collect the numbers of a report on a fitted selector, from the table it was fitted on."""
    # A search by a criterion keeps what it saw; the other filters work on the raw table.
    by_search = hasattr(selector, "_kept")
    basis = _basis_of_search(selector, X, y) if by_search else _basis_of_ranking(selector, X, y)
    features, codes, kept = basis.features, basis.codes, basis.kept
    first = np.cumsum(sizes := features.sizes(kept.indices)) - sizes
    best = list(zip(kept.indices.tolist(), selector.scores_[first].tolist(), strict=True))
    stopping = getattr(selector, "stopping_", None)
    if stopping is not None:
        stopping = replace(stopping, index=int(features.of_column[stopping.index]))
        best.append((stopping.index, stopping.score))
    steps = steps_to_show(len(best) if by_search else 0, codes.n_columns)
    n_jobs = getattr(selector, "n_jobs", None)
    relevance, answers = explain_all(basis, best, steps, n_jobs=-1 if n_jobs is None else n_jobs)
    if by_search:
        _check_same_table(relevance, selector.relevance_[features.first])
    else:
        answers.score[:] = _filter_scores(selector)
    target = Joint.of([kept.y])
    entropy = BlockTerms(Codes.from_columns([kept.y]), target, "plugin").relevance()
    return Evidence(
        selector=selector,
        basis=basis,
        best=best,
        stopping=stopping,
        relevance=relevance,
        answers=answers,
        curve_steps=steps,
        redundancy=pairwise_redundancy(kept.first(MOST_MAPPED), basis.estimator),
        cumulative=cumulative_information(kept.columns, kept.y),
        target_entropy=float(entropy[0]),
        n_classes=target.n_cells,
    )


def _basis_of_search(selector: Any, X: Any, y: Any) -> Basis:
    table = as_table(X)
    n_rows, counts = table.n_rows, selector._row_counts
    if counts is not None and len(counts) == n_rows:
        table = as_table(table.take(repeated_rows(counts)))
    again = encode_target(
        as_target(y, n_rows, rows=table.rows),
        table.n_rows,
        bins=selector.target_bins,
        discretizer=selector.discretizer,
    ).column
    kept = selector._kept
    if not np.array_equal(again.codes, kept.y.codes):
        raise InvalidTargetError(
            "y is not the target the selector was fitted on: its values, or their order, are "
            "others. Pass the same X and y to the report as to fit."
        )
    criterion = selector._criterion()
    return Basis(
        features=selector.features_,
        encoder=selector.encoder_,
        codes=selector.features_.join(selector.encoder_.transform(table)),
        kept=kept,
        criterion=criterion,
        estimator=criterion.estimator,
        target_cuts=selector.target_cuts_,
    )


def _basis_of_ranking(selector: Any, X: Any, y: Any) -> Basis:
    table = as_table(X)
    check_features(selector, table, reset=False)
    encoder = Encoder(n_jobs=-1)
    codes, target = encoder.fit_transform(table), encode_target(y, table.n_rows)
    return Basis(
        features=Features(table.n_columns, getattr(selector, "feature_names_in_", None)),
        encoder=encoder,
        codes=codes,
        kept=Kept.of(codes, target.column, selector.selected_.tolist()),
        criterion=None,
        estimator="plugin",
        target_cuts=target.cuts,
    )


def _check_same_table(relevance: Values, seen: Values) -> None:
    if not np.array_equal(relevance, seen):
        raise InvalidTableError(
            "X is not the table the selector was fitted on: its rows, or their order, are others. "
            "Pass the same X and y to the report as to fit."
        )


def _filter_scores(selector: Any) -> Values:
    """The score of every column, from a selector that does not search."""
    for attribute in ("feature_scores_", "frequencies_"):
        if hasattr(selector, attribute):
            return np.asarray(getattr(selector, attribute), np.float64)
    scores = np.full(selector.n_features_in_, np.nan)
    scores[selector.selected_] = selector.scores_
    return scores


def steps_to_show(n_steps: int, n_columns: int) -> NDArray[np.int64]:
    """The steps, from 0, whose scores are kept: all, or evenly spread with the first and last."""
    most = max(2, MOST_CURVE_POINTS // n_columns)
    return np.unique(np.rint(np.linspace(0, n_steps - 1, min(n_steps, most))).astype(np.int64))


# --- why ------------------------------------------------------------------------------------------


def explain_all(
    basis: Basis,
    best: Sequence[tuple[int, float]],
    steps: NDArray[np.int64],
    *,
    n_jobs: int | None = -1,
    block_columns: int = BLOCK_COLUMNS,
) -> tuple[Values, Answers]:
    """The relevance of every feature, and why it was taken or left.

    Parameters
    ----------
    basis : Basis
    best : sequence of (index, score)
        The best candidate of each step.
    steps : ndarray of int64
        The steps, from 0, whose scores are kept.
    n_jobs : int or None
        Threads; never changes a result.
    block_columns : int
        Columns a block; never changes a result.
    """
    codes, selected, y = basis.codes, basis.kept.columns, basis.kept.y
    starts = range(0, codes.n_columns, block_columns)

    def explain_block(start: int) -> tuple[Values, Answers]:
        block = codes.block(start, start + block_columns)
        found = _Block(block, start, selected, y, basis.estimator)
        return found.explain(basis.criterion, best, steps)

    n_threads = min(joblib.effective_n_jobs(n_jobs), len(starts))
    if n_threads <= 1:
        parts = list(map(explain_block, starts))
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            parts = list(pool.map(explain_block, starts))
    return np.concatenate([relevance for relevance, _ in parts]), _join([a for _, a in parts])


def _join(parts: Sequence[Answers]) -> Answers:
    def joined(attribute: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, attribute) for part in parts], axis=-1)

    members = [each for part in parts for each in part.members]
    arrays = {name: joined(name) for name in Answers.__dataclass_fields__ if name != "members"}
    return Answers(members=members, **arrays)


class _Block:
    """One block of columns on its way through a selection whose winners are known."""

    def __init__(
        self, block: Codes, start: int, selected: Sequence[Column], y: Column, estimator: str
    ) -> None:
        self.block, self.selected, self.y, self.estimator = block, selected, y, estimator
        n = block.n_columns
        # How many features were taken before each column was: all of them, if it was left.
        self.n_before = np.full(n, len(selected), np.int64)
        for place, column in enumerate(selected):
            if start <= column.index < start + n:
                self.n_before[column.index - start] = place

    def explain(
        self,
        criterion: Criterion | None,
        best: Sequence[tuple[int, float]],
        steps: NDArray[np.int64],
    ) -> tuple[Values, Answers]:
        n = self.block.n_columns
        terms = BlockTerms(self.block, Joint.of([self.y]), self.estimator)
        self.score, self.nearest_score = np.full(n, np.nan), np.full(n, np.nan)
        self.nearest_step = np.zeros(n, np.int64)
        self.curve = np.full((len(steps), n), np.nan)
        self.order = np.full(n, -1, np.int64)
        self.members = [np.empty(0, np.int64)] * n
        if criterion is not None:
            self._search(criterion.copy(), best, steps)
        (first, second, least), redundancy = self._most_redundant(terms)
        answers = Answers(
            score=self.score,
            nearest_step=self.nearest_step,
            nearest_score=self.nearest_score,
            curve=self.curve,
            order=self.order,
            members=self.members,
            most_redundant=first,
            next_redundant=second,
            most_synergistic=least,
            redundancy=redundancy,
        )
        return terms.relevance(), answers

    def _search(
        self,
        criterion: Criterion,
        best: Sequence[tuple[int, float]],
        steps: NDArray[np.int64],
    ) -> None:
        """Note the score of every column at each step, until it is taken or the search ends."""
        shown = {int(step): row for row, step in enumerate(steps)}
        place_of = {column.index: place for place, column in enumerate(self.selected)}
        least_gap = np.full(self.block.n_columns, np.inf)
        criterion.start(self.block, self.y)
        for step, (_, best_score) in enumerate(best):
            is_open = self.n_before >= step
            scores = np.where(is_open, criterion.scores(), np.nan)
            self.score[is_open] = scores[is_open]
            gap = best_score - scores
            nearer = is_open & (gap < least_gap)
            least_gap[nearer] = gap[nearer]
            self.nearest_step[nearer] = step + 1
            self.nearest_score[nearer] = scores[nearer]
            if step in shown:
                self.curve[shown[step]] = scores
            is_last = (self.n_before == step) | (is_open & (step == len(best) - 1))
            for position in np.flatnonzero(is_last):
                self._describe(int(position), criterion, place_of)
            if step < min(len(best) - 1, len(self.selected)):
                criterion.update(self.selected[step])

    def _describe(self, position: int, criterion: Criterion, place_of: dict[int, int]) -> None:
        details = criterion.describe(position)
        self.order[position] = details.get("order", -1)
        members = [place_of[int(j)] for j in details.get("representative_set", ())]
        self.members[position] = np.array(members, np.int64)

    def _most_redundant(self, terms: BlockTerms) -> tuple[list[NDArray[np.int64]], Values]:
        """The features taken before each column that repeat most of it, second most, and least."""
        n = self.block.n_columns
        first, second, least = (np.full(n, -1, np.int64) for _ in range(3))
        shared = np.full((3, n), np.nan)
        for place, column in enumerate(self.selected[:MOST_COMPARED]):
            value = terms.redundancy(Joint.of([column]))
            sign = np.where(place < self.n_before, np.sign(comparison_key(value)), 0.0)
            leads = (sign > 0) & ((first < 0) | (value > shared[0]))
            follows = (sign > 0) & ~leads & ((second < 0) | (value > shared[1]))
            second[leads], shared[1, leads] = first[leads], shared[0, leads]
            first[leads], shared[0, leads] = place, value[leads]
            second[follows], shared[1, follows] = place, value[follows]
            helps = (sign < 0) & ((least < 0) | (value < shared[2]))
            least[helps], shared[2, helps] = place, value[helps]
        return [first, second, least], shared


# --- together -------------------------------------------------------------------------------------


def cumulative_information(selected: Sequence[Column], y: Column) -> Cumulative:
    """I(S;Y) of the first 1, 2, … selected features, and what chance would give."""
    N = len(y.codes)
    classes = np.bincount(y.codes)
    target = Codes.from_columns([y])
    joint = Joint.of([], N)
    plugin, chance, n_cells = [], [], []
    for column in selected:
        joint = joint.with_column(column)
        plugin.append(float(BlockTerms(target, joint, "plugin").relevance()[0]))
        chance.append(mean_information(np.bincount(joint.cells), classes[classes > 0]))
        n_cells.append(joint.n_cells)
    above = np.maximum(np.array(plugin) - np.array(chance), 0.0)
    supported = np.maximum.accumulate(above)
    return Cumulative(np.array(plugin), np.array(chance), supported, np.array(n_cells, np.int64))


def mean_information(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """The mean plug-in information of two variables with these counts over all permutations."""

    def zeros(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.zeros(len(counts), np.int64)

    def one(value: int) -> NDArray[np.int64]:
        return np.array([value], np.int64)

    N = int(rows.sum())
    margins = Margins(
        one(N), rows, zeros(rows), one(len(rows)), columns, zeros(columns), one(len(columns))
    )
    return mean_of_g(margins) / (2 * N)
