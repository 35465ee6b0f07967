"""Wrong values for every parameter of every public function, class and method.

The parameters come from the signatures, so a new one is tried without a change here. Usage:
    python tests/trust/wrong_values.py [--only TEXT]
"""

import argparse
import inspect
import io
import os
import re
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
from bad_tables import frame
from judge import judge

import hocmim
from hocmim.insight.checks import describe_columns
from hocmim.insight.plots import KINDS
from hocmim.insight.report.page import write_report
from hocmim.selectors.stability import stability_index

WRONG = {
    "None": None,
    "nan": float("nan"),
    "inf": float("inf"),
    "-1": -1,
    "0": 0,
    "1e9": 1e9,
    "10**9": 10**9,
    "'abc'": "abc",
    "''": "",
    "[]": [],
    "{}": {},
    "object": object(),
    "array": np.array([1, 2]),
    "lambda": lambda *_: None,
    "DataFrame": pd.DataFrame({"a": [1]}),
    "bytes": b"abc",
    "True": True,
    "a class": dict,
}
X, Y = frame()
# Arguments that are tables or targets: the matrix of bad input is about them. Their messages may be
# those of scikit-learn, which do not name the argument.
TABLES = {"X", "y", "Y", "Z", "sample_weight"}
# Arguments for more than the user: of protocols of scikit-learn, or of parts of hocmim.
SKIPPED = {"self", "params", "fit_params", "options", "parameters", "args", "kwargs"}
# What the sentence may say in place of the name of a parameter.
OTHER_WORDS = {
    "cluster": "cluster|engine",  # Engine(cluster) is engine=cluster
    "feature": "feature|column",
    "selector": "selector",
    "path": "path|file|folder|exists|name|cannot be read",
    "name": "name|method",
    "k": r"\bk\b|n_features_to_select",
    "order": "order",
    "groups": "groups|group",
    "input_features": "input_features|feature names",
}


class Relevance(hocmim.Criterion):
    """A criterion of a user: J = I(X;Y)."""

    def scores(self):
        return self.relevance


def _fitted():
    return hocmim.JMI(2).fit(X, Y)


def _fit(kind):
    def call(**given):
        return kind(**given).fit(X, Y)

    return call


def _fit_with(kind, argument):
    """Fit a selector that is given an object of this class."""
    costs = {"f0": 2.0} if kind is hocmim.Budget else None
    return lambda **given: hocmim.JMI(**{"costs": costs, argument: kind(**given)}).fit(X, Y)


def constructors():
    """Every class: its constructor and fit."""
    yield (
        "SelectorCV",
        _fit(hocmim.SelectorCV),
        hocmim.SelectorCV,
        {
            "selectors": [hocmim.MIM()],
            "cv": 2,
            "max_features": 2,
        },
    )
    yield (
        "StabilitySelector",
        _fit(hocmim.StabilitySelector),
        hocmim.StabilitySelector,
        {
            "selector": hocmim.MIM(2),
            "n_resamples": 3,
        },
    )
    for kind, argument, given in (
        (hocmim.Target, "target", {}),
        (hocmim.Engine, "engine", {}),
        (hocmim.StopTest, "n_features_to_select", {}),
        (hocmim.Budget, "n_features_to_select", {"total": 3}),
    ):
        yield kind.__name__, _fit_with(kind, argument), kind, given
    yield "Encoder", _fit(hocmim.Encoder), hocmim.Encoder, {}
    yield "TextConverter", _fit(hocmim.TextConverter), hocmim.TextConverter, {}
    for name in hocmim.list_methods():
        kind = type(hocmim.make_selector(name))
        yield kind.__name__, _fit(kind), kind, {"n_features_to_select": 2}
    given = {"criterion": Relevance(), "n_features_to_select": 2}
    yield "CriterionSelector", _fit(hocmim.CriterionSelector), hocmim.CriterionSelector, given
    yield "Criterion", Relevance, Relevance, {}


