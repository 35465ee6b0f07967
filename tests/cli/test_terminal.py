"""The command in a real terminal and in a real pipe: progress, Ctrl-C, a reader that leaves."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pexpect
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hocmim.data.files import read_table

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "hocmim.cli"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 1500)
    X = rng.integers(0, 4, (1500, 3000)).astype(np.int8)
    X[:, 7] = np.where(rng.random(1500) < 0.4, y, X[:, 7])
    path = tmp_path_factory.mktemp("terminal") / "wide.parquet"
    pq.write_table(pa.table({**{f"x{j}": X[:, j] for j in range(3000)}, "y": y}), path)
    return path


def spawn(folder, *arguments, columns=80):
    return pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], *map(str, arguments)],
        dimensions=(30, columns),
        encoding="utf-8",
        codec_errors="replace",
        timeout=120,
        cwd=str(folder),
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "30"},
    )


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_ctrl_c_leaves_what_was_selected_so_far(table, tmp_path):
    """JMI-4 would need hours for 200 columns."""
    child = spawn(tmp_path, "select", table, "-t", "y", "-k", 200, "-m", "jmi-4",
                  "--json", "part.json", "-o", "part.parquet")  # fmt: skip
    child.expect(r" [1-9]\d*/200")  # at least one is selected
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    shown = plain(child.before)
    assert child.exitstatus == 130
    assert re.search(r"   1   x7 .*\n", shown)
    found = json.loads((tmp_path / "part.json").read_text())
    n_selected = len(found["selected"])
    assert found["partial"] is True
    assert 1 <= n_selected < 200
    assert f"Stopped after {n_selected} feature" in shown
    assert "Wrote part.json (partial)." in shown
    reduced = read_table(tmp_path / "part.parquet")
    assert reduced.column_names == [*found["columns"], "y"]
    assert reduced.schema.metadata[b"hocmim.partial"] == b"true"
    assert sorted(os.listdir(tmp_path)) == ["part.json", "part.parquet"]


def test_ctrl_c_before_anything_is_selected(table, tmp_path):
    child = spawn(tmp_path, "select", table, "-t", "y", "-m", "NCA", "--json", "part.json")
    child.expect("selecting")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Stopped before any feature was selected." in plain(child.before)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("columns", [80, 120])
def test_a_bar_and_a_table_on_a_terminal(table, tmp_path, columns):
    child = spawn(tmp_path, "select", table, "-t", "y", "-k", 3, columns=columns)
    child.expect("selecting")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    lines = plain(child.before).split("\r\n")
    (header,) = [at for at, line in enumerate(lines) if line.startswith("rank   feature")]
    assert [line.split()[0] for line in lines[header + 2 : header + 5]] == ["1", "2", "3"]
    assert all(len(line) <= columns for line in lines[header:])


def test_no_bar_and_no_colours_in_a_pipe(table):
    done = subprocess.run(
        [*COMMAND, "select", str(table), "-t", "y", "-k", "3"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\x1b" not in done.stdout + done.stderr
    assert "selecting" not in done.stderr
    assert len(done.stdout.splitlines()) == 4


def test_a_reader_that_leaves_early_is_no_error(table, tmp_path):
    """More than a pipe holds is written to one that nobody reads."""
    select = f"'{sys.executable}' -m hocmim.cli select '{table}' -t y -k 3000 -m MIM -q"
    files = f"-o '{tmp_path}/out.csv' --json"
    for options in (f"{files} '{tmp_path}/out.json'", "--json -"):
        command = f"set -o pipefail; {select} {options} | head -c 1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert done.stdout in ("r", "{")
        assert done.stderr == ""
    assert read_table(tmp_path / "out.csv").num_columns == 3001


def test_the_entry_point_is_the_module():
    script = Path(sys.executable).with_name("hocmim")
    if not script.exists():
        pytest.skip("the package is not installed with its script")
    ask = [[str(script), "--version"], [*COMMAND, "--version"]]
    one, other = (subprocess.run(a, capture_output=True, text=True, check=True) for a in ask)
    assert one.stdout == other.stdout


# -- SIGTERM, SIGHUP -------------------------------------------------------------------------------


@pytest.mark.parametrize(("received", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_selection_and_the_checkpoint_continues_it(received, code, tmp_path):
    rng = np.random.default_rng(143)
    columns = {f"x{j}": rng.integers(4, size=3000) for j in range(60)}
    pq.write_table(pa.table({**columns, "y": rng.integers(2, size=3000)}), tmp_path / "t.parquet")
    checkpoint = tmp_path / "search"
    options = [str(tmp_path / "t.parquet"), "-t", "y", "-m", "jmi-4", "--checkpoint", checkpoint]
    with subprocess.Popen(
        [*COMMAND, "select", *options, "-k", "50"],
        stderr=subprocess.PIPE,
        text=True,
        # Under nohup SIGHUP is ignored, here and in a new process.
        preexec_fn=lambda: signal.signal(signal.Signals[received], signal.SIG_DFL),
    ) as process:
        while not checkpoint.exists() or checkpoint.read_text("utf-8").count('"index"') < 3:
            time.sleep(0.05)
        process.send_signal(signal.Signals[received])
        error = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert error.endswith(f"Stopped by {received}.\n")
    n_before = checkpoint.read_text("utf-8").count('"index"')
    assert n_before < 50

    def selected(*options):
        command = [*COMMAND, "select", *options, "-q", "-k", str(n_before + 1)]
        return subprocess.run(command, capture_output=True, check=True).stdout.splitlines()

    continued = selected(*options)
    assert len(continued) == n_before + 2  # and a header
    assert continued == selected(*options[:5])


def test_errors_break_between_words(table):
    child = spawn(table.parent, "select", table.name, "-t", "no such column", columns=60)
    child.expect(pexpect.EOF)
    child.close()
    _, start, said = plain(child.before).partition("Error: There is no column")
    lines = (start + said).split("\r\n")  # without the bar of reading, which is erased
    assert child.exitstatus == 2
    assert max(map(len, lines)) <= 60
    assert len(lines) > 2  # the columns are listed
