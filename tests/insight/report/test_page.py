"""The file: where it goes, what it holds, for any selector and any table."""

import base64
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import hocmim
from hocmim import HOCMIM, JMI, errors
from hocmim.insight.notes import LEFT_OUT
from hocmim.insight.report import page as module
from hocmim.insight.report.page import write_report
from hocmim.selectors.registry import METHODS
from hocmim.text import percent

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S)[1])


def unpack(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def words_of(path):
    text = re.search(r'<div class="words">(.*?)</div>', path.read_text(), re.S)[1]
    return " ".join(re.sub(r"<[^>]*>", "", text).split())


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


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    path = tmp_path / "report.html"
    make = module.make_page

    def slow(*arguments, **options):
        path.write_text("mine")
        return make(*arguments, **options)

    monkeypatch.setattr(module, "make_page", slow)
    with pytest.raises(errors.InvalidParameterError, match="already exists"):
        selector.report(path, X, y)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_behind_by_a_failure(tmp_path, monkeypatch):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)

    def full(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("hocmim.data.writing.os.link", full)
    monkeypatch.setattr("hocmim.data.writing.Path.replace", full)
    with pytest.raises(OSError, match="disk full"):
        selector.report(tmp_path / "report.html", X, y)
    assert list(tmp_path.iterdir()) == []


def test_places_that_are_none(tmp_path):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    with pytest.raises(errors.InvalidParameterError, match="is a folder"):
        selector.report(tmp_path, X, y)
    with pytest.raises(errors.InvalidParameterError, match="does not exist"):
        selector.report(tmp_path / "gone" / "report.html", X, y)
    with pytest.raises(NotFittedError):
        HOCMIM().report(tmp_path / "report.html", X, y)


def test_without_jinja_it_says_what_to_install(tmp_path, monkeypatch):
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(errors.MissingDependencyError, match="pip install jinja2"):
        selector.report(tmp_path / "report.html", X, y)


def shown(values):
    """Numbers as the page shows them."""
    return [f"{value:.4f}" for value in values]


# -- what it holds ---------------------------------------------------------------------------------


def test_it_asks_for_nothing(tmp_path):
    X, y = CANCER
    page = HOCMIM(5).fit(X, y).report(tmp_path / "report.html", X, y).read_text()
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", page)
    for word in ("@import", "url(", "sourceMappingURL"):
        assert word not in page
    assert "default-src 'none'" in page
    assert len(page) < 400_000


def test_what_a_reader_gave_is_shown_as_text(tmp_path):
    X, y = CANCER
    page = write_report(
        HOCMIM(2).fit(X, y),
        X,
        y.rename("<i>class</i>"),
        tmp_path / "report.html",
        title="A <b>title</b>",
        source="a<file>.csv",
        command='hocmim report "a<file>.csv" -k 2',
        notes=["One & all.", "Two <u>remarks</u>."],
    ).read_text()
    for text in ("A &lt;b&gt;title", "a&lt;file&gt;.csv", "One &amp; all.", "&lt;i&gt;class"):
        assert text in page
    assert "hocmim report &#34;a&lt;file&gt;.csv&#34; -k 2" in page
    for tag in ("<b>title", "<file>", "<u>", "<i>class"):
        assert tag not in page


def test_the_numbers_of_the_search_box_are_those_of_explain(tmp_path):
    X, y = CANCER
    selector = HOCMIM(6).fit(X, y)
    data = data_of(selector.report(tmp_path / "report.html", X, y))

    scores = [selector.explain(j, X).score for j in range(30)]
    assert shown(unpack(data["score"], "<f8")) == shown(scores)
    assert shown(unpack(data["relevance"], "<f8")) == shown(selector.relevance_)
    curve = unpack(data["curve"]["codes"], "<u2").reshape(6, 30)
    start, scale, none = (data["curve"][key] for key in ("start", "scale", "none"))
    for j in range(30):
        contests = [contest.score for contest in selector.explain(j, X).contests]
        assert shown((start + curve[: len(contests), j].astype(int)) / scale) == shown(contests)
        assert (curve[len(contests) :, j] == none).all()


@pytest.mark.parametrize("k", [6, "auto"])
def test_the_sentences_are_those_of_explain(tmp_path, k):
    X, y = CANCER
    selector = HOCMIM(k).fit(X, y)
    data = data_of(selector.report(tmp_path / "report.html", X, y))
    for j in range(30):
        sentences = [
            data["templates"][number].format(
                *(repr(data["names"][a]) if isinstance(a, int) else a for a in arguments)
            )
            for number, *arguments in data["reasons"][j]
        ]
        assert " ".join(sentences).replace("−", "-") == selector.explain(j, X).reason


def test_the_call_repeats_the_selection(tmp_path):
    X, y = CANCER
    selector = HOCMIM(4, max_order=2, estimator="miller_madow").fit(X, y)
    page = selector.report(tmp_path / "report.html", X, y).read_text()
    call = re.search(r'<code id="call">(.*?)</code>', page, re.S)[1]
    call = call.replace("&#39;", "'").replace("&#34;", '"')
    space = {"X": X, "y": y}
    exec(call.replace("report.html", str(tmp_path / "again.html")), space)
    assert space["selector"].selected_.tolist() == selector.selected_.tolist()
    assert space["selector"].get_params() == selector.get_params()
    assert hocmim.insight.report.fingerprint(X, y) in page


# -- words -----------------------------------------------------------------------------------------


def test_summary_of_a_fixed_number(tmp_path):
    X, y = CANCER
    words = words_of(
        HOCMIM(10, discretizer="uniform").fit(X, y).report(tmp_path / "report.html", X, y)
    )
    assert words.startswith(
        "HOCMIM selected 10 of 30 features, from 569 samples. The first, worst concave points, "
        "alone has 0.40 nats of information about the target: 60% of its entropy. Together they "
        "have between 0.49 and 0.63 of 0.66 nats (74% to 95%)"
    )
    assert "The selection stopped at the requested number of features." in words
    assert "worst perimeter has the largest relevance (0.36 nats), but worst radius" in words


def test_summary_of_one_feature_and_of_all(tmp_path):
    X, y = CANCER
    words = words_of(HOCMIM(1).fit(X, y).report(tmp_path / "one.html", X, y))
    assert "selected 1 of 30 features, from 569 samples. worst perimeter has" in words
    X = X[["mean radius", "mean area"]]
    words = words_of(HOCMIM(2).fit(X, y).report(tmp_path / "all.html", X, y))
    assert "All features were selected." in words
    assert "not selected" not in words


def test_summary_of_selections_that_stop(tmp_path):
    X, y = CANCER
    selector = HOCMIM("auto").fit(X, y)
    path = selector.report(tmp_path / "auto.html", X, y)
    assert "The selection stopped because the best remaining candidate, " in words_of(path)
    assert f"(p = {selector.stopping_.p_value:.2g}, significance level 0.01)." in words_of(path)
    assert ">p</button>" in path.read_text()
    words = words_of(HOCMIM(10, min_gain=0.15).fit(X, y).report(tmp_path / "gain.html", X, y))
    assert "below min_gain = 0.15." in words


def test_nothing_selected(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(80, 6)), rng.integers(2, size=80)
    path = HOCMIM("auto").fit(X, y).report(tmp_path / "none.html", X, y)
    words = words_of(path)
    assert words.startswith("HOCMIM selected none of 6 features, from 80 samples.")
    assert "The best candidate, column " in words
    assert 'id="together"' not in path.read_text()


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.001, "less than 1%"), (0.5, "50%"), (0.9964, "99.6%"), (1, "100%")],
)
def test_percent(share, text):
    assert percent(share) == text


