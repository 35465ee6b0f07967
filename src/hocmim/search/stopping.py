"""When to stop: does the best candidate add more information than chance?

X is the candidate with the largest score. The null hypothesis is that it adds no information,
H0: X ⟂ Y | Z, and the statistic is G = 2N I(X;Y|Z), plug-in. Given all of S there would soon be too
few samples in each cell. So Z ⊆ S holds the features that X depends on, or that have a synergy with
X:

1. Z = R, the selected features that X depends on. Greedily, of the s that X depends on given R
   (level ``DEPENDENT`` / |S|) the one with the largest redundancy I(X;s|R) − I(X;s|R,Y) joins
   (Miller–Madow), while the cells of R hold ``SUPPORT`` samples on average. If X is independent of
   the others given R, then X ⟂ Y | S implies X ⟂ Y | R: a column that adds nothing to S adds
   nothing to R. So a dependence decides, and not the estimate of the redundancy, which can be
   negative by chance.
2. Z = R ∪ s, the s with the largest I(X;Y|R,s): a synergy, as in an exclusive or.
3. Z = S, if its cells hold ``SUPPORT`` samples on average.

The p-value of X is the smallest of the three times 1 + |S∖R| + 1, the number of possible sets Z. A
criterion that ignores redundancy is tested with Z = ∅ only. A candidate with a score of 0 or less
has the p-value 1: by the criterion itself it adds nothing.

A pair or triple of columns (``search.interactions``) is a candidate of its own. It is right to
select it if every column that it adds tells something given the others. So each of them is X once,
with the other members in every Z, and the largest p-value is that of the set. The columns of a
table have nine tenths of the level and the sets of columns that were screened one tenth
(``search.discovery``); without a screen the columns have all of it.

**Which candidate, and when to stop.** The candidates of a step are tested in the order of their
scores: a column with very many levels can have the largest score by chance alone, and must not
hide the columns behind it. p is the p-value of the m-th of them times the number of all D columns
(Bonferroni, valid for any criterion). The first with m p ≤ ``CLEAR`` is the choice; if
``max_tries`` were tested and none is that clear, the one with the smallest m p. The choice is
selected if m p ≤ alpha, or with ``fdr`` if m p / k ≤ fdr for discovery number k; otherwise
selection ends. The others are tested again in the next step, since they may add something given the
newest feature (a synergy).

So levels cut one sequence: neither R nor the choice depends on the level. A stricter level selects
the first of the columns that a looser one selects, and alpha=q the first of those of fdr=q.

**alpha is a family-wise error rate**: the probability that the selection, not one step of it,
contains any column that adds nothing to those before it. Each column has a share 1/D of alpha,
whichever columns are tested and in whichever order. A column that is tested again in a later step
has the same Z as before, with a larger factor, and at most two more. For null hypotheses that do
not depend on the data the rate is at most alpha for the first column, and for |S| columns
alpha (1 + 1/3 + 2/4 + … + 2/(|S|+2)). Measured it agrees with alpha or is below it
(docs/development/error_control.md). It is said of the coded columns.

permutation
    X is permuted among the samples of each cell of Z, which is exactly H0. The p-value is
    (1 + #{G* ≥ G}) / (1 + n) if n permutations can resolve ``CLEAR``, or if 10 of them reach G.
    Otherwise it is the tail of the gamma distribution with the mean and variance of G*, or that of
    chi2 if it is larger.
chi2
    G is compared with a·χ²(ν), whose mean is E[G] and whose variance is
    Var[χ²] (E[G] / E[χ²])², but at most that of χ²(df) scaled to the same mean. E and Var are taken
    over all permutations: E[G] and the moments of Pearson's χ² have closed forms. For large cells
    a = 1 and ν = df = Σ_z (k_x(z)−1)(k_y(z)−1), the levels that occur in each cell z of Z; in small
    cells, where χ²(df) is inaccurate, these moments are still exact. The p-value is at least the
    probability of the observed table over all permutations, which is one of those that reach G. Of
    rare levels few tables are possible, and this one is most of the tail, where a χ² would be far
    too small: (97, 1), (0, 2) has the probability 6e-4, and the scaled χ² gives 3e-10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils import check_random_state

from hocmim.coding.codes import Codes, Column
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR, UNBIASED_ESTIMATOR
from hocmim.parameters import SEED, check_parameters, number, one_of, whole
from hocmim.search.discovery import (
    FALSE_DISCOVERY_RATE,
    FAMILY_WISE_RATE,
    ErrorControl,
    discoveries,
    n_hypotheses_of,
)
from hocmim.search.moments import Margins, moments_of_g, table_probability
from hocmim.search.selection import Failure, Step, Stopping

TESTS = ("permutation", "chi2")
# More would take hours; the smallest p-value is then below any level in use.
MAX_PERMUTATIONS = 1_000_000
# Candidates of a step that are tested: measured in docs/development/stopping.md.
MAX_TRIES = 10
# The fewest samples that a cell of Z holds on average.
SUPPORT = 5
# The level at which X depends on a feature, so that it joins R.
DEPENDENT = 0.01
# A corrected p-value from which on neither another set Z nor another candidate is tested.
CLEAR = 1e-3
# The fewest permutations that must reach G for their share to be the p-value.
ENOUGH_REACHED = 10
# Bytes of permuted columns that are in memory at a time.
BYTES_AT_A_TIME = 1 << 24


@dataclass(frozen=True)
class StopTest:
    """Select as many features as add more than chance does: a value of ``n_features_to_select``.

    ``"significant"`` stands for ``StopTest()``.

    Parameters
    ----------
    alpha : float, default 0.01
        The family-wise error rate: the largest probability that the selection contains a column
        that adds nothing to those selected before it.
    fdr : float or None
        Instead of ``alpha``, the false-discovery rate: the largest expected share of selected
        columns that add nothing to those selected before them. See ``hocmim.search.discovery``.
    test : {"chi2", "permutation"}
        How a p-value is computed: see ``hocmim.search.stopping``.
    max_tries : int, default 10
        How many candidates of a step are tested, the best first, unless one is clearly significant.
    n_permutations : int, default 999
        For "permutation".
    random_state : int, RandomState or None, default 0
        Random seed of the permutations, and of the rows that are drawn from groups.

    Examples
    --------
    >>> from hocmim import JMI, StopTest
    >>> JMI(StopTest(fdr=0.1)).n_features_to_select.fdr
    0.1
    """

    alpha: float = 0.01
    _: KW_ONLY
    fdr: float | None = None
    test: str = "chi2"
    max_tries: int = MAX_TRIES
    n_permutations: int = 999
    random_state: Any = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [number(0, 1)],
        "fdr": [number(0, 1, "neither"), None],
        "test": [one_of(TESTS)],
        "max_tries": [whole(1)],
        "n_permutations": [whole(1, MAX_PERMUTATIONS)],
        "random_state": SEED,
    }

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def level(self) -> float:
        """What a p-value must not exceed."""
        return float(self.alpha if self.fdr is None else self.fdr)


class Question(NamedTuple):
    """Does x add information about y to ``others`` and to what it needs of ``selected``?

    ``others`` are the other members of a pair or triple; they are in every Z.
    """

    x: Column
    others: Sequence[Column]
    selected: Sequence[Column]
    y: Column

    def take(self, rows: NDArray[np.int64]) -> Question:
        """Return the question for some of the rows."""

        def take(column: Column) -> Column:
            return Column(column.codes[rows], column.arity, column.index)

        others, selected = ([take(one) for one in part] for part in (self.others, self.selected))
        return Question(take(self.x), others, selected, take(self.y))


class Tried(NamedTuple):
    """A candidate of the step that was tested: its p-value, and the Z that gave it.

    ``n_hypotheses`` is the factor of its p-value in Bonferroni's correction, and ``n_joining`` the
    number of columns that it would add.
    """

    step: Step
    p_value: float
    given: NDArray[np.int64]
    n_hypotheses: float
    n_joining: int


class StoppingRule:
    """Which candidate of a step is selected, if any; for ``search.loop.forward_search``.

    ``y`` may be several targets, each of which is tested: the p-value is the least one times their
    number. ``n_columns`` is D, and ``n_sets`` how many pairs and triples may be candidates.
    ``given_selected=False`` is for a criterion that ignores redundancy: Z = ∅. ``p_values`` has
    the corrected p-value of each column that passed; ``stopping`` says why selection ended.
    """

    def __init__(
        self,
        test: StopTest,
        column: Callable[[int], Column],
        y: Column | Sequence[Column],
        n_columns: int,
        *,
        given_selected: bool = True,
        n_sets: int = 0,
    ) -> None:
        self._test = test
        self._column = column
        self._targets = [y] if isinstance(y, Column) else list(y)
        self._n_columns, self._n_sets = n_columns, n_sets
        self._given_selected = given_selected
        self._tried: list[Tried] = []
        self.p_values: list[float] = []
        self.stopping: Stopping | None = None

    @cached_property
    def seed(self) -> int:
        """Random seed of the permutations; a random state is not made before it is needed."""
        return int(check_random_state(self._test.random_state).randint(np.iinfo(np.int32).max))

    @property
    def error_control(self) -> ErrorControl:
        """The error rate that the tests keep."""
        test = self._test
        is_random = test.test == "permutation"
        seed = test.random_state if isinstance(test.random_state, Integral) else None
        return ErrorControl(
            rate=FAMILY_WISE_RATE if test.fdr is None else FALSE_DISCOVERY_RATE,
            level=test.level,
            test=test.test,
            n_permutations=test.n_permutations if is_random else None,
            seed=int(seed) if is_random and seed is not None else None,
            n_samples=len(self._targets[0].codes),
            n_features=self._n_columns,
            n_targets=len(self._targets),
            given_selected=self._given_selected,
            n_sets=self._n_sets,
        )

    def __call__(self, steps: Sequence[Step], best: Step) -> bool:
        """Test the best candidate that is left; whether the next one is to be tested too."""
        joining = _joining(steps, best)
        n_hypotheses = n_hypotheses_of(self._n_columns, self._n_sets, is_set=len(joining) > 1)
        if best.score <= 0:  # so are those of all others
            self._tried.append(Tried(best, 1.0, np.empty(0, np.int64), n_hypotheses, len(joining)))
            return False
        p_value, given = self._p_value(steps, best, n_hypotheses)
        self._tried.append(Tried(best, p_value, given, n_hypotheses, len(joining)))
        return len(self._tried) < self._test.max_tries and self._merit(-1) > CLEAR

    def choose(self) -> tuple[int, tuple[Failure, ...]] | None:
        """Return which of the candidates that were tested is selected; None ends the search.

        By its place, with those before it, which had a larger score.
        """
        if not self._tried:
            return None
        tried, p_values = self._tried, [*map(self._corrected, range(len(self._tried)))]
        place = min(range(len(tried)), key=self._merit)
        failures = tuple(
            Failure(one.step.index, one.step.score, p_value, one.step.interaction)
            for one, p_value in zip(tried, p_values, strict=True)
        )
        self._tried = []
        if p_values[place] <= self._test.level:
            self.p_values += [p_values[place]] * tried[place].n_joining
            return place, failures[:place]
        best = tried[0].step
        self.stopping = Stopping(
            "not significant",
            best.index,
            best.score,
            p_values[0],
            tried[0].given,
            interaction=best.interaction,
            failures=failures[1:],
        )
        return None

    def _merit(self, place: int) -> float:
        """Return m p: what the candidates of a step are compared by, the smallest wins."""
        one, m = self._tried[place], place % len(self._tried) + 1
        return m * one.p_value * one.n_hypotheses

    def _corrected(self, place: int) -> float:
        """Return the p-value of a candidate as it is compared with the level: m p, or m p / k."""
        one, k = self._tried[place], 1.0
        if self._test.fdr is not None:
            k = discoveries(len(self.p_values), one.n_joining)
        return min(1.0, self._merit(place) / k)

    def _p_value(
        self, steps: Sequence[Step], best: Step, n_hypotheses: float
    ) -> tuple[float, NDArray[np.int64]]:
        """Return the p-value of a candidate, corrected for targets and sets Z, and its Z.

        All members of a pair have to add something to the others: the largest p-value counts.
        """
        found = []
        for y in self._targets:
            of_members = [
                self._answer(question, len(steps), n_hypotheses)
                for question in self._questions(steps, best, y)
            ]
            found.append(max(of_members, key=lambda item: item[0]))
        p_value, given = min(found, key=lambda item: item[0])
        return min(1.0, p_value * len(found)), given

    def _questions(self, steps: Sequence[Step], best: Step, y: Column) -> Iterator[Question]:
        """Return what is asked about a candidate: one question for each column that it adds."""
        joining = _joining(steps, best)
        members = best.interaction if len(joining) > 1 else ()
        selected = [
            self._column(step.index)
            for step in steps
            if self._given_selected and step.index not in members
        ]
        for j in joining:
            yield Question(
                replace(self._column(j), index=j),
                [self._column(k) for k in members if k != j],
                selected,
                y,
            )

    @property
    def _nth_try(self) -> list[int]:
        """What distinguishes the random numbers of the candidates of a step."""
        return [len(self._tried)] if self._tried else []

    def _answer(
        self, question: Question, n_steps: int, n_hypotheses: float
    ) -> tuple[float, NDArray[np.int64]]:
        """Return the p-value of a question, corrected for its sets Z, and its Z."""
        rng = np.random.default_rng([self.seed, n_steps, *self._nth_try])
        return self._test_sets(question, rng, CLEAR / n_hypotheses)

    def _test_sets(
        self,
        question: Question,
        rng: np.random.Generator,
        clear: float,
        *,
        extra: Callable[[Joint], Joint] = lambda joint: joint,
    ) -> tuple[float, NDArray[np.int64]]:
        """Return the smallest corrected p-value over the sets Z, and this Z.

        From ``clear`` on no other Z is tried. ``extra`` adds a condition to every Z.
        """
        x, others, selected, y = question
        found: list[tuple[float, NDArray[np.int64]]] = []
        for given, n_possible in conditioning_sets(x, selected, y):
            strata = Strata(x, y, extra(Joint.of([*given, *others], len(x.codes))))
            if self._test.test == "chi2":
                p_value = chi2_p_value(strata)
            else:
                p_value = permutation_p_value(
                    strata, self._test.n_permutations, rng, level=clear / n_possible
                )
            indices = np.array([z.index for z in given], np.int64)
            found.append((min(1.0, p_value * n_possible), indices))
            if found[-1][0] <= clear:
                break
        return min(found, key=lambda item: item[0])


def _joining(steps: Sequence[Step], best: Step) -> list[int]:
    """Return the columns that the best candidate would add: one, or the members of a set."""
    selected = {step.index for step in steps}
    return [j for j in best.interaction or (best.index,) if j not in selected]


def dependent_features(x: Column, selected: Sequence[Column], y: Column) -> list[Column]:
    """Return R: the selected features that x depends on, limited by ``SUPPORT``."""
    chosen: list[Column] = []
    joint, rest = Joint.of([], len(x.codes)), list(selected)
    while rest:
        dependence, redundancy = _dependence(x, rest, y, joint)
        for place in np.argsort(-comparison_key(redundancy), kind="stable"):
            if dependence[place] <= 0:  # no more than chance gives on average
                continue
            larger = joint.with_column(rest[place])
            if len(x.codes) < SUPPORT * larger.n_cells:
                continue
            if chi2_p_value(Strata(x, rest[place], joint)) * len(selected) <= DEPENDENT:
                chosen.append(rest.pop(place))
                joint = larger
                break
        else:
            break
    return chosen


def _dependence(
    x: Column, columns: Sequence[Column], y: Column, given: Joint
) -> tuple[Values, Values]:
    """Return I(X;s|Z) and I(X;s|Z) − I(X;s|Z,Y) of each column s, Miller–Madow."""
    terms = BlockTerms(Codes.from_columns(columns), Joint.of([x]), UNBIASED_ESTIMATOR)
    dependence = terms.conditional(given)
    return dependence, dependence - terms.conditional(given.with_column(y))


def conditioning_sets(
    x: Column, selected: Sequence[Column], y: Column
) -> Iterator[tuple[Sequence[Column], int]]:
    """Yield the sets Z of the tests X ⟂ Y | Z in order, each with how many sets are possible."""
    needed = dependent_features(x, selected, y)
    in_needed = {column.index for column in needed}
    rest = [column for column in selected if column.index not in in_needed]
    n_possible = 1 + len(rest) + bool(rest)
    yield needed, n_possible
    if rest:
        _, redundancy = _dependence(x, rest, y, Joint.of(needed, len(x.codes)))
        yield [*needed, rest[int(np.argmin(comparison_key(redundancy)))]], n_possible
    if len(rest) > 1:
        everything = Joint.of(selected)
        if len(everything.cells) >= SUPPORT * everything.n_cells:
            yield selected, n_possible


class Strata:
    """The samples of X and Y cell by cell of Z, without the cells where X or Y is constant.

    ``x``, ``y`` and ``z`` are the codes of the samples in the other cells, sorted by z, which
    counts the cells from 0. ``starts`` has the start of each cell, and the end of the last.
    """

    def __init__(self, x: Column, y: Column, given: Joint) -> None:
        order = np.argsort(given.cells, kind="stable")
        x_codes, y_codes, z = x.codes[order], y.codes[order], given.cells[order]
        varies = _varies(x_codes, z) & _varies(y_codes, z)
        kept = varies[np.cumsum(np.diff(z, prepend=z[:1]) != 0)]
        self.x, self.y = x_codes[kept], y_codes[kept]
        sizes = np.diff(_bounds(z))[varies]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.z = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        self.arity = x.arity
        self._y_joint = Joint.of([Column(self.y, y.arity)]) if len(self.y) else None
        self._z_joint = Joint(self.z, len(sizes))

    def g(self, columns: NDArray[Any]) -> Values:
        """Return G = 2N I(X;Y|Z) of each row of an array of X codes."""
        if self._y_joint is None:
            return np.zeros(len(columns))
        codes = Codes.from_columns([Column(row, self.arity) for row in columns])
        terms = BlockTerms(codes, self._y_joint, PLUGIN_ESTIMATOR)
        return 2 * len(self.z) * terms.conditional(self._z_joint)

    def permutations(self, n: int, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
        """Return n rows of X in all, each permuted within the cells."""
        at_a_time = max(1, BYTES_AT_A_TIME // max(1, self.x.nbytes))
        for done in range(0, n, at_a_time):
            rows = np.tile(self.x, (min(at_a_time, n - done), 1))
            for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
                rows[:, start:stop] = rng.permuted(rows[:, start:stop], axis=1)
            yield rows


def permutation_p_value(
    strata: Strata, n_permutations: int, rng: np.random.Generator, *, level: float
) -> float:
    """Return the share of permutations that reach G, or the tail of a fitted distribution.

    ``level`` is the p-value that the permutations must resolve.
    """
    g = float(strata.g(strata.x[None])[0])
    null = np.concatenate([strata.g(rows) for rows in strata.permutations(n_permutations, rng)])
    n_reached = int((comparison_key(null) >= _key(g)).sum())
    share = (1 + n_reached) / (1 + n_permutations)
    mean, variance = float(null.mean()), float(null.var(ddof=1)) if len(null) > 1 else 0.0
    if 1 / (1 + n_permutations) <= level or n_reached >= ENOUGH_REACHED or variance <= 0:
        return share
    # With few samples G* has few distinct values, and the fitted tail is too small.
    return max(chi2_p_value(strata), _gamma_tail(g, mean, variance))


def chi2_p_value(strata: Strata) -> float:
    """Return the tail of the scaled χ² that has the moments of G over all permutations.

    At least the probability of the table itself.
    """
    margins = Margins.of(strata.x, strata.y, strata.z, strata.starts)
    df = float(((margins.k_x - 1) * (margins.k_y - 1)).sum())
    if df == 0:
        return 1.0
    mean, variance = moments_of_g(margins, df)
    g = float(strata.g(strata.x[None])[0])
    if variance == 0:  # every permutation gives the same G
        return 1.0
    tail = _gamma_tail(g, mean, variance)
    return max(tail, table_probability(margins, strata.x, strata.y, strata.z))


def _gamma_tail(g: float, mean: float, variance: float) -> float:
    """Return P(G ≥ g) of the gamma distribution with this mean and variance."""
    # The same bits as scipy.stats.gamma.sf, without importing scipy.stats, which takes long.
    return float(special.gammaincc(mean**2 / variance, max(g, 0.0) / (variance / mean)))


def _bounds(z: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the start of each cell of sorted z, and the end of the last."""
    return np.concatenate([[0], np.flatnonzero(np.diff(z)) + 1, [len(z)]])


def _varies(codes: NDArray[Any], z: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return in which cells of sorted z the codes are not all equal."""
    starts = _bounds(z)[:-1]
    return np.maximum.reduceat(codes, starts) > np.minimum.reduceat(codes, starts)


def _key(value: float) -> float:
    return float(comparison_key(value))
