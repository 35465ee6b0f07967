"""hocmim and other packages, called as their documentation recommends; one case per process.

    python benchmarks/peers.py CASE     (JSON; packages.py calls it)

Each gets the same integer table, and two cores if it can use them. Imports, data frames, a first
call on a small table and codes are made before the timing starts. ``make bench`` installs the
packages of ``benchmarks/peers.txt`` in a separate environment: none is a dependency of hocmim.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from common import TableSpec, as_codes, classes, code_matrix, search, table

WARM = TableSpec("warm", 200, 20)
BUDGET = 2.0  # seconds after which a case is not repeated
MOST_RUNS = 9


def frame(data: dict[str, Any]) -> Any:
    """The table as a data frame with the columns x0, x1, …; made once."""
    import pandas as pd

    if "frame" not in data:
        names = [f"x{j}" for j in range(data["X"].shape[1])]
        data["frame"] = pd.DataFrame(data["X"], columns=names)
        data["series"] = pd.Series(data["y"], name="class")
    return data["frame"]


def before(data: dict[str, Any], package: str) -> None:
    """Make the data frame that a package needs."""
    if package in ("mrmr-selection", "feature-engine"):
        frame(data)
    if package == "mrmrs":
        import polars as pl

        names = [f"x{j}" for j in range(data["X"].shape[1])]
        data["polars"] = pl.DataFrame(data["X"].astype(np.float64), schema=names)
        data["polars_series"] = pl.Series("class", data["y"].astype(np.float64))
    if package == "pymrmr":
        data["with_class"] = frame(data).copy()
        data["with_class"].insert(0, "class", data["y"])


def indices(names: Any) -> list[int]:
    return [int(str(name)[1:]) for name in names]


def sklearn_mim(data: dict[str, Any], k: int, threads: int) -> list[int]:
    from sklearn.feature_selection import mutual_info_classif

    scores = mutual_info_classif(data["X"], data["y"], discrete_features=True, n_jobs=threads)
    return np.argsort(-scores, kind="stable")[:k].tolist()


def skfeature(name: str) -> Callable[..., list[int]]:
    """scikit-feature. Its MIM, mRMR, JMI and CIFE return ranks; their docs say indices."""

    def select(data: dict[str, Any], k: int, threads: int) -> list[int]:
        module = importlib.import_module(
            f"skfeature.function.information_theoretical_based.{name.upper()}"
        )
        function = getattr(module, name.lower())
        chosen = function(data["X"], data["y"], mode="index", n_selected_features=k)
        return chosen[:k].tolist() if name in ("DISR", "CMIM") else []

    return select


def mrmr_selection(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """MRMR with the F statistic and correlations in place of mutual information."""
    from mrmr import mrmr_classif

    return indices(
        mrmr_classif(X=data["frame"], y=data["series"], K=k, show_progress=False, n_jobs=threads)
    )


def scikit_lego(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """MRMR with the F statistic and correlations in place of mutual information."""
    from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

    selector = MaximumRelevanceMinimumRedundancy(k=k, kind="classification")
    return [int(j) for j in selector.fit(data["X"], data["y"]).selected_features_]


def mrmrs(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """MRMR with the F statistic and correlations, in Rust."""
    from mrmrs import mrmr

    found = mrmr(data["polars"], data["polars_series"], k, "classification")
    return indices(feature.name for feature in found)


def fast_select(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """MRMR from all pairs of columns, compiled by numba."""
    from fast_select import mRMR

    selector = mRMR(n_features_to_select=k, backend="cpu").fit(data["X"], data["y"])
    return np.asarray(selector.top_features_).tolist()


def feature_engine(data: dict[str, Any], k: int, threads: int) -> list[int]:
    from feature_engine.selection import MRMR

    selector = MRMR(method="MID", max_features=k, discrete_features=True, n_jobs=threads)
    dropped = set(selector.fit(data["frame"], data["series"]).features_to_drop_)
    return indices(name for name in data["frame"].columns if name not in dropped)


def itmo(name: str) -> Callable[..., list[int]]:
    def select(data: dict[str, Any], k: int, threads: int) -> list[int]:
        from ITMO_FS.filters.multivariate import MultivariateFilter

        selector = MultivariateFilter(name, k)
        selector.fit(data["X"], data["y"])
        return [int(j) for j in selector.selected_features]

    return select


def itmo_disr(data: dict[str, Any], k: int, threads: int) -> list[int]:
    from ITMO_FS.filters.multivariate import DISRWithMassive

    selector = DISRWithMassive(k)
    selector.fit(data["X"], data["y"])
    return [int(j) for j in selector.selected_features]


def pymrmr(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """The C++ program of the author of mRMR."""
    import pymrmr

    return indices(pymrmr.mRMR(data["with_class"], "MID", k))


def fastcan(data: dict[str, Any], k: int, threads: int) -> list[int]:
    """Orthogonal least squares: a greedy filter without information theory, for comparison."""
    from fastcan import FastCan

    return FastCan(k, verbose=0).fit(data["X"], data["y"]).indices_.tolist()


MODULES = {
    "scikit-learn": "sklearn.feature_selection",
    "skfeature-chappers": "skfeature",
    "mrmr-selection": "mrmr",
    "fast-select": "fast_select",
    "mrmrs": "mrmrs",
    "scikit-lego": "sklego.feature_selection",
    "pymrmr": "pymrmr",
    "fastcan": "fastcan",
    "feature-engine": "feature_engine.selection",
    "ITMO-FS": "ITMO_FS.filters.multivariate",
}

PEERS: dict[tuple[str, str], Callable[..., list[int]]] = {
    ("scikit-learn", "MIM"): sklearn_mim,
    ("fast-select", "mRMR"): fast_select,
    ("mrmrs", "mRMR"): mrmrs,
    ("scikit-lego", "mRMR"): scikit_lego,
    ("pymrmr", "mRMR"): pymrmr,
    ("mrmr-selection", "mRMR"): mrmr_selection,
    ("feature-engine", "mRMR"): feature_engine,
    ("skfeature-chappers", "MIM"): skfeature("MIM"),
    ("skfeature-chappers", "mRMR"): skfeature("MRMR"),
    ("skfeature-chappers", "JMI"): skfeature("JMI"),
    ("skfeature-chappers", "CIFE"): skfeature("CIFE"),
    ("skfeature-chappers", "CMIM"): skfeature("CMIM"),
    ("skfeature-chappers", "DISR"): skfeature("DISR"),
    ("ITMO-FS", "mRMR"): itmo("MRMR"),
    ("ITMO-FS", "JMI"): itmo("JMI"),
    ("ITMO-FS", "DISR"): itmo_disr,
    ("fastcan", "FS-OLS"): fastcan,
}


# --- hocmim ---------------------------------------------------------------------------------------


def own(case: dict[str, Any]) -> Callable[..., list[int]]:
    """``fit`` on the user's table, the search alone on its codes, or encoding alone."""
    from hocmim import Encoder, make_selector

    def call(data: dict[str, Any], k: int, threads: int) -> list[int]:
        if case["kind"] == "encode":
            return [Encoder().fit_transform(data["X"], n_jobs=threads).n_columns]
        selector = make_selector(case["method"], n_features_to_select=k, n_jobs=threads)
        if case["kind"] == "search":
            return search(*data["codes"], selector, k, threads)
        return selector.fit(data["X"], data["y"]).selected_.tolist()

    return call