def functions(folder):
    """Every public function, with arguments that are right."""
    both = {"X": X, "y": Y}
    yield "entropy", hocmim.entropy, {"X": X}
    yield "mi", hocmim.mi, {"X": X, "Z": Y}
    yield "cmi", hocmim.cmi, {"X": X["f0"], "Y": Y, "Z": X["f1"]}
    yield "cluster_columns", hocmim.cluster_columns, both
    yield (
        "compare_methods",
        hocmim.compare_methods,
        {
            **both,
            "methods": ["MIM"],
            "n_features_to_select": 2,
            "cv": 2,
            "n_resamples": 2,
        },
    )
    yield "check_table", hocmim.check_table, both
    yield "describe_columns", describe_columns, both
    yield "interactions", hocmim.interactions, both
    own = _fitted()
    yield "selected_interactions", hocmim.selected_interactions, {"selector": own, **both}
    given = {"selector": own, **both, "feature": int(own.selected_[0])}
    yield "substitutes", hocmim.substitutes, given
    yield "stability_index", stability_index, {"selections": [[0, 1], [1, 1]]}
    yield "load", hocmim.load, {"path": folder / "absent.json"}
    yield "make_selector", hocmim.make_selector, {"name": "MIM"}
    yield (
        "write_report",
        write_report,
        {
            "selector": own,
            **both,
            "path": folder / "page.html",
            "overwrite": True,
        },
    )


def methods(folder):
    """The methods of a fitted selector."""
    own = _fitted()
    page = {"path": folder / "page.html", "X": X, "y": Y}
    for name, given in {
        "fit": {"X": X, "y": Y},
        "transform": {"X": X},
        "explain": {"feature": 0},
        "extend": {"k": X.shape[1], "X": X, "y": Y},  # also after a k that was too large
        "get_support": {},
        "get_feature_names_out": {},
        "inverse_transform": {"X": X[["f0", "f1"]]},
        "save": {"path": folder / "model.json", "overwrite": True},
    }.items():
        yield f"JMI.{name}", getattr(own, name), given
    yield "JMI.report", own.report, {**page, "overwrite": True}
    priced = hocmim.JMI(2, costs={"f0": 2.0}).fit(X, Y)
    for kind in set(KINDS) - {"interaction", "samples", "stability"}:  # nothing to draw here
        yield f"JMI.plot {kind}", priced.plot, {"kind": kind}
    yield "FisherScore.extend", hocmim.FisherScore(2).fit(X, Y).extend, {"k": 3, "X": X, "y": Y}
    stable = hocmim.StabilitySelector(hocmim.MIM(2), 3)
    yield "StabilitySelector.fit", stable.fit, {"X": X, "y": Y}
    cv = hocmim.SelectorCV([hocmim.MIM()], cv=2, max_features=2)
    yield "SelectorCV.fit", cv.fit, {"X": X, "y": Y}
    yield "SelectorCV.plot_curves", cv.fit(X, Y).plot_curves, {}


# Functions that pass their keywords on: the names they accept besides their own.
PASSED_ON = {
    "JMI.report": write_report,
    "make_selector": hocmim.JMI,
}


# An argument that the method itself passes on.
GIVEN = {("JMI.report", "selector")}


def parameters(name, call):
    """The names of the parameters of a callable, also of those it passes on."""
    own = list(inspect.signature(call).parameters)
    if name in PASSED_ON:
        own += [each for each in inspect.signature(PASSED_ON[name]).parameters if each not in own]
    return [each for each in own if each not in SKIPPED and (name, each) not in GIVEN]


def calls(folder, only=None):
    """Every (name, parameter, call of one value); only those of one name if it is given."""
    for name, call, signature, given in constructors():
        if only not in (None, name):
            continue
        for parameter in parameters(name, signature):
            yield name, parameter, _with(call, given, parameter)
    for name, call, given in (*functions(folder), *methods(folder)):
        if only not in (None, name):
            continue
        for parameter in parameters(name, call):
            yield name, parameter, _with(call, given, parameter)


def _with(call, given, parameter):
    return lambda value: call(**{**given, parameter: value})


def fault(name, parameter, call, value):
    """Return what is wrong with the answer to a value, or None."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # of verbose=True
        verdict, text, _ = judge(lambda: call(value))
    if verdict == "fault":
        return text
    words = OTHER_WORDS.get(parameter, re.escape(parameter))
    if verdict == "error" and parameter not in TABLES and not re.search(words, text):
        return f"does not name {parameter}: {text!r}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="only names with this text")
    given = parser.parse_args()
    n_tried = n_faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # 'abc' is a path for some parameters
        for name, parameter, call in calls(Path(folder)):
            if given.only not in f"{name}({parameter})":
                continue
            for label, value in WRONG.items():
                found = fault(name, parameter, call, value)
                n_tried += 1
                if found:
                    n_faults += 1
                    print(f"fault\t{name}({parameter}={label})\t{found[:400]}", flush=True)
    print(f"{n_tried} wrong values: {n_faults} faults")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
