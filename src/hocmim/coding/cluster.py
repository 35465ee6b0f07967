"""Whether the work is done on a Dask cluster; Dask is imported only when it is used."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from hocmim.errors import DASK, InvalidParameterError, not_installed
from hocmim.text import value_text

if TYPE_CHECKING:
    from hocmim.coding.dask_cluster import Cluster


def open_cluster(engine: Any) -> AbstractContextManager[Cluster | None]:
    """Open the cluster that the parameter ``engine`` names; None for this machine."""
    if engine is None:
        return nullcontext()
    is_name = isinstance(engine, str) and (engine == "dask" or ":" in engine)
    if not (is_name or _is_client(engine)):
        raise InvalidParameterError(
            "engine must be None, 'dask', a distributed.Client, or the address of a Dask "
            f"scheduler such as 'tcp://10.0.0.1:8786'. Got {value_text(engine)} instead."
        )
    try:
        from hocmim.coding.dask_cluster import Cluster
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
