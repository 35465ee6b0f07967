"""Codes in memory-mapped files, against codes in memory."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest

import warned
from coded import encode
from hocmim import HOCMIM, JMI, Engine, list_methods, make_selector
from hocmim.coding import encoded_source
from hocmim.coding.encoder import Encoder
from hocmim.coding.store import codes_fingerprint, stored_codes
from hocmim.coding.target import encode_target
from hocmim.data.table import as_table
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.information.counting import BlockTerms, Joint
from hocmim.selectors.base import InformationSelector

pytestmark = pytest.mark.filterwarnings(warned.ONE_BIN, warned.TEXT)

INFORMATION = [
    name for name in list_methods() if isinstance(make_selector(name), InformationSelector)
]


def frame(n=400, d=10, seed=0):
    """Numbers, words, a column of more than 256 levels; a target that two of them tell."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    X["word"] = rng.choice(["a", "b", None], n)
    X["many"] = (np.arange(n) % 300).astype(str)
    X.loc[: n // 3, "x1"] = np.nan
    return X, ((X["x0"] > 0) ^ (X["word"] == "a")).astype(int)


def entries(codes_dir):
    return sorted(path.name for path in codes_dir.iterdir())


def assert_same(one, two):
    for name in ("selected_", "scores_", "relevance_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    for name, column in one.trace_.columns.items():
        assert column.tolist() == two.trace_[name].tolist(), name


@pytest.mark.parametrize("planes", [True, False])
@pytest.mark.parametrize("method", INFORMATION)
def test_every_method_selects_the_same_from_files(method, planes, tmp_path, monkeypatch):
    X, y = frame()
    monkeypatch.setattr("hocmim.coding.store.free_memory", lambda: 1 << 30 if planes else 0)
    engine = Engine(codes_dir=tmp_path)
    mapped = make_selector(method, n_features_to_select=4, engine=engine).fit(X, y)
    assert_same(mapped, make_selector(method, n_features_to_select=4).fit(X, y))
    again = make_selector(method, n_features_to_select=4, engine=engine).fit(X, y)
    assert_same(again, mapped)
    assert len(entries(tmp_path)) == 1


@pytest.mark.parametrize("discretizer", ["uniform", "quantile", "mdlp"])
def test_the_encoder_and_the_codes_are_those_of_memory(discretizer, tmp_path):
    X, y = frame()
    selector = HOCMIM(
        3,
        encoder=Encoder(discretizer=discretizer, max_levels=None),
        engine=Engine(codes_dir=tmp_path),
    ).fit(X, y)
    expected = Encoder(discretizer=discretizer, max_levels=None)
    codes = expected.fit_transform(X, encode_target(y).column)
    other, _ = frame(seed=5)
    for one, two in (
        (selector.encoder_.transform(X), codes),
        (selector.encoder_.transform(other), expected.transform(other)),
    ):
        np.testing.assert_array_equal(one.narrow, two.narrow)
        np.testing.assert_array_equal(one.wide, two.wide)
    assert len(codes.wide) == 1


def test_codes_are_mapped_read_only_and_not_copied(tmp_path):
    X, _ = frame()
    encoder = Encoder(max_levels=None)

    def encode_into(allocate):
        return encoder, encoder.fit_transform(X, allocate=allocate)

    _, codes = stored_codes(tmp_path, "name", encode_into)
    for array in (codes.narrow, codes.wide, codes.block(2, 5).narrow, codes.column(3).codes):
        assert type(array) is np.ndarray
        assert not array.flags.writeable
        base = array
        while not isinstance(base, np.memmap):
            base = base.base
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(codes)).narrow, codes.narrow)
    expected = encode(X, max_levels=None)
    np.testing.assert_array_equal(codes.narrow, expected.narrow)
    assert codes.names == expected.names


def test_bit_planes_are_left_where_there_is_no_memory_for_them(tmp_path, monkeypatch):
    X, y = frame()
    encoder = Encoder()

    def encode_into(allocate):
        return encoder, encoder.fit_transform(X, allocate=allocate)

    y = Joint.of([encode_target(y).column])
    found = {}
    for free in (0, 1 << 30):
        monkeypatch.setattr("hocmim.coding.store.free_memory", lambda free=free: free)
        codes = stored_codes(tmp_path, "name", encode_into)[1].block(0, 12)
        terms = BlockTerms(codes, y, "shrinkage")
        found[free] = terms.relevance()
        assert ("planes" in vars(terms)) == (free > 0)
    np.testing.assert_array_equal(*found.values())


