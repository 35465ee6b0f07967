"""Why a feature was selected or not: its score at every step, and its redundancy with the others.

An explanation runs the criterion again, on one feature only, with the same kernels on the same
codes: its numbers are those of the search to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim import html
from hocmim.coding.codes import Codes, Column
from hocmim.coding.groups import Features, column_name
from hocmim.criteria.base import Criterion
from hocmim.errors import not_installed
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint
from hocmim.insight.basis import Basis
from hocmim.insight.encoding import Encoding, describe_encoding
from hocmim.insight.reasons import Attempt, Overlap, is_redundant, redundant_share, why
from hocmim.search.selection import Selection, Step
from hocmim.text import one_line, percent, quote, some_of, visible

MAX_ENCODING_LENGTH = 500
# Targets whose relevance is listed.
MAX_TARGETS = 8


def _columns_of_set(step: Step, features: Features) -> tuple[int, ...]:
    """Return the columns of the representative set of a step."""
    found = step.details.get("representative_set")
    return () if found is None else tuple(features.expand(found).tolist())


class Trace:
    """A selection step by step, as a tidy table: the winner and the runner-up of each step.

    ``trace["score"]`` is one column, as an array; ``len(trace)`` is the number of rows.

    Attributes
    ----------
    columns : dict of arrays
        ``step`` from 1; ``place``, 1 for the selected column and 2 for the runner-up;
        ``candidate``, its index (for a group of columns, that of the first); ``name``; ``score``;
        ``relevance``; ``order`` and ``representative_set``, as column indices (−1 and an
        empty tuple for methods without representative sets); ``kept``, whether the winner is in
        ``keep``; with costs, ``cost``.
    """

    def __init__(self, selection: Selection, features: Features) -> None:
        self._selection, self._features = selection, features

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table; made on first use, which most fits never need."""
        selection, features = self._selection, self._features
        rows = [
            (number, place, step)
            for number, winner in enumerate(selection.steps, 1)
            for place, step in enumerate((winner, winner.runner_up), 1)
            if step is not None
        ]
        candidates = np.array([step.index for *_, step in rows], np.int64)
        sets = np.empty(len(rows), object)
        sets[:] = [_columns_of_set(step, features) for *_, step in rows]
        columns: dict[str, NDArray[Any]] = {
            "step": np.array([number for number, *_ in rows], np.int64),
            "place": np.array([place for _, place, _ in rows], np.int64),
            "candidate": features.first[candidates],
            "name": np.array([column_name(features.names, int(k)) for k in candidates], object),
            "score": np.array([step.score for *_, step in rows], np.float64),
            "relevance": selection.relevance[candidates],
            "order": np.array([step.details.get("order", -1) for *_, step in rows], np.int64),
            "representative_set": sets,
            "kept": np.array([step.is_kept for *_, step in rows], bool),
        }
        if selection.spending is not None:
            columns["cost"] = selection.spending.costs[candidates]
        return columns

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the table only: the selection has the relevance of every column."""
        return {"columns": self.columns}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["step"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, as dictionaries."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def runners_up(self) -> dict[int, tuple[str, float]]:
        """Return name and score of the runner-up of each step that has one."""
        return {
            int(row["step"]): (row["name"], float(row["score"]))
            for row in self
            if row["place"] == 2
        }

    def to_pandas(self) -> Any:
        """Return the trace as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise not_installed("to_pandas needs", "pandas") from error
        return pd.DataFrame(self.columns)

    def _repr_html_(self) -> str:
        """Return the steps as a table, for notebooks."""
        rows = [
            [
                int(row["step"]),
                _place_in_words(row),
                html.Name(row["name"]),
                float(row["score"]),
                float(row["relevance"]),
                int(row["order"]) if row["order"] >= 0 else None,
            ]
            for row in self
        ]
        return html.table(["step", "", "feature", "score", "relevance", "order"], rows)

    def __repr__(self) -> str:
        return f"<Trace of {len(set(self['step'].tolist()))} steps, {len(self)} rows>"

    def __str__(self) -> str:
        lines = [
            f"{'step':>4}  {'':9}  {'feature':<24} {'score':>8}  {'relevance':>9}  {'order':>5}"
        ]
        for row in self:
            place = _place_in_words(row)
            order = row["order"] if row["order"] >= 0 else ""
            lines.append(
                f"{row['step']:>4}  {place:<9}  {one_line(visible(row['name']), 24):<24} "
                f"{row['score']:>8.4f}  {row['relevance']:>9.4f}  {order:>5}"
            )
        return "\n".join(lines)


