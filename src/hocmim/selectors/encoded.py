"""The codes of a fit, from which a selection can go on."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hocmim.coding.codes import Codes
from hocmim.coding.target import Target
from hocmim.data.row_groups import RowGroups
from hocmim.data.times import TimeKinds
from hocmim.errors import InvalidParameterError, warn_user
from hocmim.insight.basis import MAX_KEPT_BYTES
from hocmim.search.engines.remote import RemoteCodes


class Encoded(NamedTuple):
    """A table and its target as codes.

    Attributes
    ----------
    codes : Codes or RemoteCodes
        Of the features.
    target : Target
    time_kinds : dict
        Which columns hold dates, times or durations.
    row_groups : ndarray of int64 or None
        The group of each sample, for the stopping test.
    """

    codes: Codes | RemoteCodes
    target: Target
    time_kinds: TimeKinds
    row_groups: RowGroups | None = None

    def if_small(self) -> Encoded | None:
        """Return these codes if a selector may keep them: on disk, or few enough bytes."""
        codes = self.codes
        if not isinstance(codes, Codes):
            return None  # on a cluster, which may be gone
        parts = [part for part in (codes.narrow, codes.wide) if not _is_on_disk(part)]
        if sum(part.nbytes for part in parts) > MAX_KEPT_BYTES:
            return None
        return self._replace(codes=replace(codes, made_planes=()))


def _is_on_disk(array: np.ndarray) -> bool:
    """Whether an array is a memory-mapped file, or a view of one."""
    base: object = array
    while base is not None:
        if isinstance(base, np.memmap):
            return True
        base = getattr(base, "base", None)
    return False


def check_mean(strategy: str, discretizer: str) -> None:
    """Warn if the mean over targets was not asked for; an error if the columns need one target."""
    if strategy == "joint":
        warn_user(
            "The targets have fewer than 5 rows for each combination of their values, so the "
            "mean over the targets is used. Pass target_strategy='mean' to confirm this."
        )
    if discretizer == "mdlp":
        raise InvalidParameterError(
            "discretizer='mdlp' cuts the columns by one target. Pass another discretizer for "
            "the mean over several targets."
        )
