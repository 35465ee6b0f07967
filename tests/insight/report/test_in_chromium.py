"""The page in a browser: it answers, sorts, shows, and shows hostile names as text."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import hocmim
from browser import Recorder, open_chromium, phone, script, scroll_cues, served
from hocmim import HOCMIM
from hocmim.insight.basis import basis_of
from hocmim.insight.chart_data import target_by_level
from hocmim.insight.prediction import predict

pytestmark = pytest.mark.slow

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '"><svg onload=window.hacked=3>',
    "' onmouseover='window.hacked=4",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp; &#x41;",
    "<!--",
    "]]>",
    "\\u003c${window.hacked=5}`",
    "emoji 🧬👩‍🔬",
    "right‮to‬left عربى",
    "",
    "   ",
    "two\nlines\tand a tab\0",
    "a",
    "а",
    "half \ud83d of a pair",
    "x" * 500,
    "long words " * 45,
    "http://127.0.0.1:9/leave",
]


@pytest.fixture(scope="module")
def chromium():
    with open_chromium() as session:
        yield session


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages on a usual table, on hostile names, on nothing selected, and by another filter."""
    folder = tmp_path_factory.mktemp("reports")
    X, y = CANCER
    HOCMIM(6).fit(X, y).report(folder / "cancer.html", X, y)
    hocmim.FisherScore(4).fit(X, y).report(folder / "fisher.html", X, y)
    HOCMIM("significant").fit(X, y).report(folder / "auto.html", X, y)
    wide = pd.concat([X.add_suffix(f" {n}") for n in range(4)], axis=1)
    HOCMIM(4).fit(wide, y).report(folder / "wide.html", wide, y)
    rng = np.random.default_rng(0)
    noise, coin = rng.integers(3, size=(80, 6)), rng.integers(2, size=80)
    HOCMIM("significant").fit(noise, coin).report(folder / "none.html", noise, coin)
    X, y = hostile_table()
    HOCMIM(10).fit(X, y).report(folder / "hostile.html", X, y, title=HOSTILE[0], source=HOSTILE[1])
    return folder


def hostile_table():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=200)
    X = rng.integers(3, size=(200, len(HOSTILE))) + y[:, None] * (rng.random(len(HOSTILE)) < 0.6)
    names = pd.Index(HOSTILE, dtype=object)
    return pd.DataFrame(X, columns=names), pd.Series(y, name=HOSTILE[2])


@pytest.fixture
def opened(folder, chromium):
    """Opens a page from a server that notes what is asked of it; complains of any error."""
    from selenium.webdriver.support.wait import WebDriverWait

    with served(folder) as address:
        chromium.set_window_size(1280, 900)
        chromium.get_log("browser")
        chromium.get_log("performance")

        visited = []

        def go(name):
            visited.append(f"/{name}.html")
            chromium.get(f"{address}/{name}.html")
            ready = "document.documentElement.dataset.ready"
            WebDriverWait(chromium, 20).until(lambda browser: script(browser, ready) == "yes")
            return chromium

        yield go
        assert chromium.get_log("browser") == []
        assert Recorder.asked == visited
        assert set(requests(chromium)) <= {*(f"{address}{path}" for path in visited), "data:,"}


def requests(browser):
    """The addresses the browser asked for, by its own log."""
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def ask(browser, text):
    """Type into the search box and press Enter."""
    from selenium.webdriver.common.keys import Keys

    box = browser.find_element("id", "search")
    box.clear()
    box.send_keys(text + Keys.ENTER)
    return browser.find_element("css selector", "#answer .reason").text


@pytest.mark.parametrize("page", ["cancer", "auto"])
def test_the_search_box_answers_as_explain_does(opened, page):
    browser = opened(page)
    X, y = CANCER
    selector = HOCMIM(6 if page == "cancer" else "significant").fit(X, y)
    for name in X.columns[::3].tolist() + X.columns[selector.selected_].tolist():
        explanation = selector.explain(name, X)
        assert ask(browser, name) == explanation.reason
        shown = browser.find_element("css selector", "#answer dl").text
        for label, text in explanation.facts():
            assert f"{label}\n{text}" in shown
        n_charts = len(browser.find_elements("css selector", "#answer .chart"))
        assert n_charts == (len(explanation.steps) > 1)


def listed(browser):
    return script(browser, "[...document.querySelectorAll('#found .why')].map(b => b.innerText)")


