"""scikit-learn's callbacks, such as its progress bar, where the installed version has them.

Selecting a feature is a task of the fit::

    from sklearn.callback import ProgressBar

    HOCMIM(20).set_callbacks(ProgressBar()).fit(X, y)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hocmim.search.progress import ProgressCallback, ProgressEvent

try:  # scikit-learn 1.9 and later
    from sklearn import callback  # type: ignore[attr-defined]
except ImportError:
    callback = None

Fit = TypeVar("Fit", bound=Callable[..., Any])
Support: Any = object if callback is None else callback.CallbackSupportMixin


def with_callbacks(fit: Fit) -> Fit:
    """Return the method ``fit``, which ends the callbacks also after an error."""
    return fit if callback is None else callback.with_callbacks(fit)


class ReportsTasks(Support):
    """Reports the fit of a selector to the callbacks set with ``set_callbacks``."""

    n_features_to_select: int | float | str | None

    @contextmanager
    def _reported_tasks(
        self, X: Any, y: Any, progress: ProgressCallback | None
    ) -> Iterator[ProgressCallback | None]:
        """Report the fit; give the progress callback to fit with."""
        if not getattr(self, "_skl_callbacks", None):
            yield progress
            return
        asked = self.n_features_to_select
        most = asked if isinstance(asked, int) else None
        context = self._init_callback_context(max_subtasks=most)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        n_reported = 0

        def report(event: ProgressEvent) -> None:
            nonlocal n_reported
            while n_reported < event.n_selected:
                task = context.subcontext(task_name=f"select {event.name}")
                task.call_on_fit_task_begin(estimator=self, X=X, y=y)
                task.call_on_fit_task_end(estimator=self, X=X, y=y)
                n_reported += 1
            if progress is not None:
                progress(event)

        yield report
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
