"""Why a column was taken or left: its score at every step, and what it shares with the others.

An explanation runs the criterion again, on one column only: the same kernels on the same codes, so
that its numbers are those of the search to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.groups import Features, column_name
from hocmim.criteria.base import Criterion
from hocmim.errors import InvalidTableError, MissingDependencyError
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.search.engines.remote import RemoteCodes
from hocmim.search.selection import Selection, Stopping

# A column is called redundant if another repeats at least this share of its relevance.
REDUNDANT_SHARE = 0.5
# Bytes of codes a fitted selector holds at most.
MOST_KEPT = 1 << 28


class Trace:
    """A selection step by step, as a tidy table: the winner and the runner-up of each step.

    ``trace["score"]`` is a column of it, as an array; ``len(trace)`` the number of rows.

    Attributes
    ----------
    columns : dict of arrays
        ``step`` from 1; ``place``, 1 for the column taken and 2 for the next best; ``candidate``,
        its index (of a group of columns, that of the first); ``name``; ``score``; ``relevance``;
        ``order`` and ``representative_set``, as column indices (HOCMIM; −1 and an empty tuple for
        the others).
    """

    def __init__(self, selection: Selection, features: Features) -> None:
        rows = [
            (number, place, step)
            for number, taken in enumerate(selection.steps, 1)
            for place, step in enumerate((taken, taken.runner_up), 1)
            if step is not None
        ]
        candidates = np.array([step.index for *_, step in rows], np.int64)
        sets = np.empty(len(rows), object)
        sets[:] = [
            tuple(features.expand(step.details.get("representative_set", ())).tolist())
            for *_, step in rows
        ]
        self.columns: dict[str, NDArray[Any]] = {
            "step": np.array([number for number, *_ in rows], np.int64),
            "place": np.array([place for _, place, _ in rows], np.int64),
            "candidate": features.first[candidates],
            "name": np.array([column_name(features.names, int(k)) for k in candidates], object),
            "score": np.array([step.score for *_, step in rows], np.float64),
            "relevance": selection.relevance[candidates],
            "order": np.array([step.details.get("order", -1) for *_, step in rows], np.int64),
            "representative_set": sets,
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["step"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Its rows, as dictionaries."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def runners_up(self) -> dict[int, tuple[str, float]]:
        """Name and score of the runner-up of each step that had one."""
        return {
            int(row["step"]): (row["name"], float(row["score"]))
            for row in self
            if row["place"] == 2
        }

    def to_pandas(self) -> Any:
        """Return it as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError(
                "to_pandas needs pandas. Install it with: pip install pandas"
            ) from error
        return pd.DataFrame(self.columns)

    def __repr__(self) -> str:
        return f"<Trace of {len(set(self['step'].tolist()))} steps, {len(self)} rows>"

    def __str__(self) -> str:
        lines = [
            f"{'step':>4}  {'':9}  {'feature':<24} {'score':>8}  {'relevance':>9}  {'order':>5}"
        ]
        for row in self:
            place = "taken" if row["place"] == 1 else "runner-up"
            order = row["order"] if row["order"] >= 0 else ""
            lines.append(
                f"{row['step']:>4}  {place:<9}  {one_line(row['name'], 24):<24} "
                f"{row['score']:>8.4f}  {row['relevance']:>9.4f}  {order:>5}"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Contest:
    """One step of the search as one candidate saw it.

    Attributes
    ----------
    step : int
        From 1.
    score : float
        Of the column explained.
    taken : str
        The column that was taken in this step; of the last step of a selection that stopped early,
        the one that was best.
    taken_score : float
    order : int
        Of its representative set; −1 if the criterion has none.
    representative_set : tuple of str
    """

    step: int
    score: float
    taken: str
    taken_score: float
    order: int
    representative_set: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why one column was taken or left. ``print`` it, or read its attributes.

    Attributes
    ----------
    feature : str
    index : int
    method : str
    rank : int or None
        1 for the column taken first; None if it was left.
    relevance : float
        I(X;Y), in nats.
    score : float
        When it was taken, or in the last step it was left in.
    representative_set : tuple of str
        Its representative set then; empty for criteria that have none.
    redundancy : dict of str to float
        I(X;s) − I(X;s|Y) with each feature s taken before it, in nats, in their order. Positive: s
        repeats what X says of Y. Negative: a synergy, they say more of Y together than apart.
    replaced_by : str or None
        The feature taken before it that repeats most of what it says of Y, if it is half or more.
    contests : tuple of Contest
        Its score at each step, and what was taken.
    reason : str
        Why it was taken or left, in a sentence.
    """

    feature: str
    index: int
    method: str
    rank: int | None
    relevance: float
    score: float
    representative_set: tuple[str, ...]
    redundancy: dict[str, float]
    replaced_by: str | None
    contests: tuple[Contest, ...]
    reason: str

    def __str__(self) -> str:
        lines = [self.reason, "", f"  relevance      {self.relevance:.4f} nats"]
        lines.append(f"  score          {self.score:.4f}")
        if self.representative_set:
            lines.append(f"  represented by {', '.join(map(repr, self.representative_set))}")
        lines += self._shared("redundant with", 1) + self._shared("synergy with", -1)
        lines += ["", f"  {'step':>4}  {'its score':>9}  {'best':>9}  taken"]
        for contest in self.contests:
            lines.append(
                f"  {contest.step:>4}  {contest.score:>9.4f}  {contest.taken_score:>9.4f}  "
                f"{one_line(contest.taken, 40)}"
            )
        return "\n".join(lines)

    def _shared(self, title: str, sign: int, most: int = 3) -> list[str]:
        """The features it shares most with, or is most synergistic with."""
        of_sign = [(sign * value, name) for name, value in self.redundancy.items()]
        largest = sorted(((v, n) for v, n in of_sign if comparison_key(v) > 0), reverse=True)[:most]
        if not largest:
            return []
        parts = [f"{name!r} {value:.4f}{self._share(value, sign)}" for value, name in largest]
        return [f"  {title:<14} {', '.join(parts)}"]

    def _share(self, value: float, sign: int) -> str:
        return f" ({value / self.relevance:.0%})" if sign > 0 and self.relevance > 0 else ""


@dataclass(frozen=True, eq=False)
class Kept:
    """What a selector keeps of its data: the codes of the selected columns and of y.

    Not if they take more than ``MOST_KEPT`` bytes: a fitted selector is small.
    """

    indices: NDArray[np.int64]
    n_samples: int
    _codes: tuple[Codes, Column] | None

    @classmethod
    def of(cls, codes: Codes | RemoteCodes, y: Column, indices: Sequence[int]) -> Kept:
        """Copy them, so that the other columns are let go."""
        n_samples = len(y.codes)
        if n_samples * (len(indices) + 1) > MOST_KEPT:
            return cls(np.array(indices, np.int64), n_samples, None)
        columns = Codes.from_columns([codes.column(j) for j in indices])
        return cls(np.array(indices, np.int64), n_samples, (columns, y))

    @property
    def is_there(self) -> bool:
        """Whether the codes were kept."""
        return self._codes is not None

    def first(self, n: int) -> Kept:
        """The same of the first n selected columns."""
        columns = Codes.from_columns(self.columns[:n])
        return Kept(self.indices[:n], self.n_samples, (columns, self.y))

    @property
    def selected(self) -> Codes:
        """The selected columns, in the order of selection."""
        return self._or_say_why()[0]

    @property
    def y(self) -> Column:
        """The target."""
        return self._or_say_why()[1]

    @property
    def columns(self) -> list[Column]:
        """The selected columns, in the order of selection, each with its index in the table."""
        kept = [self.selected.column(at) for at in range(len(self.indices))]
        return [
            Column(column.codes, column.arity, int(index))
            for column, index in zip(kept, self.indices, strict=True)
        ]

    def _or_say_why(self) -> tuple[Codes, Column]:
        if self._codes is None:
            size = self.n_samples * (len(self.indices) + 1) / 1e9
            raise InvalidTableError(
                f"The codes of the selected columns take {size:.1f} GB and were not kept, so there "
                "is nothing to explain from. Fit on a sample of the rows for explanations, reports "
                "and pictures of redundancy."
            )
        return self._codes


def explain(
    x: Column,
    kept: Kept,
    criterion: Criterion,
    *,
    method: str,
    names: Sequence[str] | None,
    best: Sequence[tuple[int, float]],
    runners_up: dict[int, tuple[str, float]],
    stopping: Stopping | None,
) -> Explanation:
    """Say why column x was taken or left.

    Parameters
    ----------
    x : Column
    kept : Kept
    criterion : Criterion
        A fresh one, as the search had it.
    method : str
        What to call the criterion.
    names : sequence of str or None
        Of all columns.
    best : sequence of (index, score)
        The best candidate of each step.
    runners_up : dict
        Name and score of the next best of each step.
    stopping : Stopping or None
        Why the search ended early.
    """
    selected = kept.columns
    indices = kept.indices.tolist()
    rank = indices.index(x.index) + 1 if x.index in indices else None
    before = selected if rank is None else selected[: rank - 1]
    contests = tuple(_contests(x, before, kept.y, criterion, names, best))
    terms = BlockTerms(Codes.from_columns([x]), Joint.of([kept.y]), criterion.estimator)
    redundancy = {
        column_name(names, s.index): float(terms.redundancy(Joint.of([s]))[0]) for s in before
    }
    relevance = float(terms.relevance()[0])
    most = max(redundancy, key=lambda name: redundancy[name], default=None)
    replaced = most if most and redundancy[most] >= REDUNDANT_SHARE * relevance > 0 else None
    feature = column_name(names, x.index)
    if rank is not None:
        reason = _why_taken(feature, method, rank, len(selected), contests[-1], runners_up)
        replaced = None
    else:
        reason = _why_left(x.index, feature, method, contests, stopping)
        if replaced is not None:
            # Estimated apart, a redundancy may come out larger than the relevance.
            share = min(1.0, redundancy[replaced] / relevance)
            reason += f" {replaced!r} repeats {share:.0%} of what it says about the target."
    return Explanation(
        feature,
        x.index,
        method,
        rank,
        relevance,
        contests[-1].score,
        contests[-1].representative_set,
        redundancy,
        replaced,
        contests,
        reason,
    )


def _contests(
    x: Column,
    before: Sequence[Column],
    y: Column,
    criterion: Criterion,
    names: Sequence[str] | None,
    best: Sequence[tuple[int, float]],
) -> Iterator[Contest]:
    """Run the criterion on x alone, past the features taken before it."""
    criterion.start(replace(Codes.from_columns([x]), start=x.index), y)
    for number, (index, score) in enumerate(best[: len(before) + 1], 1):
        own = float(criterion.scores()[0])
        details = criterion.describe(0)
        members = tuple(column_name(names, int(j)) for j in details.get("representative_set", ()))
        yield Contest(
            number, own, column_name(names, index), score, details.get("order", -1), members
        )
        if number <= len(before):
            criterion.update(before[number - 1])


def _why_taken(
    feature: str,
    method: str,
    rank: int,
    n_selected: int,
    contest: Contest,
    runners_up: dict[int, tuple[str, float]],
) -> str:
    text = (
        f"{method} took {feature!r} as number {rank} of {n_selected}: its score, "
        f"{contest.score:.4f}, was the largest."
    )
    if rank in runners_up:
        name, score = runners_up[rank]
        text += f" Next was {name!r} with {score:.4f}."
    return text


def _why_left(
    index: int, feature: str, method: str, contests: Sequence[Contest], stopping: Stopping | None
) -> str:
    if stopping is not None and stopping.index == index:
        why = stopping.reason
        if why == "not significant":
            why = f"what it adds is not significant (p = {stopping.p_value:.2g})"
        return (
            f"{method} left {feature!r}: it was the best candidate in step {len(contests)}, but "
            f"{why.replace('below', 'its score is below')}, and selection ended."
        )
    nearest = min(contests, key=lambda contest: contest.taken_score - contest.score)
    if comparison_key(nearest.taken_score) <= comparison_key(nearest.score):
        return (
            f"{method} left {feature!r}: in step {nearest.step} its score was that of "
            f"{nearest.taken!r}, {nearest.score:.4f}, which comes first in the table."
        )
    return (
        f"{method} left {feature!r}: its score was never the largest. It came nearest in step "
        f"{nearest.step}, with {nearest.score:.4f} against the {nearest.taken_score:.4f} of "
        f"{nearest.taken!r}."
    )


def pairwise_redundancy(kept: Kept, estimator: str) -> Values:
    """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected columns, and I(X_i;Y) on the diagonal."""
    if len(kept.indices) == 0:
        return np.zeros((0, 0))
    terms = BlockTerms(kept.selected, Joint.of([kept.y]), estimator)
    matrix = np.array([terms.redundancy(Joint.of([column])) for column in kept.columns])
    matrix = (matrix + matrix.T) / 2  # shrinkage is not symmetric
    np.fill_diagonal(matrix, terms.relevance())
    return matrix


def one_line(text: str, width: int) -> str:
    """Text without line breaks and other signs that cannot be printed, cut to a width."""
    line = "".join(sign if sign.isprintable() else "�" for sign in text)
    return line if len(line) <= width else line[: width - 1] + "…"
