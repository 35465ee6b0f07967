"""Files that crash, hang or swell their reader give an error; Ctrl-C ends the reading."""

import gzip
import os
import signal
import subprocess
import sys
import time

import psutil
import pyarrow as pa
import pytest

from hocmim.data import child, files
from hocmim.data.files import read_table, write_table
from hocmim.errors import InvalidTableError
from made_sheets import write_with_cell


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
@pytest.mark.parametrize(
    ("place", "match"),
    [("XFD1048576", "needs more memory than"), ("ZZZZZZ4294967295", "cannot be read as a table")],
)
def test_cells_far_away(place, match):
    pytest.importorskip("python_calamine")
    write_with_cell("far.xlsx", place)
    with pytest.raises(InvalidTableError, match=f"'far.xlsx' .*{match}"):
        read_table("far.xlsx")


def test_what_does_not_fit_into_memory(monkeypatch):
    """64 KB that hold 64 MB, with 32 MB free."""
    with gzip.open("t.csv.gz", "wb") as file:
        for _ in range(64):
            file.write(b"a,b,y\n".ljust(1 << 20, b"1"))
    monkeypatch.setattr(child, "free_memory", lambda: 32 << 20)
    with pytest.raises(InvalidTableError, match=r"'t.csv.gz' .* more memory than the 0.0 GB"):
        read_table("t.csv.gz")


def test_parquet_of_equal_values_that_do_not_fit_into_memory(monkeypatch):
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": pa.repeat(1, 10_000_000)}), "t.parquet")
    assert os.path.getsize("t.parquet") < 100_000
    monkeypatch.setattr(files, "free_memory", lambda: 79_999_999)
    monkeypatch.setattr(files, "MIN_CHECKED_BYTES", 0)
    with pytest.raises(InvalidTableError, match=r"'t.parquet' .* needs 0.1 GB of memory"):
        read_table("t.parquet")


def big_gzip():
    block = b"1,2,0\n" * 200_000
    with gzip.open("t.csv.gz", "wb", 1) as file:
        file.write(b"a,b,y\n")
        for _ in range(1_000):
            file.write(block)
    return "t.csv.gz"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_ctrl_c_while_reading():
    """It ends, although the reading would not, or not for minutes, and leaves no process."""
    path = big_gzip()
    others = psutil.Process().children()

    def press(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            read_table(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    started = [one for one in psutil.Process().children() if one not in others]
    assert psutil.wait_procs(started, timeout=20)[1] == []


def test_the_child_ends_with_its_parent():
    path = big_gzip()
    code = f"from hocmim.data.files import read_table; read_table({path!r})"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        try:
            children = []
            while not children:
                time.sleep(0.05)
                children = psutil.Process(parent.pid).children()
            time.sleep(0.5)  # it may still be starting: it must end then, too
        finally:
            parent.kill()
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert len(gone) == 1
    assert alive == []


def test_modules_of_the_working_folder_are_not_imported(folder):
    for name in ("json", "pyarrow", "subprocess", "hocmim"):
        (folder / f"{name}.py").write_text("open('imported', 'w')")
    write_table(pa.table({"a": [1]}), folder / "t.arrow")
    path = [entry for entry in sys.path if entry]
    code = f"import sys; sys.path = {path!r}; from hocmim.data.files import read_table; "
    done = subprocess.run([sys.executable, "-c", code + "print(read_table('t.arrow').num_rows)"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout == "1\n", done.stderr
    assert not (folder / "imported").exists()
