"""The page: where the file goes, what it holds, for any selector and any table."""

import html
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import hocmim
import warned
from hocmim import HOCMIM, JMI, Encoder, FisherScore, RobustHOCMIM, errors, substitutes
from hocmim.insight.basis import basis_of
from hocmim.insight.chart_data import frequencies_of, target_by_level
from hocmim.insight.prediction import predict
from hocmim.insight.report import page as module
from hocmim.insight.report.charts import ticks
from hocmim.insight.synergy import strongest_map

pytestmark = pytest.mark.filterwarnings(
    warned.IDENTIFIER, warned.LEAK, warned.ONE_BIN, warned.REPEATED_ROWS
)

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


def text_of(path, start, end):
    """The words of a part of a page, without markup."""
    part = path.read_text().partition(start)[2].partition(end)[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split())


def words_of(path):
    return text_of(path, '<div class="words">', "</div>")


def explained(path):
    """The text of each explanation on a page, by feature."""
    parts = re.findall(r'<details class="explanation">(.*?)</details>', path.read_text(), re.S)
    return {
        int(re.search(r'id="feature-(\d+)"', text)[1]): html.unescape(re.sub(r"<[^>]*>", "", text))
        for text in parts
    }


# -- the file --------------------------------------------------------------------------------------


def test_it_never_takes_the_place_of_a_file_unasked(tmp_path):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(errors.InvalidParameterError, match="already exists"):
        selector.report(path, X, y)
    assert path.read_text() == "mine"
    assert selector.report(path, X, y, overwrite=True) == path
    assert path.read_text().startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    path = tmp_path / "report.html"
    with pytest.raises(errors.InvalidParameterError, match="already exists"):
        selector.report(path, X, y, progress=lambda event: path.write_text("mine"))
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_mistakes_get_a_sentence_and_leave_nothing_behind(tmp_path, monkeypatch):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    path = tmp_path / "report.html"
    with pytest.raises(errors.InvalidParameterError, match="is a folder"):
        selector.report(tmp_path, X, y)
    with pytest.raises(errors.InvalidParameterError, match="does not exist"):
        selector.report(tmp_path / "gone" / "report.html", X, y)
    with pytest.raises(NotFittedError):
        HOCMIM().report(path, X, y)
    with pytest.raises(errors.InvalidTableError, match="not the table the selector was fitted on"):
        selector.report(path, X[::-1], y)
    with pytest.raises(errors.InvalidTargetError, match="not the target the selector was fitted"):
        selector.report(path, X, 1 - y)
    with pytest.raises(errors.InvalidTableError, match="not the table"):
        FisherScore(2).fit(X, y).report(path, X[X.columns[::-1]], y)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(errors.MissingDependencyError, match="pip install jinja2"):
        selector.report(path, X, y)
    monkeypatch.undo()

    def full(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("hocmim.data.writing.os.link", full)
    monkeypatch.setattr("hocmim.data.writing.Path.replace", full)
    with pytest.raises(OSError, match="disk full"):
        selector.report(path, X, y)
    assert list(tmp_path.iterdir()) == []


# -- what it holds ---------------------------------------------------------------------------------


def test_it_asks_for_nothing(tmp_path):
    X, y = CANCER
    page = HOCMIM(5).fit(X, y).report(tmp_path / "report.html", X, y).read_text()
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", page)
    for word in ("@import", "url(", "sourceMappingURL"):
        assert word not in page
    assert "default-src 'none'" in page
    assert len(page) < 200_000


def test_what_a_reader_gave_is_shown_as_text(tmp_path):
    X, y = CANCER
    page = HOCMIM(2).fit(X, y).report(
        tmp_path / "report.html",
        X,
        y.rename("<i>class</i>"),
        title="A <b>title</b>",
        source="a<file>.csv",
        command='hocmim report "a<file>.csv" -k 2',
        notes=["One & all.", "Two <u>remarks</u>."],
    ).read_text()  # fmt: skip
    for text in ("A &lt;b&gt;title", "a&lt;file&gt;.csv", "One &amp; all.", "&lt;i&gt;class"):
        assert text in page
    assert "hocmim report &#34;a&lt;file&gt;.csv&#34; -k 2" in page
    for tag in ("<b>title", "<file>", "<u>", "<i>class"):
        assert tag not in page


@pytest.mark.parametrize("k", [6, "significant"])
def test_explanations_are_those_of_explain(tmp_path, k):
    X, y = CANCER
    selector = HOCMIM(k).fit(X, y)
    found = explained(selector.report(tmp_path / "report.html", X, y))
    assert len(found) == 30
    for j, text in found.items():
        one = selector.explain(j, X)
        assert one.reason in text
        for label, value in one.facts():
            assert f"{label}{value}" in text
        assert f"{one.relevance:.4f} nats" in text
        if one.shared() and one.relevance > 0:
            assert f"repeated by {one.shared()[0][0]}" in text


def test_the_table_of_selected_features(tmp_path):
    X, y = CANCER
    selector = RobustHOCMIM(5).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    text = text_of(path, 'id="selected"', "</table>")
    for rank, j in enumerate(selector.selected_.tolist(), 1):
        one = selector.explain(j)
        most = one.shared()[0][0] if one.shared() else "–"
        order = selector.orders_[rank - 1]
        row = f"{rank} {X.columns[j]} {one.relevance:.4f} {one.score:.4f} {order} {most}"
        assert row in text.replace("−", "-")


def test_substitutes_and_interactions_are_those_of_the_functions(tmp_path):
    X, y = CANCER
    selector = RobustHOCMIM(5).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    text = text_of(path, 'id="related"', "</table>")
    for each in substitutes(selector, X, y, n=3):
        for row in each:
            entry = f"{row.feature} {each.cost(row)}; shares {hocmim.text.percent(row.share)}"
            assert (entry in text) == each.replaces(row)
    found = hocmim.selected_interactions(selector)
    text = text_of(path, 'id="together"', "</section>")
    assert found.sentences[0] in text
    first = found[0]
    assert f"{first.features[0]} × {first.features[1]} {first.value:.4f}".replace("-", "−") in text


def test_the_first_paragraph_and_the_pictures(tmp_path):
    X, y = CANCER
    selector = RobustHOCMIM(3).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    found = predict(basis_of(selector))
    first = words_of(path).partition(" The selection")[0]
    assert first == f"HOCMIM-R selected 3 of 30 features, from 569 samples. {found.sentence}"
    pictures = text_of(path, 'class="cards"', "</section>")
    for column in basis_of(selector).selected_columns:
        for row in target_by_level(basis_of(selector), column).rows:
            assert f"{row.label} {hocmim.text.percent(row.value)} {row.n_rows}" in pictures
    text = text_of(path, 'id="together"', "</section>")
    together = strongest_map(basis_of(selector))
    assert together.sentence in text
    assert f"{hocmim.text.percent(together.values[0][0])} {together.n_rows[0][0]}" in text


def test_columns_that_say_nothing_alone(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (300, 8)), columns=list("abcdefgh"))
    selector = RobustHOCMIM(2).fit(X, X["b"] ^ X["f"])
    path = selector.report(tmp_path / "report.html", X, X["b"] ^ X["f"])
    sentence = "'b' and 'f' say nothing alone; together they tell 0.69 nats"
    assert sentence in text_of(path, 'id="together"', "</section>")
    assert sentence in explained(path)[1]


