"""Engines: they own the blocks of columns of a table, and find the best candidate of each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hocmim.coding.codes import Codes, Column, RemoteCodes
from hocmim.criteria.base import Criterion
from hocmim.search.engines.local import LocalEngine

if TYPE_CHECKING:
    from hocmim.coding.dask_cluster import Cluster
    from hocmim.search.engines.dask import DaskEngine


def open_engine(
    codes: Codes | RemoteCodes,
    y: Column,
    criterion: Criterion,
    *,
    cluster: Cluster | None = None,
    n_jobs: int | None = None,
    on_terms: Callable[[int], None] | None = None,
) -> LocalEngine | DaskEngine:
    """Return the engine that searches these codes: on a cluster, or on this machine.

    Parameters
    ----------
    codes : Codes or RemoteCodes
        From ``encode_table``.
    y : Column
    criterion : Criterion
    cluster : Cluster, optional
        The one that was passed to ``encode_table``.
    n_jobs : int, optional
        Threads on this machine.
    on_terms : callable, optional
        Called with the number of terms that were just computed.
    """
    if cluster is None:
        assert isinstance(codes, Codes)
        return LocalEngine(codes, y, criterion, n_jobs=n_jobs, on_terms=on_terms)
    from hocmim.coding.dask_codes import DaskCodes
    from hocmim.search.engines.dask import DaskEngine

    remote = DaskCodes.scatter(cluster, codes) if isinstance(codes, Codes) else codes
    assert isinstance(remote, DaskCodes)
    return DaskEngine(remote, y, criterion, on_terms=on_terms)
