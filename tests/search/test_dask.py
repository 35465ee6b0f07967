"""The Dask engine against the local one, by ==: on every cluster, input and accident."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import warned

pytestmark = pytest.mark.filterwarnings(
    warned.CLIPPED,
    warned.IDENTIFIER,
    warned.LEAK,
    warned.NEW_LEVELS,
    warned.ONE_BIN,
    warned.PORT,
    warned.TEXT,
)

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from coded import encode  # noqa: E402
from hocmim import (  # noqa: E402
    HOCMIM,
    JMI,
    MIM,
    CriterionSelector,
    Encoder,
    Engine,
    RobustHOCMIM,
    Target,
    list_methods,
    make_selector,
)
from hocmim.coding import dask_cluster, dask_tables  # noqa: E402
from hocmim.coding.codes import Column  # noqa: E402
from hocmim.coding.dask_cluster import Cluster  # noqa: E402
from hocmim.coding.dask_codes import Block, Layout  # noqa: E402
from hocmim.coding.target import encode_target  # noqa: E402
from hocmim.criteria.beta_gamma import JMICriterion  # noqa: E402
from hocmim.errors import (  # noqa: E402
    ClusterError,
    HocmimWarning,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
)
from hocmim.search.engines.dask import DaskEngine  # noqa: E402
from hocmim.search.engines.dask_block import (  # noqa: E402
    Candidates,
    advance_block,
    start_block,
)
from hocmim.search.engines.local import LocalEngine  # noqa: E402
from hocmim.search.loop import forward_search  # noqa: E402
from hocmim.search.search import open_engine  # noqa: E402
from hocmim.selectors.base import InformationSelector  # noqa: E402

INFORMATION = [
    name for name in list_methods() if isinstance(make_selector(name), InformationSelector)
]
NAMES = [f"x{j}" for j in range(11)]


def make_table(n=400, seed=0):
    """Numbers, whole numbers, strings, gaps, a copy and an exclusive or, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    y = pd.Series((X.x0 + X.x1 * X.x2 > 0).astype(int), name="y")
    X["x3"] = X.x0
    X["whole"] = rng.integers(0, 4, n)
    X["word"] = np.where(rng.random(n) < 0.3, "b", rng.choice(list("acd"), n))
    X.loc[::7, "x4"] = np.nan
    X["either"] = X.whole.to_numpy() % 2 ^ y.to_numpy()
    return X, y


