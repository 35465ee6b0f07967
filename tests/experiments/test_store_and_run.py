"""Durability, resuming after a kill, processes, and progress."""

import json
import lzma
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from hocmim.errors import InvalidParameterError
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol
from hocmim.experiments.run import Experiment, FailedItem, run
from hocmim.experiments.store import Store


def outcome(split=0, dataset="one", method="JMI", seconds=1.0):
    item = Item(split, dataset, method)
    return ItemOutcome(
        item, "key", (2, 0), 0.25, seconds, 10, {"knn": [3, 1]}, {"knn": [0.3, 0.125]}
    )


def without_times(outcomes):
    return {item: replace(o, seconds=0.0, total_seconds=0.0) for item, o in outcomes.items()}


# -- the store -------------------------------------------------------------------------------------


def test_what_is_appended_is_read(tmp_path):
    store = Store(tmp_path / "deep" / "results.jsonl")
    assert store.read() == {}
    with store.appending() as append:
        append(outcome(0))
        append(outcome(1))
    assert store.read() == {o.item: o for o in (outcome(0), outcome(1))}


def test_a_compressed_store_is_read_and_added_to(tmp_path):
    store = Store(tmp_path / "results.jsonl")
    with store.appending() as append:
        append(outcome(0))
        append(outcome(1))
    store.compressed.write_bytes(lzma.compress(store.path.read_bytes()))
    store.path.unlink()
    assert store.read() == {o.item: o for o in (outcome(0), outcome(1))}
    with store.appending() as append:
        append(outcome(2))
    assert store.path.read_bytes().count(b"\n") == 1
    assert list(store.read()) == [outcome(split).item for split in range(3)]


def test_a_run_continues_a_compressed_store(small_experiment, tmp_path, monkeypatch):
    store = Store(tmp_path / "results.jsonl")
    first = run(small_experiment, store)
    store.compressed.write_bytes(lzma.compress(store.path.read_bytes()))
    store.path.unlink()
    monkeypatch.setattr("hocmim.experiments.run.run_item", None)
    assert run(small_experiment, store).outcomes == first.outcomes


@pytest.mark.parametrize("torn", [b"{", b'{"format":1,"dataset":"one","spl', b"\x00" * 7])
def test_a_torn_line_is_cut_off(tmp_path, torn):
    store = Store(tmp_path / "results.jsonl")
    with store.appending() as append:
        append(outcome(0))
    with store.path.open("ab") as file:
        file.write(torn)
    assert list(store.read()) == [outcome(0).item]
    with store.appending() as append:
        append(outcome(1))
    assert list(store.read()) == [outcome(0).item, outcome(1).item]
    assert store.path.read_bytes().count(b"\n") == 2


def test_every_line_is_on_disk_at_once(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    store = Store(tmp_path / "results.jsonl")
    with store.appending() as append:
        append(outcome(0))
        size = store.path.stat().st_size
        assert size > 0
        append(outcome(1))
    assert synced[-2:] == [size, store.path.stat().st_size]


def test_only_one_may_append(tmp_path):
    store = Store(tmp_path / "results.jsonl")
    with (
        store.appending(),
        pytest.raises(InvalidParameterError, match="Another run is writing"),
        Store(store.path).appending(),
    ):
        pass


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"format": 99}\n')
    with pytest.raises(InvalidParameterError, match="format 99"):
        Store(path).read()


# -- running ---------------------------------------------------------------------------------------


def test_items_come_split_by_split(small_experiment):
    items = small_experiment.items()
    assert len(items) == len(set(items)) == 12
    assert [item.split for item in items] == [0] * 6 + [1] * 6
    fewer = replace(small_experiment, n_splits={"one": 1, "two": 2})
    assert [item.dataset for item in fewer.items()] == ["one"] * 3 + ["two"] * 6


def test_a_finished_run_computes_nothing(small_experiment, tmp_path, monkeypatch):
    store = Store(tmp_path / "results.jsonl")
    first = run(small_experiment, store)
    assert set(first.outcomes) == set(small_experiment.items())
    content = store.path.read_bytes()
    monkeypatch.setattr("hocmim.experiments.run.run_item", None)
    again = run(small_experiment, store)
    assert again.outcomes == store.read()
    assert store.path.read_bytes() == content


