"""Selectors by name, what they print, and a criterion of one's own."""

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import hocmim
import naive
import warned
from coded import encode
from hocmim.criteria.base import Criterion
from hocmim.criteria.jmi_k import JMIkCriterion
from hocmim.errors import InvalidParameterError
from hocmim.search.engines.local import LocalEngine
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.LEAK)

DOCS = Path(__file__).parents[2] / "docs"


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", hocmim.list_methods())
def test_every_name_makes_its_selector(name):
    selector = hocmim.make_selector(name, n_features_to_select=3)
    assert type(selector) is METHODS[name]
    assert selector.n_features_to_select == 3


@pytest.mark.parametrize(
    ("loose", "name"),
    [
        ("hocmim", "HOCMIM"),
        ("MRMR", "mRMR"),
        ("mrmr", "mRMR"),
        ("m_r_m_r", "mRMR"),
        ("jmi-3", "JMI-3"),
        ("JMI3", "JMI-3"),
        ("jmi_4", "JMI-4"),
        ("cmim 4", "CMIM-4"),
        ("CmIm", "CMIM"),
        ("njmim", "NJMIM"),
        ("jim", "JIM"),
        ("relax-mRMR", "Relax-mRMR"),
        ("RelaxMRMR", "Relax-mRMR"),
        ("relax_mrmr", "Relax-mRMR"),
        ("beta gamma", "BetaGamma"),
        ("Maximum relevance", "MIM"),
    ],
)
def test_names_are_spelled_loosely(loose, name):
    assert type(hocmim.make_selector(loose)) is METHODS[name]


def test_names_are_unambiguous():
    plain = [re.sub(r"[\W_]", "", name).lower() for name in hocmim.list_methods()]
    assert len(set(plain)) == len(plain) >= 18


def test_public_selectors_and_methods_are_the_same():
    assert {kind.__name__ for kind in METHODS.values()} <= set(hocmim.__all__)
    assert all(getattr(hocmim, kind.__name__) is kind for kind in METHODS.values())


@pytest.mark.parametrize(
    ("wrong", "near"), [("jmi5", "JMI"), ("hocmin", "HOCMIM"), ("mrrm", "mRMR")]
)
def test_unknown_name_suggests_the_nearest(wrong, near):
    with pytest.raises(InvalidParameterError, match=rf"{wrong}.*Did you mean .*'{near}"):
        hocmim.make_selector(wrong)


@pytest.mark.parametrize("wrong", ["zzzz", "", 3, None])
def test_unknown_name_lists_the_methods(wrong):
    with pytest.raises(InvalidParameterError, match=r"The methods are BetaGamma, .*CMICOT"):
        hocmim.make_selector(wrong)


def test_unknown_parameter_lists_those_there_are():
    with pytest.raises(
        InvalidParameterError, match=r"JMI has no parameter 'order'.*It has .*encoder"
    ):
        hocmim.make_selector("jmi", order=3)


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("jmi", {"estimator": "bayes"}, "estimator must be one of 'plugin', .* Got 'bayes'"),
        ("jim", {"estimator": "bayes"}, "estimator must be one of 'plugin', .* Got 'bayes'"),
        (
            "cmim",
            {"with_relevance": "yes"},
            "with_relevance must be an instance of 'bool'.* Got 'yes'",
        ),
        ("mifs", {"beta": -0.1}, r"beta must be a float in the range \[0.0, 1.0\]. Got -0.1"),
        ("mifs", {"beta": 2}, "beta must be a float"),
        (
            "betagamma",
            {"gamma": np.inf},
            r"gamma must be a float in the range \[0.0, inf\). Got inf",
        ),
        ("betagamma", {"beta": "1"}, "beta must be a float .* Got '1'"),
        ("cmicot", {"team_size": 0}, r"team_size must be an int in the range \[1, 16\]"),
        ("cmicot", {"team_size": 2.5}, "team_size must be an int"),
        ("jmi-4", {"encoder": 5}, "encoder must be an instance of .*Encoder.* or None. Got 5"),
        ("jmi", {"target": "number"}, "target must be .*'quantity'.*. Got 'number'"),
        ("jmi", {"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_values_are_explained(name, parameters, message):
    X, y = next(naive.random_tables(800, 1, (20, 21), D=4))
    selector = hocmim.make_selector(name, **{"n_features_to_select": 2, **parameters})
    with pytest.raises(InvalidParameterError, match=message):
        selector.fit(X, y)


# -- what they print -------------------------------------------------------------------------------


def printed_terms(name, X, y, K, capsys):
    hocmim.make_selector(name, n_features_to_select=K, verbose=1, n_jobs=1).fit(X, y)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "terms"),
    # for each of 6 columns, given 4: one term while one subset is all, then 6 pairs or 4 triples
    [("jmi-3", 1 + 6), ("cmim-3", 1 + 6), ("jmi-4", 2 + 4), ("cmim-4", 2 + 4), ("relax-mrmr", 16)],
)
def test_high_orders_say_beforehand_how_many_terms(name, terms, capsys):
    X, y = next(naive.random_tables(801, 1, (30, 31), D=6))
    first, *rest = printed_terms(name, X, y, 5, capsys).splitlines()
    assert f"selecting 5 columns takes at most {6 * terms} terms" in first
    assert [re.search(r"(\d)/5 ", line)[1] for line in rest] == list("12345")