@pytest.fixture(scope="module")
def processes():
    """Four worker processes; a test may take some away, and the next gets four again."""
    with LocalCluster(
        n_workers=4, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def client(processes):
    with scaled(processes, 2) as client:
        yield client


@pytest.fixture(scope="module")
def threads():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            processes=False,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def scaled(cluster, n_workers):
    """A client of so many workers."""
    cluster.scale(n_workers)
    client = Client(cluster)
    deadline = time.monotonic() + 60
    while len(client.nthreads()) != n_workers:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return client


@pytest.fixture
def in_blocks(monkeypatch):
    """As if no worker had memory for the codes of the table."""
    monkeypatch.setattr(Cluster, "largest", lambda self, n_bytes: None)


@pytest.fixture(params=["whole", "blocks"])
def way(request):
    """A table that fits one worker, and one that does not."""
    if request.param == "blocks":
        request.getfixturevalue("in_blocks")
    return request.param


def assert_same(one, two):
    for name in ("selected_", "scores_", "relevance_", "ranking_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    for name, column in one.trace_.columns.items():
        assert column.tolist() == two.trace_[name].tolist(), name
    assert [str(column) for column in one.encoder_.columns_] == [
        str(column) for column in two.encoder_.columns_
    ]
    assert str(one.classes_) == str(two.classes_)
    for name in ("p_values_", "orders_", "target_cuts_"):
        np.testing.assert_equal(getattr(one, name, None), getattr(two, name, None))


def assert_nothing_left(client):
    """Whatever was on the workers is dropped, in a moment."""
    deadline = time.monotonic() + 30
    while any(client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any((left := client.has_what()).values()), left


# --- the same result ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def local():
    X, y = make_table()
    return {name: make_selector(name, n_features_to_select=5).fit(X, y) for name in INFORMATION}


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [4, 2, 1])
def test_every_criterion_on_processes(processes, local, n_workers, way):
    X, y = make_table()
    with scaled(processes, n_workers) as client:
        for name in INFORMATION:
            remote = make_selector(name, n_features_to_select=5, engine=client).fit(X, y)
            assert_same(local[name], remote)
        assert_nothing_left(client)


@pytest.mark.slow
def test_more_workers_than_columns(processes, in_blocks):
    X, y = make_table()
    X = X[["x0", "x1"]]
    with scaled(processes, 4) as client:
        assert_same(HOCMIM(2).fit(X, y), HOCMIM(2, engine=client).fit(X, y))


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_table_that_fits_one_worker_is_searched_there(threads, monkeypatch, in_memory):
    X, y = make_table()
    local = RobustHOCMIM("significant").fit(X, y)
    submitted = []

    def submit(cluster, function, *arguments, submit=Cluster.submit, **options):
        submitted.append((function.__name__, arguments[-1]))
        return submit(cluster, function, *arguments, **options)

    monkeypatch.setattr(Cluster, "submit", submit)
    given = X if in_memory else dd.from_pandas(X, npartitions=3)
    assert_same(local, RobustHOCMIM("significant", engine=threads).fit(given, y))
    searches = [pair for pair in submitted if "search" in pair[0] or "block" in pair[0]]
    joined = [] if in_memory else ["_join_blocks"]
    assert [name for name, _ in searches if name != "_count_frequent"] == [*joined, "run_search"]
    assert searches[-1][1] == 4  # the threads of both workers


def test_a_table_that_is_too_large_for_one_worker(threads, monkeypatch):
    with Cluster(threads) as cluster:
        workers = cluster._info()
        first, second = sorted(workers)
        workers[first].update(memory_limit=1000, nthreads=8, host="a")
        workers[second].update(memory_limit=2000, nthreads=2, host="b")
        monkeypatch.setattr(cluster, "_info", lambda: workers)
        assert cluster.largest(1000) == (8, 1000, first)
        assert cluster.largest(1001) == (2, 2000, second)
        assert cluster.largest(2001) is None


def test_more_blocks_than_threads(threads, in_blocks, monkeypatch):
    """Workers of little memory get their columns in several blocks."""
    X, y = make_table()
    monkeypatch.setattr(Cluster, "memory_limit", lambda self: 10_000)
    local = HOCMIM(5).fit(X, y)
    blocks = []

    def start(engine, start=DaskEngine.start):
        blocks.append(len(engine.codes.blocks))
        return start(engine)

    monkeypatch.setattr(DaskEngine, "start", start)
    assert_same(local, HOCMIM(5, engine=threads).fit(X, y))
    assert blocks == [8]


def test_large_columns_travel_by_themselves(threads, in_blocks, monkeypatch):
    monkeypatch.setattr("hocmim.coding.dask_codes.MAX_ARGUMENT_BYTES", 10)
    X, y = make_table()
    assert_same(JMI(5).fit(X, y), JMI(5, engine=threads).fit(X, y))


def test_workers_are_known_while_the_client_updates_what_it_knows(threads, monkeypatch):
    # It asks the scheduler for information without workers every two seconds.
    monkeypatch.setattr(threads, "scheduler_info", lambda **_: {"workers": {}})
    with Cluster(threads) as cluster:
        assert cluster.largest(1.0) is not None
        assert cluster.memory_limit() > 0


def test_workers_that_the_client_cannot_reach(threads, way, monkeypatch):
    monkeypatch.setattr("hocmim.coding.dask_codes.MAX_ARGUMENT_BYTES", 10)
    X, y = make_table()
    calls = []

    async def refuse(address, **_):
        calls.append(address)
        raise OSError(errno.ECONNREFUSED, "behind a gateway")

    monkeypatch.setattr(dask_cluster, "connect", refuse)
    found = JMI(5, engine=threads).fit(X, y)
    assert calls
    assert len(calls) == len(set(calls))
    assert_same(found, JMI(5).fit(X, y))


def test_criterion_of_ones_own(threads, way):
    X, y = make_table()
    local = CriterionSelector(Slow(), 4).fit(X, y)
    assert_same(local, CriterionSelector(Slow(), 4, engine=threads).fit(X, y))


# --- input ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["uniform", "quantile", "mdlp"])
def cut(request):
    return request.param


def uneven(frame):
    """Empty partitions first, last and in the middle, and one of a single row."""
    cuts = [0, 0, 1, 300, 300, len(frame), len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(cuts)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])


@pytest.mark.slow
def test_frame_with_target_by_name(client, cut, way):
    X, y = make_table()
    local = HOCMIM(5, encoder=Encoder(discretizer=cut)).fit(X, y)
    remote = HOCMIM(5, encoder=Encoder(discretizer=cut), engine=client).fit(
        uneven(X.assign(y=y)), "y"
    )
    assert_same(local, remote)
    assert remote.feature_names_in_.tolist() == X.columns.tolist()
    # What the encoder does with values it has never seen is the same too.
    new = X.assign(word="never", x4=np.nan)
    np.testing.assert_array_equal(
        local.encoder_.transform(new).narrow, remote.encoder_.transform(new).narrow
    )
    assert_nothing_left(client)


def test_frame_and_series_cut_differently(threads):
    X, y = make_table()
    frame, series = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=5)
    assert_same(HOCMIM(4).fit(X, y), HOCMIM(4, engine="dask").fit(frame, series))
    assert_same(HOCMIM(4).fit(X, y), HOCMIM(4, engine="dask").fit(frame, y.to_numpy()))


