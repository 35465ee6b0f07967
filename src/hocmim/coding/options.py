"""How a table is encoded, as one argument."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from hocmim.coding.groups import Features
from hocmim.coding.rare import DEFAULT_MAX_LEVELS, MaxLevels


@dataclass(frozen=True)
class EncodingOptions:
    """How a table of any kind is encoded.

    Attributes
    ----------
    discretizer, n_bins, n_jobs, max_levels
        See :class:`hocmim.coding.encoder.Encoder`.
    features : Features or None
        Which columns are joined into one feature. None: every column is a feature.
    codes_dir : path or None
        A folder of codes: see :mod:`hocmim.coding.store`. None: the codes are kept in memory.
    plane_classes : int
        See :meth:`hocmim.coding.encoder.Encoder.fit_transform`.
    """

    discretizer: str
    n_bins: int
    features: Features | None = None
    n_jobs: int | None = None
    codes_dir: str | PathLike[str] | None = None
    max_levels: MaxLevels = DEFAULT_MAX_LEVELS
    plane_classes: int = 0
