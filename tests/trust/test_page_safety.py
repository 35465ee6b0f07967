"""No name runs as script, and no page asks for anything: report and page of an experiment."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from payloads import PAYLOADS

import hocmim
import warned
from browser import Recorder, open_chromium, script, served
from hocmim.experiments.config import config_report, read_config
from hocmim.experiments.figures import write_figures
from hocmim.experiments.page import write_page
from hocmim.experiments.report import write_tables
from hocmim.experiments.run import run
from hocmim.experiments.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(warned.LEAK)]

LABELS = PAYLOADS[::5]


def table():
    """Names of columns, labels of a column and classes are payloads."""
    rng = np.random.default_rng(3)
    n_rows = 240
    y = rng.integers(len(LABELS), size=n_rows)
    X = rng.integers(3, size=(n_rows, len(PAYLOADS)))
    X[:, ::3] += y[:, None] % 3
    frame = pd.DataFrame(X, columns=pd.Index(PAYLOADS, dtype=object))
    frame[PAYLOADS[1]] = np.array(PAYLOADS[20:25], object)[y % 5]
    return frame, pd.Series(np.array(LABELS, object)[y], name=PAYLOADS[16])


def experiment(folder):
    """The page of an experiment whose title, data sets and methods are payloads."""
    X, y = table()
    numbers = pd.DataFrame(X.to_numpy()[:, 2:9].astype(int), columns=list("abcdefg"))
    numbers.assign(target=pd.factorize(y)[0] % 2).to_csv(folder / "t.csv", index=False)
    lines = [f"[run]\ntitle = {json.dumps(PAYLOADS[0])}\nsplits = 1\nn_features = 2\n"]
    lines += [f'[[dataset]]\npath = "t.csv"\nname = {json.dumps(name)}\n' for name in PAYLOADS[:4]]
    for name in PAYLOADS[15:19] + PAYLOADS[-5:-1]:
        lines.append(f'[[method]]\nmethod = "MIM"\nname = {json.dumps(name)}\n')
    (folder / "config.toml").write_text("".join(lines))
    config = read_config(folder / "config.toml")
    results = run(config.experiment, Store(folder / "results.jsonl"))
    assert not results.failures
    report = config_report(config, results.outcomes, results.failures)
    return replace(report, missing={PAYLOADS[5]: f"there is no {PAYLOADS[6]}."})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    X, y = table()
    own = type(PAYLOADS[17], (hocmim.Criterion,), {"scores": lambda self: self.relevance})
    selectors = {
        "report": hocmim.RobustHOCMIM(12),
        "filter": hocmim.GiniIndex(8),
        "criterion": hocmim.CriterionSelector(own(), 5),
    }
    numbers = X.drop(columns=PAYLOADS[1])
    for name, selector in selectors.items():
        data = numbers if name == "filter" else X
        selector.fit(data, y).report(
            folder / f"{name}.html",
            data,
            y,
            title=PAYLOADS[7],
            target_name=PAYLOADS[17],
            source=PAYLOADS[1],
            command=PAYLOADS[2],
            notes=PAYLOADS,
        )
    found = experiment(folder)
    svgs = write_figures(found, folder / "figures")
    write_page(found, svgs, folder / "bench.html")
    write_tables(found, folder / "tables", is_safe=True)
    return folder


@pytest.fixture(scope="module")
def chromium():
    with open_chromium() as session:
        yield session


def requests(browser):
    """The addresses the browser asked for, by its own log."""
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def use(browser):
    """Point at and click everything of a page."""
    script(
        browser,
        """[...document.querySelectorAll('button, summary, th, td, select, .chart, svg')]
        .forEach(element => ['mouseover', 'mousemove', 'focus', 'click', 'change'].forEach(
            kind => element.dispatchEvent(new MouseEvent(kind, {bubbles: true}))))""",
    )


@pytest.mark.parametrize("page", ["report", "filter", "criterion", "bench"])
def test_nothing_runs_and_nothing_is_asked_for(folder, chromium, page):
    with served(folder) as address:
        chromium.get("about:blank")
        chromium.get_log("browser")
        chromium.get_log("performance")
        chromium.get(f"{address}/{page}.html")
        use(chromium)
        assert script(chromium, "window.hacked") is None
        assert script(chromium, "location.href") == f"{address}/{page}.html"
        # What was escaped gives no violation of the policy: the policy is the second wall.
        assert chromium.get_log("browser") == []
        assert Recorder.asked == [f"/{page}.html"]
        assert set(requests(chromium)) <= {f"{address}/{page}.html", "data:,"}
        for tag in ("iframe", "object", "embed", "base", "form", "img", "video", "math", "object"):
            assert script(chromium, f"document.querySelectorAll('{tag}').length") == 0, tag
        shown = script(chromium, "document.body.textContent")
        assert PAYLOADS[0] in shown or PAYLOADS[2] in shown


@pytest.mark.parametrize("page", ["report", "filter", "criterion", "bench"])
def test_the_policy_allows_no_script(folder, page):
    text = (folder / f"{page}.html").read_text("utf-8")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none';")
    assert "script-src" not in policy
    # The policy stands before anything that a name could be in.
    assert text.index("Content-Security-Policy") < text.index("<title>")


def test_names_of_data_sets_stay_in_the_folder(folder):
    outside = {path.name for path in folder.iterdir()}
    assert outside == {
        "t.csv", "config.toml", "results.jsonl", "figures", "tables",
        "report.html", "filter.html", "criterion.html", "bench.html",
    }  # fmt: skip
    for path in folder.rglob("*"):
        assert "<" not in path.name
        assert "/" not in path.name


def test_every_payload_is_different():
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 40


def test_no_mark_of_direction_is_on_a_page(tmp_path):
    """They show "exe.png" for "gnp.exe"; what joins the parts of an emoji stays."""
    names = ["a\u202egnp.exe", "b\u2066\u2069 👩\u200d🔬", "c\u200bd\u200f"]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (90, 3)), columns=names)
    y = np.where(X[names[0]] > 0, "\u202eyes", "no")
    page = hocmim.GiniIndex(2).fit(X, y).report(tmp_path / "page.html", X, y, title=names[0])
    text = page.read_text("utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]", text)
    assert "a\\u202egnp.exe" in text
    assert "👩\u200d🔬" in text