# --- used again -----------------------------------------------------------------------------------


def test_codes_are_used_again_for_the_same_data(tmp_path, monkeypatch):
    X, y = frame()
    HOCMIM(3, engine=Engine(codes_dir=tmp_path)).fit(X, y)
    monkeypatch.setattr(Encoder, "fit_transform", None)
    again = JMI(4, engine=Engine(codes_dir=tmp_path), n_jobs=1).fit(
        X.copy(), 1 - y
    )  # another target, too
    monkeypatch.undo()
    assert_same(again, JMI(4).fit(X, 1 - y))


def test_codes_of_files_are_used_again_until_a_file_changes(tmp_path, monkeypatch):
    X, y = frame()
    folder, codes_dir = tmp_path / "data", tmp_path / "codes"
    folder.mkdir()
    X.assign(y=y)[:200].to_parquet(folder / "0.parquet")
    X.assign(y=y)[200:].to_parquet(folder / "1.parquet")
    expected = HOCMIM(3).fit(X, y)
    assert_same(HOCMIM(3, engine=Engine(codes_dir=codes_dir)).fit(folder, "y"), expected)
    with monkeypatch.context() as patch:
        patch.setattr(encoded_source, "survey_partition", None)
        assert_same(HOCMIM(3, engine=Engine(codes_dir=codes_dir)).fit(str(folder), "y"), expected)
        assert_same(HOCMIM(3, engine=Engine(codes_dir=codes_dir)).fit(folder, "y"), expected)
    X.assign(y=y)[200:].iloc[::-1].to_parquet(folder / "1.parquet")
    HOCMIM(3, engine=Engine(codes_dir=codes_dir)).fit(folder, "y")
    assert len(entries(codes_dir)) == 2


def test_what_changes_the_codes_makes_new_ones(tmp_path):
    X, y = frame()
    target = encode_target(y).column
    other = encode_target(1 - y).column

    def name(X=X, y=target, discretizer="uniform", n_bins=5):
        return codes_fingerprint(as_table(X), y, Encoder(n_bins, discretizer=discretizer))

    assert name() == name(X.copy(), other)
    assert name(discretizer="mdlp") != name(discretizer="mdlp", y=other)
    changed = X.copy()
    changed.loc[5, "x3"] += 1e-9
    different = [
        name(),
        name(changed),
        name(X[::-1]),
        name(X.rename(columns={"x0": "z"})),
        name(X.assign(word=X["word"].replace("a", "c"))),
        name(X.iloc[:, ::-1]),
        name(X.to_numpy()),
        name(n_bins=6),
        name(discretizer="quantile"),
        name(discretizer="mdlp"),
    ]
    assert len(set(different)) == len(different)


def test_damaged_files_are_an_error_that_says_what_to_delete(tmp_path):
    X, y = frame()
    HOCMIM(3, engine=Engine(codes_dir=tmp_path)).fit(X, y)
    (folder,) = tmp_path.iterdir()
    for name, content in (("narrow", b"123"), ("codes.json", b"junk")):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(content)
        with pytest.raises(InvalidFileError, match=f"{folder.name} are damaged. Delete"):
            HOCMIM(3, engine=Engine(codes_dir=tmp_path)).fit(X, y)
        (folder / name).write_bytes(whole)
    (folder / "wide").unlink()
    with pytest.raises(InvalidFileError, match="are damaged"):
        HOCMIM(3, engine=Engine(codes_dir=tmp_path)).fit(X, y)


def test_codes_of_other_data_are_recognised(tmp_path):
    X, y = frame()
    HOCMIM(3, engine=Engine(codes_dir=tmp_path / "other")).fit(*frame(seed=1))
    HOCMIM(3, engine=Engine(codes_dir=tmp_path / "codes")).fit(X, y)
    (name,), (other,) = entries(tmp_path / "codes"), entries(tmp_path / "other")
    shutil.rmtree(tmp_path / "codes" / name)
    (tmp_path / "other" / other).rename(tmp_path / "codes" / name)
    with pytest.raises(InvalidFileError, match="belongs to other data"):
        HOCMIM(3, engine=Engine(codes_dir=tmp_path / "codes")).fit(X, y)


