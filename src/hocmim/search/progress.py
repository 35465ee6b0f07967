"""What a selector prints to standard error while it works."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

from hocmim.search.selection import Step

SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Says beforehand how many terms there are, then prints a line a step, and during long steps.

    Parameters
    ----------
    title : str
        The name of the method.
    names : sequence or None
        Names of the columns.
    n_selected : int or None
        How many columns will be selected; None if that is to be found out.
    n_terms : int
        The most terms the method will compute; 0 if it does not say.
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
        """Print what was selected."""
        name = step.index if self._names is None else self._names[step.index]
        order = f"  order {step.details['order']}" if "order" in step.details else ""
        self._number = number
        self._print(f"{number}{self._of_all}  {name}  score {step.score:.4f}{order}")

    def on_terms(self, n_terms: int) -> None:
        """Print how far a long step has come, from any thread."""
        with self._lock:
            self._n_done += n_terms
            if time.monotonic() - self._printed < SECONDS_BETWEEN_LINES:
                return
            share = f" ({self._n_done / self._n_terms:.1%})" if self._n_terms else ""
            self._print(f"{self._number}{self._of_all} selected, {self._n_done:,} terms{share}")

    def _print(self, text: str) -> None:
        self._printed = time.monotonic()
        print(f"{self._title}: {text}  [{self._printed - self._began:.1f} s]", file=sys.stderr)