def _place_in_words(row: dict[str, Any]) -> str:
    if row["place"] == 2:
        return "runner-up"
    return "kept" if row["kept"] else "selected"


@dataclass(frozen=True)
class Contest:
    """One step of the search, from the point of view of one candidate.

    Attributes
    ----------
    step : int
        From 1.
    score : float
        Of the explained feature.
    taken : str
        The feature selected in this step. In the last step of a selection that stopped early: the
        best candidate.
    taken_score : float
    order : int
        The size of its representative set; −1 if the criterion has none.
    representative_set : tuple of str
    details : dict
        What the criterion says about the feature in this step, such as
        ``minimum``, ``average``, ``sigma`` and ``lift``.
    """

    step: int
    score: float
    taken: str
    taken_score: float
    order: int
    representative_set: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Explanation:
    """Why one feature was selected or not. ``print`` it, or read its attributes.

    Attributes
    ----------
    feature : str
    index : int
    method : str
    rank : int or None
        1 for the feature selected first; None if it was not selected.
    relevance : float
        I(X;Y), in nats.
    score : float
        When it was selected, or in the last step if it was not.
    representative_set : tuple of str
        Its representative set in that step; empty for criteria that have none.
    redundancy : dict of str to float
        I(X;s) − I(X;s|Y) with each feature s selected before it, in nats, in their order. Positive:
        s repeats information of X about Y. Negative: a synergy, both together have more information
        about Y than the sum of the two.
    replaced_by : str or None
        For a feature that was not selected: the selected feature that repeats most of its
        information about Y, if that is half or more.
    contests : tuple of Contest
        Its score at each step, and the selected feature.
    reason : str
        Why it was selected or not, in sentences.
    encoding : Encoding
        How it was encoded: its cut points and the rows in each bin, or its levels.
    r2 : float or None
        For a target that is a quantity: the share of its variance between the bins or levels of the
        feature (adjusted R²). None for classes.
    relevance_of_targets : tuple of float
        For the mean over several targets: I(X;Y) of each. Relevance, redundancy, scores and R² are
        means over the targets then.
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
    encoding: Encoding
    r2: float | None = None
    relevance_of_targets: tuple[float, ...] = ()

    def __str__(self) -> str:
        lines = [self.reason, "", f"  relevance           {self._relevance_in_words}"]
        if self.r2 is not None:
            lines.append(f"  R²                  {self.r2:.4f}")
        lines.append(f"  score               {self.score:.4f}")
        if self.representative_set:
            members = ", ".join(map(quote, self.representative_set))
            lines.append(f"  representative set  {members}")
        lines.append(f"  encoding            {one_line(str(self.encoding), MAX_ENCODING_LENGTH)}")
        lines += self._shared("redundant with", 1) + self._shared("synergy with", -1)
        lines += ["", f"  {'step':>4}  {'its score':>9}  {'largest':>9}  selected"]
        for contest in self.contests:
            lines.append(
                f"  {contest.step:>4}  {contest.score:>9.4f}  {contest.taken_score:>9.4f}  "
                f"{one_line(visible(contest.taken), 40)}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the explanation as a paragraph and tables, for notebooks."""
        facts = [["relevance", self._relevance_in_words], ["score", f"{self.score:.4f}"]]
        if self.representative_set:
            members = ", ".join(map(quote, self.representative_set))
            facts.append(["representative set", members])
        facts.append(["encoding", one_line(str(self.encoding), MAX_ENCODING_LENGTH)])
        for title, sign in (("redundant with", 1), ("synergy with", -1)):
            lines = [line.strip() for line in self._shared(title, sign)]
            facts += [[title, line.removeprefix(title).strip()] for line in lines]
        contests = [
            [contest.step, contest.score, contest.taken_score, html.Name(contest.taken)]
            for contest in self.contests
        ]
        return html.table(["", ""], facts, self.reason) + html.table(
            ["step", "its score", "largest", "selected"], contests
        )

    @property
    def _relevance_in_words(self) -> str:
        found = f"{self.relevance:.4f} nats"
        if not self.relevance_of_targets:
            return found
        each = [f"{value:.4f}" for value in self.relevance_of_targets]
        return f"{found}, the mean over the targets: {some_of(each, MAX_TARGETS)}"

    def _shared(self, title: str, sign: int, most: int = 3) -> list[str]:
        """List the features it is most redundant with, or has the largest synergy with."""
        of_sign = [(sign * value, name) for name, value in self.redundancy.items()]
        largest = sorted(((v, n) for v, n in of_sign if comparison_key(v) > 0), reverse=True)[:most]
        if not largest:
            return []
        parts = [f"{quote(name)} {value:.4f}{self._share(value, sign)}" for value, name in largest]
        return [f"  {title:<18}  {', '.join(parts)}"]

    def _share(self, value: float, sign: int) -> str:
        if sign < 0 or self.relevance <= 0:
            return ""
        return f" ({percent(redundant_share(self.relevance, value))})"