def test_terms_said_are_the_terms_computed(monkeypatch):
    """All candidates stay open to the end only for the columns never selected: count those."""
    X, y = next(naive.random_tables(802, 1, (30, 31), D=6))
    codes = encode(X, n_bins=16)
    target = encode(y[:, None], n_bins=16).column(0)
    for k, K in [(3, 5), (4, 6), (3, 1), (3, 2), (4, 3)]:
        criterion = JMIkCriterion(k)
        seen = []
        with LocalEngine(codes, target, criterion, n_jobs=1, on_terms=seen.append) as engine:
            engine.start()
            seen.clear()
            for index in range(K - 1):
                engine.select(index)
        # closed columns are passed over once there is more than one subset
        assert sum(n_terms > 0 for n_terms in seen) == criterion.n_terms(K)


def test_long_steps_show_progress(capsys, monkeypatch):
    monkeypatch.setattr("hocmim.search.progress.SECONDS_BETWEEN_LINES", 0.0)
    X, y = next(naive.random_tables(803, 1, (30, 31), D=6))
    lines = printed_terms("jmi-3", X, y, 5, capsys).splitlines()
    shares = [float(found[1]) for line in lines if (found := re.search(r"\((\d+\.\d)%\)", line))]
    assert len(shares) > 5
    assert shares == sorted(shares)


def test_leaving_the_engine_ends_the_work_of_its_threads():
    """As Ctrl-C does: the main thread stops waiting while others are within a long step."""
    rng = np.random.default_rng(804)
    codes = encode(rng.integers(3, size=(200, 40)), n_bins=16)
    started = threading.Event()
    computed = []

    def stop(n_terms):
        computed.append(n_terms)
        if len(computed) > 500:
            started.set()
            time.sleep(0.001)

    def select_all():
        with contextlib.suppress(CancelledError):
            for index in range(39):
                engine.select(index)

    worker = threading.Thread(target=select_all)
    with LocalEngine(codes, codes.column(0), JMIkCriterion(4), n_jobs=2, on_terms=stop) as engine:
        engine.start()
        worker.start()
        assert started.wait(30)
    n_then = len(computed)
    worker.join(10)
    assert not worker.is_alive()
    assert len(computed) <= n_then + 2


INTERRUPTED = """
import numpy as np, hocmim
rng = np.random.default_rng(0)
X = rng.integers(5, size=(3000, 600))
hocmim.JMI4(50, n_jobs=2, verbose=1).fit(X, rng.integers(2, size=3000))
"""


@pytest.mark.slow
def test_a_long_step_ends_at_control_c():
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while "8/50" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        error = process.communicate(timeout=60)[1]
    assert "KeyboardInterrupt" in error
    assert time.monotonic() - began < 5


# -- a criterion of one's own ----------------------------------------------------------------------


def code_of(page):
    """The Python of a page of the documentation."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    return "\n".join(blocks)


def test_the_page_on_own_criteria_runs(capsys):
    space = {}
    exec(compile(code_of("own_criterion.md"), "own_criterion.md", "exec"), space)
    X, y = naive.random_table(np.random.default_rng(805), 60, 8)
    own = hocmim.CriterionSelector(space["WorstRedundancy"](), 5, encoder=hocmim.Encoder(16)).fit(
        X, y
    )
    columns, target = naive.columns(X), tuple(y.tolist())

    def score(k, S):
        worst = max((naive.mi((columns[k],), (columns[j],)) for j in S), default=0.0)
        return naive.mi((columns[k],), (target,)) - worst

    selected, scores = naive.forward(score, 8, 5)
    assert own.selected_.tolist() == selected
    np.testing.assert_allclose(own.scores_, scores, rtol=0, atol=1e-9)


class Relevance(Criterion):
    """The least a criterion can be."""

    def scores(self):
        return self.relevance


def test_own_criterion_is_a_selector_like_the_others():
    X, y = naive.random_table(np.random.default_rng(806), 60, 8)
    uncut = hocmim.Encoder(16)
    selector = hocmim.CriterionSelector(Relevance("shrinkage"), 3, encoder=uncut)
    twin = hocmim.MIM(3, estimator="shrinkage", encoder=uncut).fit(X, y)
    for found in (selector.fit(X, y), clone(selector).fit(X, y)):
        assert found.selected_.tolist() == twin.selected_.tolist()
        assert found.scores_.tobytes() == twin.scores_.tobytes()
    one, four = (clone(selector).set_params(n_jobs=n).fit(X, y) for n in (1, 4))
    assert one.scores_.tobytes() == four.scores_.tobytes()
    make_pipeline(selector, DecisionTreeClassifier()).fit(X, y).predict(X)


@pytest.mark.parametrize("wrong", [Relevance, "jmi", None])
def test_not_a_criterion(wrong):
    X, y = naive.random_table(np.random.default_rng(807), 20, 4)
    with pytest.raises(InvalidParameterError, match="criterion must be an instance"):
        hocmim.CriterionSelector(wrong, 2).fit(X, y)
