"""The selectors of other packages, called as their documentation recommends.

Each gets the same integer table, and two cores if it can use them. Data frames are made before the
timing starts. ``make bench`` installs the packages of ``benchmarks/peers.txt`` in a separate
environment: none of them is a dependency of hocmim.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def prepare(X: Any, y: Any, matrix: Any) -> dict[str, Any]:
    return {"X": X, "y": y}


def run(data: dict[str, Any], case: dict[str, Any]) -> list[int]:
    """Select ``case["k"]`` columns; return them in order, or [] if they are unknown."""
    return PEERS[case["package"], case["method"]](data, case["k"], case["threads"])


def frame(data: dict[str, Any]) -> Any:
    """The table as a data frame with the columns x0, x1, …; made once."""
    import pandas as pd

    if "frame" not in data:
        names = [f"x{j}" for j in range(data["X"].shape[1])]
        data["frame"] = pd.DataFrame(data["X"], columns=names)
        data["series"] = pd.Series(data["y"], name="class")
    return data["frame"]


def before(data: dict[str, Any], case: dict[str, Any]) -> None:
    """Import the package and make its data frame, untimed."""
    importlib.import_module(MODULES[case["package"]])
    if case["package"] in ("mrmr-selection", "feature-engine"):
        frame(data)
    if case["package"] == "pymrmr" and "with_class" not in data:
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
    "pymrmr": "pymrmr",
    "fastcan": "fastcan",
    "feature-engine": "feature_engine.selection",
    "ITMO-FS": "ITMO_FS.filters.multivariate",
}

PEERS: dict[tuple[str, str], Callable[..., list[int]]] = {
    ("scikit-learn", "MIM"): sklearn_mim,
    ("fast-select", "mRMR"): fast_select,
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


def work(package: str, method: str, n: int, d: int, k: int) -> int:
    """The quantity that the time of a peer is proportional to; used to predict long runs."""
    if package == "fast-select":
        return n * d * d
    return n * d * (1 if method == "MIM" and package == "scikit-learn" else k)
