"""Places that cannot be written, full disks, pipes, and names that are paths."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from bad_files import TARGET, csv_text
from bad_tables import frame
from click.testing import CliRunner

import hocmim
from hocmim.cli import main
from hocmim.data.writing import safe_file_name, write_file
from hocmim.errors import HocmimError, InvalidParameterError
from hocmim.experiments.grid import Grid

needs_unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
X, Y = frame()
NAMES = ["../../x", "/etc/passwd", "CON", "con.txt", "nul", "a/b", "a\\b", "a\0b", "x" * 5000,
         "dots...", "  ", "", ".", "..", ".hidden", "~/x", "a:b", "a*?b", "\x1b[31m", "\ud83d",
         "Aux", "lpt1.csv", "-rf", "na\nme", "é🧬"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_a_name_is_a_file_in_its_folder(name, tmp_path):
    safe = safe_file_name(name)
    path = tmp_path / "folder" / f"{safe}.txt"
    path.parent.mkdir()
    path.write_text("x")
    assert [each.parent for each in tmp_path.rglob("*.txt")] == [path.parent]
    assert path.resolve().parent == path.parent.resolve()
    assert safe.partition(".")[0].upper() not in {"CON", "AUX", "NUL", "LPT1"}
    assert not safe.startswith(".")
    assert not safe.endswith((".", " "))


def test_different_names_stay_different():
    assert len({safe_file_name(name) for name in NAMES}) == len(NAMES)
    assert safe_file_name("iris 2, old (v1)") == "iris 2, old (v1)"


def test_cells_of_all_csv_files_can_be_neutralised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = Grid("t", ["=1+1", "@x"], [["+cmd", "-5"], ["-x", "0.5"]])
    assert grid.to_csv(is_safe=True) == "'=1+1,'@x\n'+cmd,-5\n'-x,0.5\n"
    assert grid.to_csv() == "=1+1,@x\n+cmd,-5\n-x,0.5\n"
    Path("t.csv").write_text(csv_text(["=a", "+b", "@c", "-d", "e"]))
    run = CliRunner().invoke
    words = ["select", "t.csv", "-t", TARGET, "-k", "5", "-o", "out.csv", "--save", "m.json"]
    assert run(main, [*words, "--safe-csv"]).exit_code == 0
    assert set(Path("out.csv").read_text().splitlines()[0].split(",")) == {
        '"\'=a"', '"\'+b"', '"\'@c"', '"\'-d"', '"e"', f'"{TARGET}"'
    }  # fmt: skip
    shown = run(main, ["apply", "m.json", "t.csv", "--safe-csv"]).stdout.splitlines()[0]
    assert "'=a" in shown
    assert ',"=' not in shown


# --- disks and rights -----------------------------------------------------------------------------

WRITERS = {
    "save": lambda path: hocmim.MIM(2).fit(X, Y).save(path / "f"),
    "report": lambda path: hocmim.MIM(2).fit(X, Y).report(path / "f", X, Y),
    "checkpoint": lambda path: hocmim.MIM(2, engine=hocmim.Engine(checkpoint=path / "f")).fit(X, Y),
    "codes": lambda path: hocmim.MIM(2, engine=hocmim.Engine(codes_dir=path / "f")).fit(X, Y),
}

FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_paths
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path({folder!r})
for name, write in test_paths.WRITERS.items():
    place = folder / name
    place.mkdir()
    hocmim_files = set(place.rglob("*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    try:
        write(place)
    except (test_paths.HocmimError, OSError) as error:
        print(name, type(error).__name__, error)
    else:
        print(name, "no error")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    left = [path for path in place.rglob("*") if path.is_file()]
    assert not left, left
    write(place)  # the same place works when there is room again
"""


def in_process(code, tmp_path):
    here = Path(__file__).parent
    text = code.format(paths=[str(here), str(here.parent)], folder=str(tmp_path))
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.splitlines()


@needs_unix
def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    said = in_process(FULL_DISK, tmp_path)
    assert [line.split()[0] for line in said] == list(WRITERS)
    assert not any("no error" in line for line in said)


NOBODY = """
import os, sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_paths
from click.testing import CliRunner
from hocmim.cli import main
folder = Path({folder!r})
(folder / "closed").mkdir()
(folder / "t.csv").write_text(test_paths.csv_text())
words = ["select", str(folder / "t.csv"), "-t", "target"]
# Everything is imported before the rights are dropped: the folder of Python may be closed too.
for name, write in test_paths.WRITERS.items():
    (folder / name).mkdir()
    write(folder / name)
assert CliRunner().invoke(main, words).exit_code == 0
assert CliRunner().invoke(main, [*words, "-k", "0"]).exit_code == 2
(folder / "t.csv").chmod(0)
(folder / "closed").chmod(0o555)
folder.chmod(0o755)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for name, write in test_paths.WRITERS.items():
    try:
        write(folder / "closed")
    except (test_paths.HocmimError, OSError) as error:
        print(name, type(error).__name__, error)
assert not list((folder / "closed").iterdir())
result = CliRunner().invoke(main, words)
print("read", result.exit_code, result.stderr.strip())
"""


@needs_unix
def test_folders_and_files_without_rights():
    with tempfile.TemporaryDirectory() as folder:  # that of pytest is closed to other users
        said = in_process(NOBODY, folder)
    assert [line.split()[0] for line in said] == [*WRITERS, "read"]
    assert said[-1].startswith("read 2 Error: ")
    assert "permission denied" in said[-1]


@needs_unix
@pytest.mark.parametrize("writer", ["save", "report", "checkpoint"])
def test_a_pipe_in_place_of_a_file_does_not_wait(writer, tmp_path):
    os.mkfifo(tmp_path / "f")
    with pytest.raises(HocmimError, match=r"pipe"):
        WRITERS[writer](tmp_path)


@needs_unix
def test_a_pipe_with_a_reader_is_written(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    for _ in range(1000):
        try:
            write_file(pipe, lambda file: file.write(b"x" * 200_000), overwrite=True)
            break
        except InvalidParameterError:  # the reader has not opened it yet
            threading.Event().wait(0.01)
    reader.join(60)
    assert got == [b"x" * 200_000]


@needs_unix
@pytest.mark.parametrize("read", [hocmim.load, lambda path: hocmim.MIM(1).fit(path, "f1")])
@pytest.mark.parametrize("name", ["pipe.parquet", "/dev/zero"])
def test_reading_a_pipe_or_a_device_does_not_wait(read, name, tmp_path):
    if name.startswith("pipe"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidParameterError, match="pipe or a device"):
        read(str(tmp_path / name))


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "absent/x", "."])
def test_paths_that_cannot_be(name, tmp_path):
    def resume(path):
        hocmim.MIM(2, engine=hocmim.Engine(checkpoint=path)).fit(X, Y)

    for write in (hocmim.MIM(2).fit(X, Y).save, resume):
        with pytest.raises((HocmimError, OSError)) as caught:
            write(f"{tmp_path}/{name}")
        assert "Traceback" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