def test_continuous_target(threads, cut):
    X, _ = make_table()
    y = 2 * X.x0 + X.x1
    frame, series = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=2)
    local = JMI(4, encoder=Encoder(discretizer=cut)).fit(X, y)
    remote = JMI(4, encoder=Encoder(discretizer=cut), engine=threads).fit(frame, series)
    assert_same(local, remote)


@pytest.mark.parametrize("kind", ["auto", "classes", "quantity"])
def test_whole_numbers_as_target(threads, kind):
    X, _ = make_table()
    y = (100 * X.x0).round().astype(int)
    frame, series = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=2)
    how = {"target": Target(kind, bins=4, discretizer="uniform")}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HocmimWarning)
        remote = JMI(4, engine=threads, **how).fit(frame, series)
        local = JMI(4, **how).fit(X, y)
    assert sum(w.category is HocmimWarning for w in caught) == 2 * (kind == "auto")
    assert remote.target_kind_ == local.target_kind_
    assert_same(local, remote)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["joint", "mean"])
def test_several_targets(threads, strategy, tmp_path, way):
    X, y = make_table()
    targets = pd.DataFrame({"y": y, "z": np.where(X.x5 > 0, "up", "down"), "q": X.x6 + X.x7})
    local = JMI(4, target=Target(strategy=strategy)).fit(X, targets)
    assert local.target_strategy_ == strategy
    remote = JMI(4, target=Target(strategy=strategy), engine=threads)
    whole = pd.concat([X, targets], axis=1)
    frame = dd.from_pandas(whole, npartitions=3)
    assert_same(local, remote.fit(frame, ["y", "z", "q"]))
    assert_same(local, remote.fit(frame[list(X)], frame[["y", "z", "q"]]))
    assert_same(local, remote.fit(frame[list(X)], targets))
    whole.to_parquet(tmp_path / "t.parquet", row_group_size=90, index=False)
    assert_same(local, remote.fit(tmp_path / "t.parquet", ["y", "z", "q"]))
    numbers = targets[["y", "q"]].to_numpy()
    arrays = da.from_array(X[NAMES].to_numpy(), chunks=(90, 4)), da.from_array(numbers, (50, 1))
    local = JMI(4, target=Target(strategy=strategy)).fit(X[NAMES].to_numpy(), numbers)
    assert_same(local, remote.fit(*arrays))


def test_array(threads, cut):
    X, y = make_table()
    X, y = X[NAMES].to_numpy(), y.to_numpy()
    chunked = da.from_array(X, chunks=(90, 4)), da.from_array(y, chunks=123)
    local = JMI(4, encoder=Encoder(discretizer=cut)).fit(X, y)
    assert_same(local, JMI(4, encoder=Encoder(discretizer=cut), engine=threads).fit(*chunked))


def write_parquet(folder, X, y):
    whole = X.assign(y=y)
    cuts = [0, 150, 150, 160, len(whole)]
    for number, (a, b) in enumerate(pairwise(cuts)):
        whole.iloc[a:b].to_parquet(folder / f"{number}.parquet", row_group_size=40, index=False)
    return folder


