"""Pairs of rows as input of a search, for ``discretizer="kendall"``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.kendall import MISSING, compare_table, kendall_transform
from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import Target, TargetOptions, encode_target
from hocmim.data.table import as_table
from hocmim.data.target import TargetKind, summarize_target
from hocmim.data.times import TimeKinds
from hocmim.errors import InvalidParameterError
from hocmim.search.inputs import Input, MemoryInput, MemoryTable

# Every comparison is a level, with the missing one.
N_LEVELS = MISSING + 1


class PairsInput:
    """The pairs of rows of a table in memory and its target: see ``search.inputs.Input``."""

    row_counts = None

    def __init__(self, data: Input) -> None:
        if not isinstance(data, MemoryInput) or data.row_counts is not None or data.y.ndim > 1:
            raise InvalidParameterError(
                "discretizer='kendall' is for tables in memory, without weights and with one "
                "target. Pass another discretizer."
            )
        pairs = kendall_transform(data.table, data.y)
        self._pairs = MemoryInput(as_table(pairs.X), pairs.y)
        self._y = data.y
        self.names, self.n_columns = data.names, data.n_columns
        self.n_rows = self._pairs.n_rows

    def kind(self, options: TargetOptions) -> TargetKind:
        """Return what the target holds; no guess, as only its order is used."""
        return replace(options.decide(summarize_target(self._y)), guess="")

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See Input: comparisons are not times."""
        return self._pairs.time_kinds(columns)

    def encode_target(self, options: TargetOptions) -> Target:
        """See Input: the comparisons of y are the classes."""
        return encode_target(self._pairs.y, self.n_rows, replace(options, kind="classes"))

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, Codes]:
        """See Input."""
        return self._pairs.encode(y, replace(options, discretizer="quantile", n_bins=N_LEVELS))


def open_pairs(data: Input, *, is_auto: bool) -> PairsInput:
    """Open the pairs of rows; ``is_auto``: whether a test decides how many columns to select."""
    if is_auto:
        raise InvalidParameterError(
            "n_features_to_select='auto' tests rows that are independent, and the pairs of "
            "discretizer='kendall' are not. Pass a number, or another discretizer."
        )
    return PairsInput(data)


def encode_pairs(X: Any, encoder: Encoder, indices: Sequence[int]) -> list[Column]:
    """Return the codes of some columns of the pairs of rows of a table."""
    pairs = compare_table(X)
    return MemoryTable(pairs, as_table(pairs), None).encode_columns(encoder, indices)
