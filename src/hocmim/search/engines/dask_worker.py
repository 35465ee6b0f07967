"""A search that one worker of a Dask cluster does, if the codes fit into its memory.

The worker runs ``search`` as it runs without a cluster, with the threads of all workers of its
machine. A few times a second the client asks how far the worker is. What it learns is the
progress, the checkpoint, and the point from which another worker continues if this one is lost.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any
from uuid import uuid4

import joblib
from distributed import Future

from hocmim.coding.codes import Codes
from hocmim.coding.dask_cluster import Cluster, WorkerLostError
from hocmim.coding.dask_codes import (
    Block,
    DaskCodes,
    current_task,
    fits_memory,
    raise_if_cancelled,
    whole_on,
)
from hocmim.coding.encoded import Encoded
from hocmim.coding.encoder import Encoder
from hocmim.coding.store import plane_bytes
from hocmim.errors import ClusterError
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.loop import Interrupted
from hocmim.search.progress import Progress
from hocmim.search.selection import Selection, Step

# Seconds between two questions of the client.
SECONDS_BETWEEN_REPORTS = 0.2
# Seconds that a worker gets to return the selection so far after Ctrl-C.
SECONDS_TO_STOP = 5.0

Report = tuple[tuple[Any, ...] | None, int]


def search_on_worker(
    cluster: Cluster,
    encoded: Encoded,
    arguments: tuple[Any, ...],
    checkpoint: Checkpoint,
    progress: Progress | None,
) -> Selection:
    """Run a search on a worker whose memory suffices, and on another one if it is lost.

    ``arguments`` are those of ``run_search``: criterion, constraints, n_select, test, screened. The
    search continues from the state of the checkpoint, which is kept up to date. After Ctrl-C
    Interrupted is raised with the selection so far, if something is selected.
    """
    # The table stays here, and the worker needs no names of levels. It adds the codes itself.
    rest = replace(
        encoded,
        codes=None,  # type: ignore[arg-type]
        encoder=Encoder(),
        table=None,
        encode_again=None,
    )

    def attempt() -> Selection:
        place = whole_on(cluster, encoded.codes)
        if place is None:
            raise ClusterError(
                "The worker that did the search was lost, and no other has memory for all codes."
            )
        run, worker = uuid4().hex, place.worker
        if isinstance(encoded.codes, Codes):
            [block] = cluster.scatter([Block(encoded.codes)], [worker])
        else:
            assert isinstance(encoded.codes, DaskCodes)
            block = encoded.codes.unite(worker)
        [given] = cluster.scatter([rest], [worker])
        future = cluster.submit(
            run_search, run, block, given, arguments, checkpoint.state, place.threads, worker=worker
        )
        follower = _Follower(checkpoint, progress)
        try:
            while not cluster.is_done(future, worker, SECONDS_BETWEEN_REPORTS):
                follower.take(cluster.ask(worker, report_search, run))
            selection, report, is_interrupted = cluster.gather([future], [worker])[0]
            follower.take(report)
        except KeyboardInterrupt as error:
            found = _stopped(cluster, worker, run, future)
            if found is None:
                raise
            if found[1][0] is not None:
                checkpoint.state = found[1][0]  # no progress: a callback may raise again
            raise Interrupted(found[0]) from error
        finally:
            future.release()
        if is_interrupted:
            raise CancelledError
        return selection

    return cluster.reliably(attempt)


class _Follower:
    """Passes on what a worker reports: to the checkpoint, and to the progress of the client."""

    def __init__(self, checkpoint: Checkpoint, progress: Progress | None) -> None:
        self._checkpoint, self._progress = checkpoint, progress
        self._n_terms = 0

    def take(self, report: Report | None) -> None:
        """Take a report of the worker; None if the search has not begun, or has just ended."""
        state, n_terms = report or (None, self._n_terms)
        n_known = len(self._checkpoint.state[0])
        if state is not None:
            self._checkpoint.state = state
        if self._progress is None:
            return
        self._progress.on_terms(n_terms - self._n_terms)
        self._n_terms = n_terms
        for number, step in enumerate(self._checkpoint.state[0][n_known:], n_known + 1):
            self._progress.on_step(number, step)


def _stopped(
    cluster: Cluster, worker: str, run: str, future: Future
) -> tuple[Selection, Report] | None:
    """Stop a search; return what it has selected so far, None if that is nothing."""
    try:
        cluster.ask(worker, stop_search, run)
        if not cluster.is_done(future, worker, SECONDS_TO_STOP):
            return None
        selection, report, _ = cluster.gather([future], [worker])[0]
    except (WorkerLostError, CancelledError):
        return None
    return None if selection is None else (selection, report)


# --- on the worker --------------------------------------------------------------------------------


class _Watched(Progress):
    """What the client may ask about a search, and how it stops the search."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__("", None)
        self._checkpoint = checkpoint
        self._task = current_task()
        self._state: tuple[Any, ...] | None = None
        self._n_terms = 0
        self.is_stopped = False

    def report(self) -> Report:
        """Return the state of the search after the last step, and the number of terms."""
        return self._state, self._n_terms

    def begin_search(self, *_: Any) -> None:
        """Do nothing: the client reports it."""

    def on_step(self, number: int, step: Step) -> None:
        """Keep the state for the next report."""
        self._state = self._checkpoint.state

    def on_terms(self, n_terms: int) -> None:
        """Count terms, and end the search if the client stopped it or is gone."""
        with self._lock:
            self._n_terms += n_terms
        if self.is_stopped:
            raise KeyboardInterrupt
        raise_if_cancelled(self._task)


_searches: dict[str, _Watched] = {}


def report_search(run: str) -> Report | None:
    """Return how far a search on this worker is; None if it does not run."""
    watched = _searches.get(run)
    return None if watched is None else watched.report()


def stop_search(run: str) -> None:
    """Stop a search on this worker as Ctrl-C would."""
    if run in _searches:
        _searches[run].is_stopped = True


def run_search(
    run: str,
    block: Block,
    rest: Encoded,
    arguments: tuple[Any, ...],
    state: tuple[Any, ...],
    n_threads: int,
) -> tuple[Selection | None, Report, bool]:
    """Search; return the selection, the last report, and whether the client stopped the search."""
    from hocmim.search.search import search

    codes = block.codes
    if not fits_memory(plane_bytes(codes.arity, codes.n_samples)):
        codes = replace(codes, can_have_planes=False)
    criterion, constraints, n_select, test, screened = arguments
    checkpoint = Checkpoint(None, {}, "", codes.n_columns)
    checkpoint.state = state
    watched = _searches[run] = _Watched(checkpoint)
    try:
        # A number of threads is 1 to joblib in a worker, which is a daemon; a context is not.
        with joblib.parallel_config("threading", n_jobs=n_threads):
            selection = search(
                replace(rest, codes=codes),
                criterion,
                constraints,
                n_select,
                test,
                checkpoint=checkpoint,
                progress=watched,
                screened=screened,
            )
    except Interrupted as error:
        return error.selection, watched.report(), True
    except KeyboardInterrupt:
        return None, watched.report(), True
    finally:
        del _searches[run]
    return selection, watched.report(), False
