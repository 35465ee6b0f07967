"""Names and shares as a reader sees them: blank names, long lists, narrow terminals, ranges."""

import gzip
import io

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console

from hocmim.cli import main
from hocmim.cli.show import count_fitting, rich_table
from hocmim.data.files import column_names
from hocmim.text import percent_range, some_of

BLANKS = "a,b,,  ,y\n" + "1,2,3,1,0\n2,1,3,1,1\n1,2,4,2,0\n2,2,4,2,1\n" * 3


def run(*arguments, code=0, env=None):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], env=env)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def blanks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blanks.csv").write_text(BLANKS)
    return "blanks.csv"


def test_blank_names_have_a_stand_in(blanks):
    result = run("select", blanks, "-t", "y", "-k", 4)
    names = [line.split("\t")[1] for line in result.stdout.splitlines()[1:]]
    assert sorted(names) == ["(blank name)", "(empty name)", "a", "b"]
    terminal = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "LINES": "40"}
    assert "(empty name)" in run("select", blanks, "-t", "y", "-k", 4, env=terminal).stdout
    said = run("explain", blanks, "-t", "y", "-f", "").stdout
    assert "(empty name)" in said
    assert "''" not in said


def test_a_missing_target_lists_the_columns(blanks, tmp_path):
    for file, content in (("zipped.csv.gz", BLANKS), ("tabs.tsv", BLANKS.replace(",", "\t"))):
        opened = gzip.open if file.endswith(".gz") else open
        with opened(file, "wt") as out:
            out.write(content)
    for file in (blanks, "zipped.csv.gz", "tabs.tsv"):
        said = run("report", file, "-o", "x.html", code=2).stderr
        assert said == (
            f"Error: Missing option -t NAME, the target column. {file} has 'a', 'b', (empty name), "
            "(blank name), 'y'.\n"
        )
        assert column_names(file) == ["a", "b", "", "  ", "y"]
    said = run("select", blanks, "--no-header", code=2).stderr
    assert "has 'f0', 'f1', 'f2', 'f3', 'f4'." in said
    assert "does not exist" in run("select", "absent.csv", code=2).stderr
    assert "Missing argument 'FILE'" in run("select", code=2).stderr


def test_the_names_of_a_header_with_line_breaks_and_of_a_long_one(tmp_path):
    wide = tmp_path / "wide.csv"
    names = ["line\nbreak", *(f"column {j}" for j in range(20_000))]
    header = ",".join(f'"{name}"' for name in names)
    wide.write_text(header + "\n" + ",".join("1" * len(names)) + "\n")
    assert column_names(wide) == names


def test_others_are_counted():
    assert some_of(["a", "b"], 2) == "a, b"
    assert some_of(["a", "b", "c"], 2) == "a, b and 1 other"
    assert some_of(["a", "b", "c", "d"], 2) == "a, b and 2 others"


def test_ranges_of_shares():
    assert percent_range(0.123, 0.4) == "12–40%"
    assert percent_range(0.001, 1.0) == "<1–100%"
    assert percent_range(0.9999, 1.0) == ">99.9–100%"
    assert percent_range(0.2, 0.201) == "20%"


@pytest.mark.parametrize(("width", "number"), [(45, "0.1235"), (34, "0.123")])
def test_numbers_are_rounded_before_names_are_cut(width, number):
    columns = [("feature", "name"), ("relevance", "number"), ("score", "number")]
    name = "mean of the radius"
    shown = rich_table(columns, [[name, 0.123456, 0.123456], ["b", 0.5, 0.25]], width)
    console = Console(width=width, force_terminal=False)
    with console.capture() as captured:
        console.print(shown)
    lines = captured.get().splitlines()
    assert lines[2].split()[-2:] == [number, number]
    assert name in lines[2]
    assert all(cell_len(line) <= width for line in lines)


COLUMNS = [
    ("rank", "number"),
    ("feature", "name"),
    ("relevance", "number"),
    ("score", "number"),
    ("order", "number"),
    ("most redundant with", "name"),
]
ROWS = [[1, "patient_blood_pressure_mean", 0.3404, 0.3404, 0, None]] + [
    [place, f"patient_blood_pressure_{place}", 0.1136, -0.0441, 1, "patient_blood_pressure_mean"]
    for place in range(2, 12)
]


@pytest.mark.parametrize(("width", "n"), [(100, 6), (80, 6), (60, 6), (40, 4), (30, 3)])
def test_the_last_columns_are_left_out_where_they_do_not_fit(width, n):
    assert count_fitting(COLUMNS, ROWS, width) == n
    shown = rich_table(COLUMNS[:n], [row[:n] for row in ROWS], width)
    console = Console(width=200, file=io.StringIO())
    console.print(shown)
    lines = console.file.getvalue().splitlines()
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    assert all("patient_blo" in line for line in lines[2:])


def test_short_names_leave_room_for_all_columns():
    rows = [[1, "a", 0.5, 0.5, 0, None], [2, "b", 0.25, 0.125, 1, "a"]]
    columns = [*COLUMNS[:5], ("with", "name")]
    assert count_fitting(columns, rows, 45) == 6