@pytest.mark.slow
def test_processes_and_order_change_nothing_but_times(small_experiment, tmp_path):
    alone = run(small_experiment, Store(tmp_path / "alone.jsonl"))
    together = run(small_experiment, Store(tmp_path / "together.jsonl"), jobs=2)
    assert without_times(alone.outcomes) == without_times(together.outcomes)


def test_an_interrupted_run_goes_on(small_experiment, tmp_path):
    store = Store(tmp_path / "results.jsonl")
    calls = []

    def stop_after_five(event):
        calls.append(event.done)
        if event.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(small_experiment, store, progress=stop_after_five)
    assert len(store.read()) == 5
    lines = store.path.read_bytes()
    resumed = run(small_experiment, store)
    assert store.path.read_bytes().startswith(lines)
    whole = run(small_experiment, Store(tmp_path / "whole.jsonl"))
    assert without_times(resumed.outcomes) == without_times(whole.outcomes)


KILLED = """
import sys, time
from pathlib import Path
import hocmim.experiments.run as run_module
from hocmim.experiments.config import read_config
from hocmim.experiments.store import Store

if __name__ == "__main__":
    experiment = read_config(Path(sys.argv[1])).experiment
    slowly = lambda event: time.sleep(0.05)
    run_module.run(experiment, Store(Path(sys.argv[2])), jobs=int(sys.argv[3]), progress=slowly)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_minus_nine_loses_at_most_the_items_in_progress(small_experiment, tmp_path, jobs):
    config = tmp_path / "config.toml"
    config.write_text(
        "[run]\nsplits = 20\nn_features = 4\n"
        '[[dataset]]\npath = "data/one.npz"\n[[dataset]]\npath = "data/two.npz"\n'
        '[[method]]\nname = "HOCMIM"\n[[method]]\nname = "JMI"\n[[method]]\nname = "Fisher"\n'
    )
    script, results = tmp_path / "killed.py", tmp_path / "results.jsonl"
    script.write_text(KILLED)
    process = subprocess.Popen(
        [sys.executable, script, config, results, str(jobs)], start_new_session=True
    )
    while process.poll() is None and (
        not results.exists() or results.read_bytes().count(b"\n") < 4
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = [line for line in results.read_bytes().split(b"\n") if line]
    done = [json.loads(line) for line in lines[:-1]]
    assert 3 <= len(done) < 120
    store = Store(results)
    before = store.read()
    resumed = run(replace(small_experiment, n_splits={"one": 20, "two": 20}), store)
    assert {item: resumed.outcomes[item] for item in before} == before
    assert len(store.read()) == 120


def test_results_of_other_settings_are_refused(small_experiment, tmp_path):
    store = Store(tmp_path / "results.jsonl")
    run(small_experiment, store)
    other = replace(small_experiment, protocol=Protocol(n_features=4, seed=1))
    with pytest.raises(InvalidParameterError, match="from another run"):
        run(other, store)
    methods = {**small_experiment.methods, "JMI": Method("JMI", parameters={"encoder__n_bins": 3})}
    with pytest.raises(InvalidParameterError, match="JMI on one"):
        run(replace(small_experiment, methods=methods), store)


def test_more_splits_and_methods_may_be_added(small_experiment, tmp_path):
    store = Store(tmp_path / "results.jsonl")
    run(small_experiment, store)
    methods = {**small_experiment.methods, "CMIM": Method("CMIM")}
    more = Experiment(
        small_experiment.protocol,
        small_experiment.sources,
        methods,
        {"one": 3, "two": 2},
        dict.fromkeys(("one", "two"), tuple(methods)),
    )
    assert len(run(more, store).outcomes) == 12 + 8


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_told_and_the_rest_goes_on(small_experiment, tmp_path, jobs):
    methods = {**small_experiment.methods, "bad": Method("bad", "HOCMIM", {"max_order": -1})}
    plan = dict.fromkeys(("one", "two"), tuple(methods))
    store = Store(tmp_path / "results.jsonl")
    results = run(replace(small_experiment, methods=methods, plan=plan), store, jobs=jobs)
    assert len(results.outcomes) == 12
    assert len(results.failures) == 4
    assert all(isinstance(f, FailedItem) and "max_order" in f.message for f in results.failures)
    assert len(store.read()) == 12


def test_a_file_of_the_user_is_not_cut(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"mine": 1}')  # without a line break, like a line of a killed run
    with pytest.raises(InvalidParameterError, match="not a results file"), Store(path).appending():
        pass
    assert path.read_text() == '{"mine": 1}'