@pytest.mark.slow
def test_parquet(client, cut, tmp_path, way):
    X, y = make_table()
    folder = write_parquet(tmp_path, X, y)
    local = HOCMIM("significant", encoder=Encoder(discretizer=cut)).fit(X, y)
    remote = HOCMIM("significant", encoder=Encoder(discretizer=cut), engine=client).fit(folder, "y")
    assert_same(local, remote)
    assert str(remote.explain("x9", folder)) == str(local.explain("x9", X))
    assert_nothing_left(client)


@pytest.mark.slow
def test_parquet_in_blocks_for_workers_of_little_memory(threads, tmp_path, in_blocks, monkeypatch):
    X, y = make_table()
    folder = write_parquet(tmp_path, X, y)
    monkeypatch.setattr(Cluster, "memory_limit", lambda self: 10_000)
    assert_same(JMI(5).fit(X, y), JMI(5, engine=threads).fit(folder, "y"))
    frame = uneven(X.assign(y=y))
    for cut in ("uniform", "quantile"):
        local = JMI(5, encoder=Encoder(discretizer=cut)).fit(X, y)
        assert_same(local, JMI(5, encoder=Encoder(discretizer=cut), engine=threads).fit(frame, "y"))


def test_parquet_that_workers_cannot_read(threads, tmp_path, monkeypatch):
    """As on a machine without that folder: the client can read it, the workers cannot."""
    X, y = make_table()
    folder = write_parquet(tmp_path, X, y)
    elsewhere = dask_tables._with_absolute_path

    def moved(piece):
        return replace(elsewhere(piece), path="/nowhere/at/all.parquet")

    monkeypatch.setattr(dask_tables, "_with_absolute_path", moved)
    with pytest.raises(InvalidTableError, match="A worker of the Dask cluster cannot read X"):
        JMI(3, engine=threads).fit(folder, y)


# --- accidents ------------------------------------------------------------------------------------


class Slow(JMICriterion):
    """JMI, and time enough to be interrupted in the middle of a step."""

    def update(self, newest):
        time.sleep(0.2)
        super().update(newest)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "parquet", "frame"])
def test_worker_killed_in_mid_step(processes, kind, tmp_path, way):
    X, y = make_table()
    table, target = X, y
    if kind == "parquet":
        table, target = write_parquet(tmp_path, X, y), "y"
    elif kind == "frame":
        table, target = uneven(X.assign(y=y)), "y"
    local = CriterionSelector(Slow(), 5).fit(X, y)
    with scaled(processes, 2) as client:
        pids = client.run(os.getpid)
        with Cluster(client) as cluster:
            place = cluster.largest(0)
        searching = min(pids) if place is None else place.worker
        killed = []

        def kill():
            killed.append(pids[searching])
            os.kill(killed[0], signal.SIGKILL)

        def kill_soon():  # in the middle of the update that comes now
            threading.Timer(0.1, kill).start()

        steps = []
        remote = fit_and_break(table, target, client, kill_soon, steps)
        assert killed
        assert steps == [0, 1, 2, 3, 4, 5]  # no step is reported twice
        assert_same(local, remote)


