"""From codes to a selection: the search of one fit.

``search`` puts together what a fit asks for (criterion, costs, several targets, interactions,
stopping test, engine, checkpoint) and runs the one greedy loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hocmim.coding.codes import Codes, Column, RemoteCodes, column_digests, fingerprint
from hocmim.coding.encoded import Encoded
from hocmim.criteria.base import Criterion
from hocmim.criteria.mean import MeanCriterion
from hocmim.data.weights import look_relative
from hocmim.errors import DASK, InvalidParameterError, not_installed, warn_about_data
from hocmim.parameters import PATH_OR_NONE, check_parameters
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.constraints import Constraints
from hocmim.search.engines.local import LocalEngine
from hocmim.search.interactions import ROWS_IN_GROUPS, Screen, ScreenedTable, screen
from hocmim.search.joint_candidates import JointCandidates
from hocmim.search.loop import Interrupted, forward_search
from hocmim.search.progress import SCREENING, Progress
from hocmim.search.row_groups import GroupedStoppingRule
from hocmim.search.selection import Selection
from hocmim.search.stopping import StoppingRule, StopTest
from hocmim.text import value_text
from hocmim.threads import stopped_by

if TYPE_CHECKING:
    from hocmim.coding.dask_cluster import Cluster
    from hocmim.search.engines.dask import DaskEngine


@dataclass(frozen=True)
class Engine:
    """Where the work of a fit is done, and what it keeps on disk. Never changes a result.

    Parameters
    ----------
    cluster : None, "dask", a distributed Client, or the address of a scheduler
        The Dask cluster that does the work: "dask", or the address of a scheduler. In Python "dask"
        is the Client of this process. None: threads on this machine.
    codes_dir : path or None
        Keep the codes in memory-mapped files of this folder instead of in memory, and use them
        again for the same data.
    checkpoint : path or None
        Write the state of the search to this file after each selected column. If the file exists,
        continue from it.

    Examples
    --------
    >>> from hocmim import Engine, JMI
    >>> JMI(5, engine=Engine(checkpoint="jmi.json")).engine.checkpoint
    'jmi.json'
    """

    cluster: Any = None
    codes_dir: str | PathLike[str] | None = None
    checkpoint: str | PathLike[str] | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "codes_dir": PATH_OR_NONE,
        "checkpoint": PATH_OR_NONE,
    }

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def of(cls, engine: Any) -> Engine:
        """Return an engine from the parameter of a selector; other values name a cluster."""
        if engine is None:
            return _THREADS
        return engine if isinstance(engine, Engine) else cls(engine)

    def __deepcopy__(self, memo: Any) -> Engine:
        return self  # a Client cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "cluster": address_of(self.cluster)}


_THREADS = Engine()


def open_cluster(engine: Any) -> AbstractContextManager[Cluster | None]:
    """Open the cluster that the parameter ``engine`` names; None for this machine."""
    if engine is None:
        return nullcontext()
    is_name = isinstance(engine, str) and (engine == "dask" or ":" in engine)
    if not (is_name or _is_client(engine)):
        raise InvalidParameterError(
            "engine must be None, 'dask', a distributed.Client, or the address of a Dask "
            f"scheduler such as 'tcp://10.0.0.1:8786'. Got {value_text(engine)} instead."
        )
    try:
        from hocmim.coding.dask_cluster import Cluster
    except ImportError as error:
        raise not_installed("engine='dask' needs", *DASK) from error
    return Cluster(engine)


def _is_client(engine: Any) -> bool:
    return type(engine).__module__.partition(".")[0] == "distributed"


def address_of(engine: Any) -> Any:
    """Return the parameter ``engine`` in a form that can be pickled: a Client by its address."""
    return engine.scheduler.address if _is_client(engine) and engine.scheduler else engine


def open_engine(
    codes: Codes | RemoteCodes,
    y: Column,
    criterion: Criterion,
    *,
    cluster: Cluster | None = None,
    n_jobs: int | None = None,
    on_terms: Callable[[int], None] | None = None,
) -> LocalEngine | DaskEngine:
    """Return the engine that searches these codes: on a cluster, or on this machine."""
    if cluster is None:
        assert isinstance(codes, Codes)
        return LocalEngine(codes, y, criterion, n_jobs=n_jobs, on_terms=on_terms)
    from hocmim.coding.dask_codes import DaskCodes
    from hocmim.search.engines.dask import DaskEngine

    remote = DaskCodes.scatter(cluster, codes) if isinstance(codes, Codes) else codes
    assert isinstance(remote, DaskCodes)
    return DaskEngine(remote, y, criterion, on_terms=on_terms)


def search(
    encoded: Encoded,
    criterion: Criterion,
    constraints: Constraints,
    n_select: int,
    test: StopTest | None = None,
    *,
    cluster: Cluster | None = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
    identity: dict[str, Any] | None = None,
    progress: Progress | None = None,
    earlier: Selection | None = None,
    screened: Screen | None = None,
) -> Selection:
    """Select at most ``n_select`` features of an encoded table.

    The search ends before the first step in which no candidate passes ``test``. ``identity`` is
    what the result depends on besides the data and K: it is compared with that of the checkpoint.
    ``earlier`` is a selection of the same search to continue, ``screened`` what ``screen_columns``
    found, so that it is not done again. After Ctrl-C Interrupted is raised with the selection so
    far, if something is selected.
    """
    codes, target = encoded.codes, encoded.target
    criterion.expect(n_select)
    ys = _targets(encoded)
    if screened is None:
        screened = screen_columns(encoded, criterion, constraints, n_jobs, progress, earlier)
    is_on_worker = isinstance(checkpoint, Checkpoint)  # of a client, which made the checks
    if test is not None and not is_on_worker:
        _check_counts(encoded)
    asked = criterion, constraints, n_select, test, screened
    if ys:
        criterion = MeanCriterion(criterion, ys)
    if constraints.spending is not None:
        criterion = criterion.per_cost(constraints.spending.costs)
    rule = None
    if test is not None:
        rows = encoded.each_row_once()
        targets = [one.column for one in rows.target.each] if ys else rows.target.column
        tested = test, rows.codes.column, targets, constraints.n_candidates
        settings: dict[str, Any] = {
            "given_selected": criterion.sees_redundancy,
            "n_sets": screened.n_sets,
        }
        if rows.row_groups is None:
            rule = StoppingRule(*tested, **settings)
        else:
            rule = GroupedStoppingRule(rows.row_groups, *tested, **settings)
    if progress is not None:
        n_terms = 0 if test is not None else criterion.n_terms(n_select) * codes.n_columns
        progress.begin_search(
            encoded.features.names, None if test is not None else n_select, n_terms
        )
    earlier_steps = () if earlier is None else earlier.steps

    def open_checkpoint(digest: Callable[[], str]) -> Checkpoint:
        if isinstance(checkpoint, Checkpoint):
            return checkpoint
        found = _identity(identity, rule, ys) if checkpoint is not None else {}
        return Checkpoint(checkpoint, found, digest() if found else "", codes.n_columns)

    if cluster is not None:
        from hocmim.coding.dask_codes import whole_on
        from hocmim.search.engines.dask_worker import search_on_worker

        if whole_on(cluster, codes) is not None:
            with open_checkpoint(lambda: _fingerprint(encoded)) as file:
                file.start_from(earlier_steps)
                return search_on_worker(cluster, encoded, asked, file, progress)
    joint = None
    if screened.kept:
        joint = _joint_candidates(screened, encoded, asked[0], constraints, ys)
    with open_engine(
        codes,
        target.column,
        criterion,
        cluster=cluster,
        n_jobs=n_jobs,
        on_terms=None if progress is None else progress.on_terms,
    ) as engine:
        arguments: dict[str, Any] = {
            "on_step": None if progress is None else progress.on_step,
            "earlier": earlier_steps,
            "constraints": constraints,
            "joint": joint,
        }
        try:
            if checkpoint is None:
                selection = forward_search(engine, n_select, stop=rule, **arguments)
            else:
                file = open_checkpoint(engine.fingerprint)
                selection = file.search(engine, n_select, rule, **arguments)
        except Interrupted as error:
            raise Interrupted(_finished(error.selection, rule, encoded, screened)) from error
    return _finished(selection, rule, encoded, screened)


def _fingerprint(encoded: Encoded) -> str:
    codes = encoded.codes
    digests = column_digests(codes) if isinstance(codes, Codes) else codes.digests()
    return fingerprint(digests, encoded.target.column)


def _identity(
    identity: dict[str, Any] | None, rule: StoppingRule | None, ys: Sequence[Column]
) -> dict[str, Any]:
    """Add what the fingerprint of the codes does not tell: groups of rows, and several targets."""
    found = dict(identity or {})
    if isinstance(rule, GroupedStoppingRule):
        found["groups"] = rule.groups_digest
    if ys:
        found["targets"] = fingerprint(column_digests(Codes.from_columns(ys)), ys[0])
    return found


def _check_counts(encoded: Encoded) -> None:
    """Warn about weights that a test takes for counts, if they do not look like counts."""
    counts = encoded.row_counts
    if counts is None or encoded.observed is not None:
        return
    if look_relative(counts, np.append(encoded.codes.arity, encoded.target.column.arity)):
        warn_about_data(
            "sample_weight has integers, so the test takes a row of weight w for w observations: "
            f"{np.count_nonzero(counts):,} rows for {int(counts.sum()):,}. Few of them are 1, as "
            "most counts of equal rows would be. If the weights are relative, pass them as floats; "
            "the test then uses each row once."
        )


def _targets(encoded: Encoded) -> list[Column]:
    """Return the targets whose scores are averaged; none for one target."""
    target = encoded.target
    return [one.column for one in target.targets] if target.strategy == "mean" else []


def screen_columns(
    encoded: Encoded,
    criterion: Criterion,
    constraints: Constraints,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    earlier: Selection | None = None,
) -> Screen:
    """Test pairs and triples of columns, if the criterion asks for it.

    A selection that is continued knows what was found.
    """
    if not criterion.interactions:
        return Screen()
    if earlier is not None:
        return Screen(earlier.interactions, 0, earlier.notes)
    if progress is not None:
        progress.begin("screen", SCREENING)
    rows = encoded.each_row_once()
    with nullcontext() if progress is None else stopped_by(progress.on_wait):
        found = screen(
            ScreenedTable.of(rows, constraints.closed),
            _targets(rows) or [rows.target.column],
            whatever_it_costs=criterion.interactions != "auto",
            n_jobs=n_jobs,
            report=None if progress is None else progress.on_screen,
        )
    if rows.row_groups is not None and found.kept:
        found = replace(found, notes=(*found.notes, ROWS_IN_GROUPS))
    if progress is not None:
        for note in found.notes:
            progress.on_note(note)
    return found


def _joint_candidates(
    screened: Screen,
    encoded: Encoded,
    criterion: Criterion,
    constraints: Constraints,
    ys: Sequence[Column],
) -> JointCandidates:
    """Return the sets that the screen kept as candidates."""
    of_sets = criterion.of_sets()
    return JointCandidates(
        [one.members for one in screened.kept],
        encoded.codes.column,
        encoded.codes.n_columns,
        encoded.target.column,
        MeanCriterion(of_sets, ys) if ys else of_sets,
        spending=constraints.spending,
    )


def _finished(
    selection: Selection, rule: StoppingRule | None, encoded: Encoded, screened: Screen
) -> Selection:
    """Add to a selection what the screen and the stopping test found."""
    selection = replace(selection, interactions=screened.kept, notes=screened.notes)
    if rule is None:
        return selection
    weights = "" if encoded.row_counts is None else "counts"
    tested = [*[np.nan] * selection.n_kept, *rule.p_values]  # columns to keep are not tested
    return replace(
        selection,
        stopping=rule.stopping or selection.stopping,
        p_values=np.array(tested[: len(selection)], np.float64),
        error_control=replace(
            rule.error_control, weights=weights if encoded.observed is None else "relative"
        ),
    )
