"""Everything a report is made from, with one reading of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hocmim.coding.codes import Codes
from hocmim.coding.target import Target
from hocmim.coding.targets import encode_targets
from hocmim.data.table import Table, as_table
from hocmim.insight.basis import Basis
from hocmim.insight.notes import Note, ValueSurvey, notes_from
from hocmim.insight.observed import ObservedTable
from hocmim.insight.report.evidence import Evidence, gather
from hocmim.insight.report.fingerprint import TableDigest
from hocmim.insight.report.progress import ReportProgress
from hocmim.insight.report.relations import Relations, relate
from hocmim.search.progress import ProgressCallback

# About how long the scores of a report may take.
MAX_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class Material:
    """The numbers of a report, notes on the data, its fingerprint, and related features."""

    evidence: Evidence
    notes: list[Note]
    fingerprint: str
    relations: Relations | None = None


def collect(
    selector: Any,
    X: Any,
    y: Any,
    *,
    max_seconds: float | None = MAX_SECONDS,
    progress: ProgressCallback | None = None,
) -> Material:
    """Encode the table a selector was fitted on; survey and digest it in the same reading.

    ``max_seconds`` and ``progress``: see ``write_report``.
    """
    reporter = None if progress is None else ReportProgress(progress, len(selector.selection_))
    if reporter is not None:
        reporter.on_stage("encode")
    table = as_table(X)
    digest = TableDigest(table.shape)
    target = encode_targets(y, table.n_rows, selector.target_options())
    survey = ValueSurvey(table.n_columns, target)
    observed = ObservedTable(table, [digest.add, survey.add])
    basis = selector.basis(observed, y)
    observed.finish()
    notes = _find_notes(basis, table, target, survey)
    on_progress = None if reporter is None else reporter.on_terms
    evidence = gather(selector, basis, max_seconds=max_seconds, on_progress=on_progress)
    relations = relate(basis, n_jobs=getattr(selector, "n_jobs", None))
    return Material(evidence, notes, digest.finish(y), relations)


def _find_notes(basis: Basis, table: Table, target: Target, survey: ValueSurvey) -> list[Note]:
    """Return the notes on the rows that were used, each row once whatever its weight."""
    assert basis.column_codes is not None
    if basis.rows is None:
        targets = [one.column for one in target.each]
        return notes_from(
            basis.column_codes, targets, survey, basis.encoder, table, _left_out(basis)
        )
    once = np.flatnonzero(np.diff(basis.rows, prepend=-1))
    codes = basis.column_codes
    repeated = [one.take(once) for one in basis.averaged]
    weighted = ValueSurvey(table.n_columns, repeated[0]._replace(targets=tuple(repeated)))
    for block in table.take(basis.rows[once]).blocks():
        weighted.add(block)
    narrow = np.ascontiguousarray(codes.narrow[:, once])
    wide = np.ascontiguousarray(codes.wide[:, once])
    once_codes = Codes(narrow, wide, codes.place, codes.arity)
    targets = [one.column for one in repeated]
    return notes_from(once_codes, targets, weighted, basis.encoder, table, _left_out(basis))


def _left_out(basis: Basis) -> list[int]:
    """Return the columns that are no candidates."""
    return basis.features.expand(sorted(basis.left_out)).tolist()