@pytest.mark.slow
def test_client_killed_between_steps_goes_on_from_the_checkpoint(client, tmp_path, way):
    X, y = make_table()
    X.assign(y=y).to_parquet(tmp_path / "t.parquet", index=False)
    script = f"""
        import os, signal
        from hocmim import HOCMIM, Engine
        from hocmim.search.progress import Progress

        def die(self, number, step):
            if number == 3:
                os.kill(os.getpid(), signal.SIGKILL)

        Progress.on_step = die
        address = {client.scheduler.address!r}
        HOCMIM(6, engine=Engine(address, checkpoint="search.json"), verbose=1).fit("t.parquet", "y")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert_nothing_left(client)  # the scheduler lets go of what a client had when it is gone

    checkpoint = tmp_path / "search.json"
    local = HOCMIM(6).fit(X, y)
    written = checkpoint.read_text()
    resumed = HOCMIM(6, engine=Engine(client, checkpoint=checkpoint))
    assert_same(local, resumed.fit(tmp_path / "t.parquet", "y"))
    # Engines share checkpoints: the same one goes on here as well.
    checkpoint.write_text(written)
    assert_same(local, HOCMIM(6, engine=Engine(checkpoint=checkpoint)).fit(X, y))


def one_worker():
    return LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0", silence_logs=50, threads_per_worker=1
    )


def fit_and_break(X, y, engine, do, steps=None):
    """Fit, and do something when the second column is selected."""
    steps = [] if steps is None else steps

    def on_event(event):
        if event.stage == "search" and event.done not in steps:
            steps.append(event.done)
            if event.done == 2:
                do()

    return CriterionSelector(Slow(), 5, engine=engine).fit(X, y, progress=on_event)


@pytest.mark.slow
def test_lost_scheduler(tmp_path, way):
    X, y = make_table()
    checkpoint = tmp_path / "search.json"
    with dask.config.set({"distributed.comm.timeouts.connect": "1s", "hocmim.patience": 1}):
        cluster = one_worker()
        with Client(cluster) as client, pytest.raises(ClusterError, match=r"scheduler.*checkpoint"):
            fit_and_break(X, y, Engine(client, checkpoint=checkpoint), cluster.close)
    local = CriterionSelector(Slow(), 5).fit(X, y)
    assert_same(local, CriterionSelector(Slow(), 5, engine=Engine(checkpoint=checkpoint)).fit(X, y))


@pytest.mark.slow
def test_all_workers_gone(way):
    X, y = make_table()
    with (
        dask.config.set({"hocmim.patience": 0.5}),
        one_worker() as cluster,
        Client(cluster) as client,
    ):
        with pytest.raises(ClusterError, match="no workers"):
            fit_and_break(X, y, client, lambda: cluster.sync(cluster.workers[0].close))
        with pytest.raises(ClusterError, match="no workers"):
            HOCMIM(3, engine=client).fit(X, y)


WITHOUT_THE_PACKAGE = "import sys; sys.modules['hocmim'] = None"
OF_ANOTHER_VERSION = (
    "from importlib import metadata; real = metadata.version; "
    "metadata.version = lambda name: '0.0.7' if name == 'hocmim' else real(name)"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (WITHOUT_THE_PACKAGE, "A worker of the Dask cluster lacks"),
        (
            OF_ANOTHER_VERSION,
            rf"has hocmim 0\.0\.7, and this process has hocmim {version('hocmim')}",
        ),
    ],
)
def test_a_worker_without_the_package(code, message):
    """A worker in which "import hocmim" fails, or with another version."""
    X, y = make_table()
    code += "; from distributed.cli.dask_worker import main; main()"
    with LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as cluster:
        command = [sys.executable, "-c", code, cluster.scheduler_address, "--no-nanny"]
        worker = subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.DEVNULL)
        try:
            with Client(cluster) as client:
                client.wait_for_workers(1, timeout=60)
                with pytest.raises(ClusterError, match=message):
                    JMI(2, engine=client).fit(X, y)
        finally:
            worker.kill()
            worker.wait()


def fill_disk():
    """No file of this process can grow: as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a process")
def test_full_disk_of_a_worker(tmp_path, way):
    """Dask moves values to the disk when memory is short; here always, and the disk is full."""
    X, y = make_table(20_000)
    settings = {"distributed.worker.memory.target": 1e-6, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="2GB",
            local_directory=tmp_path,
            dashboard_address=":0",
            silence_logs=60,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(fill_disk)
        assert_same(JMI(4).fit(X, y), JMI(4, engine=client).fit(X, y))


def test_a_task_that_cannot_write(threads):
    def write():
        raise OSError(errno.ENOSPC, "No space left on device")

    with Cluster(threads) as cluster, pytest.raises(ClusterError, match="cannot write to its disk"):
        cluster.gather([cluster.submit(write)])


def test_interrupted_search_keeps_what_is_selected(threads, way):
    X, y = make_table()
    selector = CriterionSelector(Slow(), 14, engine=threads)

    def on_event(event):
        if event.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y, progress=on_event)
    n_selected = len(selector.selected_)
    assert 2 <= n_selected < 14
    local = CriterionSelector(JMICriterion(), n_selected).fit(X, y)
    assert selector.selected_.tolist() == local.selected_.tolist()
    assert_nothing_left(threads)


