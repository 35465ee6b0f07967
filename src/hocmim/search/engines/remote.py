"""The interface of the Dask engine; Dask is imported only when it is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from hocmim.coding.codes import Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import Target, TargetOptions
from hocmim.data.rows import RowSource
from hocmim.data.sources import are_files
from hocmim.data.times import TimeKinds
from hocmim.errors import DASK, InvalidParameterError, InvalidTableError, not_installed
from hocmim.text import value_text

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster


class RemoteCodes(ABC):
    """Codes on the workers of a cluster.

    Attributes
    ----------
    n_samples, n_columns : int
    """

    n_samples: int
    n_columns: int

    @abstractmethod
    def column(self, index: int) -> Column:
        """Return one column, copied to this process."""


class RemoteTable(ABC):
    """A table that the workers of a cluster read, and its target: see ``search.inputs.Input``.

    Attributes
    ----------
    n_rows : int or None
        None if the rows are not counted yet.
    n_columns : int
    names : tuple of str, or None
    row_counts : None
        There are no weights.
    """

    n_rows: int | None
    n_columns: int
    names: tuple[str, ...] | None
    row_counts: None = None

    @abstractmethod
    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""

    @abstractmethod
    def encode_target(self, options: TargetOptions) -> Target:
        """Return the codes of y, in this process."""

    @abstractmethod
    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, RemoteCodes]:
        """Return the fitted encoder, and the codes of X on the workers."""


def open_cluster(engine: Any) -> AbstractContextManager[Cluster | None]:
    """Open the cluster that the parameter ``engine`` names; None for "local"."""
    if isinstance(engine, str) and engine == "local":
        return nullcontext()
    is_name = isinstance(engine, str) and (engine == "dask" or ":" in engine)
    if not (is_name or _is_client(engine)):
        raise InvalidParameterError(
            "engine must be 'local', 'dask', a distributed.Client, or the address of a Dask "
            f"scheduler such as 'tcp://10.0.0.1:8786'. Got {value_text(engine)} instead."
        )
    try:
        from hocmim.search.engines.cluster import Cluster
    except ImportError as error:
        raise not_installed("engine='dask' needs", *DASK) from error
    return Cluster(engine)


def _is_client(engine: Any) -> bool:
    return type(engine).__module__.partition(".")[0] == "distributed"


def address_of(engine: Any) -> Any:
    """Return the parameter ``engine`` in a form that can be pickled: a Client by its address."""
    return engine.scheduler.address if _is_client(engine) and engine.scheduler else engine


def is_dask_collection(X: Any) -> bool:
    """Whether X is a Dask collection, such as a DataFrame or an Array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def open_collection(X: Any, y: Any, cluster: Cluster | None) -> RemoteTable:
    """Open a Dask collection and its target, which the workers encode."""
    if cluster is None:
        raise InvalidTableError(
            "X is a Dask collection, but engine='local' needs a table in memory. Pass "
            "engine='dask', or X.compute()."
        )
    from hocmim.search.engines.dask_tables import DaskCollection

    return DaskCollection(cluster, X, y)


def open_files(source: RowSource, y: Any, cluster: Cluster | None) -> RemoteTable | None:
    """Open Parquet files and their target, which the workers read; None for other sources."""
    if cluster is None or not are_files(source):
        return None
    from hocmim.search.engines.dask_tables import DaskFiles

    return DaskFiles(cluster, source, y)