def test_too_few_rows_for_each_cell(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(63, 200)), rng.integers(4, size=63)
    path = hocmim.MIM(4).fit(X, y).report(tmp_path / "report.html", X, y)
    text = text_of(path, 'id="together"', "</section>")
    assert "6 have fewer than 5 rows for each cell, too few to tell" in text
    assert path.read_text().count("<path class=") > 5
    assert "Every sample is a column of this picture" in path.read_text()


def test_stability_on_the_page(tmp_path):
    X, y = CANCER
    stable = hocmim.StabilitySelector(RobustHOCMIM(3), n_resamples=8).fit(X, y)
    page = RobustHOCMIM(3).fit(X, y).report(tmp_path / "a.html", X, y, stability=stable)
    own = stable.report(tmp_path / "b.html", X, y)
    for path in (page, own):
        text = text_of(path, 'id="stability"', "</section>")
        assert frequencies_of(stable).sentence in text
        for row in frequencies_of(stable).rows[:20]:
            percent = hocmim.text.percent
            assert f"{percent(row.frequency)} {percent(row.with_substitutes)}" in text
    assert 'id="stability"' not in HOCMIM(2).fit(X, y).report(tmp_path / "c.html", X, y).read_text()
    with pytest.raises(errors.InvalidParameterError, match="StabilitySelector"):
        HOCMIM(2).fit(X, y).report(tmp_path / "d.html", X, y, stability=HOCMIM(2))


def test_duplicate_rows(tmp_path):
    X, y = CANCER
    X, y = X.iloc[:200, :4], y[:200]
    twice, target = (pd.concat([part, part[:30]], ignore_index=True) for part in (X, y))
    found = HOCMIM(2).fit(twice, target).report(tmp_path / "a.html", twice, target)
    checks = text_of(found, 'class="checks"', "</ul>")
    assert checks.endswith("no missing values duplicate rows")
    assert "30 of 230 rows repeat another row" in found.read_text()


