"""The page in a browser: it answers, shows, and shows hostile names as text."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import hocmim
from browser import Recorder, open_chromium, phone, script, served
from hocmim import HOCMIM

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
    with served(folder) as address:
        chromium.set_window_size(1280, 900)
        chromium.get_log("browser")
        chromium.get_log("performance")

        visited = []

        def go(name):
            visited.append(f"/{name}.html")
            chromium.get(f"{address}/{name}.html")
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


def ask(browser, feature):
    """Follow the link to the explanation of a feature, and return what it shows."""
    script(browser, f"location.hash = '#feature-{feature}'")
    return browser.find_element("id", f"feature-{feature}").text


def test_a_link_opens_an_explanation(opened):
    browser = opened("cancer")
    X, y = CANCER
    selector = HOCMIM(6).fit(X, y)
    assert ask(browser, 0).startswith(selector.explain(0, X).reason)
    first = browser.find_element("id", f"feature-{selector.selected_[0]}")
    assert not first.is_displayed()
    link = browser.find_element("css selector", "#selected a.why")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    assert first.is_displayed()


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["cancer", "hostile", "fisher", "none"])
def test_on_a_phone(opened, chromium, page, scheme):
    with phone(chromium, scheme):
        browser = opened(page)
        assert script(browser, "document.documentElement.scrollWidth") <= 390
        light = brightness(browser, "getComputedStyle(document.body).backgroundColor") > 384
        assert light == (scheme == "light")
        for feature in (17, 18) if page == "hostile" else (0, 3):  # names of 500 signs
            ask(browser, feature)
            assert script(browser, "document.documentElement.scrollWidth") <= 390


def contrast(one, other):
    """The contrast of two colours by WCAG."""

    def luminance(colour):
        parts = np.array([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read(opened, chromium, scheme):
    with phone(chromium, scheme):
        check_contrast(opened("cancer"))


def check_contrast(browser):
    ask(browser, 0)
    places = {
        ".lead": "#selected",
        ".fine": "#selected",
        "#selected td.feature .name": "#selected",
        "#selected .share": "#selected",
        ".tile span": ".tile",
        "nav a": "body",
        ".about": "body",
        "#why dt": "#why",
        "#why .tag": "#why",
    }
    for letters, behind in places.items():
        ink = script(browser, f"getComputedStyle(document.querySelector('{letters}')).color")
        paper = script(
            browser, f"getComputedStyle(document.querySelector('{behind}')).backgroundColor"
        )
        assert contrast(ink, paper) >= 4.5, letters


def test_nothing_selected(opened):
    browser = opened("none")
    assert "HOCMIM did not select '2'" in ask(browser, 2)
    assert script(browser, "document.querySelectorAll('#selected, #together').length") == 0
