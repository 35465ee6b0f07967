"""The data of the scripts of a report: numbers rounded as they are shown, and sentences.

The scripts round no number and make no sentence. A number is rounded here to the decimals it is
shown with; a sentence is a template, sent once, and its arguments.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.groups import Features
from hocmim.insight import reasons
from hocmim.insight.encoding import describe_encoding
from hocmim.insight.notes import Note
from hocmim.insight.report.answers import MAX_COMPARED
from hocmim.insight.report.evidence import Evidence
from hocmim.text import percent

DECIMALS = 4
# The largest code of a point of a curve; the one above it means no value.
MAX_CURVE_CODE = 65_534
# How many notes are sent in full for the answers to a search.
MAX_MESSAGES = 4000
# Rows in each bin are shown for every feature up to this many features.
MAX_COUNTED = 1000


def page_data(evidence: Evidence, notes: Sequence[Note]) -> dict[str, Any]:
    """Return all data of the search box and the charts, arrays packed."""
    answers = evidence.answers
    D, K = evidence.n_features, len(evidence.selected)
    features = evidence.basis.features
    place_kind = "u1" if K < 256 else "u2"
    return {
        "method": evidence.method,
        "bySearch": evidence.is_search,
        "inNats": evidence.is_in_nats,
        "nSamples": evidence.n_samples,
        "names": [printable(evidence.name(k)) for k in range(D)],
        "selected": evidence.selected.tolist(),
        "best": [index for index, _ in evidence.basis.best],
        "bestScore": _pack(_rounded([score for _, score in evidence.basis.best]), "<f8"),
        "relevance": _pack(_rounded(evidence.relevance), "<f8"),
        "byRelevance": _pack(np.argsort(-evidence.relevance, kind="stable"), "<u4"),
        "score": _pack(_rounded(answers.score), "<f8"),
        "scores": _pack(_rounded(evidence.basis.selection.scores), "<f8"),
        **_sentences(evidence),
        "curve": _curve(evidence),
        "nMembers": _pack([len(members) for members in answers.members], "<u2"),
        "memberKind": place_kind,
        "members": _pack(np.concatenate(answers.members), f"<{place_kind}"),
        "mostRedundant": _pack(answers.most_redundant, "<i2"),
        "nextRedundant": _pack(answers.next_redundant, "<i2"),
        "mostSynergistic": _pack(answers.most_synergistic, "<i2"),
        "redundancy": [_pack(_rounded(np.abs(row)), "<f8") for row in answers.redundancy],
        "shares": [_shares(evidence, row) for row in answers.redundancy[:2]],
        "nCompared": min(K, MAX_COMPARED),
        "map": [_rounded(row) for row in evidence.redundancy],
        "together": _together(evidence),
        "columns": [features.columns(k) for k in range(D)] if features.groups else None,
        "encoding": [printable(text) for text in _encodings(evidence)],
        "notes": [
            [int(features.of_column[note.index]), printable(_message(note, features))]
            for note in notes[:MAX_MESSAGES]
        ],
    }


def _encodings(evidence: Evidence) -> list[str]:
    """Describe how each feature was encoded; of many, only the selected ones with numbers of rows.

    Numbers of rows would be the largest part of a page on many features.
    """
    basis, D = evidence.basis, evidence.n_features
    codes = basis.all_codes
    return [
        str(
            describe_encoding(
                basis, codes.column(k), count_rows=D <= MAX_COUNTED or k in basis.places
            )
        )
        for k in range(D)
    ]


def printable(text: Any) -> str:
    """Return text with control characters and halves of surrogate pairs replaced by symbols."""
    text = str(text)
    return text if text.isprintable() else "".join(_symbol(character) for character in text)


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "\ufffd" if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 else character


def _sentences(evidence: Evidence) -> dict[str, Any]:
    """Return the templates, and for each feature its sentences: a template and its arguments.

    A number among the arguments is the index of a feature, whose name is shown.
    """
    templates: dict[str, int] = {}

    def packed(sentence: reasons.Sentence) -> list[int | str]:
        template, arguments = sentence.template, sentence.arguments
        if arguments and arguments[0] == evidence.method:  # the same in every sentence
            template, arguments = template.replace("{}", evidence.method, 1), arguments[1:]
        number = templates.setdefault(template, len(templates))
        return [number, *(_argument(argument) for argument in arguments)]

    found = [[packed(s) for s in evidence.reasons(k)] for k in range(evidence.n_features)]
    return {"templates": list(templates), "reasons": found}


def _argument(argument: str | reasons.FeatureIndex) -> int | str:
    if isinstance(argument, reasons.FeatureIndex):
        return int(argument)
    return f"−{argument[1:]}" if argument.startswith("-") else argument


def _shares(evidence: Evidence, redundancy: NDArray[np.float64]) -> list[str]:
    """Return the share of the relevance of each feature that is repeated, as a percentage."""
    return [
        percent(reasons.redundant_share(relevance, value)) if value > 0 and relevance > 0 else ""
        for relevance, value in zip(evidence.relevance.tolist(), redundancy.tolist(), strict=True)
    ]


def _curve(evidence: Evidence) -> dict[str, Any]:
    """Return the scores at each step as whole numbers of a unit, 0.0001 unless they vary more."""
    curve = evidence.answers.curve
    finite = curve[np.isfinite(curve)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    decimals = DECIMALS
    while decimals > -300 and (high - low) * 10.0**decimals > MAX_CURVE_CODE - 1:
        decimals -= 1
    scale = 10.0**decimals
    start = np.floor(low * scale)
    codes = np.where(np.isfinite(curve), np.rint(curve * scale) - start, MAX_CURVE_CODE + 1)
    return {
        "steps": (evidence.answers.steps + 1).tolist(),
        "scored": _pack(evidence.answers.scored, "<u4"),
        "start": int(start),
        "scale": scale,
        "none": MAX_CURVE_CODE + 1,
        "codes": _pack(codes, "<u2"),
    }


def _together(evidence: Evidence) -> dict[str, Any]:
    cumulative, costs = evidence.cumulative, evidence.basis.selection.costs
    return {
        "costs": None if costs is None else _rounded(np.cumsum(costs)),
        "counted": _rounded(cumulative.counted),
        "chance": _rounded(cumulative.chance),
        "supported": _rounded(cumulative.supported),
        "cells": cumulative.n_cells.tolist(),
        "rowsPerCell": [f"{evidence.n_samples / n:.1f}" for n in cumulative.n_cells.tolist()],
        "entropy": evidence.target_entropy,
    }


def _message(note: Note, features: Features) -> str:
    """Return a note on a feature; for a group it says which column it is about."""
    is_group = len(features.columns(int(features.of_column[note.index]))) > 1
    return str(note) if is_group else note.message


def _rounded(values: Any) -> list[float]:
    """Round numbers as Python prints them with four decimals."""
    return [float(f"{value:.{DECIMALS}f}") for value in np.asarray(values, np.float64).tolist()]


def _pack(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()
