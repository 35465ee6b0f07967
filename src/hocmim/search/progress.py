"""Progress of a selection: the events a callback receives, and the lines for people.

The lines go to the logger "hocmim", at the level INFO, and with ``verbose`` to standard error.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hocmim.search.selection import Step
from hocmim.text import escaped

LOGGER = logging.getLogger("hocmim")
SECONDS_BETWEEN_LINES = 2.0
# A callback that raises stops the search, so it is called more often than lines are printed.
SECONDS_BETWEEN_EVENTS = 0.2


@dataclass(frozen=True)
class ProgressEvent:
    """How far a fit is, as ``selector.fit(X, y, progress=callback)`` reports it; or a report.

    Attributes
    ----------
    stage : {"encode", "screen", "search", "explain", "validate"}
        "screen" while pairs and triples of columns are tested for interactions; "explain" while a
        report explains the features; "validate" during a cross-validation.
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
        cross-validation, searches and fits; for a screen, pairs or triples.
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


class Progress:
    """Reports a fit to a callback, to the logger, and to standard error.

    Parameters
    ----------
    title : str
        The name of the method.
    callback : callable, optional
        Called with a ``ProgressEvent`` when the encoding begins, when the search begins, after
        each step, and a few times a second during long work, from any thread but never twice at
        the same time. It may raise to stop the fit.
    is_verbose : bool
        Whether to print what is logged: how many terms there are, a line for each step, and lines
        during long steps.
    """

    def __init__(
        self, title: str, callback: ProgressCallback | None, is_verbose: bool = False
    ) -> None:
        self._title, self._callback, self._is_verbose = title, callback, is_verbose
        self._names: Sequence[str] | None = None
        self._event = ProgressEvent("encode")
        self._lock = threading.Lock()
        self._began = self._printed = self._sent = time.monotonic()

    def begin_encoding(self) -> None:
        """Report that the table is read."""
        with self._lock:
            self._send()

    def on_fold(self, n_done: int, n_folds: int) -> None:
        """Report that a fold of a cross-validation of the number of features is done."""
        with self._lock:
            self._event = replace(
                self._event, stage="validate", n_terms=n_done, n_terms_total=n_folds
            )
            self._send()
            self._print(f"cross-validation, {n_done}/{n_folds}")

    def begin_screen(self) -> None:
        """Report that pairs and triples of columns are tested."""
        self.on_screen(0, 0)

    def on_screen(self, n_done: int, n_sets: int) -> None:
        """Report how many pairs or triples of columns are tested."""
        with self._lock:
            now, is_first = time.monotonic(), self._event.stage != "screen"
            self._event = replace(
                self._event, stage="screen", n_terms=n_done, n_terms_total=n_sets or None
            )
            if is_first or now - self._sent >= SECONDS_BETWEEN_EVENTS:
                self._send()
            if now - self._printed >= SECONDS_BETWEEN_LINES:
                self._print(f"{n_done:,} of {n_sets:,} combinations of columns screened")

    def on_note(self, note: str) -> None:
        """Print a sentence."""
        with self._lock:
            self._print(note)

    def begin_search(
        self, names: Sequence[str] | None, n_to_select: int | None, n_terms: int
    ) -> None:
        """Report that the search begins: of how many features, with how many terms at most."""
        with self._lock:
            self._names = names
            self._event = ProgressEvent(
                "search", n_to_select=n_to_select, n_terms_total=n_terms or None
            )
            self._send()
            if n_terms:
                self._print(f"selecting {n_to_select} columns takes at most {n_terms:,} terms")

    def on_step(self, number: int, step: Step) -> None:
        """Report a selected feature."""
        with self._lock:
            name = str(step.index) if self._names is None else str(self._names[step.index])
            self._event = replace(self._event, n_selected=number, name=name, score=step.score)
            self._send()
            order = f"  order {step.details['order']}" if "order" in step.details else ""
            self._print(f"{number}{self._of_all}  {name}  score {step.score:.4f}{order}")

    def on_terms(self, n_terms: int) -> None:
        """Report the terms computed since the last call; may be called from any thread."""
        with self._lock:
            now, event = time.monotonic(), self._event
            self._event = event = replace(event, n_terms=event.n_terms + n_terms)
            if now - self._sent >= SECONDS_BETWEEN_EVENTS:
                self._send()
            if now - self._printed >= SECONDS_BETWEEN_LINES:
                total = event.n_terms_total
                share = f" ({event.n_terms / total:.1%})" if total else ""
                done = f"{event.n_selected}{self._of_all} selected"
                self._print(f"{done}, {event.n_terms:,} terms{share}")

    def on_wait(self) -> None:
        """Call the callback in the middle of long work."""
        self.on_terms(0)

    @property
    def _of_all(self) -> str:
        return "" if self._event.n_to_select is None else f"/{self._event.n_to_select}"

    def _send(self) -> None:
        self._sent = time.monotonic()
        if self._callback is not None:
            self._callback(self._event)

    def _print(self, text: str) -> None:
        self._printed = time.monotonic()
        line = f"{self._title}: {escaped(text, keep='')}  [{self._printed - self._began:.1f} s]"
        LOGGER.info(line)
        if self._is_verbose:
            print(line, file=sys.stderr)
