"""Progress of a selection: the events a callback receives, and the lines ``verbose`` prints."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hocmim.search.selection import Step
from hocmim.text import escaped

SECONDS_BETWEEN_LINES = 2.0
# A callback that raises stops the search, so it is called more often than lines are printed.
SECONDS_BETWEEN_EVENTS = 0.2


@dataclass(frozen=True)
class ProgressEvent:
    """How far a fit is, as ``selector.fit(X, y, progress=callback)`` reports it; or a report.

    Attributes
    ----------
    stage : {"encode", "search", "explain", "validate"}
        "explain" while a report explains the features; "validate" during a cross-validation.
    n_selected : int
        How many features are selected.
    n_to_select : int or None
        How many will be; None if the selection decides when to stop.
    name : str or None
        The feature selected last; in a cross-validation the selector.
    score : float or None
        Its score.
    n_terms : int
        How many terms of the criterion are computed; for a report, terms and scores; for a
        cross-validation, searches and fits.
    n_terms_total : int or None
        How many there are at most; None if the criterion cannot say.
    """

    stage: str
    n_selected: int = 0
    n_to_select: int | None = None
    name: str | None = None
    score: float | None = None
    n_terms: int = 0
    n_terms_total: int | None = None


ProgressCallback = Callable[[ProgressEvent], None]


class Notifier:
    """Turns the steps and terms of a search into events for a callback.

    Parameters
    ----------
    callback : callable
        Called with a ``ProgressEvent`` when the encoding begins, when the search begins, after
        each step, and a few times a second during long work, from any thread but never twice at
        the same time. It may raise to stop the fit.
    names : sequence of str or None
        Names of the features.
    n_to_select : int or None
    n_terms_total : int or None
    """

    def __init__(
        self,
        callback: ProgressCallback,
        names: Sequence[str] | None,
        n_to_select: int | None,
        n_terms_total: int | None,
    ) -> None:
        self._callback, self._names = callback, names
        self._n_to_select, self._n_terms_total = n_to_select, n_terms_total
        self._n_selected = self._n_terms = 0
        self._newest: tuple[str, float] | tuple[None, None] = (None, None)
        self._stage = "encode"
        self._sent = 0.0
        self._lock = threading.Lock()

    def on_stage(self, stage: str) -> None:
        """Report that a stage begins."""
        with self._lock:
            self._stage = stage
            self._send()

    def on_step(self, number: int, step: Step) -> None:
        """Report a selected feature."""
        with self._lock:
            name = str(step.index) if self._names is None else str(self._names[step.index])
            self._n_selected, self._newest = number, (name, step.score)
            self._send()

    def on_terms(self, n_terms: int) -> None:
        """Report the terms computed since the last call, at most five times a second."""
        with self._lock:
            self._n_terms += n_terms
            if time.monotonic() - self._sent >= SECONDS_BETWEEN_EVENTS:
                self._send()

    def _send(self) -> None:
        self._sent = time.monotonic()
        name, score = self._newest
        self._callback(
            ProgressEvent(
                self._stage,
                self._n_selected,
                self._n_to_select,
                name,
                score,
                self._n_terms,
                self._n_terms_total,
            )
        )


class Progress:
    """Prints how many terms there are, a line for each step, and lines during long steps.

    Parameters
    ----------
    title : str
        The name of the method.
    names : sequence or None
        Names of the features.
    n_selected : int or None
        How many features will be selected; None if the selection decides when to stop.
    n_terms : int
        The most terms the method will compute; 0 if it cannot say.
    """

    def __init__(
        self, title: str, names: Sequence[str] | None, n_selected: int | None, n_terms: int
    ) -> None:
        self._title = title
        self._names = names
        self._of_all = "" if n_selected is None else f"/{n_selected}"
        self._n_terms = n_terms
        self._n_done = self._number = 0
        self._lock = threading.Lock()
        self._began = self._printed = time.monotonic()
        if n_terms:
            self._print(f"selecting {n_selected} columns takes at most {n_terms:,} terms")

    def on_step(self, number: int, step: Step) -> None:
        """Print the selected feature."""
        name = step.index if self._names is None else self._names[step.index]
        order = f"  order {step.details['order']}" if "order" in step.details else ""
        self._number = number
        self._print(f"{number}{self._of_all}  {name}  score {step.score:.4f}{order}")

    def on_terms(self, n_terms: int) -> None:
        """Print how many terms of a long step are computed; may be called from any thread."""
        with self._lock:
            self._n_done += n_terms
            if time.monotonic() - self._printed < SECONDS_BETWEEN_LINES:
                return
            share = f" ({self._n_done / self._n_terms:.1%})" if self._n_terms else ""
            self._print(f"{self._number}{self._of_all} selected, {self._n_done:,} terms{share}")

    def _print(self, text: str) -> None:
        self._printed = time.monotonic()
        text = escaped(text, keep="")
        print(f"{self._title}: {text}  [{self._printed - self._began:.1f} s]", file=sys.stderr)


class Listeners:
    """Sends the events of a fit to a printer, a callback, or both."""

    def __init__(self) -> None:
        self._all: list[Progress | Notifier] = []

    def append(self, listener: Progress | Notifier) -> None:
        """Add a listener."""
        self._all.append(listener)

    def __bool__(self) -> bool:
        return bool(self._all)

    def on_stage(self, stage: str) -> None:
        """Report that a stage begins."""
        for listener in self._all:
            if isinstance(listener, Notifier):
                listener.on_stage(stage)

    def on_wait(self) -> None:
        """Call the callback in the middle of long work."""
        for listener in self._all:
            if isinstance(listener, Notifier):
                listener.on_terms(0)

    def on_step(self, number: int, step: Step) -> None:
        """Report a selected feature."""
        for listener in self._all:
            listener.on_step(number, step)

    def on_terms(self, n_terms: int) -> None:
        """Report the terms computed since the last call."""
        for listener in self._all:
            listener.on_terms(n_terms)
