"""What hocmim does on Windows, as far as another system can show it.

`make portability` runs tests/wheel under Python for Windows.
"""

import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from hocmim import JMI
from hocmim.data import locks, writing
from hocmim.experiments.store import Store

# The libraries know their own system: hocmim alone is told that this is Windows, and everything
# that only POSIX has is taken away.
AS_ON_WINDOWS = """
import ctypes, os, pkgutil, signal, sys, types
import click, dask.dataframe, distributed, fastcan, jinja2, joblib, matplotlib.pyplot, narwhals
import numpy as np, pandas, polars, pyarrow.parquet, rich.console, scipy.stats, sklearn.datasets
import importlib.metadata, lzma, multiprocessing, shutil, subprocess, tempfile, zipfile

for name in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: ("getuid", "posix_fallocate", "sysconf", "O_NOFOLLOW", "O_NONBLOCK", "sched_getaffinity"),
    signal: ("SIGHUP", "SIGKILL", "SIGUSR1", "pthread_sigmask"),
}.items():
    for name in names:
        delattr(module, name)

class Kernel:
    def GlobalMemoryStatusEx(self, reference):
        reference._obj.free = 4 << 30
        return 1

ctypes.windll = types.SimpleNamespace(kernel32=Kernel())
sys.platform = "win32"
locks_taken = []
sys.modules["msvcrt"] = types.SimpleNamespace(
    LK_NBLCK=2, locking=lambda descriptor, mode, n: locks_taken.append(n)
)
from hocmim.data import locks
locks.IS_WINDOWS = True  # pathlib would believe os.name too

import hocmim
for found in pkgutil.walk_packages(hocmim.__path__, "hocmim."):
    if not found.name.endswith("__main__"):
        __import__(found.name)
from hocmim.data import writing
from hocmim.memory import free_memory
assert writing.IS_WINDOWS
assert free_memory() == 4 << 30

X, y = sklearn.datasets.load_iris(return_X_y=True)
fitted = hocmim.RobustHOCMIM(2, codes_dir="codes", checkpoint="run.json").fit(X, y)
fitted.save("model.json")
fitted.save("model.json", overwrite=True)
assert np.array_equal(hocmim.load("model.json").selected_, fitted.selected_)
assert locks_taken
from hocmim.cli import main
main(["demo", "-o", "page.html"], standalone_mode=False)
print(sorted(os.listdir()), sorted(len(name) for name in os.listdir("codes")))
"""


# NumPy 1 has default integers of 32 bits on Windows. Functions that hocmim calls with nothing but
# whole numbers of Python, or with booleans, return them here too; in a process of its own.
WITH_SHORT_INTEGERS = """
import sys
import numpy as np

def is_default(value):
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(map(is_default, value))
    return type(value) is int or isinstance(value, np.ndarray) and value.dtype == bool

def shorten(name):
    function = getattr(np, name)
    def shortened(*values, **options):
        found = function(*values, **options)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if (caller.startswith("hocmim") and "dtype" not in options and all(map(is_default, values))
                and getattr(found, "dtype", None) == np.int64):
            n_short.append(name)
            return found.astype(np.int32)
        return found
    setattr(np, name, shortened)

n_short = []
is_short = sys.argv[1] == "short"
for name in ("arange", "array", "asarray", "concatenate", "cumsum", "full"):
    if is_short:
        shorten(name)

import hocmim, scipy.sparse
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True)
X = np.column_stack([X, np.round(np.abs(X[:, :2]), 2)])  # columns of many levels
for method in ("HOCMIM-R", "HOCMIM", "JMI", "CMIM", "CMICOT", "JMI-3", "ReliefF", "NCA", "Gini"):
    fitted = hocmim.make_selector(method, n_features_to_select=3).fit(X[:200], y[:200])
    print(method, fitted.selected_.tolist())
wide = hocmim.JMI(2, n_bins=400).fit(X, y)
sparse = hocmim.JMI(2).fit(scipy.sparse.csr_array(np.where(X > 1, X, 0)), y)
fitted = hocmim.RobustHOCMIM(3).fit(X, y)
fitted.report("page.html", X, y, overwrite=True)
print(wide.selected_.tolist(), sparse.selected_.tolist(), str(fitted.explain(5, X))[:9])
assert not is_short or "arange" in n_short
"""


def test_default_integers_may_be_short(tmp_path):
    printed = []
    for way in ("short", "usual"):
        done = subprocess.run(
            [sys.executable, "-c", WITH_SHORT_INTEGERS, way],
            cwd=tmp_path, capture_output=True, text=True, encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]


