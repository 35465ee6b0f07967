"""Running the selector that the options describe, and its result as rows."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from rich.console import Console

from hocmim.cli import constraints, show
from hocmim.cli.checks import count_features, how_many
from hocmim.cli.data import Data
from hocmim.cli.group import Terminated
from hocmim.cli.options import Settings, Source, Validation
from hocmim.coding.groups import column_name
from hocmim.coding.kendall import KENDALL
from hocmim.errors import (
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    TextWarning,
    without_data_warnings,
)
from hocmim.insight.notes import Note, data_notes
from hocmim.search.loop import keep_selected_so_far
from hocmim.search.progress import ProgressCallback, ProgressEvent
from hocmim.selectors.registry import make_selector
from hocmim.text import count, one_line, visible

OnProgress = Callable[[int, int | None, str], None]

# The redundancy of all pairs of features is computed up to this many pairs times rows.
MAX_PAIR_CELLS = 2_000_000_000
MAX_BAR_NAME_LENGTH = 30


@dataclass(frozen=True)
class Outcome:
    """A fitted selector, whether Ctrl-C stopped it early, and how long it took."""

    selector: Any
    is_partial: bool
    seconds: float


def make(
    method: str,
    source: Source,
    settings: Settings,
    data: Data,
    validation: Validation | None = None,
) -> Any:
    """Return the selector that the options describe."""
    if settings.k == "cv":
        if validation is None:
            raise InvalidParameterError("-k cv is for hocmim select. Pass the number it chose.")
        one = make(method, source, replace(settings, k=None), data)
        return cross_validated(one, data, validation, settings.seed, settings.jobs)
    given = {
        "target_kind": data.target_kind,
        "target_bins": source.target_bins,
        "target_discretizer": source.target_discretizer,
        "target_strategy": source.target_strategy,
        "fdr": settings.fdr,
        "identifiers": source.identifiers,
        "n_bins": settings.bins,
        "discretizer": settings.discretizer,
        "estimator": settings.estimator,
        "random_state": settings.seed,
        "n_jobs": settings.jobs,
        "codes_dir": settings.codes_dir,
        "checkpoint": settings.checkpoint,
        "feature_groups": _groups(settings),
        "engine": _engine(settings),
        "keep": constraints.split(settings.keep, data.names),
        "exclude": constraints.split(settings.exclude, data.names),
        "costs": constraints.read_costs(settings.costs, data.names),
        "budget": settings.budget,
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    parameters |= dict(settings.set)
    n_features = count_features(settings, data.names)
    if ":" in method:
        sys.path.insert(0, os.getcwd())  # a module of the user, in the folder of the command
    k = "auto" if settings.fdr else how_many(settings.k, n_features)
    if settings.k is None and settings.fdr is None and settings.budget is not None:
        k = None  # as many as the budget pays for
    return make_selector(method, n_features_to_select=k, **parameters)


def cross_validated(
    selectors: Any,
    data: Data,
    validation: Validation,
    seed: int | None,
    jobs: int | None,
    **options: Any,
) -> Any:
    """Return the selector that chooses by cross-validation."""
    from hocmim.selectors.cv import SelectorCV

    if not data.is_in_memory:
        raise InvalidParameterError(
            "Cross-validation needs the table in memory. Leave out --engine dask and --codes-dir."
        )
    return SelectorCV(
        selectors,
        validation.model,
        cv=validation.cv,
        rule=validation.rule,
        scoring=validation.scoring,
        target_kind=data.target_kind,
        random_state=seed or 0,
        n_jobs=jobs,
        **options,
    )


def describe_choice(found: Any) -> str:
    """Return what a cross-validation chose, and the runner-up, in words."""
    best, other = found.choices_[0], found.runner_up_
    text = (
        f"Cross-validation ({found.n_splits_} splits, rule {found.rule}) chose {best.selector} "
        f"with {count(best.n_features, 'feature')}: {found.choices_.measure} {best.score:.4f} ± "
        f"{best.standard_error:.4f}."
    )
    if other is None:
        return text
    return (
        f"{text} Runner-up: {other.selector} with {other.n_features}, {other.score:.4f} ± "
        f"{other.standard_error:.4f}."
    )


def validation_json(found: Any) -> dict[str, Any]:
    """Return a cross-validation for a result as JSON."""
    results = {name: values.tolist() for name, values in found.cv_results_.items()}
    return {
        "selector": found.best_selector_,
        "n_features": found.best_n_features_,
        "measure": found.choices_.measure,
        "score": found.best_score_,
        "rule": found.rule,
        "n_splits": found.n_splits_,
        "choices": [asdict(one) for one in found.choices_],
        "runner_up": None if found.runner_up_ is None else asdict(found.runner_up_),
        "results": results,
    }


def _groups(settings: Settings) -> dict[str, list[str]] | None:
    return {name: list(columns) for name, columns in settings.group} or None


def _engine(settings: Settings) -> str | None:
    return None if settings.engine == "local" else settings.scheduler or "dask"


def check_can_explain(selector: Any) -> None:
    """Raise an error if the method scores columns without a search, which cannot be explained."""
    if not hasattr(selector, "explain"):
        raise InvalidParameterError(
            f"{selector.display_name} scores every column independently of the others, so there "
            "are no steps to explain. Use an information-theoretic method, such as HOCMIM; or "
            f"hocmim report -m {selector.display_name}, which shows the score of every column."
        )


def run(selector: Any, data: Data, quiet: bool) -> Outcome:
    """Fit the selector, with a progress bar on a terminal; Ctrl-C keeps the selected features."""
    began = time.monotonic()
    with (
        show.printed_warnings(quiet),
        without_data_warnings(data.is_in_memory),  # the notes say the same
        _cluster(selector),
        keep_selected_so_far() as interruption,
        bar("selecting", quiet) as move,
    ):
        warnings.simplefilter("ignore", TextWarning)  # said when the file was read
        accepted = signature(selector.fit).parameters
        options: dict[str, Any] = {}
        if move is not None and "progress" in accepted:
            options["progress"] = lambda event: _move_bar(move, event)
        if data.weights is not None:
            if "sample_weight" not in accepted:
                raise InvalidParameterError(f"{selector.display_name} takes no --weights.")
            options["sample_weight"] = data.weights
        if data.groups is not None and "groups" in accepted:
            options["groups"] = data.groups
        try:
            selector.fit(data.X, data.y, **options)
        except Terminated as error:
            file = getattr(selector, "checkpoint", None)
            if file is None:
                raise
            text = f" The same command continues from {file}."
            raise Terminated(error.signal, text) from error
    return Outcome(selector, interruption.happened, time.monotonic() - began)


def _move_bar(move: OnProgress, event: ProgressEvent) -> None:
    name = "" if event.name is None else visible(event.name)
    if event.stage == "validate":
        move(event.n_terms, event.n_terms_total, name)
        return
    move(event.n_selected, event.n_to_select, name)


def explain_progress(move: OnProgress | None) -> ProgressCallback | None:
    """Return the callback of a report that moves a bar, in percent; None if there is no bar."""
    if move is None:
        return None
    return lambda event: move(100 * event.n_terms // (event.n_terms_total or 1), 100, "")


@contextmanager
def _cluster(selector: Any) -> Iterator[None]:
    """Start a Dask cluster on this machine, if the engine is Dask and no scheduler is given."""
    if getattr(selector, "engine", "local") != "dask":
        yield
        return
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


@contextmanager
def bar(title: str, quiet: bool) -> Iterator[OnProgress | None]:
    """Show a progress bar on standard error; give the function that moves it.

    None, and no bar, if quiet or if standard error is not a terminal.
    """
    console = Console(stderr=True)
    if quiet or not console.is_interactive:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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

        def move(done: int, total: int | None, name: str) -> None:
            description = one_line(name, MAX_BAR_NAME_LENGTH)
            progress.update(task, completed=done, total=total, description=description)

        yield move


@dataclass(frozen=True)
class Row:
    """One selected feature: a column or a group of columns. None if the method has no value."""

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
    kept: bool = False
    cost: float | None = None


def rows(selector: Any, names: list[str]) -> list[Row]:
    """Return the selected features in the order of selection."""
    if not hasattr(selector, "explain"):
        scored = zip(selector.selected_.tolist(), selector.scores_.tolist(), strict=True)
        nothing = (None,) * 5
        found = [
            Row(rank, names[j], j, None, score, *nothing)
            for rank, (j, score) in enumerate(scored, 1)
        ]
        return [*map(_constrained, found, _constraints_of(selector.selection_))]
    selection, features = selector.selection_, selector.features_
    partners = _most_redundant(selector, names)
    has_order = selection.has_representative_sets
    found = []
    for place, step in enumerate(selection.steps):
        members = [names[j] for j in features.expand(step.representative_set).tolist()]
        by, redundancy = partners[place]
        found.append(
            Row(
                rank=place + 1,
                feature=column_name(features.names, step.index),
                index=int(features.first[step.index]),
                relevance=float(selection.relevance[step.index]),
                score=step.score,
                order=step.order if has_order else None,
                representative_set=members if has_order else None,
                redundant_with=by,
                redundancy=redundancy,
                p_value=None
                if selection.p_values is None
                else show.finite(selection.p_values[place]),
            )
        )
    return [*map(_constrained, found, _constraints_of(selection))]


def _constraints_of(selection: Any) -> list[tuple[bool, float | None]]:
    """Return for each step whether it was kept, and its cost."""
    costs = selection.costs
    listed = [None] * len(selection) if costs is None else costs.tolist()
    return list(zip(selection.is_kept.tolist(), listed, strict=True))


def _constrained(row: Row, constraint: tuple[bool, float | None]) -> Row:
    return replace(row, kept=constraint[0], cost=constraint[1])


def _most_redundant(selector: Any, names: list[str]) -> list[tuple[str | None, float | None]]:
    """Return for each selected feature the most redundant one before it, and the redundancy.

    From the redundancy of all pairs. If these are too many, or the codes were not kept: the first
    feature of its representative set.
    """
    selection, features = selector.selection_, selector.features_
    try:
        basis = selector.basis()
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


# --- notes and JSON -------------------------------------------------------------------------------


def notes(selector: Any, data: Data) -> list[Note]:
    """Return the notes on the table; none if the table is not in memory."""
    if not data.is_in_memory:
        return []
    is_of_rows = getattr(selector, "discretizer", None) != KENDALL
    encoder = getattr(selector, "encoder_", None) if is_of_rows else None
    return data_notes(
        data.X,
        data.y,
        encoder=encoder,
        target_options=selector.target_options(),
        left_out=left_out(selector),
    )


def left_out(selector: Any) -> list[int]:
    """Return the columns that are no candidates, because they identify the rows."""
    if getattr(selector, "identifiers", None) != "drop":
        return []
    return selector.identifiers_.tolist()


def described(source: Source, selector: Any, data: Data) -> dict[str, Any]:
    """Return the file, the method and its parameters, for a result as JSON."""
    from importlib.metadata import version

    return {
        "hocmim": version("hocmim"),
        "file": source.file,
        "target": source.target_name,
        "method": selector.display_name,
        "parameters": plain_parameters(selector),
        "n_rows": data.n_rows,
        "n_features": len(data.names),
    }


def plain_parameters(selector: Any) -> dict[str, Any]:
    """Return the parameters of a selector that are not None, for a result as JSON."""
    plain = (str, int, float, bool, list, dict)
    return {
        name: value if isinstance(value, plain) else str(value)
        for name, value in selector.get_params(deep=False).items()
        if value is not None
    }


def error_control(selector: Any) -> dict[str, Any] | None:
    """Return which error rate the tests keep and what to write about it, for JSON."""
    selection = getattr(selector, "selection_", None)
    control = getattr(selection, "error_control", None)
    if control is None:
        return None
    return {**asdict(control), "statement": selector.statement()}


def stopping(selector: Any, names: list[str]) -> dict[str, Any] | None:
    """Return why the selection stopped early, for a result as JSON."""
    found = getattr(selector, "stopping_", None)
    if found is None:
        return None
    return {
        "reason": found.reason,
        "before": names[found.index],
        "score": float(found.score),
        "p_value": None if np.isnan(found.p_value) else float(found.p_value),
    }