def test_a_folder_that_cannot_be_used_is_an_error_that_says_why(tmp_path, monkeypatch):
    X, y = frame()
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameterError, match="codes_dir must be a folder that can be"):
        HOCMIM(3, engine=Engine(codes_dir=tmp_path / "file")).fit(X, y)

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(InvalidParameterError, match=r"codes_dir has no space for .* bytes"):
        HOCMIM(3, engine=Engine(codes_dir=tmp_path / "codes")).fit(X, y)
    assert entries(tmp_path / "codes") == []


# --- runs that are killed, and several at once ----------------------------------------------------

KILLED = """
    import os, signal, sys
    from hocmim import HOCMIM, Engine

    module = sys.modules["hocmim.coding.encoded_source"]

    def die(*arguments, copied=module._copied):
        copied(*arguments)  # the codes are written, and not yet declared complete
        os.kill(os.getpid(), signal.SIGKILL)

    module._copied = die
    HOCMIM(3, engine=Engine(codes_dir=sys.argv[2])).fit(sys.argv[1], "y")
"""


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_that_is_taken_for_codes(tmp_path):
    X, y = frame()
    X.assign(y=y).to_parquet(tmp_path / "a.parquet")
    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    codes_dir = tmp_path / "codes"
    ended = subprocess.run([*command, tmp_path / "a.parquet", codes_dir], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [name.startswith(".hocmim-writing-") for name in entries(codes_dir)] == [True, True]
    again = HOCMIM(3, engine=Engine(codes_dir=codes_dir)).fit(tmp_path / "a.parquet", "y")
    assert_same(again, HOCMIM(3).fit(X, y))
    (whole,) = entries(codes_dir)  # what the killed run left is gone
    assert not whole.startswith(".hocmim-writing-")


def test_a_lock_that_a_killed_run_left_beside_its_codes_is_removed(tmp_path):
    X, y = frame()
    codes_dir = tmp_path / "codes"
    JMI(2, engine=Engine(codes_dir=codes_dir)).fit(X, y)
    whole = entries(codes_dir)
    (codes_dir / ".hocmim-writing-0123456789abcdef.lock").touch()
    JMI(2, engine=Engine(codes_dir=codes_dir)).fit(X, y)
    assert entries(codes_dir) == whole


def test_nothing_of_the_user_is_removed(tmp_path):
    """Folders that look like those of a killed run, but for one thing each, stay as they are."""
    X, y = frame()
    name = ".hocmim-writing-0123456789abcd"
    for folder in (
        "writing-thesis",
        "writing-0123456789abcdef",
        f"{name}00",
        f"{name}01",
        f"{name}zz",
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "narrow").write_text("mine")
    (tmp_path / f"{name}01" / "notes.txt").write_text("mine")  # beside a lock, and a file of codes
    (tmp_path / f"{name}01.lock").touch()
    (tmp_path / f"{name}zz.lock").touch()
    (tmp_path / "writing-thesis.lock").touch()
    (tmp_path / f"{name}02").symlink_to(tmp_path / "writing-thesis")
    (tmp_path / f"{name}02.lock").touch()
    (tmp_path / f"{name}03.lock").write_text("a file that is no lock")
    os.mkfifo(tmp_path / f"{name}04.lock")
    before = {
        path
        for path in tmp_path.rglob("*")
        if path.name not in (f"{name}01.lock", f"{name}02.lock")
    }
    JMI(2, engine=Engine(codes_dir=tmp_path)).fit(X, y)
    assert before <= set(tmp_path.rglob("*"))


def test_a_run_leaves_alone_what_another_is_writing(tmp_path):
    X, _ = frame()
    encoder = Encoder()

    def encode_into(allocate):
        codes = encoder.fit_transform(X, allocate=allocate)
        HOCMIM(3, engine=Engine(codes_dir=tmp_path)).fit(
            *frame(seed=1)
        )  # another run, in the meantime
        return encoder, codes

    _, codes = stored_codes(tmp_path, "name", encode_into)
    np.testing.assert_array_equal(codes.narrow, encode(X).narrow)
    assert len(entries(tmp_path)) == 2


def test_the_run_that_comes_second_uses_what_the_first_wrote(tmp_path):
    X, _ = frame()
    encoder = Encoder()

    def encode_twice(allocate):
        stored_codes(
            tmp_path,
            "name",
            lambda allocate: (encoder, encoder.fit_transform(X, allocate=allocate)),
        )
        return encoder, encoder.fit_transform(X, allocate=allocate)

    _, codes = stored_codes(tmp_path, "name", encode_twice)
    np.testing.assert_array_equal(codes.narrow, encode(X).narrow)
    assert entries(tmp_path) == ["name"]


AT_ONCE = """
    import sys, time
    from pathlib import Path
    from hocmim import JMI, Engine

    Path(sys.argv[4]).touch()
    while not Path(sys.argv[3]).exists():
        time.sleep(0.01)
    fitted = JMI(5, engine=Engine(codes_dir=sys.argv[2]), n_jobs=1).fit(sys.argv[1], "y")
    print(fitted.selected_.tolist(), fitted.scores_.tolist())
"""


@pytest.mark.slow
def test_several_runs_at_once_share_a_folder(tmp_path):
    X, y = frame(3000, 20)
    X.assign(y=y).to_parquet(tmp_path / "a.parquet", row_group_size=300)
    expected = JMI(5).fit(X, y)
    command = [sys.executable, "-c", textwrap.dedent(AT_ONCE)]
    arguments = [tmp_path / "a.parquet", tmp_path / "codes", tmp_path / "go"]
    ready = [tmp_path / "ready 1", tmp_path / "ready 2"]
    runs = [
        subprocess.Popen([*command, *arguments, path], stdout=subprocess.PIPE, text=True)
        for path in ready
    ]
    while not all(path.exists() for path in ready) and all(run.poll() is None for run in runs):
        time.sleep(0.01)
    (tmp_path / "go").touch()
    printed = [run.communicate()[0].strip() for run in runs]
    assert printed == [f"{expected.selected_.tolist()} {expected.scores_.tolist()}"] * 2
    assert len(entries(tmp_path / "codes")) == 1


# --- less memory than the table -------------------------------------------------------------------

SHORT_OF_MEMORY = """
    import resource, sys
    from pathlib import Path
    import pyarrow.dataset, pyarrow.parquet
    from hocmim import HOCMIM, JMI, Engine
    from hocmim.memory import free_memory

    path, codes_dir, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    HOCMIM(2, n_jobs=1).fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])  # whatever is loaded when used

    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    used = int(status["VmData"].split()[0]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + allowed, used + allowed))
    assert free_memory() <= allowed
    try:
        bytearray(allowed + (8 << 20))
        print("no limit")
    except MemoryError:
        print("limited")
    for selector in (HOCMIM, JMI):
        fitted = selector(4, engine=Engine(codes_dir=codes_dir), n_jobs=1).fit(path, "y")
        print(fitted.selected_.tolist(), fitted.scores_.tolist())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process so")
def test_a_table_of_several_times_the_memory_allowed(tmp_path):
    n_rows, n_columns, allowed = 40_000, 300, 24 << 20
    rng = np.random.default_rng(0)
    path = tmp_path / "data"
    path.mkdir()
    for part in range(4):
        X = pd.DataFrame(rng.normal(size=(n_rows // 4, n_columns))).add_prefix("x")
        X["y"] = ((X["x3"] > 0) & (X["x7"] > 0)).astype(int)
        X.to_parquet(path / f"{part}.parquet")
    assert n_rows * n_columns * 8 > 3.5 * allowed
    expected = [selector(4).fit(path, "y") for selector in (HOCMIM, JMI)]
    ended = subprocess.run(
        [
            sys.executable,
            *("-c", textwrap.dedent(SHORT_OF_MEMORY)),
            *(path, tmp_path / "codes", str(allowed)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        # Allocators that reserve memory beforehand would make the limit none.
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
    )
    printed = [f"{one.selected_.tolist()} {one.scores_.tolist()}" for one in expected]
    assert ended.stdout.splitlines() == ["limited", *printed]


def test_copied_columns_are_those_of_the_codes():
    X, _ = frame()
    codes = encode(X, max_levels=None)
    for indices in ([3, 0, 5], [0, 11, 10, 2], []):  # 11 has more than 256 levels
        copied = codes.copy_columns(indices)
        assert copied.n_columns == len(indices)
        assert copied.names is None
        for k, j in enumerate(indices):
            np.testing.assert_array_equal(copied.column(k).codes, codes.column(j).codes)
            assert copied.column(k).arity == codes.column(j).arity
        assert not np.shares_memory(copied.narrow, codes.narrow)
