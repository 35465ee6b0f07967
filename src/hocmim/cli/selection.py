"""Making the selector the options describe, running it, and its result as rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hocmim.cli import show
from hocmim.cli.data import Data
from hocmim.cli.options import Settings, Source
from hocmim.errors import InvalidParameterError, MissingDependencyError
from hocmim.insight.notes import Note, data_notes
from hocmim.search.loop import keep_selected_so_far
from hocmim.search.selection import Step
from hocmim.selectors.registry import make_selector
from hocmim.text import one_line

OnProgress = Callable[[int, int | None, str], None]

DEFAULT_K = 10
# Terms that may be computed to say which features are redundant with each other, times rows.
MOST_PAIR_CELLS = 2_000_000_000


@dataclass(frozen=True)
class Outcome:
    """A fitted selector, whether Ctrl-C ended it before its time, and how long it took."""

    selector: Any
    is_partial: bool
    seconds: float


def make(method: str, settings: Settings, data: Data) -> Any:
    """The selector the options describe."""
    given = {
        "n_bins": settings.bins,
        "discretizer": settings.discretizer,
        "estimator": settings.estimator,
        "random_state": settings.seed,
        "n_jobs": settings.jobs,
        "codes_dir": settings.codes_dir,
        "checkpoint": settings.checkpoint,
        "feature_groups": _groups(settings),
        "engine": _engine(settings),
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    parameters |= dict(settings.set)
    n_features = len(data.names) - sum(len(columns) - 1 for _, columns in settings.group)
    return make_selector(
        method, n_features_to_select=how_many(settings.k, n_features), **parameters
    )


def _groups(settings: Settings) -> dict[str, list[str]] | None:
    return {name: list(columns) for name, columns in settings.group} or None


def _engine(settings: Settings) -> str | None:
    if settings.engine == "local":
        if settings.scheduler is not None:
            raise InvalidParameterError("--scheduler goes with --engine dask.")
        return None
    return settings.scheduler or "dask"


def how_many(k: int | float | str | None, n_columns: int) -> int | float | str:
    """How many features to select; an error if there are not so many."""
    if k is None:
        return min(DEFAULT_K, n_columns)
    if isinstance(k, int) and k > n_columns:
        raise InvalidParameterError(
            f"-k {k} asks for more features than there are: {show.counted(n_columns, 'feature')}."
        )
    return k


def run(selector: Any, data: Data, quiet: bool) -> Outcome:
    """Fit the selector, with a bar on a terminal; Ctrl-C keeps what is selected so far."""
    began = time.monotonic()
    with (
        show.warnings_in_our_words(quiet),
        _cluster(selector),
        keep_selected_so_far() as interruption,
        _progress(selector, data, quiet),
    ):
        selector.fit(data.X, data.y)
    return Outcome(selector, interruption.happened, time.monotonic() - began)


@contextmanager
def _cluster(selector: Any) -> Iterator[None]:
    """A Dask cluster on this machine, if one is asked for and no other is named."""
    if getattr(selector, "engine", "local") != "dask":
        yield
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingDependencyError(
            "--engine dask needs Dask. Install it with: pip install 'hocmim[dask]'"
        ) from error
    with (
        LocalCluster(
            n_workers=selector.n_jobs,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster),
    ):
        yield


@contextmanager
def _progress(selector: Any, data: Data, quiet: bool) -> Iterator[None]:
    """A bar that the selector moves."""
    asked = selector.n_features_to_select
    with bar("selecting", quiet) as show_done:
        if show_done is not None and hasattr(selector, "_progress"):
            shown = _Shown(show_done, asked if isinstance(asked, int) else None, data.names)
            selector._progress = lambda *_: shown
            selector.set_params(verbose=1)
        yield
    if selector.__dict__.pop("_progress", None):
        selector.set_params(verbose=0)


@contextmanager
def bar(title: str, quiet: bool) -> Iterator[OnProgress | None]:
    """A bar on standard error, if that is a terminal: gives what to call to move it."""
    console = Console(stderr=True)
    if quiet or not console.is_interactive:
        yield None
        return
    with Progress(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=None)

        def move(done: int, total: int | None, what: str) -> None:
            progress.update(task, completed=done, total=total, description=one_line(what, 30))

        yield move


class _Shown:
    """What a selector tells of its progress, on a bar."""

    def __init__(self, move: OnProgress, total: int | None, names: list[str]) -> None:
        self._move, self._total, self._names = move, total, names

    def on_step(self, number: int, step: Step) -> None:
        """A feature was selected."""
        # Groups are numbered among the columns: beyond the names there is none to show.
        name = self._names[step.index] if step.index < len(self._names) else ""
        self._move(number, self._total, name)

    def on_terms(self, n_terms: int) -> None:
        """Terms were computed; the bar shows steps only."""


@dataclass(frozen=True)
class Row:
    """One selected feature: a column, or a group of them. What the method does not have is None."""

    rank: int
    feature: str
    index: int
    relevance: float | None
    score: float
    order: int | None
    representative_set: list[str] | None
    redundant_with: str | None
    redundancy: float | None
    p_value: float | None


def rows(selector: Any, names: list[str]) -> list[Row]:
    """The selected features in the order of selection."""
    if not hasattr(selector, "trace_"):
        scored = zip(selector.selected_.tolist(), selector.scores_.tolist(), strict=True)
        nothing = (None,) * 5
        return [
            Row(at, names[j], j, None, score, *nothing) for at, (j, score) in enumerate(scored, 1)
        ]
    taken = [row for row in selector.trace_ if row["place"] == 1]
    p_values = dict(zip(selector.selected_.tolist(), _p_values(selector), strict=True))
    has_order = hasattr(selector, "orders_")
    return [
        Row(
            int(row["step"]),
            row["name"],
            int(row["candidate"]),
            float(row["relevance"]),
            float(row["score"]),
            int(row["order"]) if has_order else None,
            [names[j] for j in row["representative_set"]] if has_order else None,
            *pair,
            p_values[int(row["candidate"])],
        )
        for row, pair in zip(taken, _most_redundant(selector, taken, names), strict=True)
    ]


def _p_values(selector: Any) -> list[float | None]:
    if hasattr(selector, "p_values_"):
        return [float(p) for p in selector.p_values_]
    return [None] * len(selector.selected_)


def _most_redundant(
    selector: Any, taken: list[dict[str, Any]], names: list[str]
) -> list[tuple[str | None, float | None]]:
    """For each selected feature the one before it that repeats most of it, and how much.

    From the redundancy of all pairs; where these are too many, the first of its representative set.
    """
    kept = selector._kept
    if not kept.is_there or len(taken) ** 2 * kept.n_samples > MOST_PAIR_CELLS:
        sets = [row["representative_set"] for row in taken]
        return [(names[members[0]] if members else None, None) for members in sets]
    matrix = selector.redundancy_matrix()
    pairs: list[tuple[str | None, float | None]] = []
    for at in range(len(taken)):
        before = matrix[at, :at]
        most = int(np.argmax(before)) if at else 0
        is_redundant = at > 0 and before[most] > 0
        pairs.append((taken[most]["name"], float(before[most])) if is_redundant else (None, None))
    return pairs


# --- what else there is to say --------------------------------------------------------------------


def notes(selector: Any, data: Data) -> list[Note]:
    """What to look at in the table; nothing if the engine has read it."""
    if not data.is_read:
        return []
    bins = getattr(selector, "target_bins", 5)
    encoder = getattr(selector, "encoder_", None)
    return data_notes(data.X, data.y, encoder=encoder, target_bins=bins)


def described(source: Source, selector: Any, data: Data) -> dict[str, Any]:
    """What was done with what, for a result as JSON."""
    plain = (str, int, float, bool, list, dict)
    parameters = {
        name: value if isinstance(value, plain) else str(value)
        for name, value in selector.get_params().items()
        if value is not None
    }
    return {
        "hocmim": version("hocmim"),
        "file": source.file,
        "target": source.target,
        "method": type(selector).__name__,
        "parameters": parameters,
        "n_rows": data.n_rows,
        "n_features": len(data.names),
    }


def stopping(selector: Any, names: list[str]) -> dict[str, Any] | None:
    """Why the selection ended early, for a result as JSON."""
    found = getattr(selector, "stopping_", None)
    if found is None:
        return None
    return {
        "reason": found.reason,
        "before": names[found.index],
        "score": float(found.score),
        "p_value": None if np.isnan(found.p_value) else float(found.p_value),
    }