# --- the process ----------------------------------------------------------------------------------


def load(spec: TableSpec, case: dict[str, Any]) -> dict[str, Any]:
    """What a case needs, made before the timing starts."""
    data: dict[str, Any] = {"X": table(spec), "y": classes(spec)}
    if case["kind"] == "search":
        data["codes"] = as_codes(code_matrix(spec), data["y"])
    before(data, case["package"])
    return data


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """The times of a case and what it selects; short cases are repeated."""
    is_own = case["package"] == "hocmim"
    if not is_own:
        importlib.import_module(MODULES[case["package"]])
    call = own(case) if is_own else PEERS[case["package"], case["method"]]
    call(load(WARM, case), 5, case["threads"])
    data = load(TableSpec(**case["spec"]), case)
    times: list[float] = []
    # The alarm ends the process, also in the middle of compiled code.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, case["limit"])
    while not times or (sum(times) < BUDGET and len(times) < MOST_RUNS):
        start = time.perf_counter()
        selected = call(data, case["k"], case["threads"])
        times.append(time.perf_counter() - start)
        signal.setitimer(signal.ITIMER_REAL, 0)
    version = importlib.metadata.version(case["package"])
    return {"runs": times, "selected": selected, "version": version}


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    warnings.simplefilter("ignore")
    try:
        found = measure(json.loads(sys.argv[1]))
    except Exception as error:  # another package may raise any error
        found = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
    answer.write(json.dumps(found))


if __name__ == "__main__":
    main()