def test_everything_works_without_what_only_posix_has(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # No file of a lock and no temporary file stays; the codes are one folder, named by a digest.
    last = done.stdout.splitlines()[-1]
    assert last.startswith("['codes', 'model.json', 'page.html', 'run.json'] [")
    assert last.count(",") == 3


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_output_that_cannot_show_a_character_gets_a_question_mark(tmp_path, encoding):
    done = subprocess.run(
        [sys.executable, "-m", "hocmim", "demo", "-o", "page.html"],
        cwd=tmp_path, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"worst perimeter" in done.stdout
    assert "Breast cancer" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_codes_are_not_mapped_when_their_folder_gets_its_name(tmp_path, monkeypatch):
    """Windows refuses to rename a folder with a mapped file."""
    mapped = []
    rename = Path.rename

    def maps_of(folder):
        return [line for line in Path("/proc/self/maps").open() if str(folder) in line]

    def look(folder, target):
        mapped.append(len(maps_of(folder)))
        return rename(folder, target)

    monkeypatch.setattr(Path, "rename", look)
    generator = np.random.default_rng(0)
    X, y = generator.integers(0, 400, (3000, 5)), generator.integers(0, 2, 3000)
    fitted = JMI(2, codes_dir=tmp_path, max_levels=None).fit(X, y)
    assert mapped == [0]
    (stored,) = tmp_path.iterdir()
    opened = np.memmap(next(path for path in stored.iterdir() if path.stat().st_size), mode="r")
    assert maps_of(stored)  # a map is seen
    assert len(fitted.selected_) == 2
    del opened


def test_a_file_that_is_open_elsewhere_is_replaced_a_little_later(tmp_path, monkeypatch):
    tries = []
    replace = Path.replace

    def refuse_twice(temporary, target):
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "The process cannot access the file")
        return replace(temporary, target)

    monkeypatch.setattr(writing, "IS_WINDOWS", True)
    monkeypatch.setattr(writing, "SECONDS_BETWEEN_TRIES", 0.0)
    monkeypatch.setattr(Path, "replace", refuse_twice)
    path = tmp_path / "run.json"
    path.write_text("old")
    writing.write_file(path, lambda file: file.write(b"new"), overwrite=True)
    assert (path.read_text(), len(tries)) == ("new", 3)
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_a_file_that_stays_open_is_not_replaced(tmp_path, monkeypatch):
    def refuse(temporary, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(writing, "IS_WINDOWS", True)
    monkeypatch.setattr(writing, "SECONDS_BETWEEN_TRIES", 0.0)
    monkeypatch.setattr(Path, "replace", refuse)
    path = tmp_path / "run.json"
    path.write_text("old")
    with pytest.raises(PermissionError):
        writing.write_file(path, lambda file: file.write(b"new"), overwrite=True)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


@pytest.fixture
def windows_locks(monkeypatch):
    """The locks of Windows: a byte that is locked, and files that are closed before removal."""
    positions = []
    module = types.SimpleNamespace(
        LK_NBLCK=2,
        locking=lambda descriptor, mode, n: positions.append(os.lseek(descriptor, 0, os.SEEK_CUR)),
    )
    monkeypatch.setitem(sys.modules, "msvcrt", module)
    monkeypatch.setattr(locks, "IS_WINDOWS", True)
    return positions


def test_the_locked_byte_is_behind_the_content(tmp_path, windows_locks):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"line\n")
    with path.open("ab+") as file:
        file.seek(2)
        assert locks.try_lock(file)
        assert file.read() == b"ne\n"
    assert windows_locks == [locks.LOCKED_BYTE]
    assert path.stat().st_size == 5


def test_locks_are_closed_before_they_are_removed(tmp_path, windows_locks, monkeypatch):
    is_open = []
    unlink = Path.unlink

    def look(path, missing_ok=False):
        is_open.append(any(os.path.samefile(each, path) for each in open_files()))
        return unlink(path, missing_ok)

    def open_files():
        folder = Path("/proc/self/fd")
        targets = [os.readlink(each) for each in folder.iterdir() if each.is_symlink()]
        return [each for each in targets if each.startswith(str(tmp_path))]

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("reads /proc")
    monkeypatch.setattr(Path, "unlink", look)
    with locks.locked(tmp_path / ".run.lock") as is_mine:
        assert is_mine
        assert open_files()
    Store(tmp_path / "results.jsonl").compressed.write_bytes(b"")
    with Store(tmp_path / "results.jsonl").appending():
        pass
    assert is_open == [False, False]
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl.xz"]
