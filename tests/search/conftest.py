import pytest


@pytest.fixture(scope="module")
def dask_client():
    """Two workers in this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