def test_callback_that_raises_stops_the_worker(threads, way):
    X, y = make_table()

    def on_event(event):
        if event.done == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        CriterionSelector(Slow(), 5, engine=threads).fit(X, y, progress=on_event)
    assert_nothing_left(threads)


def test_error_on_a_worker(threads):
    X, y = make_table()
    X.loc[333, "x5"] = np.inf
    with pytest.raises(InvalidTableError, match=r"infinity.*'x5'"):
        HOCMIM(3, engine=threads).fit(dd.from_pandas(X, npartitions=3), y)
    assert_nothing_left(threads)


# --- a block --------------------------------------------------------------------------------------


@pytest.fixture
def block():
    X, y = make_table()
    return Block(encode(X).block(3, 9)), encode_target(y).column


def test_block_begins_where_it_arrives(block):
    block, y = block
    first = start_block(block, JMICriterion(), y, [], Candidates(()))
    newest = block.codes.column(first.leaders[0].column - 3)
    aside = Candidates((newest.index,))
    then = advance_block(block, newest, 1, aside)
    assert then.leaders == advance_block(block, newest, 1, aside).leaders  # may be run twice
    assert advance_block(block, newest, 3, aside) is None
    moved = pickle.loads(pickle.dumps(block))
    assert advance_block(moved, newest, 1, aside) is None
    assert start_block(moved, JMICriterion(), y, [newest], aside).leaders == then.leaders


def test_a_block_is_freed_with_its_search(no_collector):
    X, y = make_table()
    block = Block(encode(X).block(3, 9))
    start_block(block, JMICriterion(), encode_target(y).column, [], Candidates(()))
    kept = weakref.ref(block)
    del block
    assert kept() is None


def test_block_forgets_what_an_error_left_half_done(block):
    block, y = block

    class Failing(JMICriterion):
        def update(self, newest):
            super().update(newest)
            raise MemoryError

    newest = block.codes.column(0)
    start_block(block, Failing(), y, [], Candidates(()))
    with pytest.raises(MemoryError):
        advance_block(block, newest, 1, Candidates((newest.index,)))
    assert advance_block(block, newest, 1, Candidates((newest.index,))) is None


def test_set_aside_more_than_the_best_two(threads):
    X, y = make_table()
    codes, target = encode(X), encode_target(y).column
    orders = []
    with Cluster(threads) as cluster:
        engines = [LocalEngine(codes, target, JMICriterion(), n_jobs=1)]
        engines.append(open_engine(codes, target, JMICriterion(), cluster=cluster))
        for engine in engines:
            engine.start()
            orders.append([])
            while (best := engine.best()) is not None:
                orders[-1].append(best)
                engine.set_aside(best[0])
        assert orders[0] == orders[1]
        assert len(orders[0]) == codes.n_columns
        assert len({engine.fingerprint() for engine in engines}) == 1


def test_terms_are_counted(threads):
    X, y = make_table()
    codes, target = encode(X), encode_target(y).column
    counts = [0, 0]

    def count(i):
        def add(n_terms):
            counts[i] += n_terms

        return add

    with Cluster(threads) as cluster:
        with LocalEngine(codes, target, JMICriterion(), n_jobs=1, on_terms=count(0)) as engine:
            forward_search(engine, 4)
        with open_engine(
            codes, target, JMICriterion(), cluster=cluster, on_terms=count(1)
        ) as engine:
            forward_search(engine, 4)
    assert counts[0] == counts[1] > 0


def test_layout():
    workers = {"a": 1, "b": 3}
    narrow = np.full(10, 100.0)
    one_a_thread = Layout.of(narrow, workers, 0)
    assert one_a_thread == Layout([0, 2, 5, 7, 10], ["a", "b", "b", "b"])
    assert Layout.of(narrow[:2], workers, 0) == Layout([0, 1, 2], ["a", "b"])
    assert len(Layout.of(narrow, workers, 2000).workers) == 8
    with pytest.raises(ClusterError, match="Use more workers"):
        Layout.of(narrow, workers, 1000)


# --- what a user meets ----------------------------------------------------------------------------