def test_features_that_were_not_scored(tmp_path):
    X, y = CANCER
    X = pd.concat([X.add_suffix(f" {n}") for n in range(4)], axis=1)
    selector = hocmim.RobustHOCMIM(4).fit(X, y)
    events = []
    path = selector.report(tmp_path / "report.html", X, y, max_seconds=0.0, progress=events.append)
    data = data_of(path)
    scored = unpack(data["curve"]["scored"], "<u4").tolist()
    assert len(scored) == 64
    assert "those that add most to a selected feature,\n    64 in all" in path.read_text()
    for k in range(120):
        is_last = data["templates"][data["reasons"][k][0][0]].endswith("run hocmim explain.")
        assert is_last == (k not in scored)
    assert events[0].stage == "encode"
    assert events[-1].stage == "explain"
    assert events[-1].n_terms == events[-1].n_terms_total == 4 * (120 + 64)
    everything = selector.report(tmp_path / "all.html", X, y, max_seconds=None)
    assert "those that add most" not in everything.read_text()


# -- any selector, any table -----------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_every_selector(name, tmp_path):
    X, y = CANCER
    X = X.iloc[:, :9]
    selector = hocmim.make_selector(name, n_features_to_select=3).fit(X, y)
    path = selector.report(tmp_path / "report.html", X, y)
    data = data_of(path)
    assert data["selected"] == selector.selected_.tolist()
    assert data["method"] == name
    assert ("Order</button>" in path.read_text()) == (name in ("HOCMIM", "HOCMIM-R"))


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
def test_mixed_types_and_notes(make, tmp_path):
    frame, y = mixed_table()
    X = make(frame)
    path = HOCMIM(4).fit(X, y).report(tmp_path / "report.html", X, y)
    page, data = path.read_text(), data_of(path)
    assert data["names"] == list(frame.columns)
    for title in (
        "Possible copies of the target",
        "Possible identifiers",
        "Constant",
        "Missing values",
    ):
        assert title in page
    assert data["encoding"][5] == (
        "levels as they are, 3 categories: blue (43 rows), green (46 rows), red (31 rows)"
    )
    assert re.fullmatch(
        r"5 bins, cut at .*; rows in each bin: (\d\d, ){4}\d\d; "
        r"missing values \(\d+ rows\) are a level of their own",
        data["encoding"][1],
    )
    assert data["encoding"][2] == "levels as they are, 1 value: 1 (120 rows)"
    assert 'target:\n        <bdi class="name" title="won">won</bdi>' in page


