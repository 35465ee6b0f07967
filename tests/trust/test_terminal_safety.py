"""Names and labels move no cursor, change no colour and hide nothing, in every command."""

import os
import pty
import select
import subprocess
import sys
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from bad_files import TARGET, commands, csv_text
from bad_tables import HOSTILE_TEXT, frame, numbers
from click.testing import CliRunner
from judge import unsafe_characters

import hocmim
from hocmim.cli import main
from hocmim.text import escaped, one_line, value_text

TEXTS = [text for text in HOSTILE_TEXT.values() if "\ud83d" not in text]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A file whose columns, target and labels are hostile, a model of it, and a hostile path."""
    folder = tmp_path_factory.mktemp("hostile")
    X, y = numbers(60, len(TEXTS))
    names = [f"{text}{j}" for j, text in enumerate(TEXTS)]
    columns = {name: X[:, j] for j, name in enumerate(names)}
    columns["label"] = [TEXTS[value % len(TEXTS)] for value in range(len(y))]
    columns[TARGET] = [TEXTS[2] if value else TEXTS[6] for value in y]
    path = folder / "\x1b[31mred\u202e.parquet"
    pyarrow.parquet.write_table(pa.table(columns), path)
    frame = pd.DataFrame(columns)
    model = hocmim.MIM(3).fit(frame.drop(columns=TARGET), frame[TARGET]).save(folder / "m.json")
    return folder, path, model, names


def test_output_of_every_command(hostile, monkeypatch):
    folder, path, model, names = hostile
    monkeypatch.chdir(folder)
    (folder / "good.csv").write_text(csv_text())
    for command, words in commands(path, folder, model).items():
        words = [names[2] if word == "f1" else str(word) for word in words]
        result = CliRunner().invoke(main, words)
        assert result.exit_code in (0, 1, 2), (command, result.exception)
        assert not isinstance(result.exception, Exception), (command, result.exception)
        assert not unsafe_characters(result.output, allowed="\n\t"), (command, result.output)


@pytest.mark.parametrize(
    "words",
    [
        ["{}"],
        ["select", "{}"],
        ["select", "t.csv", "-t", "{}"],
        ["select", "t.csv", "-t", "target", "--{}"],
        ["select", "t.csv", "-t", "target", "-k", "{}"],
        ["select", "t.csv", "-t", "target", "-m", "{}"],
        ["select", "t.csv", "-t", "target", "--estimator", "{}"],
        ["select", "t.csv", "-t", "target", "--encoding", "{}"],
        ["select", "t.csv", "-t", "target", "--delimiter", "{}"],
        ["select", "t.csv", "-t", "target", "-o", "{}"],
        ["explain", "t.csv", "-t", "target", "-f", "{}"],
        ["report", "t.csv", "-t", "target", "-o", "no folder/{}"],
        ["apply", "{}", "t.csv"],
        ["bench", "{}"],
        ["bench", "run", "{}"],
    ],
    ids=" ".join,
)
def test_messages_that_repeat_an_argument(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(csv_text())
    for text in TEXTS:
        result = CliRunner().invoke(main, [word.format(text.replace("\0", "")) for word in words])
        assert result.exit_code in (0, 1, 2)
        assert not isinstance(result.exception, Exception), result.exception
        assert "Unexpected error" not in result.output
        assert not unsafe_characters(result.output, allowed="\n\t"), result.output


def in_a_terminal(words, folder):
    """Run a command in a terminal; return all that it wrote, with rich's own sequences."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    run = subprocess.Popen(
        [sys.executable, "-m", "hocmim.cli", *map(str, words)],
        stdin=follower, stdout=follower, stderr=follower, cwd=folder, env=environment,
    )  # fmt: skip
    os.close(follower)
    written, end = b"", time.monotonic() + 240
    while time.monotonic() < end:
        if select.select([leader], [], [], 0.2)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            written += part
        elif run.poll() is not None:
            break
    run.kill()
    run.wait()
    os.close(leader)
    return written.decode("utf-8", "replace")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("command", ["select", "explain", "compare", "columns", "to the screen"])
def test_tables_bars_and_data_in_a_terminal(command, hostile):
    folder, path, model, names = hostile
    words = {**commands(path, folder, model), "to the screen": ("apply", model, path)}[command]
    words = [names[2] if word == "f1" else word for word in words]
    shown = in_a_terminal(words, folder)
    assert "Error" not in shown
    # rich itself writes colours and moves the cursor; the sequences of the names are other ones.
    assert "\x1b[31m" not in shown
    assert "\x1b[2J" not in shown
    assert "\x1b]0;" not in shown
    assert not unsafe_characters(shown, allowed="\n\t\r\x1b"), shown
    assert r"\x1b[31m" in shown or r"\x1b" in shown


@pytest.mark.parametrize("text", HOSTILE_TEXT.values(), ids=ascii)
def test_errors_warnings_and_verbose_lines_of_python(text, capsys):
    X, y = frame()
    X.columns = pd.Index([text, *"bcde"], dtype=object)
    hocmim.MIM(2, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert not unsafe_characters(shown)
    X[text] = [object()] * len(X)
    with pytest.raises(hocmim.errors.HocmimError) as caught:
        hocmim.MIM(2).fit(X, y)
    assert not unsafe_characters(str(caught.value))


def test_escapes():
    assert escaped("a\x1b[31m\u202e\x9b\u200b") == r"a\x1b[31m\u202e\x9b\u200b"
    assert escaped("a\nb\tc é🧬\xa0") == "a\nb\tc é🧬\xa0"
    assert one_line("a\nb", 10) == r"a\nb"
    assert value_text(object()) == "an object of type object"
    assert len(value_text("x" * 10_000)) == 200