def test_fitted_selector_has_no_client(threads):
    X, y = make_table()
    fitted = HOCMIM(3, engine=threads).fit(dd.from_pandas(X, npartitions=2), y)
    pickled = pickle.dumps(fitted)
    codes_kept = 4 * len(y)
    assert len(pickled) < codes_kept + 20_000
    loaded = pickle.loads(pickled)
    assert_same(fitted, loaded)
    assert loaded.engine == threads.scheduler.address
    pd.testing.assert_frame_equal(
        loaded.set_output(transform="pandas").transform(X), X.iloc[:, np.sort(fitted.selected_)]
    )
    assert clone(fitted).engine is threads


@pytest.mark.slow
def test_engine_by_address(client):
    X, y = make_table()
    address = client.scheduler.address
    assert_same(JMI(3).fit(X, y), JMI(3, engine=address).fit(X, y))
    assert Client.current() is not None  # the default client is as it was


@pytest.mark.parametrize("engine", ["spark", 3, "local"])
def test_unknown_engine(engine):
    X, y = make_table()
    with pytest.raises(InvalidParameterError, match="engine must be"):
        HOCMIM(3, engine=engine).fit(X, y)


def test_nobody_at_the_address():
    X, y = make_table()
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(ClusterError, match="no Dask scheduler at 'tcp:"),
    ):
        HOCMIM(3, engine="tcp://127.0.0.1:9").fit(X, y)


def test_wrong_input(threads):
    X, y = make_table()
    frame = dd.from_pandas(X, npartitions=2)
    with pytest.raises(InvalidTableError, match="engine='dask', or X"):
        HOCMIM(3).fit(frame, y)
    with pytest.raises(InvalidTargetError, match="no column of this name"):
        HOCMIM(3, engine=threads).fit(frame, "z")
    with pytest.raises(InvalidTargetError, match="requires y"):
        HOCMIM(3, engine=threads).fit(frame, None)
    with pytest.raises(InvalidTargetError, match="X has 400 rows and y has 399"):
        HOCMIM(3, engine=threads).fit(frame, y[:-1])
    with pytest.raises(InvalidParameterError, match="codes_dir"):
        HOCMIM(3, engine=Engine(threads, codes_dir="codes")).fit(frame, y)
    with pytest.raises(InvalidTableError, match="two-dimensional"):
        HOCMIM(3, engine=threads).fit(frame.x0, y)


@pytest.mark.slow
def test_without_a_client():
    script = """
        import numpy as np
        from hocmim import HOCMIM
        from hocmim.errors import InvalidParameterError
        try:
            HOCMIM(1, engine="dask").fit(np.eye(4), [0, 1, 0, 1])
        except InvalidParameterError as error:
            print(error)
    """
    said = run_python(script)
    assert "Make one" in said


@pytest.mark.slow
def test_without_dask():
    script = """
        import sys
        import numpy as np
        import hocmim
        assert not {"dask", "distributed"} & set(sys.modules)
        sys.modules["dask"] = sys.modules["distributed"] = None
        try:
            hocmim.HOCMIM(1, engine="dask").fit(np.eye(4), [0, 1, 0, 1])
        except hocmim.errors.MissingDependencyError as error:
            print(error)
    """
    assert "pip install 'dask[array,dataframe]' distributed pyarrow" in run_python(script)


def run_python(script):
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_column_arrives_whole():
    column = Column(np.arange(5, dtype=np.uint8), 5, 3)
    assert dask.sizeof.sizeof(column) == 5


@pytest.mark.parametrize("kept", [{}, {"encoder": Encoder(identifiers="keep", max_levels=None)}])
def test_identifiers_and_failures_are_those_of_a_table_in_memory(client, kept, way):
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(2, size=n)
    X = pd.DataFrame({"name": [f"n{i}" for i in range(n)], "row": rng.permutation(n)})
    X["word"] = rng.zipf(1.4, n).clip(0, 90).astype(str)
    for k in range(4):
        X[f"x{k}"] = y + rng.normal(0, 1 + k, n)
    expected = MIM("significant", **kept).fit(X, y)
    collection = dd.from_pandas(X.assign(y=y), npartitions=3)
    for given in ((X, y), (collection, "y")):
        found = MIM("significant", engine=client, **kept).fit(*given)
        assert found.identifiers_.tolist() == expected.identifiers_.tolist() == [0, 1]
        assert found.selection_.steps == expected.selection_.steps
        assert found.stopping_.failures == expected.stopping_.failures
    assert any(step.failures for step in expected.selection_.steps) == bool(kept)