def test_the_call_repeats_the_selection(tmp_path):
    X, y = CANCER
    selector = HOCMIM(4, max_order=2, estimator="miller_madow").fit(X, y)
    page = selector.report(tmp_path / "report.html", X, y).read_text()
    call = html.unescape(re.search(r'<code id="call">(.*?)</code>', page, re.S)[1])
    space = {"X": X, "y": y}
    exec(call.replace("report.html", str(tmp_path / "again.html")), space)
    assert space["selector"].selected_.tolist() == selector.selected_.tolist()
    assert space["selector"].get_params() == selector.get_params()


# -- words -----------------------------------------------------------------------------------------


def test_summary_of_a_fixed_number(tmp_path):
    X, y = CANCER
    selector = HOCMIM(10, encoder=Encoder(discretizer="uniform")).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    words = words_of(path)
    assert words.startswith(
        "HOCMIM selected 10 of 30 features, from 569 samples. With these 10 columns a simple "
        "model is right in 95% of cases it has not seen; always answering the most frequent "
        "class, in 63%."
    )
    assert "nats" not in words
    assert "The selection stopped at the requested number of features." in words
    details = text_of(path, 'id="selected"', "<table")
    assert (
        "The first, 'worst concave points', alone has 0.40 nats of information about the target: "
        "60% of its entropy." in details
    )
    assert "'worst perimeter' has the largest relevance (0.36 nats), but 'worst radius'" in details


def test_summary_of_one_feature_and_of_all(tmp_path):
    X, y = CANCER
    words = words_of(HOCMIM(1).fit(X, y).report(tmp_path / "one.html", X, y))
    assert "With this column a simple model is right in 91% of cases" in words
    X = X[["mean radius", "mean area"]]
    words = words_of(HOCMIM(2).fit(X, y).report(tmp_path / "all.html", X, y))
    assert "All features were selected." in words
    assert "not selected" not in words


def test_a_selection_that_stops_and_one_of_nothing(tmp_path):
    X, y = CANCER
    selector = HOCMIM("significant").fit(X, y)
    path = selector.report(tmp_path / "auto.html", X, y)
    assert "The selection stopped because the best remaining candidate, " in words_of(path)
    assert f"(p = {selector.stopping_.p_value:.2g}, level 0.01)." in words_of(path)
    assert ">p</th>" in path.read_text()
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(80, 6)), rng.integers(2, size=80)
    path = HOCMIM("significant").fit(X, y).report(tmp_path / "none.html", X, y)
    assert words_of(path).startswith("HOCMIM selected none of 6 features, from 80 samples.")
    assert "The best candidate, 'column " in words_of(path)
    for part in ("target", "prediction", "together", "selected", "related"):
        assert f'id="{part}"' not in path.read_text()


def test_explanations_take_as_long_as_they_may(tmp_path, monkeypatch):
    X, y = CANCER
    X = pd.concat([X.add_suffix(f" {n}") for n in range(4)], axis=1)
    selector = RobustHOCMIM(4).fit(X, y)
    events = []
    monkeypatch.setattr(module, "MAX_SECONDS", 0.0)
    path = selector.report(tmp_path / "a.html", X, y, progress=events.append)
    assert list(explained(path)) == [selector.selected_[0]]
    assert [event.stage for event in events] == ["encode", *["explain"] * 3]
    assert (events[-1].done, events[-1].total) == (1, 1)
    assert "The first 1 of 4 are listed." in text_of(path, 'id="selected"', "</section>")
    monkeypatch.undo()
    path = selector.report(tmp_path / "b.html", X, y)
    assert len(explained(path)) == 4 + 40
    assert "The 44 features with an explanation" in " ".join(path.read_text().split())

    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.report(tmp_path / "c.html", X, y, progress=stop)


# -- any selector, any table -----------------------------------------------------------------------


@pytest.mark.parametrize("name", hocmim.list_methods())
def test_every_selector(name, tmp_path):
    X, y = CANCER
    X = X.iloc[:, :9]
    selector = hocmim.make_selector(name, n_features_to_select=3).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    for place, j in enumerate(selector.selected_.tolist(), 1):
        assert f"selected as number {place}" in explained(path)[j]
    assert words_of(path).startswith(f"{name} selected 3 of 9 features")
    assert (">Order</th>" in path.read_text()) == (name in ("HOCMIM", "HOCMIM-R"))
    assert len(explained(path)) == 9


def test_a_cross_validation_and_a_stability_selector(tmp_path):
    X, y = CANCER
    X = X.iloc[:, :8]
    chosen = hocmim.SelectorCV(JMI(3), cv=2).fit(X, y)
    words = words_of(chosen.report(tmp_path / "cv.html", X, y))
    assert words.startswith(f"JMI selected {chosen.n_features_} of 8")
    stable = hocmim.StabilitySelector(JMI(3), n_resamples=5).fit(X, y)
    found = explained(stable.report(tmp_path / "stable.html", X, y))
    for j, frequency in enumerate(stable.frequencies_):
        assert f"score{frequency:.4f}" in found[j]


