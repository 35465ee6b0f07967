"""A fitted information-theoretic selector as the content of a file and back."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hocmim.coding.codes import MAX_LEVELS, Codes, Column, as_small_integers, places
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features
from hocmim.coding.saved import encoder_content, encoder_from, features_from, groups_content
from hocmim.data.values import array_of, from_json, is_count, require, to_json
from hocmim.insight.basis import KeptCodes, KeptTarget
from hocmim.search.saved import selection_content, selection_from
from hocmim.search.selection import Selection
from hocmim.selectors.saving import SavedSelector

# What the criteria of hocmim say about a step.
_DETAILS = (int, float, np.ndarray)


class SavedInformation(SavedSelector):
    """The content of the file of an information-theoretic selector.

    What follows from the selection, such as ``selected_`` or ``trace_``, is not saved: it is set
    by the code that sets it after a search.
    """

    saved_attributes = SavedSelector.saved_attributes | {
        "target_strategy_": (str,),
        "classes_": (np.ndarray, list, type(None)),
        "target_cuts_": (np.ndarray, list, type(None)),
    }

    encoder_: Encoder
    features_: Features
    selection_: Selection
    target_strategy_: str
    classes_: Any
    target_cuts_: Any
    _kept: KeptCodes | None
    _n_samples: int
    _row_counts: Any
    _time_kinds: dict[int, str]

    def _content(self, with_codes: bool) -> dict[str, Any]:
        content = SavedSelector._content(self, with_codes) | {
            "groups": groups_content(self.features_),
            "encoder": encoder_content(self.encoder_),
            "selection": selection_content(self.selection_),
            "n_samples": self._n_samples,
            "time_kinds": [[j, kind] for j, kind in self._time_kinds.items()],
        }
        if with_codes:
            content["codes"] = None if self._kept is None else kept_content(self._kept)
            content["row_counts"] = to_json(self._row_counts)
        return content

    def _set_content(self, content: dict[str, Any], n_columns: int | None = None) -> None:
        self.encoder_ = encoder_from(content["encoder"])
        n_columns = self.encoder_.n_features_in_
        SavedSelector._set_content(self, content, n_columns)
        names = getattr(self, "feature_names_in_", None)
        self.features_ = features_from(content["groups"], n_columns, names)
        selection = selection_from(content["selection"], len(self.features_))
        details = [step.details for one in selection.steps for step in (one, one.runner_up) if step]
        values = [value for found in details for value in found.values()]
        require(all(isinstance(v, _DETAILS) for v in values), "details must be numbers")
        require(is_count(content["n_samples"]), "n_samples must be a count")
        self._n_samples = content["n_samples"]
        self._time_kinds = {}
        for j, kind in content["time_kinds"]:
            require(is_count(j) and j < n_columns and isinstance(kind, str), "time_kinds")
            self._time_kinds[j] = kind
        saved = content.get("codes")
        self._kept = None if saved is None else kept_from(saved, len(selection), self._n_samples)
        counts = from_json(content.get("row_counts"))
        if counts is not None:
            is_counts = isinstance(counts, np.ndarray) and counts.ndim == 1
            is_counts = is_counts and counts.dtype.kind in "iu" and bool((counts >= 0).all())
            require(is_counts and int(counts.sum()) == self._n_samples, "row_counts: counts")
        self._row_counts = counts
        self._is_loaded = True
        self._check_targets()
        self._keep_loaded(selection)

    def _check_targets(self) -> None:
        """Check that there are as many targets as the mean was over."""
        if self.target_strategy_ != "mean":
            return
        parts = (self.classes_, self.target_cuts_)
        require(all(isinstance(part, list) for part in parts), "classes_ and target_cuts_: lists")
        sizes = {len(part) for part in parts}
        if self._kept is not None:
            sizes.add(len(self._kept.targets))
        require(len(sizes) == 1 and sizes != {0}, "the number of targets is not the same")

    @abstractmethod
    def _keep_loaded(self, selection: Selection) -> None:
        """Set the fitted attributes that follow from the selection."""


def kept_content(kept: KeptCodes) -> dict[str, Any]:
    """Return the codes that a selector keeps, as JSON."""
    return {
        "narrow": to_json(kept.selected.narrow),
        "wide": to_json(kept.selected.wide),
        "arity": to_json(kept.selected.arity),
        **_target_content(kept.y, kept.values),
        "targets": [_target_content(*one) for one in kept.targets],
    }


def _target_content(y: Column, values: Any) -> dict[str, Any]:
    return {"y": to_json(y.codes), "y_arity": y.arity, "values": to_json(values)}


def _target_from(content: dict[str, Any], n_samples: int) -> KeptTarget:
    y, y_arity = from_json(content["y"]), content["y_arity"]
    require(is_count(y_arity) and 1 <= y_arity <= MAX_LEVELS, "y_arity is out of range")
    dtype = as_small_integers(np.zeros(0, np.int64), y_arity).dtype
    y = array_of(y, dtype, (n_samples,), "y")
    require(int(y.max(initial=0)) < y_arity, "a code of y is not below its number of levels")
    values = from_json(content["values"])
    if values is not None:
        array_of(values, np.float64, (n_samples,), "values")
    return KeptTarget(Column(y, y_arity), values)


def kept_from(content: dict[str, Any], n_selected: int, n_samples: int) -> KeptCodes:
    """Return the codes of a file; every code must be a level of its column."""
    arity = array_of(from_json(content["arity"]), np.int64, (n_selected,), "arity")
    require(bool(((arity >= 1) & (arity <= MAX_LEVELS)).all()), "arity is out of range")
    place = places(arity)
    n_narrow = int((place >= 0).sum())
    n_rows = n_samples if n_selected else None
    narrow = array_of(from_json(content["narrow"]), np.uint8, (n_narrow, n_rows), "codes")
    wide = array_of(from_json(content["wide"]), np.uint16, (n_selected - n_narrow, n_rows), "codes")
    for rows, is_here in ((narrow, place >= 0), (wide, place < 0)):
        is_level = rows.max(axis=1, initial=0) < arity[is_here]
        require(bool(is_level.all()), "a code is not below its number of levels")
    target = _target_from(content, n_samples)
    # A file of an earlier version has no targets.
    targets = tuple(_target_from(one, n_samples) for one in content.get("targets", ()))
    return KeptCodes(Codes(narrow, wide, place, arity), *target, targets)
