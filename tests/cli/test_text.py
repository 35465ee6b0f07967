"""Numbers and dates that come as text, on the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hocmim import load
from hocmim.data.files import read_table, write_table

N = 80


def columns_of(n=N):
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, n)
    return {
        "bmi": [f"{v:.1f}".replace(".", ",") for v in rng.normal(22, 3, n) + 6 * ill],
        "cost": [f"${v:,}" for v in rng.integers(200, 90_000, n)],
        "zip": rng.choice(["02134", "90210", "00501"], n).tolist(),
        "visit": [f"{d:02}.{m:02}.2019" for d, m in rng.integers(1, 12, (n, 2))],
        "paid": [f"{d:02}/{m:02}/2019" for d, m in rng.integers(1, 12, (n, 2))],
        "fee": [f"{v},{w:03}" for v, w in zip(rng.integers(1, 9, n), rng.integers(0, 999, n),
                                              strict=True)],
        "ill": np.where(ill, "yes", "no").tolist(),
    }  # fmt: skip


@pytest.fixture(autouse=True)
def files(folder):
    columns = columns_of()
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    write_table(pa.table(columns), "t.parquet")


def types_of(run, *arguments):
    return json.loads(run("select", *arguments, "-t", "ill", "--json", "-").stdout)["types"]


@pytest.mark.parametrize("file", ["t.csv", "t.parquet"])
def test_every_format_is_read_the_same(run, folder, file):
    said = run("select", file, "-t", "ill", "-k", 2).stderr
    for expected in (
        "'bmi': 80 values read as numbers with decimal separator ','.",
        "'cost': 80 values read as numbers with thousands separator ','.",
        "'zip': whole numbers with leading zeros ('0",
        "'visit': 80 values read as dates (day-first).",
        "can be read as two dates, so it stays text. Pass --dates day-first or --dates month-",
        "can separate decimals or thousands, so it stays text. Pass --decimal , or --thousands ,.",
    ):
        assert expected in said
    assert "Warning: 'fee': the ',' of" in said
    assert types_of(run, file) == {"bmi": "float", "cost": "float", "zip": "text", "visit": "date",
                              "paid": "text", "fee": "text"}  # fmt: skip


def test_options_settle_it(run, folder):
    found = types_of(run, "t.csv", "--dates", "day-first", "--decimal", ",", "--drop", "cost")
    assert found == {"bmi": "float", "zip": "text", "visit": "date", "paid": "date", "fee": "float"}
    found = types_of(run, "t.csv", "--as", "zip=number", "--as", "bmi=category", "--thousands", ",",
                     "--as", "visit=date")  # fmt: skip
    assert found["zip"] == "float"
    assert found["bmi"] == "text"
    assert found["fee"] == "float"


def test_the_result_lists_what_was_read(run, folder):
    found = json.loads(run("select", "t.csv", "-t", "ill", "-q", "--json", "-").stdout)
    assert len(found["text_columns"]) == 6
    run("select", "t.csv", "-t", "ill", "-q", "-k", 1, "-o", "few.csv")
    few = read_table("few.csv")
    assert few.column_names == ["bmi", "ill"]
    assert pa.types.is_floating(few.schema.field("bmi").type)


def test_a_target_that_is_text(run, folder):
    said = run("select", "t.csv", "-t", "bmi", "--drop", "ill", "-k", 1).stderr
    assert "target 'bmi': a quantity" in said


def test_text_stays_text_in_a_file_that_is_not_read_into_memory(run, folder):
    said = run("select", "t.parquet", "-t", "bmi", "-k", 1, "--codes-dir", "codes").stderr
    assert "Warning: 'bmi', 'cost', 'visit' can be read as numbers or dates, but text stays" in said
    for option in (("--as", "bmi=number"), ("--decimal", ","), ("--dates", "day-first")):
        said = run("select", "t.parquet", "-t", "ill", "--codes-dir", "codes", *option, code=2)
        assert f"{option[0]} cannot be used with --cluster or --codes-dir" in said.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--as", "zipp=number"), "There is no column 'zipp' in 't.csv'. Did you mean 'zip'?"),
        (("--as", "zip=numbers"), "one of number, category, date"),
        (("--as", "zip"), "not of the form name=kind"),
        (("--dates", "days"), "dates must be one of"),
        (("--decimal", ";"), "decimal must be one of"),
        (("--decimal", ",", "--thousands", ","), "must be different"),
    ],
)
def test_wrong_options(run, folder, options, message):
    assert message in run("select", "t.csv", "-t", "ill", *options, code=2).stderr


def test_a_column_that_cannot_be_what_is_declared(run, folder):
    said = run("select", "t.csv", "-t", "ill", "--as", "fee=number", code=1).stderr
    assert "'fee' cannot be read as a number" in said


def test_leading_zeros_of_a_text_file(run, folder):
    (folder / "z.csv").write_text('a,"b",c\n02134,1,1\n90210,"07",2\n10115,12,0\n')
    table = read_table("z.csv")
    assert table.column("a").to_pylist() == ["02134", "90210", "10115"]
    assert table.column("c").to_pylist() == [1, 2, 0]
    (folder / "n.csv").write_text("a\n" + "\n".join(map(str, range(1000))) + "\n007\n")
    assert read_table("n.csv").column("a").to_pylist()[-1] == 7
    kept = read_table("n.csv", as_text=["a"])
    assert kept.column("a").to_pylist()[-1] == "007"


@pytest.mark.parametrize("size", range(1, 9))
def test_leading_zeros_at_the_end_of_a_block(folder, monkeypatch, size):
    monkeypatch.setattr("hocmim.data.files.SEARCHED_BYTES", size)
    (folder / "z.csv").write_text("a,b\n90210,1\n10115,2\n02134,3\n")
    assert read_table("z.csv").column("a").to_pylist() == ["90210", "10115", "02134"]
    (folder / "z.csv").write_text("a,b\n90210,1\n10115,20\n10,301\n")
    assert read_table("z.csv").column("a").to_pylist() == [90210, 10115, 10]


def test_points_that_group_thousands(run, folder):
    (folder / "p.csv").write_text("a;y\n" + "1.234;u\n2.345;v\n12.500;u\n" * 3)
    assert types_of_file(run, "p.csv") == [1.234, 2.345, 12.5]
    assert types_of_file(run, "p.csv", "--thousands", ".") == [1234, 2345, 12500]
    assert types_of_file(run, "p.csv", "--decimal", ",") == [1234, 2345, 12500]


def types_of_file(run, file, *options):
    run("select", file, "-t", "y", "-q", "-o", "o.parquet", "--force", *options)
    return pq.read_table("o.parquet").column("a").to_pylist()[:3]


def test_columns_has_a_line_for_each_column(run, folder):
    lines = run("columns", "t.csv", "-t", "ill").stdout.splitlines()
    assert lines[0] == "column\ttype\tmissing\tencoding\tnotes"
    assert [line.split("\t")[0] for line in lines[1:]] == list(columns_of())[:-1]
    assert "\tfloat\t0\t5 bins, cut at " in lines[1]
    assert "80 values read as numbers with decimal separator ','" in lines[1]
    assert len(run("columns", "t.csv").stdout.splitlines()) == len(columns_of()) + 1


def test_columns_without_a_file(run):
    assert "does not exist" in run("columns", "absent.csv", code=2).stderr


# --- apply reads as select did --------------------------------------------------------------------

SETTLED = ("--dates", "day-first", "--missing", "$7")


@pytest.mark.parametrize("file", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("options", [(), SETTLED])
def test_apply_to_the_file_of_the_fit_writes_what_select_wrote(run, folder, file, out, options):
    arguments = ("-t", "ill", "-k", 6, "--save", "m.json", "-o", out)
    run("select", file, *arguments, *options, "--identifiers", "keep")
    run("apply", "m.json", file, "-o", f"again.{out}")
    assert (folder / out).read_bytes() == (folder / f"again.{out}").read_bytes()
    codes = run("apply", "m.json", file, "--encoded")
    assert "did not see" not in codes.stderr
    chosen = load("m.json")
    assert set(chosen.get_feature_names_out()) < {one.name for one in chosen.reading_.columns}
    assert len(codes.stdout.splitlines()) == N + 1


def test_a_later_file_is_read_in_the_way_of_the_first(run, folder):
    (folder / "a.csv").write_text(
        "v;n;c;y\n"
        + "".join(
            f"{i}.{i:03},5;{'?' if i == 7 else i % 4};{i % 3:02};{i % 2}\n" for i in range(1, 61)
        )
    )
    run("select", "a.csv", "-t", "y", "-k", 3, "--save", "m.json", "--missing", "?")
    # Alone, these would be the number 7.007, text, and the number 1.
    (folder / "b.csv").write_text("c;v;n\n1;7.007;?\n02;8.008;3\n")
    run("apply", "m.json", "b.csv", "-o", "b.parquet")
    rows = {name: pq.read_table("b.parquet")[name].to_pylist() for name in "vnc"}
    assert rows == {"v": [7007.0, 8008.0], "n": [None, 3], "c": ["1", "02"]}


def test_new_levels_are_counted_by_apply(run, folder):
    run("select", "t.csv", "-t", "ill", "-k", 6, "--identifiers", "keep", "--save", "m.json")
    lines = (folder / "t.csv").read_text().splitlines()
    (folder / "new.csv").write_text(
        "\n".join([lines[0], *(line.replace("02134", "77777") for line in lines[1:])])
    )
    n_new = sum("02134" in line for line in lines)
    done = run("apply", "m.json", "new.csv", "--encoded")
    assert f"did not see: 'zip' ({n_new} rows)" in done.stderr
    at = done.stdout.splitlines()[0].split(",").index('"zip"')
    assert [line.split(",")[at] for line in done.stdout.splitlines()[1:]].count("3") == n_new


def test_all_missing_columns_are_named_and_can_be_empty_or_replaced(run, folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    copy = x[:, 0] + 0.05 * rng.normal(size=400)
    table = {f"{j}": x[:, j] for j in range(4)} | {"copy": copy, "y": (x[:, 0] + x[:, 1] > 0) * 1}
    write_table(pa.table(table), "g.csv")
    run("select", "g.csv", "-t", "y", "-k", 2, "-m", "JMI", "--save", "g.json")
    first, second = load("g.json").get_feature_names_out()
    other = {"0": "copy", "copy": "0"}[first if first in ("0", "copy") else second]
    rest = [name for name in table if name not in (first, second)]
    write_table(pa.table(table).select(rest), "few.csv")
    said = run("apply", "g.json", "few.csv", code=1).stderr
    assert "lacks 2 of the 2 selected columns" in said
    assert f"could be replaced by '{other}'." in said
    assert "Did you mean" not in said
    run("apply", "g.json", "few.csv", "--missing-columns", "empty", "-o", "empty.parquet")
    empty = pq.read_table("empty.parquet")
    assert set(empty.column_names) == {first, second, "y"}
    assert (empty[first].null_count, str(empty[first].type)) == (400, "double")
    one = [name for name in table if name != {"copy": "0", "0": "copy"}[other]]
    write_table(pa.table(table).select(one), "one.csv")
    how = ("--missing-columns", "substitute")
    done = run("apply", "g.json", "one.csv", *how, "-o", "other.parquet")
    assert f"'{other}' is written in place of" in done.stderr
    assert pq.read_table("other.parquet")[other].to_pylist() == table[other].tolist()
    assert "lacks 1 of the 2" in run("apply", "g.json", "few.csv", *how, code=1).stderr
    assert "Leave out one of" in run("apply", "g.json", "one.csv", *how, "--encoded", code=2).stderr


def test_many_columns_that_are_read_in_one_way_take_one_line(run, folder):
    rng = np.random.default_rng(0)
    lines = [",".join([*(f"x{j}" for j in range(9)), "y"]), ",".join([*"ABCDEFGHI", "0"])]
    lines += [",".join(map(str, [*rng.integers(0, 999, 9), i % 2])) for i in range(80)]
    (folder / "two_headers.csv").write_text("\n".join(lines) + "\n")
    said = run("select", "two_headers.csv", "-t", "y", "-k", 2).stderr.splitlines()
    [line] = [line for line in said if "did not parse" in line]
    assert line.startswith("'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7' and 1 other: like 'x0':")
    assert "9 values did not parse in all." in line
