"""Running the selector that the options describe, and its result as rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from hocmim.cli import show
from hocmim.cli.data import Data, check_column, load
from hocmim.cli.options import Request, Source
from hocmim.cli.parameters import (
    CV,
    Given,
    make_selectors,
    parameters_of,
    read_methods,
)
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import column_name
from hocmim.errors import (
    DASK,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    check_installed,
)
from hocmim.insight.basis import basis_of
from hocmim.insight.checks import LEAK
from hocmim.insight.clusters import cluster_columns
from hocmim.search.loop import Interrupted
from hocmim.search.search import Engine
from hocmim.search.validation import Validation
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.cv import SelectorCV
from hocmim.selectors.registry import find_name
from hocmim.text import count

# The redundancy of all pairs of features is computed up to this many pairs times rows.
MAX_PAIR_CELLS = 2_000_000_000


@dataclass(frozen=True)
class Outcome:
    """A fitted selector.

    ``validation`` is the SelectorCV or Validation that chose it or its number of columns, or None.
    ``is_partial``: Ctrl-C stopped it early. ``warnings`` are those of the fit.
    """

    selector: Any
    validation: Any
    is_partial: bool
    seconds: float
    warnings: list[Warning]

    @property
    def leaks(self) -> dict[str, float]:
        """The columns that may be leaks, and how much of the target each explains."""
        found: list[Any] = [one for one in self.warnings if show.kind_of(one) == LEAK]
        pairs = [zip(one.finding.names, one.finding.shares, strict=True) for one in found]
        return {name: share for each in pairs for name, share in each}


def check_methods(*texts: str) -> None:
    """Raise an error if there is no method of a name; those of the user are checked later."""
    for name in (name for text in texts for name, _ in read_methods(text)):
        if ":" not in name:
            find_name(name)


def select(
    request: Request, *, features: Sequence[str] = (), in_memory: bool = False, without: str = ""
) -> tuple[Data, Outcome]:
    """Read the table, make the selector and fit it.

    ``features`` are columns or groups that must exist: an error is raised before the work.
    ``in_memory``: the table is needed in memory. ``without`` is a kind of finding that the command
    prints itself.
    """
    given, source, quiet = request.given, request.source, request.quiet
    check_methods(request.method)
    if "cluster" in given:
        check_installed("--cluster needs", *DASK)
    show.check_output(given.get("checkpoint"), force=True)
    data = load(source, given, quiet, in_memory=in_memory)
    if request.one_per_cluster is not None:
        data = keep_one_per_cluster(data, request.one_per_cluster, given, quiet)
    groups = [text.partition("=")[0] for text in given.get("feature_groups", ())]
    for feature in features:
        check_column(feature, [*data.names, *groups], source.file)
    return data, fit(make(request.method, request.k, given, data), data, quiet, without)


def make(method: str, k: Any, given: Given, data: Data) -> Any:
    """Return the selector that the options describe."""
    made = make_selectors([method], k, with_kind(given, data), data.names)
    only = next(iter(made.values()))
    if only.n_features_to_select == CV:
        if "cluster" in given:
            raise InvalidParameterError(
                "-k cv runs on this machine. Leave out --cluster, or pass a number with -k."
            )
        if len(made) == 1 and isinstance(only, InformationSelector):
            return only
        data.needs_memory("Cross-validation of several methods, or of a filter, needs")
        return SelectorCV(dict(made), target=data.target)
    if len(made) > 1:
        raise InvalidParameterError(
            "A list of methods is for -k cv, which chooses one of them; hocmim compare compares "
            "them. Pass one method."
        )
    return only


def with_kind(given: Given, data: Data) -> Given:
    """Return the options with the kind of the target that was found, if it was."""
    return {**given, "target_kind": data.target.kind} if len(data.kinds) == 1 else given


def keep_one_per_cluster(data: Data, max_distance: float, given: Given, quiet: bool) -> Data:
    """Return the table with one column of each cluster."""
    data.needs_memory("Clusters need")
    if "feature_groups" in given:
        raise InvalidParameterError(
            "--one-per-cluster cannot be used with --feature-group: a group could lose columns."
        )
    own = {key: given[key] for key in parameters_of(Encoder) if key in given}
    with show.bar("clustering", quiet) as move:
        clusters = cluster_columns(
            data.X,
            data.y,
            max_distance=max_distance,
            encoder=Encoder(**own),
            target=data.target,
            n_jobs=given.get("n_jobs"),
            progress=move,
        )
    kept = [data.names[j] for j in sorted(clusters.representatives.tolist())]
    if not quiet:
        found = f"{count(len(data.names), 'column')} in {count(len(kept), 'cluster')}"
        show.say(f"{found}; one column of each is kept.")
    return replace(data, X=data.X.select(kept), types={name: data.types[name] for name in kept})


def fit(selector: Any, data: Data, quiet: bool, without: str = "") -> Outcome:
    """Fit the selector, with a progress bar on a terminal; Ctrl-C keeps the selected features."""
    began, is_partial = time.monotonic(), False
    accepted = signature(selector.fit).parameters
    engine = Engine.of(getattr(selector, "engine", None))
    given: dict[str, Any] = {}
    if data.weights is not None:
        if "sample_weight" not in accepted:
            raise InvalidParameterError(f"{selector.display_name} takes no --weights.")
        given["sample_weight"] = data.weights
    if data.groups is not None and "groups" in accepted:
        given["groups"] = data.groups
    with (
        show.printed_warnings(quiet, without=without) as said,
        _cluster(selector) if engine.cluster == "dask" else nullcontext(),
        show.bar("selecting", quiet) as move,
    ):
        if move is not None and "progress" in accepted:
            given["progress"] = move
        try:
            selector.fit(data.X, data.y, **given)
        except Interrupted:
            if not hasattr(selector, "selection_"):  # of a fold
                raise
            is_partial = True
    chosen = getattr(selector, "selector_", None)
    seconds = time.monotonic() - began
    if chosen is None:
        validation = getattr(selector, "validation_", None)
        return Outcome(selector, validation, is_partial, seconds, said)
    return Outcome(chosen, selector, is_partial, seconds, said)


@contextmanager
def _cluster(selector: Any) -> Iterator[None]:
    """Start a Dask cluster on this machine, for ``--cluster dask``."""
    from distributed import Client, LocalCluster

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


# --- rows -----------------------------------------------------------------------------------------


def rows(selector: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return the selected features in the order of selection; None if the method has no value."""
    selection, features = selector.selection_, selector.features_
    is_search = hasattr(selector, "relevance_")
    partners = _most_redundant(selector, names) if is_search else [(None, None)] * len(selection)
    has_sets = is_search and selection.has_representative_sets
    costs = [None] * len(selection) if selection.costs is None else selection.costs.tolist()
    p_values = [None] * len(selection) if selection.p_values is None else selection.p_values
    return [
        {
            "rank": place + 1,
            "feature": column_name(features.names, step.index),
            "index": int(features.first[step.index]),
            "relevance": float(selection.relevance[step.index]) if is_search else None,
            "score": float(step.score),
            "order": step.order if has_sets else None,
            "representative_set": [
                names[j] for j in features.expand(step.representative_set).tolist()
            ]
            if has_sets
            else None,
            "redundant_with": partners[place][0],
            "redundancy": partners[place][1],
            "p_value": show.finite(p_values[place]),
            "kept": bool(step.is_kept),
            "cost": costs[place],
        }
        for place, step in enumerate(selection.steps)
    ]


