"""The screen for interactions by itself: which pairs and triples of columns have synergy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hocmim.coding.encoded import encode_table
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import column_name
from hocmim.coding.target import Target
from hocmim.parameters import BOOLEAN, FUNCTION_OR_NONE, JOBS, checked, number
from hocmim.search.interactions import ALPHA, ScreenedTable, screen
from hocmim.search.progress import SCREENING, Progress, ProgressCallback
from hocmim.search.selection import Interaction
from hocmim.text import count, one_line, visible

MAX_NAME_LENGTH = 40


@dataclass(frozen=True, repr=False)
class Interactions(Sequence[Interaction]):
    """Pairs, then triples of columns, each the strongest first.

    Attributes
    ----------
    found : tuple of Interaction
    names : tuple of str
        Of the columns of the table.
    notes : tuple of str
        What was not screened, and why.
    """

    found: tuple[Interaction, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, number: Any) -> Any:
        return self.found[number]

    def __repr__(self) -> str:
        lines = [f"{'adjusted p':>10}  {'synergy':>8}  {'information':>11}  columns"]
        for one in self.found:
            names = " × ".join(_shown(self.names[j]) for j in one.members)
            told = f"{one.synergy:8.4f}  {one.information:11.4f}"
            lines.append(f"{one.adjusted_p_value:10.2g}  {told}  {names}")
        title = f"{count(len(self), 'interaction')} (synergy and information in nats)"
        return "\n".join([title, *(lines if self.found else []), *self.notes])


def _shown(name: str) -> str:
    return one_line(visible(name), MAX_NAME_LENGTH)


@checked(
    alpha=[number(0, 1, "right")],
    whatever_it_costs=BOOLEAN,
    encoder=[Encoder, None],
    n_jobs=JOBS,
    progress=FUNCTION_OR_NONE,
)
def interactions(
    X: Any,
    y: Any,
    *,
    alpha: float = ALPHA,
    whatever_it_costs: bool = False,
    encoder: Encoder | None = None,
    target: Target | str | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Interactions:
    """Find the pairs and triples of columns that tell about y what none of them tells alone.

    All pairs are tested, and all triples where that takes no more than a second or two: see
    ``hocmim.search.interactions``. The strongest 100 of each are returned at most.
    ``RobustHOCMIM(interactions="auto")`` makes the same screen before it selects.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns), or path
        As for ``fit`` of a selector. Columns that identify the rows are left out.
    y : array of shape (n_samples,) or (n_samples, n_targets), or str
    alpha : float, default 0.01
        The largest adjusted p-value; 1 for the strongest combinations, whatever their p-values.
    whatever_it_costs : bool, default False
        Whether large tables are screened too, however long it takes.
    encoder : Encoder or None
        How numeric columns are cut into bins.
    target : Target, "classes", "quantity" or None
        How y is read.
    n_jobs : int or None
        Threads; never changes a result.
    progress : callable, optional
        Called with a ``hocmim.search.progress.ProgressEvent``. It may raise to stop.

    Returns
    -------
    Interactions

    Examples
    --------
    >>> import numpy as np
    >>> from hocmim import interactions
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 10))
    >>> y = X[:, 2] ^ X[:, 5]
    >>> [one.members for one in interactions(X, y)]
    [(2, 5)]
    """
    told = Progress("interactions", progress)
    told.begin("encode", "reading the table")
    encoded = encode_table(
        X,
        y,
        encoder=encoder,
        target=target,
        n_jobs=n_jobs,
        caller="interactions",
        report=told.move,
    )
    columns, y_target = encoded.features, encoded.target
    is_mean = y_target.strategy == "mean"
    is_open = encoded.encoder.identifiers != "drop"
    told.begin("screen", SCREENING)
    found = screen(
        ScreenedTable.of(encoded, () if is_open else encoded.identifiers.tolist()),
        [one.column for one in y_target.targets] if is_mean else [y_target.column],
        whatever_it_costs=whatever_it_costs,
        alpha=alpha,
        n_jobs=n_jobs,
        report=told.on_screen,
    )
    names = tuple(str(column_name(columns.names, j)) for j in range(len(columns)))
    return Interactions(found.kept, names, found.notes)