def mixed_table(n=120):
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n) + y,
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "constant": 1.0,
            "row": np.arange(n),
            "copy": y * 2,
            "colour": pd.Categorical(
                np.array(["red", "green", "blue"])[(y + (np.arange(n) % 3)) % 3]
            ),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=n), "D"),
            "flag": rng.random(n) < 0.3 + 0.4 * y,
        }
    )
    return frame, pd.Series(y, name="won")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_mixed_types_and_what_is_odd(make, tmp_path):
    frame, y = mixed_table()
    X = make(frame)
    path = HOCMIM(4).fit(X, y).report(tmp_path / "report.html", X, y)
    text = text_of(path, 'id="data-checks"', "</section>")
    for finding in hocmim.check_table(X, y):
        assert f"{finding.kind.capitalize()} {len(finding.names)} {finding}" in text
        assert f"{finding.names[0]} {finding.details[0]}" in text
    found = explained(path)
    assert "levels as they are, 3 categories: blue (43 rows), green (46 rows)" in found[5]
    assert "levels as they are, 1 value: 1 (120 rows)" in found[2]
    assert 'target: <bdi class="name" title="won">won</bdi>' in path.read_text()
    assert "Check 'copy' before you trust this selection: it may copy the target." in words_of(path)
    assert "1 feature was left out, because it identifies the rows: 'row'." in words_of(path)


def test_arrays_and_sparse_matrices(tmp_path):
    X, y = CANCER
    for at, table in enumerate([X.to_numpy(), sparse.csr_array(X.to_numpy())]):
        path = JMI(3).fit(table, y).report(tmp_path / f"{at}.html", table, y)
        assert all(text.startswith(f"\n    column {j} ") for j, text in explained(path).items())


def test_infinite_scores(tmp_path):
    """A column that is constant in each class has an infinite Fisher score."""
    X, y = CANCER
    X = X.iloc[:, :3].assign(copy=y)
    selector = FisherScore(2).fit(X, y)
    assert selector.scores_[0] == np.inf
    path = selector.report(tmp_path / "report.html", X, y)
    assert "<td>∞</td>" in path.read_text()


def test_groups_and_weights(tmp_path):
    frame, y = mixed_table()
    weights = np.arange(len(y)) % 3
    selector = HOCMIM(3, feature_groups={"both": ["number", "copy"]})
    path = selector.fit(frame, y, sample_weight=weights).report(tmp_path / "r.html", frame, y)
    assert "The first, 'both', alone has" in text_of(path, 'id="selected"', "<table")
    assert "selected 3 of 7 features, from 120 samples." in words_of(path)
    assert "Check 'both' before you trust this selection" in words_of(path)
    assert "group of 2 columns (number, copy): " in explained(path)[0]
    assert len(explained(path)) == 7


def test_a_continuous_target(tmp_path):
    X, _ = CANCER
    y = X["mean radius"] * 1.5 + np.sin(X["mean area"])
    X = X.drop(columns="mean radius")
    page = HOCMIM(3).fit(X, y).report(tmp_path / "report.html", X, y).read_text()
    assert "a quantity, cut into 3 bins at" in page
    assert "R², in cases not seen" in page
    assert 'class="track box"' in page


def test_more_selected_than_are_shown(tmp_path, monkeypatch):
    X, y = CANCER
    for name, value in (("MAX_SELECTED_EXPLAINED", 5), ("MAX_PICTURES", 4), ("MAX_REPLACED", 3)):
        monkeypatch.setattr(module, name, value)
    path = hocmim.MIM(12).fit(X, y).report(tmp_path / "report.html", X, y)
    text = text_of(path, "<main", "</main>")
    for sentence in ("The first 5 of 12 are listed.", "The first 4 of 12 are shown.",
                     "The first 3 of 12 are listed."):  # fmt: skip
        assert sentence in text


def test_names_are_escaped(tmp_path):
    X, y = CANCER
    names = {"worst radius": "<img src=x onerror=1>", "worst perimeter": "</script><b>",
             "mean area": "half \ud83d \x00"}  # fmt: skip
    columns = pd.Index([names.get(name, name) for name in X.columns], dtype=object)
    X = pd.DataFrame(X.to_numpy(), columns=columns)
    page = RobustHOCMIM(4).fit(X, y).report(tmp_path / "report.html", X, y).read_text()
    assert "<img src=x" not in page
    assert "</script><b>" not in page
    assert "half \ufffd ␀" in page


# -- pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, 6), (0, 0.63, 5), (-0.2, 0.5, 5), (0, 0, 6), (1e-9, 3e-9, 4), (0, 7e8, 5)],
)
def test_ticks_enclose_the_range(low, high, expected):
    found = ticks(low, high)
    assert found[0] <= low
    assert found[-1] >= high
    assert abs(len(found) - expected) <= 2