def test_finding_features(opened):
    browser = opened("cancer")
    box = browser.find_element("id", "search")
    assert len(listed(browser)) == 12
    browser.find_element("id", "more").click()
    assert sorted(listed(browser)) == sorted(CANCER[0].columns)
    box.send_keys("RADIUS")
    assert sorted(listed(browser)) == ["mean radius", "radius error", "worst radius"]
    assert "3 of 3 features" in browser.find_element("id", "n-found").text
    assert "mean texture" in ask(browser, "#1")
    box.clear()
    box.send_keys("no such thing")
    assert browser.find_element("id", "n-found").text == "No feature matches."
    # By the pointer, from the list and from the table.
    box.clear()
    box.send_keys("smoothness")
    click(browser, "#found tr:nth-child(2) .why")
    assert "smoothness" in browser.find_element("css selector", "#answer h3").text
    click(browser, "#selected button.why")
    shown = browser.find_element("id", "answer").text
    assert "selected 'worst perimeter' as number 1 of 6" in shown


def test_the_table_sorts(opened):
    browser = opened("cancer")
    for column, read in ((2, float), (3, float), (1, str)):
        heading = f"document.querySelector('#selected thead').rows[0].cells[{column}]"
        for direction in ("ascending", "descending"):
            script(browser, f"{heading}.querySelector('button').click()")
            assert script(browser, f"{heading}.getAttribute('aria-sort')") == direction
            cells = script(
                browser,
                "[...document.querySelector('#selected tbody').rows]"
                f".map(row => row.cells[{column}].innerText.trim())",
            )
            values = [read(cell.replace("−", "-")) for cell in cells]
            assert values == sorted(values, reverse=direction == "descending")
            assert len(set(values)) == 6


def centre(browser, element):
    code = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    browser.execute_script(code, element)


def click(browser, selector):
    element = browser.find_element("css selector", selector)
    centre(browser, element)
    element.click()


def test_pictures_show_what_was_found(opened):
    browser = opened("cancer")
    X, y = CANCER
    selector = HOCMIM(6).fit(X, y)
    hints = script(
        browser, "[...document.querySelectorAll('#prediction title')].map(t => t.textContent)"
    )
    found = predict(basis_of(selector))
    assert hints[4] == f"4 columns\nwith the columns: {100 * found.mean[4]:.4g}%\n" + (
        f"without a column: {100 * found.baseline:.4g}%"
    )
    labels, values = (
        script(browser, f"[...document.querySelectorAll('.card .{name}')].map(e => e.innerText)")
        for name in ("label", "value")
    )
    first = target_by_level(basis_of(selector), basis_of(selector).selected_columns[0])
    for row, label, value in zip(first.rows, labels, values, strict=False):
        assert label == row.label
        assert value.split() == [hocmim.text.percent(row.value), str(row.n_rows)]
    points = script(browser, "document.querySelector('.chosen').getAttribute('d')")
    assert points.count("M") == 6


def test_pictures_are_within_their_frames(opened):
    browser = opened("cancer")
    for frame in ("#prediction svg", "#columns svg"):
        box = browser.find_element("css selector", frame).rect
        assert 600 < box["width"] < 1100
        for line in browser.find_elements("css selector", f"{frame} path"):
            assert line.rect["width"] <= box["width"] + 10
    cards = script(
        browser,
        "[...document.querySelectorAll('.track i')].every(i => {"
        "const a = i.getBoundingClientRect(), b = i.parentNode.getBoundingClientRect();"
        "return a.left >= b.left - 2 && a.right <= b.right + 3})",
    )
    assert cards


@pytest.mark.parametrize("page", ["cancer", "hostile"])
def test_on_paper(opened, chromium, page):
    """Nothing is cut off: a printed page is as wide as the paper."""
    browser = opened(page)
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.set_window_size(794, 1123)
        assert not browser.find_element("css selector", "nav").is_displayed()
        for frame in ("#target", "#prediction", "#columns"):
            box = browser.find_element("css selector", frame)
            assert script(browser, "arguments[0].scrollWidth", box) <= 794
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def brightness(browser, code):
    return sum(map(float, re.findall(r"[\d.]+", script(browser, code))[:3]))


def test_theme_switch(opened):
    browser = opened("cancer")
    paper = "getComputedStyle(document.body).backgroundColor"
    letters = "getComputedStyle(document.querySelector('.chart')).color"
    assert brightness(browser, paper) > 600
    light = brightness(browser, letters)
    browser.find_element("id", "theme").click()
    assert brightness(browser, paper) < 150
    assert brightness(browser, letters) > light
    browser.find_element("id", "theme").click()
    assert brightness(browser, paper) > 600
    assert brightness(browser, letters) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["cancer", "hostile", "fisher", "none"])
def test_on_a_phone(opened, chromium, page, scheme):
    with phone(chromium, scheme):
        browser = opened(page)
        assert script(browser, "document.documentElement.scrollWidth") <= 390
        light = brightness(browser, "getComputedStyle(document.body).backgroundColor") > 384
        assert light == (scheme == "light")
        cues = scroll_cues(browser)
        # The menu at least; that of a page without a selection is short.
        assert page == "none" or any(hides for hides, _ in cues)
        assert all(hides == says for hides, says in cues), cues
        for feature in (17, 18) if page == "hostile" else (0, 3):  # names of 500 signs
            ask(browser, f"#{feature}")
            assert script(browser, "document.documentElement.scrollWidth") <= 390


