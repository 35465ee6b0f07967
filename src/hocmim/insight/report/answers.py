"""Why each feature was selected or not, for all features of a table.

``explain`` runs a criterion again on one feature; here it runs on blocks of them. The winners of
all steps are known, so that each block goes through the selection independently, on any thread.

Every feature is compared with every selected one, a term each. The score at every step takes many
more terms with some criteria: it is computed for the features of most interest first, and for as
many as there is time for (``Answers.scored``). The scores of selected features are in the
selection.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.threads import ThreadPool, resolve_n_jobs

Indices = NDArray[np.int64]
OnProgress = Callable[[int, int], None]

# Features a thread explains at a time, and bytes of their codes, at most.
BLOCK_COLUMNS = 512
BLOCK_BYTES = 1 << 26
# Features that are scored first, to see how long one takes.
N_PILOT = 64
# Redundancy is computed with this many selected features at most, the first ones.
MAX_COMPARED = 500
# Points of the curves of a page: steps times features.
MAX_CURVE_POINTS = 400_000


@dataclass(frozen=True, eq=False)
class Answers:
    """Why each feature was selected or not; arrays have one element a feature.

    Attributes
    ----------
    scored : ndarray of int64
        The features whose score was computed at every step, in ascending order.
    score : ndarray of float64
        When it was selected, or in the last step if it was not; NaN if it is not known.
    closest_step : ndarray of int64
        The step, from 1, in which its score came closest to the largest; 0 if it was not scored.
    closest_score : ndarray of float64
        Its score in that step.
    steps : ndarray of int64
        The steps, from 0, whose scores are kept in ``curve``.
    curve : ndarray of float64, shape (len(steps), len(scored))
        The score of each scored feature at these steps; NaN after it was selected.
    order : ndarray of int64
        The size of its representative set in its last step; −1 if there is none, or if it is not
        known.
    members : list of ndarray of int64
        These sets, as places in the order of selection, from 0.
    most_redundant, next_redundant, most_synergistic : ndarray of int64
        Places of the features selected before it with the largest and second largest redundancy,
        and with the largest synergy; −1 if there is none.
    redundancy : ndarray of float64, shape (3, D)
        I(X;s) − I(X;s|Y) with each of the three, in nats; NaN if there is none.
    """

    scored: Indices
    score: Values
    closest_step: Indices
    closest_score: Values
    steps: Indices
    curve: Values
    order: Indices
    members: list[Indices]
    most_redundant: Indices
    next_redundant: Indices
    most_synergistic: Indices
    redundancy: Values


def steps_to_show(n_steps: int, n_columns: int) -> Indices:
    """Return the steps, from 0, whose scores are kept: all, or some evenly spread ones."""
    n_shown = max(2, MAX_CURVE_POINTS // max(1, n_columns))
    return np.unique(np.rint(np.linspace(0, n_steps - 1, min(n_steps, n_shown))).astype(np.int64))


def explain_all(
    basis: Basis,
    *,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    block_columns: int = BLOCK_COLUMNS,
    on_progress: OnProgress | None = None,
) -> tuple[Values, Answers]:
    """Return the relevance of every feature, and why it was selected or not.

    Parameters
    ----------
    basis : Basis
        With the codes of all features.
    max_seconds : float or None
        About how long the scores may take, in processor time of each thread. If all features take
        longer, fewer are scored. None for all features. Changes no score.
    n_jobs : int or None
        Threads; never changes a result.
    block_columns : int
        Columns a block; never changes a result.
    on_progress : callable, optional
        Called as ``on_progress(done, total)`` with numbers of terms and scores, from any thread but
        never twice at the same time. It may raise an exception to stop.
    """
    D, n_compared = len(basis.features), min(len(basis.selection), MAX_COMPARED)
    n_steps = len(basis.best) if basis.criterion is not None else 0
    work = _Work(basis.n_samples, n_jobs, block_columns, on_progress)
    work.total = (n_compared + n_steps) * D
    compared = work.map(
        lambda part: _Compared.of(basis, part, work.note), np.arange(D, dtype=np.int64)
    )
    relevance, average, places, redundancy = (
        np.concatenate([getattr(part, name) for part in compared], axis=-1)
        for name in ("relevance", "average", "places", "redundancy")
    )
    record = _Record(basis)
    scored, steps, curve = np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 0))
    if n_steps:
        steps, replays = _score(basis, work, _order_by_interest(basis, average), max_seconds)
        scored = np.concatenate([replay.features for replay in replays])
        curve = np.concatenate([replay.curve[steps] for replay in replays], axis=1)
        curve = curve[:, scored.argsort()]
        scored = np.sort(scored)
        for replay in replays:
            record.add(replay)
    answers = Answers(
        scored=scored,
        score=record.score,
        closest_step=record.closest_step,
        closest_score=record.closest_score,
        steps=steps,
        curve=curve,
        order=record.order,
        members=record.members,
        most_redundant=places[0],
        next_redundant=places[1],
        most_synergistic=places[2],
        redundancy=redundancy,
    )
    return relevance, answers


def _score(
    basis: Basis, work: _Work, features: Indices, max_seconds: float | None
) -> tuple[Indices, list[_Replay]]:
    """Score the first of these features, as many as there is time for.

    Returns the steps whose scores are kept, and the blocks of features.
    """
    n_steps = len(basis.best)
    size = N_PILOT if max_seconds is not None else len(features)
    replays: list[_Replay] = []
    n_scored, left = 0, 0.0 if max_seconds is None else max_seconds
    while size > 0 and n_scored < len(features):
        part = features[n_scored : n_scored + size]
        found = work.map(lambda block: _Replay(basis, block).run(work.note), part)
        replays += found
        n_scored += len(part)
        # Processor time, so that other processes do not matter. Later features may take longer.
        seconds = max(1e-9, sum(replay.seconds for replay in found) / work.n_threads)
        left -= seconds
        size = min(2 * size, int(left / seconds * len(part)))
    work.total -= n_steps * (len(features) - n_scored)
    work.note(0)
    return steps_to_show(n_steps, n_scored), replays


def _order_by_interest(basis: Basis, average: Values) -> Indices:
    """Return the selected features, the runners-up, then those that add most to a selected one."""
    best = [index for index, _ in basis.best]
    runners_up = [step.runner_up.index for step in basis.selection.steps if step.runner_up]
    others = np.argsort(-average, kind="stable").tolist()
    return np.array(list(dict.fromkeys([*best, *runners_up, *others])), np.int64)


class _Work:
    """Runs functions on blocks of features, on threads that an exception stops."""

    def __init__(
        self, n_samples: int, n_jobs: int | None, block_columns: int, on_progress: OnProgress | None
    ) -> None:
        self.n_threads = resolve_n_jobs(n_jobs)
        self._most_columns = max(1, min(block_columns, BLOCK_BYTES // n_samples))
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._n_done, self.total = 0, 0

    def note(self, n_done: int) -> None:
        """Report terms or scores."""
        with self._lock:
            self._n_done += n_done
            if self._on_progress is not None:
                self._on_progress(self._n_done, self.total)

    def map(self, function: Callable[[Indices], Any], features: Indices) -> list[Any]:
        """Return the results of the blocks, in order."""
        width = max(1, min(self._most_columns, -(-len(features) // self.n_threads)))
        parts = [features[at : at + width] for at in range(0, len(features), width)]
        with ThreadPool(min(self.n_threads, len(parts))) as pool:
            return list(pool.map(function, parts))


def _take(codes: Codes, features: Indices) -> Codes:
    """Return the codes of these features: views if they are neighbours, otherwise copies."""
    first = int(features[0])
    if np.array_equal(features, np.arange(first, first + len(features))):
        return codes.block(first, first + len(features))
    taken = Codes.from_columns([codes.column(int(k)) for k in features])
    # No index is that of a selected feature: a criterion must not mistake one for another.
    return replace(taken, start=codes.n_columns, planes=codes.planes)


def _counts_before(basis: Basis, features: Indices) -> Indices:
    """Return how many features were selected before each one: all, if it was not selected."""
    n_selected = len(basis.selection)
    return np.array([basis.places.get(k, n_selected) for k in features.tolist()], np.int64)


@dataclass(frozen=True, eq=False)
class _Compared:
    """A block of features, each compared with the features selected before it.

    ``places`` and ``redundancy`` have three rows: most redundant, next redundant, most synergistic.
    ``average`` is the mean of I(X;Y) − R(X;s) over the selected features s: what a feature adds to
    one of them.
    """

    relevance: Values
    places: Indices
    redundancy: Values
    average: Values

    @classmethod
    def of(cls, basis: Basis, features: Indices, on_terms: Callable[[int], None]) -> _Compared:
        block, n_before = _take(basis.all_codes, features), _counts_before(basis, features)
        terms = basis.terms(block, on_terms=on_terms)
        first, second, least = places = np.full((3, len(features)), -1, np.int64)
        shared = np.full((3, len(features)), np.nan)
        total = np.zeros(len(features))
        selected = basis.shared_columns[:MAX_COMPARED]
        for place, column in enumerate(selected):
            value = terms.redundancy(column.joint)
            total += value
            sign = np.where(place < n_before, np.sign(comparison_key(value)), 0.0)
            leads = (sign > 0) & ((first < 0) | (value > shared[0]))
            follows = (sign > 0) & ~leads & ((second < 0) | (value > shared[1]))
            second[leads], shared[1, leads] = first[leads], shared[0, leads]
            first[leads], shared[0, leads] = place, value[leads]
            second[follows], shared[1, follows] = place, value[follows]
            helps = (sign < 0) & ((least < 0) | (value < shared[2]))
            least[helps], shared[2, helps] = place, value[helps]
        relevance = basis.selection.relevance[features]
        if np.isnan(relevance).any():  # a method that ranks without a search
            relevance = terms.relevance()
        return cls(relevance, places, shared, relevance - total / max(1, len(selected)))


class _Replay:
    """One block of features on its way through a selection whose winners are known."""

    def __init__(self, basis: Basis, features: Indices) -> None:
        self.basis, self.features = basis, features
        self.n_before = _counts_before(basis, features)
        n = len(features)
        self.score, self.closest_score = np.full(n, np.nan), np.full(n, np.nan)
        self.closest_step = np.zeros(n, np.int64)
        self.details: list[dict[str, Any]] = [{}] * n
        self.seconds = 0.0

    def run(self, on_scores: Callable[[int], None]) -> _Replay:
        """Record the score of every feature at each step, until it is selected."""
        assert self.basis.criterion is not None
        began = time.thread_time()
        best, selected = self.basis.best, self.basis.shared_columns
        self.curve = np.full((len(best), len(self.features)), np.nan)
        least_gap = np.full(len(self.features), np.inf)
        criterion = self.basis.criterion.copy()
        criterion.start(_take(self.basis.all_codes, self.features), self.basis.shared_target)
        for step, (winner, best_score) in enumerate(best):
            is_open = self.n_before >= step
            scores = np.where(is_open, criterion.scores(), np.nan)
            self.score[is_open] = scores[is_open]
            gap = self.basis.merit(best_score, winner) - self.basis.merit(scores, self.features)
            # While features to keep are selected, the others are not compared.
            is_closer = is_open & (gap < least_gap) & (step >= self.basis.n_kept)
            least_gap[is_closer] = gap[is_closer]
            self.closest_step[is_closer] = step + 1
            self.closest_score[is_closer] = scores[is_closer]
            self.curve[step] = scores
            is_last = (self.n_before == step) | (is_open & (step == len(best) - 1))
            for position in np.flatnonzero(is_last).tolist():
                self.details[position] = criterion.describe(position)
            if step < min(len(best) - 1, len(selected)):
                criterion.update(selected[step])
            on_scores(len(self.features))
        self.seconds = time.thread_time() - began
        return self


class _Record:
    """What is known of all features: from the selection, and from the blocks that were scored."""

    def __init__(self, basis: Basis) -> None:
        self._places = basis.places
        n = len(basis.features)
        self.score, self.closest_score = np.full(n, np.nan), np.full(n, np.nan)
        self.closest_step = np.zeros(n, np.int64)
        self.order = np.full(n, -1, np.int64)
        self.members: list[Indices] = [np.empty(0, np.int64)] * n
        if basis.criterion is not None:
            for step in basis.selection.steps:
                self.score[step.index] = step.score
                self._describe(step.index, step.details)

    def add(self, replay: _Replay) -> None:
        """Add a block that was scored."""
        for name in ("score", "closest_step", "closest_score"):
            getattr(self, name)[replay.features] = getattr(replay, name)
        for k, details in zip(replay.features.tolist(), replay.details, strict=True):
            self._describe(k, details)

    def _describe(self, k: int, details: dict[str, Any]) -> None:
        self.order[k] = details.get("order", -1)
        members: Sequence[int] = details.get("representative_set", ())
        self.members[k] = np.array([self._places[int(j)] for j in members], np.int64)