def test_bins_of_selected_features_are_listed(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    X = pd.DataFrame({"zeros": np.r_[np.zeros(90), np.arange(1, 11)], "size": np.arange(100.0)})
    selector = JMI(2, identifiers="keep").fit(X, y)
    page = selector.report(tmp_path / "report.html", X, y).read_text()
    shown = re.sub(r"<[^>]+>", "", page[page.index("How the columns are coded") :])
    assert "size5 bins, cut at 20, 40, 60, 80; rows in each bin: 20, 20, 20, 20, 20" in shown
    assert "up to 5 of equal frequency" in page
    assert "Most rows in one bin" in page
    assert "has 90% of its rows in one bin (below 1): the values in this bin count" in page


def test_arrays_and_sparse_matrices(tmp_path):
    X, y = CANCER
    for at, table in enumerate([X.to_numpy(), sparse.csr_array(X.to_numpy())]):
        path = JMI(3).fit(table, y).report(tmp_path / f"{at}.html", table, y)
        assert data_of(path)["names"][2] == "column 2"


def test_infinite_scores(tmp_path):
    """A column that is constant in each class has an infinite Fisher score."""
    X, y = CANCER
    X = X.iloc[:, :3].assign(copy=y)
    selector = hocmim.FisherScore(2).fit(X, y)
    assert selector.scores_[0] == np.inf
    path = selector.report(tmp_path / "report.html", X, y)
    assert '<td data-value="inf">∞</td>' in path.read_text()


def test_groups_and_weights(tmp_path):
    frame, y = mixed_table()
    weights = np.arange(len(y)) % 3
    selector = HOCMIM(3, feature_groups={"both": ["number", "copy"]})
    path = selector.fit(frame, y, sample_weight=weights).report(tmp_path / "r.html", frame, y)
    data = data_of(path)
    assert data["names"][0] == "both"
    assert data["columns"][0] == [0, 4]
    assert data["encoding"][0].startswith("group of 2 columns (number, copy): ")
    copies = [message for k, message in data["notes"] if k == 0]
    assert copies[0].startswith("'copy' explains 100%")
    assert "Check both before" in words_of(path)
    assert f"selected {len(data['selected'])} of 7 features, from 120 samples." in words_of(path)
    assert "The first, both, alone has" in words_of(path)
    rows = int((weights > 0).sum())
    assert [m for _, m in data["notes"] if "identifier" in m] == [
        f"looks like an identifier: {rows} of its {rows} values are distinct.{LEFT_OUT}"
    ]


def test_continuous_target(tmp_path):
    X, _ = CANCER
    y = X["mean radius"] * 1.5 + np.sin(X["mean area"])
    X = X.drop(columns="mean radius")
    page = HOCMIM(3).fit(X, y).report(tmp_path / "report.html", X, y).read_text()
    assert "a quantity, cut into 3 bins at" in page
    assert "bins of the target" in page


def test_many_columns_stay_small(tmp_path):
    """20 000 columns in less than 5 MB, measured on 2000 of them: 10 steps, sets of order 9."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    X = rng.normal(size=(60, 2000)) + y[:, None] * (rng.random(2000) < 0.1)
    X = pd.DataFrame(X, columns=[f"gene_{j:05d}" for j in range(2000)])
    selector = HOCMIM(10).fit(X, y)
    one = selector.report(tmp_path / "all.html", X, y).stat().st_size
    small = X.iloc[:, :50]
    base = HOCMIM(10).fit(small, y).report(tmp_path / "few.html", small, y).stat().st_size
    assert base + (one - base) / 1950 * 20_000 < 5_000_000


def test_more_selected_than_are_compared(tmp_path, monkeypatch):
    X, y = CANCER
    monkeypatch.setattr("hocmim.insight.report.content.MAX_ROWS", 5)
    monkeypatch.setattr("hocmim.insight.report.evidence.MAX_MAPPED", 4)
    monkeypatch.setattr("hocmim.insight.report.answers.MAX_COMPARED", 3)
    monkeypatch.setattr(module, "MAX_MAPPED", 4)
    path = hocmim.MIM(12).fit(X, y).report(tmp_path / "report.html", X, y)
    data = data_of(path)
    assert len(data["map"]) == 4
    assert "The first 5 of 12 are listed." in path.read_text()
    assert "The first 4 of 12 are shown." in path.read_text()