def explain(basis: Basis, x: Column) -> Explanation:
    """Say why a feature was selected or not.

    Parameters
    ----------
    basis : Basis
        Of a search.
    x : Column
        The codes of the feature, with its feature index.
    """
    assert basis.criterion is not None, "there is no search to explain"
    k, selected = x.index, basis.selected_columns
    rank = basis.places[k] + 1 if k in basis.places else None
    before = selected if rank is None else selected[: rank - 1]
    contests = tuple(_contests(basis, x, before, basis.criterion.copy()))
    terms = basis.terms(Codes.from_columns([x]))
    redundancy = {s.index: float(terms.redundancy(Joint.of([s]))[0]) for s in before}
    relevance = float(terms.relevance()[0])
    overlap = None
    if redundancy and rank is None:
        by = max(redundancy, key=lambda index: redundancy[index])
        overlap = Overlap(by, redundancy[by])
    attempt = _closest(basis, k, contests)
    sentences = why(basis, k, relevance, attempt, overlap)
    return Explanation(
        feature=basis.name(k),
        index=int(basis.features.first[k]),
        method=basis.method,
        rank=rank,
        relevance=relevance,
        score=contests[-1].score,
        representative_set=contests[-1].representative_set,
        redundancy={basis.name(index): value for index, value in redundancy.items()},
        replaced_by=_replacement(basis, relevance, overlap),
        contests=contests,
        reason=" ".join(sentence.text(basis) for sentence in sentences),
        encoding=describe_encoding(basis, x),
        r2=basis.explained_variance([x]),
        relevance_of_targets=basis.relevance_of_targets(x),
    )


def _closest(basis: Basis, k: int, contests: Sequence[Contest]) -> Attempt | None:
    """Return where a feature came closest; None if it was never compared with the others."""
    compared = contests[basis.n_kept :]
    if not compared:
        return None
    winners = [basis.best[contest.step - 1] for contest in compared]
    largest = basis.merit([score for _, score in winners], [index for index, _ in winners])
    own = basis.merit([contest.score for contest in compared], [k] * len(compared))
    closest = compared[int(np.argmin(largest - own))]
    return Attempt(closest.step, closest.score, closest.details)


def _replacement(basis: Basis, relevance: float, overlap: Overlap | None) -> str | None:
    if overlap is None or not is_redundant(relevance, overlap):
        return None
    return basis.name(overlap.by)


def _contests(
    basis: Basis, x: Column, before: Sequence[Column], criterion: Criterion
) -> Iterator[Contest]:
    """Run the criterion on x alone, past the features selected before it."""
    criterion.start(replace(Codes.from_columns([x]), start=x.index), basis.y)
    for number, (index, score) in enumerate(basis.best[: len(before) + 1], 1):
        own = float(criterion.scores()[0])
        details = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in criterion.describe(0).items()
        }
        members = tuple(basis.name(int(k)) for k in details.get("representative_set", ()))
        yield Contest(
            number, own, basis.name(index), score, details.get("order", -1), members, details
        )
        if number <= len(before):
            criterion.update(before[number - 1])