def _most_redundant(selector: Any, names: list[str]) -> list[tuple[str | None, float | None]]:
    """Return for each selected feature the most redundant one before it, and the redundancy.

    From the redundancy of all pairs. If these are too many, or the codes were not kept: the first
    feature of its representative set.
    """
    selection, features = selector.selection_, selector.features_
    try:
        basis = basis_of(selector)
        has_matrix = len(selection) ** 2 * basis.n_samples <= MAX_PAIR_CELLS
    except (InvalidTableError, InvalidTargetError):
        has_matrix = False
    if not has_matrix:
        sets = [features.expand(step.representative_set).tolist() for step in selection.steps]
        return [(names[members[0]] if members else None, None) for members in sets]
    matrix = basis.redundancy_matrix()
    pairs: list[tuple[str | None, float | None]] = []
    for place in range(len(selection)):
        before = matrix[place, :place]
        most = int(np.argmax(before)) if place else 0
        is_redundant = place > 0 and before[most] > 0
        name = basis.name(selection.steps[most].index)
        pairs.append((name, float(before[most])) if is_redundant else (None, None))
    return pairs


# --- JSON and words -------------------------------------------------------------------------------


def described(source: Source, outcome: Outcome, data: Data) -> dict[str, Any]:
    """Return the file, the method and its parameters, for a result as JSON."""
    from importlib.metadata import version

    return {
        "hocmim": version("hocmim"),
        "file": source.file,
        "target": source.target_name,
        "method": outcome.selector.display_name,
        "parameters": outcome.selector.get_params(deep=False),
        "n_rows": data.n_rows,
        "n_features": len(data.names),
        "partial": outcome.is_partial,
        "warnings": [show.warning_text(one) for one in outcome.warnings],
    }


def error_control(selector: Any) -> dict[str, Any] | None:
    """Return which error rate the tests keep and what to write about it, for JSON."""
    control = selector.selection_.error_control
    return None if control is None else {**asdict(control), "statement": selector.statement()}


def stopping(selector: Any, names: list[str]) -> dict[str, Any] | None:
    """Return why the selection stopped early, for a result as JSON."""
    found = getattr(selector, "stopping_", None)
    if found is None:
        return None
    return {
        "reason": found.reason,
        "before": names[found.index],
        "score": float(found.score),
        "p_value": show.finite(found.p_value),
    }


def validation_json(found: Any) -> dict[str, Any] | None:
    """Return a cross-validation for a result as JSON."""
    if found is None:
        return None
    if isinstance(found, Validation):
        return {
            "n_features": found.best,
            "measure": found.measure,
            "score": found.score,
            "baseline": found.baseline_score,
            "beats_baseline": found.beats_baseline,
            "n_rows": found.n_rows,
            "n_splits": len(found.scores),
            "results": {
                "n_features": found.sizes.tolist(),
                "mean_test_score": found.scores.mean(axis=0).tolist(),
            },
        }
    return {
        "selector": found.best_selector_,
        "n_features": found.best_n_features_,
        "measure": found.measure_,
        "score": found.best_score_,
        "baseline": show.finite(found.baseline_score_),
        "beats_baseline": found.beats_baseline_,
        "rule": found.rule,
        "n_splits": found.n_splits_,
        "choices": [asdict(one) for one in found.choices_],
        "results": {name: values.tolist() for name, values in found.cv_results_.items()},
    }
