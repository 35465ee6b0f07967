"""The measured cases, in groups that share a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from peers import PEERS
from tables import SIZES, TableSpec

SECOND_ORDER = ("MIM", "mRMR", "JMI", "DISR", "CIFE", "CMIM")
PAPER_METHODS = ("HOCMIM", "CMICOT", "Relax-mRMR", "JMI-4", "CMIM-4")
ORDERS = (1, 2, 3, 5, 7, 10, 15, 20)
K = 50
DEFAULT_ORDER = 15

# The paper's low-dimensional data sets (D ≤ 520).
PAPER_SETS = (
    "parkinsons",
    "spect",
    "german",
    "breast",
    "wdbc",
    "ionosphere",
    "dermatology",
    "soybeansmall",
    "krvskp",
    "sonar",
    "libras",
    "semeion",
    "arrhythmia",
    "penglung",
    "ujiindoor",
)

Case = dict[str, Any]


@dataclass
class Group:
    """Cases on one table. ``limit``: seconds allowed for a run; ``own_limit``: for hocmim."""

    table: TableSpec | Path
    cases: list[Case]
    repeats: int = 5
    limit: float = 10.0
    own_limit: float = 30.0
    tags: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.table.stem if isinstance(self.table, Path) else self.table.name

    def limit_of(self, case: Case) -> float:
        return self.own_limit if case["package"] == "hocmim" else self.limit


def own(method: str, k: int = K, kind: str = "fit", threads: int = 2, **options: Any) -> Case:
    return {
        "package": "hocmim",
        "method": method,
        "kind": kind,
        "k": k,
        "threads": threads,
        "options": options,
    }


def peer(package: str, method: str, k: int = K) -> Case:
    return {
        "package": package,
        "method": method,
        "kind": "fit",
        "k": k,
        "threads": 2,
        "options": {},
    }


def case_key(table: str, case: Case) -> str:
    """A case as text; equal keys mean the same measurement."""
    options = ",".join(f"{name}={value}" for name, value in sorted(case["options"].items()))
    parts = [table, case["package"], case["method"], options or "-", case["kind"]]
    return "|".join([*parts, f"k{case['k']}", f"t{case['threads']}"])


def is_part_of(case: Case, other: Case) -> bool:
    """Whether the other case includes the search of this one, on the same cores or fewer."""
    if any(case[name] != other[name] for name in ("package", "method", "options", "k")):
        return False
    is_search = case["kind"] == "search" and other["kind"] != "encode"
    return is_search and case["threads"] >= other["threads"]


def size_group(spec: TableSpec, with_peers: bool = True, **limits: Any) -> Group:
    """Every method at one of the sizes A…G: fit, and the search alone on two cores and one."""
    k = min(K, spec.n_columns)
    cases = [own("encode", k, "encode")]
    cases += [own("HOCMIM", k, "search", max_order=3)]
    for kind, threads in (("search", 2), ("fit", 2), ("search", 1)):
        cases += [own(method, k, kind, threads) for method in SECOND_ORDER]
        cases += [own("HOCMIM", k, kind, threads)]
    if spec.name in ("A", "B"):
        cases += [own("JMI-3", k), own("CMIM-3", k)]
    if spec.name == "A":
        cases += [own("Relax-mRMR", k), own("CMICOT", k)]
    if with_peers:
        cases += [peer(package, method, k) for package, method in PEERS]
    return Group(spec, cases, tags=["sizes"], **limits)


GROWTH_METHODS = ("HOCMIM", "JMI", "mRMR", "CMIM")
GROWTH_PEERS = (
    ("scikit-learn", "MIM"),
    ("fast-select", "mRMR"),
    ("mrmr-selection", "mRMR"),
)
BASE_N, BASE_D, BASE_K = 2_000, 500, 20
GROWTH_N = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
GROWTH_D = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
GROWTH_K = (5, 10, 20, 50, 100)


def growth_groups(
    n: tuple[int, ...] = GROWTH_N,
    d: tuple[int, ...] = GROWTH_D,
    k: tuple[int, ...] = GROWTH_K,
    with_peers: bool = True,
    **limits: Any,
) -> list[Group]:
    """Time against N, D and K; one of them varies, the others are N=2000, D=500, K=20."""

    def group(n_samples: int, n_columns: int, ks: tuple[int, ...], tag: str) -> Group:
        spec = TableSpec(f"{n_samples}x{n_columns}", n_samples, n_columns)
        cases = [own(method, k) for k in ks for method in GROWTH_METHODS]
        if with_peers:
            cases += [peer(*who, k) for k in ks for who in GROWTH_PEERS]
        return Group(spec, cases, **({"repeats": 3, "limit": 8.0} | limits), tags=[tag])

    return [
        *(group(value, BASE_D, (BASE_K,), "N") for value in n),
        *(group(BASE_N, value, (BASE_K,), "D") for value in d),
        group(BASE_N, BASE_D, k, "K"),
    ]


def order_group(spec: TableSpec, orders: tuple[int, ...] = ORDERS, **limits: Any) -> Group:
    """The search of HOCMIM against max_order, and of JMI for comparison."""
    k = min(K, spec.n_columns)
    cases = [own("JMI", k, "search")]
    for order in orders:
        options = {} if order == DEFAULT_ORDER else {"max_order": order}
        cases += [own("HOCMIM", k, "search", **options)]
    return Group(spec, cases, **({"repeats": 3} | limits), tags=["order"])


def long_groups() -> list[Group]:
    """HOCMIM on tables that take minutes, once: values in place of lower bounds."""
    cases = [
        own("JMI", kind="search"),
        own("HOCMIM", kind="search", max_order=3),
        own("HOCMIM", kind="search"),
    ]
    return [Group(SIZES[name], cases, repeats=1, own_limit=1500.0, tags=["long"]) for name in "CDE"]


def paper_groups(
    data: Path | None, names: tuple[str, ...] = PAPER_SETS, **limits: Any
) -> list[Group]:
    """HOCMIM and the methods of the paper's claims on half of each of its data sets."""
    settings = {"repeats": 3, "own_limit": 20.0} | limits
    groups = []
    for file in (data / f"{name}.npz" for name in names if data is not None):
        if file.exists():
            with np.load(file, allow_pickle=False) as content:
                k = min(K, content["X"].shape[1])
            cases = [own(method, k) for method in PAPER_METHODS]
            groups.append(Group(file, cases, tags=["paper"], **settings))
    return groups


def all_groups(data: Path | None, with_peers: bool) -> list[Group]:
    """The full run."""
    return [
        *(size_group(spec, with_peers) for spec in SIZES.values()),
        *paper_groups(data),
        *(order_group(SIZES[name]) for name in "BD"),
        *growth_groups(with_peers=with_peers),
        *long_groups(),
    ]


def quick_groups(data: Path | None, with_peers: bool) -> list[Group]:
    """A short version for two minutes: small tables, few points, short limits."""
    short = {"repeats": 2, "limit": 4.0, "own_limit": 10.0}
    return [
        size_group(SIZES["A"], with_peers, **short),
        size_group(SIZES["B"], False, **short),
        order_group(SIZES["A"], (1, 3, 15), **short),
        *growth_groups((500, 2_000), (100, 500), (5, 20), with_peers, **short),
        *paper_groups(data, PAPER_SETS[:3], **short),
    ]
