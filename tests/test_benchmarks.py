"""The benchmark scripts on tiny tables; no times are checked."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _on_the_path():
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def tiny():
    from tables import TableSpec

    return TableSpec("tiny", 120, 30)


@pytest.fixture(scope="module")
def runner(tmp_path_factory, _on_the_path):
    from run import Runner, Store

    folder = tmp_path_factory.mktemp("runner")
    runner = Runner(Store(folder / "measurements.jsonl"), sys.executable, folder)
    yield runner
    runner.close()


@pytest.mark.parametrize("kind", ["levels", "words", "genes"])
def test_a_table_is_the_same_in_every_form_and_equal_to_its_encoding(kind):
    from hocmim import encode
    from tables import TableSpec, as_codes, classes, code_matrix, table

    spec = TableSpec("t", 150, 70, kind, 2 if kind == "words" else 5)
    X, y = table(spec), classes(spec)
    codes, target = as_codes(code_matrix(spec), y)
    encoded = encode(X)
    np.testing.assert_array_equal(codes.narrow.T, X)
    np.testing.assert_array_equal(codes.narrow, encoded.narrow)
    np.testing.assert_array_equal(codes.arity, encoded.arity)
    assert target.arity == 2
    np.testing.assert_array_equal(table(spec, np.float64), X)


def test_tables_have_the_documented_roles():
    from hocmim import mi
    from tables import SIZES, TableSpec, _role, classes, column

    spec = SIZES["B"]
    y = classes(spec)
    roles = [_role(spec, j) for j in range(spec.n_columns)]
    assert [role for role, _ in roles].count("informative") == 50
    assert sorted(number for role, number in roles if role == "xor") == [0, 1, 2, 3]
    halves = [column(spec, y, roles.index(("xor", half))) for half in (0, 1)]
    assert max(mi(half, y) for half in halves) < 0.01
    assert mi(np.stack(halves, axis=1), y) > 0.3
    words = TableSpec("w", 2_000, 300, "words", 2)
    assert 0.01 < np.mean([column(words, y, j) for j in range(300)]) < 0.03


def test_yardsticks_count_every_sample_and_refuse_what_does_not_fit():
    from yardstick import count_once, read_once

    x = np.zeros((3, 1000), np.uint8)
    for dtype in (np.uint8, np.uint16):
        assert 0 < count_once(x, np.zeros(1000, dtype), 2) < 1e4
    assert read_once(np.ones(1000, np.uint64), 2) > 0
    with pytest.raises(ValueError, match="fit together"):
        count_once(x, np.zeros(999, np.uint8), 1)


@pytest.mark.slow
def test_runner_measures_resumes_and_reports(runner, tiny, tmp_path):
    import report
    from cases import Group, own
    from run import Store

    cases = [own("JMI", 4), own("JMI", 4, "search", 1), own("HOCMIM", 4, "search", max_order=3)]
    cases += [own("encode", 4, "encode"), own("no such method", 4)]
    group = Group(tiny, cases, repeats=2)
    store = runner.store = Store(tmp_path / "measurements.jsonl")
    runner.run([group])
    measured = [record for record in store.records if record["status"] == "ok"]
    assert len(measured) == 8
    failed = [record for record in store.records if record["status"] == "error"]
    assert len(failed) == 1
    assert "no method" in failed[0]["error"]
    jmi = [record["selected"] for record in measured if record["method"] == "JMI"]
    assert len(jmi) == 4
    assert all(selected == jmi[0] for selected in jmi)

    n_records = len(store.records)
    runner.run([group])
    assert len(store.records) == n_records
    # A new run continues this one, and measures failures again.
    assert len(Store(store.path).records) == n_records - 1
    assert not Store(store.path, fresh=True).records

    report.write(store.records, runner.build, tmp_path / "results")
    content = json.loads((tmp_path / "results" / "bench.json").read_text())
    assert {case["method"] for case in content["cases"]} >= {"JMI", "HOCMIM"}
    assert "cores" in content["machine"]
    assert all(claim["met"] is None for claim in content["claims"])
    assert "| a | JMI at B" in (tmp_path / "results" / "bench.md").read_text()


@pytest.mark.slow
def test_a_program_over_its_limit_is_killed_and_the_next_case_still_runs(runner, tiny, tmp_path):
    from cases import Group, own
    from run import Store

    store = runner.store = Store(tmp_path / "measurements.jsonl")
    runner.run([Group(tiny, [own("JMI-4", 30)], repeats=2, own_limit=1e-4)])
    runner.run([Group(tiny, [own("MIM", 4)], repeats=1)])
    assert [r["status"] for r in store.records if "package" in r] == ["limit", "ok"]


@pytest.mark.slow
def test_a_case_that_must_exceed_the_limit_is_not_run(runner, tiny, tmp_path):
    import report
    from cases import Group, own
    from run import Store

    store = runner.store = Store(tmp_path / "measurements.jsonl")
    search = own("HOCMIM", 30, "search")
    slower = [own("HOCMIM", 30), own("HOCMIM", 30, "search", 1)]
    others = [own("HOCMIM", 30, "search", max_order=20), own("JMI", 30, "search")]
    runner.run([Group(tiny, [search, *slower, *others], repeats=1, own_limit=1e-9)])
    records = [record for record in store.records if "package" in record]
    assert [record["status"] for record in records] == ["limit"] * 5
    assert [("implied_by" in record) for record in records] == [False, True, True, False, False]
    assert "not run: hocmim (search)" in report.line(records[1])


def test_the_report_lists_what_was_not_measured_in_time(tiny, tmp_path):
    import report
    from cases import Group, own
    from run import Runner, Store

    runner = Runner(Store(tmp_path / "store.jsonl"), sys.executable, tmp_path, seconds=0)
    runner.run([Group(tiny, [own("MIM", 4)])])
    runner.close()
    assert runner.left_out == ["tiny"]
    report.write(runner.store.records, runner.build, tmp_path, runner.left_out)
    assert "Not measured in full: tiny" in (tmp_path / "bench.md").read_text()


def test_claims_compare_medians_and_a_bound_is_no_measurement():
    from cases import case_key, own
    from claims import Claim, Medians, evaluate

    def record(table, case, seconds, status="ok"):
        return {
            "key": case_key(table, case),
            "table": table,
            "status": status,
            "seconds": seconds,
            "limit": 60.0,
        }

    jmi, hocmim = own("JMI", kind="search"), own("HOCMIM", kind="search")
    records = [record("B", jmi, s) for s in (1.0, 3.0, 100.0)]
    records += [record("B", hocmim, 9.0), record("C", jmi, 2.0), record("C", hocmim, None, "limit")]
    records += [{"key": "yardstick|B", "table": "B", "status": "yardstick", "ns": 1.0}]
    medians = Medians(records)
    assert medians.ratio("B", hocmim, jmi) == (3.0, False)
    assert medians.in_yardsticks("B", jmi) == pytest.approx(3.0 / 0.1)
    rows = {claim.what: claim for claim in evaluate(records, [])}
    assert rows["HOCMIM at B, time ÷ JMI"].met is True
    assert rows["HOCMIM at C, time ÷ JMI"].measured == 30.0
    assert rows["HOCMIM at C, time ÷ JMI"].met is False
    assert rows["HOCMIM at D, time ÷ JMI"].met is None
    assert Claim("c", "", 5.0, 8.0, bound=True).met is None
    assert Claim("e", "", 5.0, 8.0, at_least=True, bound=True).met is None
    assert Claim("e", "", 9.0, 8.0, at_least=True, bound=True).met is True


def test_micro_benchmarks_cover_every_term(tiny):
    from micro import TERMS, WIDTHS, markdown, measure

    rows = measure(tiny, ["plugin", "shrinkage"], budget=0.0)
    assert len(rows) == 2 * (1 + len(TERMS) * len(WIDTHS))
    assert all(row["ns"] > 0 for row in rows)
    assert markdown(rows).count("\n") == len(rows) + 1


@pytest.mark.slow
def test_memory_is_measured_beyond_the_table():
    from memory import measure_apart

    row = measure_apart("2000x40", "HOCMIM", limit=120)
    assert row["user_table"] == 2000 * 40 * 8
    assert 0 <= row["extra"] < row["peak"]
    assert row["k"] == 40


def test_the_search_on_codes_selects_what_fit_selects(tiny):
    from hocmim import HOCMIM
    from million import measure
    from tables import classes, table

    row = measure(tiny, 6, n_jobs=1)
    assert row["selected"] == HOCMIM(6).fit(table(tiny), classes(tiny)).selected_.tolist()
    assert row["codes"] == 120 * 30
    assert row["peak"] >= row["extra"] >= 0
    assert row["cpu_seconds"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float64", "int8"])
def test_reports_and_comparisons_are_measured(tiny, kind):
    from pages import long_table, measure_comparison, measure_report

    found = measure_report("JMI", kind, tiny)
    assert found["scored"] == "30"
    assert found["bytes"] > 200_000
    assert measure_comparison(100, 400)["rows"] == pytest.approx(100, abs=20)
    X, y = long_table(50)
    assert (X.shape, y.max()) == ((50, 9), 6)


def test_cliffs_measures_pairs_and_stops_what_takes_too_long(tiny, monkeypatch):
    import cliffs

    monkeypatch.setattr(cliffs, "MIN_SECONDS", 0.0)
    pair = [cliffs.Setting("HOCMIM", 5, {"max_order": order}) for order in (2, 1)]
    fastest = cliffs.measure(cliffs.Stopwatch(tiny, 60), [pair], 1)
    assert set(fastest) == {"HOCMIM, K=5, max_order=2", "HOCMIM, K=5, max_order=1"}
    assert all(0 < seconds < 60 for seconds in fastest.values())
    rows = cliffs.as_table([pair, pair[::-1]], fastest, True).splitlines()[2:]
    ratios = [float(row.split("|")[-2]) for row in rows]
    assert len(ratios) == 2
    assert min(ratios) <= 1 <= max(ratios)
    assert cliffs.Stopwatch(tiny, 0).seconds(pair[0]) == np.inf
    assert all(len(pair) == 2 for pair in cliffs.pairs())
    times = {str(setting): 2.0 for pair in cliffs.pairs() for setting in pair}
    lines = cliffs.by_setting(times).splitlines()
    assert "| `max_order=3` | 2 | 1 | 2 |" in lines
    assert "| `min_support=0` | 2 | 1 | – |" in lines  # HOCMIM-R starts at 1


@pytest.mark.parametrize("dtype", ["sparse", "strings", "categories", "levels with missing"])
def test_tables_of_other_types_are_encoded_alike(dtype):
    import encoding
    from tables import TableSpec

    spec = TableSpec("t", 60, 4)
    in_orders = [encoding.values_of(spec, dtype, order) for order in encoding.orders_of(dtype)]
    codes = [encoding.Encoder().fit_transform(X).narrow for X in in_orders]
    assert all(np.array_equal(codes[0], other) for other in codes)
    assert all(encoding.readable(X).size > 0 for X in in_orders)
    assert codes[0].max() == (5 if dtype == "levels with missing" else 4)


def test_encoding_is_compared_with_reading(tiny, monkeypatch):
    import encoding

    monkeypatch.setitem(encoding.SIZES, "B", tiny)
    found = encoding.measure(["B"], ["bool", "float64"], 0.0)
    assert len(found) == 2 * 2 + 2 * 3 * 2  # orders, threads; three discretizers for floats
    slow = {key: [read / 1e9, read] for key, (_, read) in found.items()}
    text = encoding.markdown(found, slow)
    assert "| B | float64 | C | mdlp | 2 |" in text
    assert text.count(", before") == len(found)
    assert "no case" in encoding.markdown(slow, found)
    fits = encoding.measure_fits(["B"], 0.0, k=3)
    assert [row[2] for row in fits[: len(encoding.FIT_METHODS)]] == list(encoding.FIT_METHODS)
    assert encoding.one_thread_table(["B"], 3, 1).count("| 120 × 30 |") == 2  # types
    assert "MIM slower than f_classif" in encoding.fit_markdown(fits)


def test_growth_is_the_slope_of_the_times(tiny, monkeypatch):
    import growth

    assert growth.exponent([1, 2, 4, 8], [3, 12, 48]) == pytest.approx(2)
    assert np.isnan(growth.exponent([1, 2, 4], [1, 2]))
    monkeypatch.setitem(growth.SIZES, "B", tiny)
    monkeypatch.setattr(growth, "START", {"N": 50, "D": 8, "K": 1})
    monkeypatch.setattr(growth, "SECONDS_OF_RUNS", 0.0)
    rows = growth.measure(["JMI"], 5.0, most=3)
    assert rows[0][0] == "JMI"
    assert all(np.isfinite(float(cell)) for cell in rows[0][1:])
    assert "| JMI |" in growth.markdown(rows, "B")


def test_recovery_for_a_quantity_counts_each_useful_column_once():
    from regression import PEERS, TABLES, by_pairs, by_selector, recovery, tables_of

    known = tables_of("Friedman 1, copies", 60, 2)
    assert known[0].X.shape == (60, 5 * 3 + 40)
    assert sorted(known[0].source.tolist())[40:] == sorted(list(range(5)) * 3)
    perfect = [known[0].source.tolist().index(j) for j in range(5)]
    assert recovery(lambda X, y, k: perfect, known[0]) == 1.0
    copies = np.flatnonzero(known[0].source == 0)
    assert recovery(lambda X, y, k: [*copies, perfect[1], perfect[1]], known[0]) == 0.4
    for case in TABLES:
        [one] = tables_of(case, 60, 1)
        for select in (PEERS["f_regression"], by_selector("MIM"), by_pairs("MIM")):
            assert 0 <= recovery(select, one) <= 1


def test_error_control_knows_what_is_null():
    from error_control import KINDS, Rates, copies, generate, noise, numbers, synergy

    for kind in KINDS:
        (table,) = generate(kind, 1)
        columns = range(table.X.shape[1])
        others = set(columns) - table.useful
        assert len(others) >= len(table.useful)
        assert all(table.is_null(j, table.useful) for j in others)
        given = {j: table.useful - {j} for j in table.useful}
        assert not any(table.is_null(j, given[j]) for j in table.useful)
    (table,) = generate(noise, 1)
    assert all(table.is_null(j, ()) for j in range(50))
    (table,) = generate(copies, 1)
    assert sum(table.is_null(j, ()) for j in range(40)) == 22  # a copy alone is informative
    (table,) = generate(synergy, 1)
    assert sum(table.is_null(j, ()) for j in table.useful) == 3  # needs the fair bit
    (table,) = generate(numbers, 1)
    assert not table.is_null(4, [2])
    assert not table.is_null(4, [3])
    assert table.is_null(4, [3, 9])
    assert table.is_null(1, [3])
    (table,) = generate(noise, 1)
    rates = Rates.of([table] * 2, [[1, 2], []], alone=False)
    assert (rates.false, rates.selected) == (0.5, 1.0)


def test_error_control_measures_every_alternative():
    from error_control import ALTERNATIVES, all_kinds, generate, independent, summarize

    (table,) = generate(independent, 1)
    for method in ALTERNATIVES:
        for chosen in method(table, np.random.default_rng(0)):
            assert len(set(chosen)) == len(chosen)
            assert set(chosen) <= set(range(50))
    lines = all_kinds(2).splitlines()
    assert [line for line in lines if line.startswith("| wide | chi2 |")]
    assert len(summarize("\n".join(lines)).splitlines()) == 2 + 9


def test_nested_cross_validation_measures_every_way_to_choose(tmp_path, capsys):
    from choose_k import METHODS, nested

    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        y = rng.integers(2, size=60)
        X = rng.normal(size=(60, 12)) + y[:, None] * (np.arange(12) < 2)
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    nested(tmp_path, quick=True, write=False)
    rows = [
        line.split(" | ") for line in capsys.readouterr().out.splitlines() if "| K = 10 |" in line
    ]
    names = [row[0].removeprefix("| ") for row in rows[-len(METHODS) - 1 :]]
    assert names == [*METHODS, "chosen of the seven"]
    assert all(0 <= float(row[2]) <= 1 for row in rows)


def test_rows_in_groups_have_an_effect_of_their_group():
    from row_groups import KINDS, grouped_table

    for kind in KINDS:
        X, y, groups = grouped_table(np.random.default_rng(0), kind, 0.0)
        means = np.array([X[groups == g].mean(axis=0) for g in range(60)])
        assert means.var(axis=0).mean() > 0.35
        varies = any(len(set(y[groups == g])) > 1 for g in range(60))
        assert varies == (kind == "labels vary")


def test_clusters_that_were_made_are_found():
    from clusters import QUICK_CASES, measure

    rows = measure(QUICK_CASES).splitlines()[2:]
    assert [row.split("|")[-2].strip() for row in rows] == ["yes"] * len(QUICK_CASES)


def test_some_rows_of_a_table_are_replaced():
    from docs_tables import with_rows

    old = "| a | b | x |\n|---|---|---|\n| 1 | p | 5 |\n| 2 | p | 6 |"
    new = "| a | b | y |\n|---|---|---|\n| 2 | p | 7 |\n| 3 | p | 8 |"
    assert with_rows(old, new, 2).splitlines() == [
        "| a | b | y |", "|---|---|---|", "| 1 | p | 5 |", "| 2 | p | 7 |", "| 3 | p | 8 |",
    ]  # fmt: skip
