"""A part of the matrix of bad input; ``make trust`` runs all of it (matrix.py)."""

import os
from pathlib import Path

import pytest
from bad_files import FILES, TARGET, commands, csv_text, table
from bad_tables import KINDS
from entry_points import ENTRY_POINTS
from judge import fault_of_error, fault_of_run, judge, unsafe_characters

from hocmim import MIM
from hocmim.errors import InvalidParameterError

# Seconds or gigabytes each; only with the first entry point. matrix.py limits the memory.
LARGE = {"100 000 columns", "70 000 levels", "70 000 levels of text", "huge empty sparse"}
TRIED = ["fit MIM", "fit HOCMIM-R", "fit Fisher", "transform MIM", "encode", "mi", "explain",
         "save and load", "codes on disk", "checkpoint"]  # fmt: skip
COMMANDS = ["select to files", "apply a bad model", "bench run"]
# Read in seconds; the first command is enough.
LONG = {"70 000 levels", "20 000 columns"}


@pytest.mark.parametrize("entry", TRIED)
def test_a_bad_table_gets_a_sentence_or_works(entry, tmp_path):
    found = []
    for number, (kind, make) in enumerate(KINDS.items()):
        if kind in LARGE and entry != TRIED[0]:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = make()
        verdict, text, _ = judge(lambda: ENTRY_POINTS[entry](folder, *arguments))  # noqa: B023
        if verdict == "fault":
            found.append(f"{kind}: {text[:300]}")
    assert found == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_file_gets_a_sentence_or_works(command, tmp_path, monkeypatch):
    data = table().to_pandas()
    model = MIM(2).fit(data.drop(columns=TARGET), data[TARGET]).save(tmp_path / "m.json")
    found = []
    for number, (kind, make) in enumerate(FILES.items()):
        if kind in LONG and command != COMMANDS[0]:
            continue
        folder = tmp_path / str(number)
        (folder / "in").mkdir(parents=True)
        (folder / "good.csv").write_text(csv_text())
        monkeypatch.chdir(folder)
        words = commands(make(folder / "in"), folder, model)[command]
        _, text = fault_of_run(words, folder)
        if text:
            found.append(f"{kind}: {text[:300]}")
    assert found == []


def test_every_command_is_tried_with_a_good_file(tmp_path, monkeypatch):
    data = table().to_pandas()
    model = MIM(2).fit(data.drop(columns=TARGET), data[TARGET]).save(tmp_path / "m.json")
    (tmp_path / "good.csv").write_text(csv_text())
    monkeypatch.chdir(tmp_path)
    fails = {"apply a bad model": 1, "bench run": 1, "missing target": 2}
    for command, words in commands(tmp_path / "good.csv", tmp_path, model).items():
        assert fault_of_run(words, tmp_path / "in") == (fails.get(command, 0), None), command


def test_the_judge_finds_faults():
    def raise_(error):
        raise error

    assert judge(lambda: None)[0] == "works"
    assert judge(lambda: raise_(InvalidParameterError("x must be a number of at least 1.")))[0] == (
        "error"
    )
    for error in (
        ValueError("x must be a number of at least 1."),
        InvalidParameterError("no"),
        InvalidParameterError("unhashable type: 'list' was given."),
        InvalidParameterError("There is no column '\x1b[31m' in this table."),
        KeyboardInterrupt(),
    ):
        assert judge(lambda error=error: raise_(error))[0] == "fault", error
    assert fault_of_error(FileNotFoundError(2, "No such file", str(Path("x")))) is None
    assert unsafe_characters("a\u202eb\x9b\u200bc\n") == {"\u202e", "\x9b", "\u200b"}
