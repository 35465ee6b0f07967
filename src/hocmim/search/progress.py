"""Progress of long work: the events a callback receives, and the lines for people.

Work is one task after the other. A task has words for it, how much is done, and how much there is;
the time left follows from these here, for every task. The lines go to the logger "hocmim", at the
level INFO, and with ``verbose`` to standard error.
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
# The time left is told after this many seconds of a task: the first moments say little.
SECONDS_BEFORE_ESTIMATE = 1.0
SCREENING = "screening combinations of columns"


@dataclass(frozen=True)
class ProgressEvent:
    """How far a fit, a comparison, a report or another long call is.

    ``progress=print`` prints each event as a sentence.

    Attributes
    ----------
    stage : str
        "encode" while the table is read; "screen" while pairs and triples of columns are tested for
        interactions; "validate" during a cross-validation; "search" while features are selected;
        "resample" while a selection is repeated on resamples; "compare", "cluster" and "explain"
        while methods or columns are compared, or a report is written; "run" during an experiment.
    task : str
        What is done, in words: "reading pass 1 of 2, file 12 of 40".
    done : int
        How much of the task is done: rows of all passes, combinations of columns, folds, selected
        features, fits, explanations or pairs of columns.
    total : int or None
        How much there is; None if nobody knows, as with a stopping test.
    seconds_left : float or None
        An estimate of the time until the task is done; None at its beginning, and without a total.
    name : str or None
        The feature selected last, or the method at work.
    score : float or None
        The score of the feature selected last.
    n_terms : int
        How many terms of the criterion a search has computed.
    n_terms_total : int or None
        How many there are at most; None if the criterion cannot say.
    """

    stage: str
    task: str = ""
    done: int = 0
    total: int | None = None
    seconds_left: float | None = None
    name: str | None = None
    score: float | None = None
    n_terms: int = 0
    n_terms_total: int | None = None

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", {time_text(self.seconds_left)} left"
        return f"{self.task}{left}"

    @property
    def share(self) -> float:
        """The share of the task that is done; 0 if nobody knows.

        The terms of a search are at most ``n_terms_total``: often there are far fewer.
        """
        share = self.done / self.total if self.total else 0.0
        of_terms = self.n_terms / self.n_terms_total if self.n_terms_total else 0.0
        return min(1.0, max(share, of_terms))


ProgressCallback = Callable[[ProgressEvent], None]


def time_text(seconds: float) -> str:
    """Return a time as a person would say it: "40 s", "3 min", "2 h 10 min"."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"


class Progress:
    """Reports tasks to a callback, to the logger, and to standard error.

    Every method may be called from any thread. The callback gets a ``ProgressEvent`` when a task
    begins and ends, after each selected feature, and a few times a second during long work, from
    any thread but never twice at the same time. If it raises, the work stops. ``is_verbose``: what
    is logged is printed as well.
    """

    def __init__(
        self, title: str, callback: ProgressCallback | None = None, is_verbose: bool = False
    ) -> None:
        self._title, self._callback, self._is_verbose = title, callback, is_verbose
        self._names: Sequence[str] | None = None
        self._event = ProgressEvent("encode")
        self._lock = threading.Lock()
        self._began = self._task_began = self._printed = self._sent = time.monotonic()
        self._share_before = 0.0  # of the task, when it began
        self._is_long = False  # a line of this task was printed

    def begin(self, stage: str, task: str, total: int | None = None, *, done: int = 0) -> None:
        """Report the beginning of a task, or its rest: ``done`` was done before."""
        with self._lock:
            self._begin(ProgressEvent(stage, task, done, total))

    def move(self, task: str, done: int, total: int | None = None, name: str | None = None) -> None:
        """Report how much of the present task is done: at most a few times a second, and its end.

        ``done`` never goes back; the total and the name stay unless they are given.
        """
        with self._lock:
            event = self._event
            total = event.total if total is None else total
            was_done = event.total is not None and event.done == event.total
            self._event = replace(
                event,
                task=task,
                done=max(done, event.done),
                total=total,
                name=event.name if name is None else name,
            )
            self._tell(is_end=done == total and not was_done)

    def count(self, task: str, name: str | None = None, number: int = 1) -> None:
        """Report that as many more parts of the present task are done; "{}" is how many."""
        with self._lock:
            done, total = self._event.done + number, self._event.total
            words = task.format(f"{done:,} of {total:,}" if total else f"{done:,}")
            self._event = replace(self._event, task=words, done=done, name=name)
            self._send()
            self._print_if_due(is_end=done == total)

    def on_screen(self, done: int, total: int) -> None:
        """Report how many pairs or triples of columns are tested."""
        self.move(f"{SCREENING}, {done:,} of {total:,}", done, total)

    def on_wait(self, _: ProgressEvent | None = None) -> None:
        """Call the callback in the middle of long work."""
        self.on_terms(0)

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
            self._begin(
                ProgressEvent("search", "selecting", 0, n_to_select, n_terms_total=n_terms or None)
            )
            if n_terms:
                self._print(f"selecting {n_to_select} columns takes at most {n_terms:,} terms")

    def on_step(self, number: int, step: Step) -> None:
        """Report a selected feature."""
        with self._lock:
            name = str(step.index) if self._names is None else str(self._names[step.index])
            self._event = replace(self._event, done=number, name=name, score=step.score)
            self._send()
            order = f"  order {step.details['order']}" if "order" in step.details else ""
            self._print(f"{number}{self._of_all}  {name}  score {step.score:.4f}{order}")

    def on_terms(self, n_terms: int) -> None:
        """Report the terms of a search computed since the last call."""
        with self._lock:
            event = replace(self._event, n_terms=self._event.n_terms + n_terms)
            if event.stage == "search":
                total = event.n_terms_total
                share = f" ({event.n_terms / total:.1%})" if total else ""
                done = f"{event.done}{self._of_all} selected"
                event = replace(event, task=f"{done}, {event.n_terms:,} terms{share}")
            self._event = event
            self._tell()

    @property
    def _of_all(self) -> str:
        return "" if self._event.total is None else f"/{self._event.total}"

    def _begin(self, event: ProgressEvent) -> None:
        self._event, self._share_before, self._is_long = event, event.share, False
        self._task_began = time.monotonic()
        self._send()

    def _tell(self, is_end: bool = False) -> None:
        """Send and print the event, if it is time to."""
        if is_end or time.monotonic() - self._sent >= SECONDS_BETWEEN_EVENTS:
            self._send()
        self._print_if_due(is_end)

    def _print_if_due(self, is_end: bool) -> None:
        now = time.monotonic()
        if (is_end and self._is_long) or now - self._printed >= SECONDS_BETWEEN_LINES:
            self._is_long = True
            self._print(str(self._timed()))

    def _timed(self) -> ProgressEvent:
        """Return the event with the time left: as if the rest goes on at the mean speed."""
        elapsed, share = time.monotonic() - self._task_began, self._event.share
        if elapsed < SECONDS_BEFORE_ESTIMATE or not self._share_before < share < 1:
            return self._event
        return replace(
            self._event, seconds_left=elapsed * (1 - share) / (share - self._share_before)
        )

    def _send(self) -> None:
        self._sent = time.monotonic()
        if self._callback is not None:
            self._callback(self._timed())

    def _print(self, text: str) -> None:
        self._printed = time.monotonic()
        line = f"{self._title}: {escaped(text, keep='')}  [{self._printed - self._began:.1f} s]"
        LOGGER.info(line)
        if self._is_verbose:
            print(line, file=sys.stderr)
