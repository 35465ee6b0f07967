"""The benchmark scripts on tiny tables; no times are checked."""

import re
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
    from common import TableSpec

    return TableSpec("tiny", 120, 30)


@pytest.mark.parametrize("script", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_says_what_it_measures(script):
    """Its imports work, and --help shows its docstring."""
    __import__(script.stem)
    text = script.read_text("utf-8")
    assert text.startswith('"""')
    assert (
        script.stem == "common"
        or f"python benchmarks/{script.name}" in text
        or (script.stem == "packages" and "make bench" in text)
    )


@pytest.mark.parametrize("kind", ["levels", "words", "genes"])
def test_a_table_is_the_same_in_every_form_and_equal_to_its_encoding(kind):
    from coded import encode
    from common import TableSpec, as_codes, classes, code_matrix, table

    spec = TableSpec("t", 150, 70, kind, 2 if kind == "words" else 5)
    X, y = table(spec), classes(spec)
    codes, target = as_codes(code_matrix(spec), y)
    encoded = encode(X)
    np.testing.assert_array_equal(codes.narrow.T, X)
    np.testing.assert_array_equal(codes.narrow, encoded.narrow)
    np.testing.assert_array_equal(codes.arity, encoded.arity)
    assert target.arity == 2
    np.testing.assert_array_equal(table(spec, np.float64), X)


def test_the_search_on_codes_selects_what_fit_selects(tiny):
    from common import as_codes, classes, code_matrix, search, table
    from hocmim import HOCMIM

    found = search(*as_codes(code_matrix(tiny), classes(tiny)), HOCMIM(6), 6)
    assert found == HOCMIM(6).fit(table(tiny), classes(tiny)).selected_.tolist()


@pytest.mark.slow
def test_packages_are_measured_each_in_its_process(tiny, tmp_path, monkeypatch):
    import packages

    everything = packages.cases_of(tiny)
    cases = [
        next(case for case in everything if (case["method"], case["kind"]) == ("MIM", kind))
        for kind in ("fit", "search")
    ]
    cases.append(cases[0] | {"method": "no such method"})
    monkeypatch.setattr(packages, "cases_of", lambda _: cases)
    monkeypatch.setattr(packages, "KEPT", tmp_path / "kept" / "packages.json")
    found = packages.measure([tiny])
    assert len(found["tiny|hocmim|MIM|fit|30|2"]["runs"]) > 1
    assert "no method" in found["tiny|hocmim|no such method|fit|30|2"]["error"]
    text = packages.report(found)
    assert "| tiny | MIM | hocmim (search) |" in text
    assert "all, in order" in text
    monkeypatch.setattr(packages, "OWN_LIMIT", 1e-5)
    assert packages.run(cases[0], sys.executable) == {"limit": 1e-5}


def test_kernels_cover_every_term_and_the_bound(tiny):
    from common import classes, table
    from kernels import ESTIMATORS, TERMS, WIDTHS, bound_row, measure

    assert len(measure(tiny, budget=0.0)) == len(ESTIMATORS) * (1 + len(TERMS) * len(WIDTHS))
    assert bound_row("tiny", table(tiny, np.uint8), classes(tiny))[2:5] == ["30", "29", "K"]


@pytest.mark.slow
def test_memory_is_measured_beyond_the_table():
    from memory import apart, report

    row = apart("fit", "2000x40", "HOCMIM")
    assert row["user_table"] == 2000 * 40 * 8
    assert 0 <= row["extra"] < row["peak"]
    assert "| 2000x40 | HOCMIM | 40 |" in report([row])


def test_reports_comparisons_and_clusters_are_measured(tiny):
    from pages import QUICK_CLUSTERS, cluster_row, comparison_row, report_row

    assert re.fullmatch(r"0\.[1-9] MB", report_row("JMI", "int8", tiny)[-1])
    assert int(comparison_row(100, 400)[1]) == pytest.approx(100, abs=20)
    assert [cluster_row(*case)[-1] for case in QUICK_CLUSTERS] == ["yes", "yes"]


@pytest.mark.parametrize("dtype", ["sparse", "strings", "categories", "levels with missing"])
def test_tables_of_other_types_are_encoded_alike(dtype):
    import encoding
    from common import TableSpec

    spec = TableSpec("t", 60, 4)
    in_orders = [encoding.values_of(spec, dtype, order) for order in encoding.orders_of(dtype)]
    codes = [encoding.Encoder().fit_transform(X).narrow for X in in_orders]
    assert all(np.array_equal(codes[0], other) for other in codes)
    assert codes[0].max() == (5 if dtype == "levels with missing" else 4)


def test_encoding_is_compared_with_reading_and_fits_with_searches(tiny, monkeypatch):
    import encoding

    monkeypatch.setitem(encoding.SIZES, "B", tiny)
    found = encoding.measure(["B"], ["bool", "float64"], 0.0)
    assert len(found) == 2 * 2 + 2 * 3 * 2  # orders, threads; three discretizers for floats
    assert "| B | float64 | C | mdlp | 2 |" in encoding.encoding_report(found)
    fits = encoding.measure_fits(["B"], 0.0, k=3)
    assert [row[2] for row in fits[: len(encoding.FIT_METHODS)]] == list(encoding.FIT_METHODS)
    assert "MIM slower than f_classif" in encoding.fit_report(fits)


def test_growth_is_the_slope_of_the_times(tiny, monkeypatch, tmp_path):
    import growth

    assert growth.exponent([1, 2, 4, 8], [3, 12, 48]) == pytest.approx(2)
    assert np.isnan(growth.exponent([1, 2, 4], [1, 2]))
    monkeypatch.setattr(growth, "START", {"N": 50, "D": 8, "K": 1})
    monkeypatch.setattr(growth, "SECONDS_OF_RUNS", 0.0)
    [row], curves = growth.measure(["JMI"], 5.0, tiny, most=3)
    assert row[0] == "JMI"
    assert all(np.isfinite(float(cell)) for cell in row[1:])
    growth.draw(curves, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_settings_are_compared_in_pairs(tiny, monkeypatch):
    import growth

    monkeypatch.setattr(growth, "SECONDS_OF_RUNS", 0.0)
    pair = tuple(growth.Setting("HOCMIM", 5, (("max_order", order),)) for order in (2, 1))
    found = growth.measure_pairs([pair], tiny)
    assert "| HOCMIM, K=5, max_order=2 |" in growth.pairs_table([pair], found)
    times = dict.fromkeys((setting for each in growth.pairs() for setting in each), 2.0)
    assert "| `max_order=3` | 2 | 1 | 2 |" in growth.orders_table(times)


def test_recovery_for_a_quantity_counts_each_useful_column_once():
    from regression import PEERS, TABLES, by_selector, recovery, tables_of

    known = tables_of("Friedman 1, copies", 60, 2)
    assert known[0].X.shape == (60, 5 * 3 + 40)
    perfect = [known[0].source.tolist().index(j) for j in range(5)]
    assert recovery(lambda X, y, k: perfect, known[0]) == 1.0
    copies = np.flatnonzero(known[0].source == 0)
    assert recovery(lambda X, y, k: [*copies, perfect[1], perfect[1]], known[0]) == 0.4
    for case in TABLES:
        [one] = tables_of(case, 60, 1)
        for select in (PEERS["f_regression"], by_selector("MIM")):
            assert 0 <= recovery(select, one) <= 1


def test_error_control_knows_what_is_null():
    from error_control import KINDS, Rates, copies, generate, noise, synergy

    for kind in KINDS:
        (table,) = generate(kind, 1)
        others = set(range(table.X.shape[1])) - table.useful
        assert all(table.is_null(j, table.useful) for j in others)
        given = {j: table.useful - {j} for j in table.useful}
        assert not any(table.is_null(j, given[j]) for j in table.useful)
    (table,) = generate(copies, 1)
    assert sum(table.is_null(j, ()) for j in range(40)) == 22  # a copy alone is informative
    (table,) = generate(synergy, 1)
    assert sum(table.is_null(j, ()) for j in table.useful) == 3  # needs the fair bit
    (table,) = generate(noise, 1)
    rates = Rates.of([table] * 2, [[(1, ()), (2, (1,))], []], alone=False)
    assert (rates.false, rates.selected) == (0.5, 1.0)


def test_the_variant_of_a_table_is_chosen_on_the_others():
    from how_many import final_k, nested

    values = np.array([[0.1, 0.3], [0.1, 0.3], [0.9, 0.0]])  # of tables and variants
    assert nested(values) == (pytest.approx((0.3 + 0.3 + 0.9) / 3), [1, 1, 0])
    assert final_k({"chosen": {"a": [7, 2.5], "b": [7, 1.5]}}, "a") == 7
    assert final_k({"chosen": {"a": [7, 2.5], "b": [7, 1.5]}}, "b") == 1


def test_rows_in_groups_have_an_effect_of_their_group():
    from stopping import KINDS, grouped_table

    for kind in KINDS:
        X, y, groups = grouped_table(np.random.default_rng(0), kind, 0.0)
        means = np.array([X[groups == g].mean(axis=0) for g in range(60)])
        assert means.var(axis=0).mean() > 0.35
        varies = any(len(set(y[groups == g])) > 1 for g in range(60))
        assert varies == (kind == "labels vary")
