"""What the benchmarks share: seeded tables, searches on codes, options, tables of docs/.

Each column of a table has its own seed, so that columns can be made in any order and number at a
time, and a table never has to be in memory in two forms. hocmim is imported on use: the environment
of other packages can make the same tables.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hocmim.coding.codes import Codes, Column

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
DOCS = ROOT / "docs"
CHUNK = 64  # columns made at a time when a table is filled in row-major order
MODULE = 50  # genes that follow one hidden factor


@dataclass(frozen=True)
class TableSpec:
    """Size and kind of a table; equal specs give equal tables."""

    name: str
    n_samples: int
    n_columns: int
    kind: str = "levels"
    n_levels: int = 5
    seed: int = 15

    @property
    def cells(self) -> int:
        return self.n_samples * self.n_columns


SIZES = {
    spec.name: spec
    for spec in (
        TableSpec("A", 1_000, 100),
        TableSpec("B", 2_000, 1_000),
        TableSpec("C", 2_000, 5_000),
        TableSpec("D", 20_000, 500),
        TableSpec("E", 200_000, 200),
        TableSpec("F", 2_000, 20_000, kind="words", n_levels=2),
        TableSpec("G", 80, 20_000, kind="genes"),
    )
}


def classes(spec: TableSpec) -> NDArray[np.uint8]:
    """Two classes, nearly balanced."""
    rng = np.random.default_rng([spec.seed, 0])
    y = rng.integers(0, 2, spec.n_samples, dtype=np.uint8)
    y[:2] = 0, 1
    return y


def column(spec: TableSpec, y: NDArray[np.uint8], j: int) -> NDArray[np.uint8]:
    """Column j of the table, its levels 0..arity−1 all present."""
    raw = {"levels": _levels_column, "words": _words_column, "genes": _genes_column}[spec.kind]
    codes = raw(spec, y, j)
    occurs = np.bincount(codes, minlength=spec.n_levels) > 0
    return codes if occurs.all() else (np.cumsum(occurs) - 1).astype(np.uint8)[codes]


def _rng(spec: TableSpec, stream: int, j: int) -> np.random.Generator:
    return np.random.default_rng([spec.seed, stream, j])


def _role(spec: TableSpec, j: int) -> tuple[str, int]:
    """The role of column j: informative, a noisy copy of such a column, half of an XOR, noise."""
    n_informative = max(2, min(50, spec.n_columns // 10))
    where = (j * 7919 + 13) % spec.n_columns if spec.n_columns % 7919 else j  # a permutation
    for role, count in (("informative", n_informative), ("copy", n_informative), ("xor", 4)):
        if where < count:
            return role, where
        where -= count
    return "noise", where


def _noise(spec: TableSpec, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Independent levels, not equally frequent."""
    shares = rng.dirichlet(np.full(spec.n_levels, 4.0))
    cuts = np.cumsum(shares)[:-1] * (1 << 16)
    draws = rng.integers(0, 1 << 16, spec.n_samples, dtype=np.uint16)
    return np.searchsorted(cuts.astype(np.uint16), draws, side="right").astype(np.uint8)


