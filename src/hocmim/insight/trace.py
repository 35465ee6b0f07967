"""A selection step by step, as a tidy table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.groups import Features, column_name
from hocmim.errors import not_installed
from hocmim.search.selection import Selection, Step
from hocmim.text import one_line, visible


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

    def to_pandas(self) -> Any:
        """Return the trace as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise not_installed("to_pandas needs", "pandas") from error
        return pd.DataFrame(self.columns)

    def __repr__(self) -> str:
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
