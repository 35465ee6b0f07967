"""Progress of a report, as the events of a search."""

from __future__ import annotations

import time

from hocmim.search.progress import ProgressCallback, ProgressEvent

SECONDS_BETWEEN_EVENTS = 0.2


class ReportProgress:
    """Turns the progress of a report into events for a callback.

    Parameters
    ----------
    callback : callable
        Called with a ``ProgressEvent`` when the table is encoded, several times a second while
        features are explained, and when the page is written.
    n_selected : int
        How many features were selected.
    """

    def __init__(self, callback: ProgressCallback, n_selected: int) -> None:
        self._callback, self._n_selected = callback, n_selected
        self._sent = 0.0

    def on_stage(self, stage: str) -> None:
        """Report that a stage begins."""
        self._send(stage)

    def on_terms(self, done: int, total: int) -> None:
        """Report how many terms are computed, of how many."""
        if done >= total or time.monotonic() - self._sent >= SECONDS_BETWEEN_EVENTS:
            self._send("explain", done, total)

    def _send(self, stage: str, done: int = 0, total: int | None = None) -> None:
        self._sent = time.monotonic()
        n = self._n_selected
        self._callback(ProgressEvent(stage, n, n, n_terms=done, n_terms_total=total))