def _informative(spec: TableSpec, y: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """Noise, moved up one level in class 1 for a share of the samples."""
    rng = _rng(spec, 1, number)
    moves = (y == 1) & (rng.random(spec.n_samples, np.float32) < rng.uniform(0.1, 0.8))
    return np.minimum(_noise(spec, rng) + moves, spec.n_levels - 1).astype(np.uint8)


def _levels_column(spec: TableSpec, y: NDArray[np.uint8], j: int) -> NDArray[np.uint8]:
    role, number = _role(spec, j)
    rng = _rng(spec, 2, j)
    if role == "informative":
        return _informative(spec, y, number)
    if role == "copy":
        keeps = rng.random(spec.n_samples, np.float32) < rng.uniform(0.7, 0.95)
        return np.where(keeps, _informative(spec, y, number), _noise(spec, rng))
    if role == "xor":
        pair, half = divmod(number, 2)
        # Even and odd levels are equally frequent: each half alone is independent of y.
        even_levels = spec.n_levels // 2 * 2
        hidden = _rng(spec, 3, pair).integers(0, even_levels, spec.n_samples, dtype=np.uint8)
        if half == 0:
            return hidden
        other = rng.integers(0, even_levels, spec.n_samples, dtype=np.uint8)
        is_set = rng.random(spec.n_samples, np.float32) < 0.9
        return np.where(is_set, other // 2 * 2 + (hidden + y) % 2, other).astype(np.uint8)
    return _noise(spec, rng)


def _words_column(spec: TableSpec, y: NDArray[np.uint8], j: int) -> NDArray[np.uint8]:
    """A word: in 2 % of the texts on average; some words are more frequent in one class."""
    rng = _rng(spec, 2, j)
    share = min(rng.gamma(0.8, 0.02 / 0.8), 0.5)
    tilt = rng.uniform(-0.9, 0.9) if j % 10 == 0 else 0.0
    rate = (share * np.array([1 + tilt, 1 - tilt])).astype(np.float32)
    return (rng.random(spec.n_samples, np.float32) < rate[y]).astype(np.uint8)


def _genes_column(spec: TableSpec, y: NDArray[np.uint8], j: int) -> NDArray[np.uint8]:
    """A gene: follows the factor of its module, which may differ between the classes."""
    module = j // MODULE
    factor_rng, rng = _rng(spec, 3, module), _rng(spec, 2, j)
    factor = factor_rng.normal(size=spec.n_samples)
    if module % 10 == 0:
        factor += factor_rng.uniform(0.3, 1.5) * y
    values = rng.uniform(0.2, 1.0) * factor + rng.normal(size=spec.n_samples)
    low, high = values.min(), values.max()
    return np.minimum((values - low) / (high - low) * spec.n_levels, spec.n_levels - 1).astype(
        np.uint8
    )


def code_matrix(spec: TableSpec, out: NDArray[Any] | None = None) -> NDArray[np.uint8]:
    """The table as codes: one row per column, one byte per cell."""
    y = classes(spec)
    out = np.empty((spec.n_columns, spec.n_samples), np.uint8) if out is None else out
    for j in range(spec.n_columns):
        out[j] = column(spec, y, j)
    return out


def _chunks(spec: TableSpec) -> Iterator[tuple[int, int]]:
    for start in range(0, spec.n_columns, CHUNK):
        yield start, min(start + CHUNK, spec.n_columns)


def table(spec: TableSpec, dtype: Any = np.int64, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The table as a user passes it: samples × columns, row-major."""
    y = classes(spec)
    out = np.empty((spec.n_samples, spec.n_columns), dtype) if out is None else out
    for start, stop in _chunks(spec):
        out[:, start:stop] = np.stack([column(spec, y, j) for j in range(start, stop)], axis=1)
    return out


def as_codes(matrix: NDArray[np.uint8], y: NDArray[np.uint8]) -> tuple[Codes, Column]:
    """The codes of the table, made without hocmim's encoder."""
    from hocmim.coding.codes import Codes, Column

    n_columns, n_samples = matrix.shape
    codes = Codes(
        narrow=matrix,
        wide=np.empty((0, n_samples), np.uint16),
        place=np.arange(n_columns, dtype=np.int64),
        arity=matrix.max(axis=1).astype(np.int64) + 1,
    )
    return codes, Column(np.ascontiguousarray(y), int(y.max()) + 1)


def search(codes: Codes, y: Column, selector: Any, k: int, n_jobs: int = 1) -> list[int]:
    """The search of a selector on codes, without encoding: the selected columns."""
    from hocmim.search.engines.local import LocalEngine
    from hocmim.search.loop import forward_search

    selector.n_features_in_ = codes.n_columns  # set by fit otherwise
    with LocalEngine(codes, y, selector.make_criterion(), n_jobs=n_jobs) as engine:
        return [step.index for step in forward_search(engine, k).steps]


# --- times ----------------------------------------------------------------------------------------


def seconds_in_turns(
    calls: Sequence[Callable[[], Any]],
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
    least_turns: int = 3,
) -> NDArray[np.float64]:
    """The times of calls that take turns, until the budget is spent; a row for each turn."""
    times: list[list[float]] = []
    while len(times) < least_turns or sum(map(sum, times)) < budget:
        turn = []
        for call in calls:
            start = clock()
            call()
            turn.append(clock() - start)
        if min(turn) > 0:  # the clock of a virtual machine may stand still
            times.append(turn)
    return np.array(times)


def least_seconds(
    calls: Sequence[Callable[[], Any]],
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
    least_turns: int = 3,
) -> list[float]:
    """The smallest time of each call; the calls take turns."""
    return seconds_in_turns(calls, budget, clock, least_turns).min(0).tolist()


# --- memory ---------------------------------------------------------------------------------------


def peak_bytes() -> int:
    """The largest resident size since the last reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    raise RuntimeError("This system does not tell the peak of the resident size.")


def reset_peak() -> None:
    """Reset the peak of the resident size."""
    Path("/proc/self/clear_refs").write_text("5")


# --- what a script prints -------------------------------------------------------------------------


def machine() -> str:
    """The processor, its cores and the system; not the name of the machine."""
    from hocmim.experiments.machine import processor

    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{processor()}, {os.cpu_count()} cores, {system}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)


def write_result(name: str, title: str, text: str) -> None:
    """Write ``results/name``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(f"# {title}\n\n{machine()}.\n\n{text.strip()}\n", "utf-8")


def write_table(page: str, name: str, table: str) -> None:
    """Replace the text between ``<!-- name -->`` and ``<!-- end -->`` on a page of docs/.

    A table that the page does not show is written to ``results/PAGE_name.md``.
    """
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    before, mark, rest = text.partition(f"<!-- {name} -->\n")
    if not mark:
        RESULTS.mkdir(exist_ok=True)
        file = RESULTS / f"{path.stem}_{name.replace(' ', '_')}.md"
        file.write_text(table.strip() + "\n", encoding="utf-8")
        return
    after = rest[rest.index("<!-- end -->") :]
    path.write_text(f"{before}{mark}{table.strip()}\n{after}", encoding="utf-8")


def options_of(doc: str, *, data: bool = False) -> argparse.ArgumentParser:
    """The options that most scripts have: --quick, --write and, of some, --data."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small tables, a few seconds")
    parser.add_argument("--write", action="store_true", help="write into results/ and docs/")
    if data:
        named = os.environ.get("HOCMIM_DATA")
        parser.add_argument(
            "--data",
            type=Path,
            default=Path(named) if named else None,
            metavar="FOLDER",
            help="folder of the paper's data sets (<name>.npz); default: the variable HOCMIM_DATA",
        )
    return parser


def read_data(folder: Path) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """The data sets of a folder, the smallest first."""
    found = {}
    for path in folder.glob("*.npz"):
        with np.load(path, allow_pickle=False) as arrays:
            found[path.stem] = arrays["X"], arrays["y"]
    return dict(sorted(found.items(), key=lambda item: item[1][0].size))
