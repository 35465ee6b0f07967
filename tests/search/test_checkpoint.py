"""Searches that are interrupted, by exceptions and by kill -9, against searches that are not."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coded import encode
from hocmim import (
    HOCMIM,
    JMI,
    MIM,
    CriterionSelector,
    Encoder,
    Engine,
    StopTest,
    list_methods,
    make_selector,
)
from hocmim.coding.codes import column_digests, fingerprint
from hocmim.coding.target import encode_target
from hocmim.criteria.base import Criterion
from hocmim.criteria.cmim_k import CMIMkCriterion
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.engines.local import LocalEngine
from hocmim.selectors.base import InformationSelector

INFORMATION = [
    name for name in list_methods() if isinstance(make_selector(name), InformationSelector)
]


def table(n=300, d=12, seed=0):
    """Informative columns, copies of them and an exclusive or, among noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 3, (n, d))
    X[:, 1] = (y + rng.integers(0, 3, n) // 2) % 2
    X[:, 4] = np.where(rng.random(n) < 0.9, X[:, 1], X[:, 4])
    X[:, 7] = rng.integers(0, 2, n)
    X[:, 9] = X[:, 7] ^ y
    X[:, 10] = np.where(rng.random(n) < 0.3, y, X[:, 10])
    return X, y


def assert_same(one, two):
    """Everything a fit leaves behind is the same."""
    for name in ("selected_", "scores_", "relevance_", "ranking_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    for name in ("p_values_", "orders_"):
        assert hasattr(one, name) == hasattr(two, name)
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.trace_.columns.keys() == two.trace_.columns.keys()
    for name, column in one.trace_.columns.items():
        assert column.dtype == two.trace_[name].dtype
        assert column.tolist() == two.trace_[name].tolist(), name
    sets = [getattr(selector, "representative_sets_", []) for selector in (one, two)]
    for a, b in zip(*sets, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert str(one.stopping_) == str(two.stopping_)


class InterruptedFitError(Exception):
    pass


def fit_until(selector, n_steps, X, y, monkeypatch):
    """Fit, and raise when that many columns are selected and the next is looked for."""
    with monkeypatch.context() as patch:
        selected = []
        select = LocalEngine.select

        def interrupt(engine, index):
            selected.append(index)
            if len(selected) == n_steps:
                raise InterruptedFitError
            select(engine, index)

        patch.setattr(LocalEngine, "select", interrupt)
        with pytest.raises(InterruptedFitError):
            selector.fit(X, y)


@pytest.mark.parametrize("n_steps", [1, 4])
@pytest.mark.parametrize("method", INFORMATION)
def test_every_selector_ends_as_if_it_had_not_been_interrupted(
    method, n_steps, tmp_path, monkeypatch
):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    fit_until(
        make_selector(method, n_features_to_select=6, engine=Engine(checkpoint=path)),
        n_steps,
        X,
        y,
        monkeypatch,
    )
    n_searched = []
    best = LocalEngine.best
    monkeypatch.setattr(LocalEngine, "best", lambda engine: n_searched.append(1) or best(engine))
    resumed = make_selector(method, n_features_to_select=6, engine=Engine(checkpoint=path)).fit(
        X, y
    )
    # The winner and the runner-up of the other steps only; the columns of a pair are one step.
    assert len(n_searched) <= 2 * (6 - n_steps)
    assert_same(resumed, make_selector(method, n_features_to_select=6).fit(X, y))


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_stopping_rule_goes_on_where_it_was(stop, n_steps, tmp_path, monkeypatch):
    X, y = table(600)
    parameters = {"n_features_to_select": StopTest(test=stop, n_permutations=199)}
    expected = HOCMIM(**parameters).fit(X, y)
    assert len(expected.selected_) >= n_steps
    assert expected.stopping_ is not None
    path = tmp_path / "run.checkpoint"
    fit_until(HOCMIM(**parameters, engine=Engine(checkpoint=path)), n_steps, X, y, monkeypatch)
    assert_same(HOCMIM(**parameters, engine=Engine(checkpoint=path)).fit(X, y), expected)
    monkeypatch.setattr(LocalEngine, "best", None)  # the end of it is in the file as well
    assert_same(HOCMIM(**parameters, engine=Engine(checkpoint=path)).fit(X, y), expected)


def test_permutations_of_no_seed_go_on_with_the_seed_they_began_with(tmp_path, monkeypatch):
    X, y = table(600)
    test = StopTest(test="permutation", n_permutations=19, random_state=None)
    path = tmp_path / "run.checkpoint"
    fit_until(HOCMIM(test, engine=Engine(checkpoint=path)), 1, X, y, monkeypatch)
    first = HOCMIM(test, engine=Engine(checkpoint=path)).fit(X, y)
    seeds = json.loads(path.read_text())["content"]["state"]["seed"]
    assert isinstance(seeds, int)
    assert_same(HOCMIM(test, engine=Engine(checkpoint=path)).fit(X, y), first)


def test_a_finished_checkpoint_gives_its_result_and_goes_on_if_more_is_asked(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.checkpoint"

    def fit(K, **engine):
        return CriterionSelector(HOCMIMCriterion(), K, **engine).fit(X, y)

    # Only two are selected, so no set is larger than one; the next ones have larger sets.
    engine = Engine(checkpoint=path)
    fit(2, engine=engine)
    more, expected = fit(7, engine=engine), fit(7)
    assert expected.orders_.max() > 1
    assert_same(more, expected)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "best", None)
        patch.setattr(LocalEngine, "select", None)
        assert_same(fit(7, engine=engine), expected)
        fewer = fit(3, engine=engine)
    assert_same(fewer, fit(3))
    assert path.read_bytes() == before


KILLED = """
    import os, signal, sys
    import numpy as np
    from hocmim import HOCMIM, Engine
    from hocmim.search.engines.local import LocalEngine

    select, steps = LocalEngine.select, []

    def die(engine, index):
        steps.append(index)
        if len(steps) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        select(engine, index)

    LocalEngine.select = die
    X, y = (np.load(path) for path in sys.argv[1:3])
    HOCMIM(6, engine=Engine(checkpoint=sys.argv[3])).fit(X, y)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_ends_with_the_same_result(tmp_path):
    X, y = table()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    path = tmp_path / "run.checkpoint"
    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    arguments = [str(tmp_path / "X.npy"), str(tmp_path / "y.npy"), str(path)]
    ended = subprocess.run([*command, *arguments], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(json.loads(path.read_text())["content"]["state"]["steps"]) == 3
    assert_same(HOCMIM(6, engine=Engine(checkpoint=path)).fit(X, y), HOCMIM(6).fit(X, y))
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"X.npy", "y.npy", "run.checkpoint"}


def test_it_is_written_before_the_costly_part_of_a_step_and_always_whole(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    replace = Path.replace

    def fail_once(temporary, target):
        if fails:
            raise OSError("no space left")
        return replace(temporary, target)

    fails = False
    monkeypatch.setattr(Path, "replace", fail_once)
    fit_until(JMI(6, engine=Engine(checkpoint=path)), 2, X, y, monkeypatch)
    before = path.read_bytes()
    fails = True
    with pytest.raises(
        InvalidParameterError, match="checkpoint must be a file that can be written"
    ):
        JMI(6, engine=Engine(checkpoint=path)).fit(X, y)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tol": 0.2}, "tol was 0.01 when it was written, and is 0.2 now"),
        ({"encoder": Encoder(7)}, "encoder was"),
        ({"max_order": 2}, "max_order was 15"),
        ({"estimator": "plugin"}, "estimator was 'shrinkage'"),
        ({"n_features_to_select": "significant"}, "n_features_to_select was 'a number' .* now"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(changed, message, tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(InvalidFileError, match=message):
        HOCMIM(3, engine=Engine(checkpoint=path)).set_params(**changed).fit(X, y)
    assert path.read_bytes() == before


def test_a_checkpoint_of_another_method_or_version_is_refused(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    MIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    with pytest.raises(InvalidFileError, match="method was 'MIM'"):
        make_selector("cmi", n_features_to_select=3, engine=Engine(checkpoint=path)).fit(X, y)
    monkeypatch.setattr("hocmim.search.checkpoint.version", lambda name: "99")
    with pytest.raises(InvalidFileError, match=r"hocmim was '.*, and is '99' now"):
        MIM(3, engine=Engine(checkpoint=path)).fit(X, y)


def test_what_changes_no_result_may_change(tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    JMI(3, engine=Engine(checkpoint=path), n_jobs=1).fit(X, y)
    engine = Engine(checkpoint=str(path), codes_dir=tmp_path / "codes")
    changed = JMI(5, engine=engine, n_jobs=2)
    assert_same(changed.fit(X, y), JMI(5).fit(X, y))


def test_the_same_codes_from_elsewhere_are_the_same_data(tmp_path):
    X, y = table()
    frame = pd.DataFrame(X).add_prefix("x")
    frame.assign(y=y).to_parquet(tmp_path / "a.parquet")
    path = tmp_path / "run.checkpoint"
    HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    resumed = HOCMIM(5, engine=Engine(checkpoint=path)).fit(tmp_path / "a.parquet", "y")
    assert_same(resumed, HOCMIM(5).fit(frame, y))


def test_a_criterion_of_ones_own_is_told_by_its_class_and_parameters(tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    CriterionSelector(
        CMIMkCriterion(2), n_features_to_select=4, engine=Engine(checkpoint=path)
    ).fit(X, y)
    again = CriterionSelector(
        CMIMkCriterion(2), n_features_to_select=6, engine=Engine(checkpoint=path)
    )
    expected = CriterionSelector(CMIMkCriterion(2), n_features_to_select=6)
    assert_same(again.fit(X, y), expected.fit(X, y))
    with pytest.raises(InvalidFileError, match=r"criterion was .*CMIMkCriterion"):
        CriterionSelector(
            CMIMkCriterion(3), n_features_to_select=4, engine=Engine(checkpoint=path)
        ).fit(X, y)


@pytest.mark.parametrize("changed", ["X", "y", "rows"])
def test_a_checkpoint_of_other_data_is_refused(changed, tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    X, y = X.copy(), y.copy()
    if changed == "X":
        X[17, 5] = (X[17, 5] + 1) % 3
    elif changed == "y":
        y[17] = 1 - y[17]
    else:  # every relevance stays as it is
        both = np.flatnonzero(y == 1)
        X[both, 5] = X[np.roll(both, 1), 5]
    with pytest.raises(InvalidFileError, match="is of other data"):
        HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)


def test_a_damaged_checkpoint_is_an_error_that_says_so(tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    whole = path.read_bytes()
    for damaged in (
        whole[:-1],
        whole[: len(whole) // 2],
        whole.replace(b'"index": ', b'"index": 1'),
    ):
        path.write_bytes(damaged)
        with pytest.raises(InvalidFileError, match="is damaged"):
            HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
        assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    "content", [b"", b"my thesis", b"\xff\xfe\x00", b"hocmim checkpoint 2 ab\n{}"]
)
def test_nothing_is_overwritten_that_is_not_a_checkpoint(content, tmp_path):
    X, y = table()
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match="is not a checkpoint"):
        HOCMIM(3, engine=Engine(checkpoint=path)).fit(X, y)
    assert path.read_bytes() == content
    with pytest.raises(InvalidFileError, match="is not a checkpoint"):
        HOCMIM(3, engine=Engine(checkpoint=tmp_path)).fit(X, y)


def test_a_path_that_cannot_be_written_is_found_before_the_work(tmp_path, monkeypatch):
    X, y = table()
    monkeypatch.setattr(LocalEngine, "start", None)
    with pytest.raises(
        InvalidParameterError, match="checkpoint must be a file that can be written"
    ):
        HOCMIM(3, engine=Engine(checkpoint=tmp_path / "nowhere" / "run")).fit(X, y)


# --- values ---------------------------------------------------------------------------------------


class Talkative(Criterion):
    def __init__(self, said):
        super().__init__()
        self.said = said

    def scores(self):
        return self.relevance

    def describe(self, position):
        return {"said": self.said}


def test_a_pipe_in_the_place_of_the_lock_is_an_error_and_no_wait(tmp_path):
    os.mkfifo(tmp_path / ".hocmim-cp.json.lock")
    with pytest.raises(InvalidParameterError, match=r"in the place of the lock .*not a file"):
        HOCMIM(2, engine=Engine(checkpoint=tmp_path / "cp.json")).fit(*table())
    assert not (tmp_path / "cp.json").exists()


def test_what_a_criterion_says_comes_back_as_it_was(tmp_path):
    said = {
        "array": np.array([[0.1, np.nan]]),
        "tuple": (1, ("a", None)),
        "list": [True, 1e-300, -0.0, np.inf],
        "small": np.arange(3, dtype=np.uint8),
        "number": np.float64(1 / 3),
        "nothing": np.empty(0, np.int64),
    }
    X, y = table()
    path = tmp_path / "run.checkpoint"
    codes, target = encode(X), encode_target(y).column
    found = []
    for _ in range(2):
        rule = None
        with LocalEngine(codes, target, Talkative(said)) as engine:
            checkpoint = Checkpoint(path, {}, engine.fingerprint(), codes.n_columns)
            found.append(checkpoint.search(engine, 2, rule))
    for step in found[1].steps:
        back = step.details["said"]
        assert back.keys() == said.keys()
        np.testing.assert_array_equal(back["array"], said["array"])
        assert back["tuple"] == said["tuple"]
        assert str(back["list"]) == str(said["list"])
        assert (back["small"].dtype, back["nothing"].dtype) == (np.uint8, np.int64)
        assert back["number"] == 1 / 3
        assert step.runner_up is not None


def test_a_value_that_cannot_be_kept_is_named(tmp_path):
    X, y = table()
    selector = CriterionSelector(Talkative({1, 2}), 3, engine=Engine(checkpoint=tmp_path / "run"))
    with pytest.raises(InvalidParameterError, match=r"describe\(\) gave a value of type set"):
        selector.fit(X, y)


def test_the_fingerprint_does_not_depend_on_blocks_and_tells_everything_else():
    X, y = table()
    codes, target = encode(X), encode_target(y).column
    criterion = CMIMkCriterion(2)
    found = {
        LocalEngine(codes, target, criterion, block_size=size, n_jobs=jobs).fingerprint()
        for size in (None, 1, 5, 12)
        for jobs in (1, 2)
    }
    assert found == {fingerprint(column_digests(codes), target)}
    swapped = encode(X[:, [1, 0, *range(2, 12)]])
    others = [
        fingerprint(column_digests(swapped), target),
        fingerprint(column_digests(codes.block(0, 11)), target),
        fingerprint(column_digests(codes), codes.column(0)),
    ]
    assert len({*found, *others}) == 4


def test_a_search_with_failures_continues_to_the_last_bit(tmp_path):
    """A column of dates leads and fails in each step; the search is stopped after each column."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(2, size=n)
    dates = [f"day {i}" for i in range(n)]
    X = pd.DataFrame(
        {"date": dates, **{f"x{k}": y + rng.normal(0, 1 + k / 2, n) for k in range(4)}}
    )
    parameters = {
        "encoder": Encoder(identifiers="keep", max_levels=None),
        "n_features_to_select": StopTest(0.05, test="permutation", n_permutations=99),
    }
    whole = MIM(**parameters).fit(X, y)
    assert len(whole.selected_) > 1
    assert all(step.failures for step in whole.selection_.steps)
    path = tmp_path / "run"
    for n_updates in (1, 2):

        def stop_at(event, n_updates=n_updates):
            if event.done >= n_updates:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            MIM(**parameters, engine=Engine(checkpoint=path)).fit(X, y, progress=stop_at)
    found = MIM(**parameters, engine=Engine(checkpoint=path)).fit(X, y)
    for selector in (found, MIM(**parameters, engine=Engine(checkpoint=path)).fit(X, y)):
        assert selector.selection_.steps == whole.selection_.steps
        assert selector.p_values_.tobytes() == whole.p_values_.tobytes()
        assert selector.stopping_.failures == whole.stopping_.failures
        assert selector.stopping_.p_value == whole.stopping_.p_value