def contrast(one, other):
    """The contrast of two colours by WCAG."""

    def luminance(colour):
        parts = np.array([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_can_be_read(opened, theme):
    browser = opened("cancer")
    script(browser, f"document.documentElement.dataset.theme = '{theme}'")
    ask(browser, "mean radius")
    places = {
        ".lead": "#selected",
        ".fine": "#selected",
        "#selected td.feature .name": "#selected",
        "#selected .share": "#selected",
        ".tile span": ".tile",
        "nav a": "body",
        ".about": "body",
        "#answer dt": "#why",
        "#answer .tag": "#why",
    }
    for letters, behind in places.items():
        ink = script(browser, f"getComputedStyle(document.querySelector('{letters}')).color")
        paper = script(
            browser, f"getComputedStyle(document.querySelector('{behind}')).backgroundColor"
        )
        assert contrast(ink, paper) >= 4.5, letters


def test_hostile_names_are_shown_as_text(opened):
    browser = opened("hostile")
    X, y = hostile_table()
    selector = HOCMIM(10).fit(X, y)
    for j in range(len(HOSTILE)):
        ask(browser, f"#{j}")
        shown = script(
            browser, "document.querySelector('#answer h3 .name, #answer h3 .nameless').textContent"
        )
        assert shown == expected(HOSTILE[j])
    rows = script(
        browser,
        "[...document.querySelector('#selected tbody').querySelectorAll('.why')]"
        ".map(b => b.innerText.trim())",
    )
    for shown, j in zip(rows, selector.selected_, strict=True):
        assert shown.split() == expected(HOSTILE[j]).split()
    assert script(browser, "document.querySelector('h1').textContent") == HOSTILE[0]
    assert script(browser, "document.title") == HOSTILE[0]
    assert script(browser, "window.hacked ?? null") is None
    foreign = "img, iframe, object, embed, svg:not(.strips > svg, .chart svg)"  # its pictures
    assert script(browser, f"document.querySelectorAll('{foreign}').length") == 0
    assert script(browser, "document.querySelectorAll('script').length") == 4
    # Even markup that got in could not run.
    script(
        browser,
        "document.body.insertAdjacentHTML('beforeend', '<a onclick=\"window.hacked=6\">x</a>')",
    )
    script(browser, "document.querySelector('body > a').click()")
    assert script(browser, "window.hacked ?? null") is None
    log = browser.get_log("browser")
    assert len(log) == 1
    assert "Content Security Policy" in log[0]["message"]


def expected(name):
    """What the page shows of a name."""
    if not name.strip():
        return "blank name" if name else "empty name"
    marks = {0x202C: "\\u202c", 0x202E: "\\u202e"}
    return name.translate({0: "␀", 9: "␉", 10: "␊", 0xD83D: "\ufffd", **marks})


def test_hostile_names_can_be_searched(opened):
    browser = opened("hostile")
    for text, part in (("onerror", "<img src=x"), ("EMOJI", "🧬👩‍🔬"), ("عربى", "عربى")):
        ask(browser, text)
        assert part in browser.find_element("css selector", "#answer h3").text
    script(browser, "document.getElementById('search').focus()")
    assert script(browser, "window.hacked ?? null") is None


def test_features_without_an_explanation(opened):
    browser = opened("wide")
    names = [f"{name} {n}" for n in range(4) for name in CANCER[0].columns]
    known = script(
        browser, "[...document.querySelectorAll('.explanation')].map(e => +e.id.slice(8))"
    )
    assert len(known) == 4 + 40
    reasons = {k: ask(browser, names[k]) for k in (known[0], min(set(range(120)) - set(known)))}
    assert [names[k] in reason for k, reason in reasons.items()] == [True, False]
    assert "Its score at each step is not on this page." in list(reasons.values())[1]


def test_other_filters_and_nothing_selected(opened):
    browser = opened("fisher")
    assert re.match(
        r"Fisher did not select 'mean area': it ranks \d+ of 30, with a score",
        ask(browser, "mean area"),
    )
    assert "representative set" not in browser.find_element("id", "answer").text
    browser = opened("none")
    assert "HOCMIM did not select '2'" in ask(browser, "column 2")
    assert (
        script(browser, "document.querySelectorAll('#selected, #together, #redundancy').length")
        == 0
    )


def test_copying_the_call(opened):
    browser = opened("cancer")
    browser.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    button = browser.find_element("css selector", ".copy")
    centre(browser, button)
    button.click()
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert "selector = HOCMIM(n_features_to_select=6)" in copied
