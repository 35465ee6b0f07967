"""Make the figures of the software paper, and the tables of the paper and of docs/, from results.

``python paper/figures.py`` draws paper/speed.png and paper/ranks.png, and writes tables between
their comments into paper/paper.md and pages of docs/. It measures nothing: ``make bench`` made
benchmarks/results/bench.md, ``hocmim bench paper`` and ``hocmim bench known`` made results/.
"""

from __future__ import annotations

import csv
import re
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BENCH = ROOT / "benchmarks" / "results" / "bench.md"
RESULTS = ROOT / "results"
TABLES = RESULTS / "paper" / "tables"
# Rows and columns of the tables of ``make bench``.
SIZES = {
    "A": (1_000, 100),
    "B": (2_000, 1_000),
    "C": (2_000, 5_000),
    "D": (20_000, 500),
    "E": (200_000, 200),
    "F": (2_000, 20_000),
    "G": (80, 20_000),
}
CLASSIFIERS = {"knn": "3-NN", "svm": "linear SVM"}
# The order of the rows: package and method.
PROGRAMS = (
    ("hocmim", "MIM"),
    ("scikit-learn", "MIM"),
    ("skfeature-chappers", "MIM"),
    ("hocmim", "mRMR"),
    ("fast-select", "mRMR"),
    ("mrmr-selection", "mRMR"),
    ("skfeature-chappers", "mRMR"),
    ("feature-engine", "mRMR"),
    ("pymrmr", "mRMR"),
    ("ITMO-FS", "mRMR"),
    ("hocmim", "JMI"),
    ("skfeature-chappers", "JMI"),
    ("ITMO-FS", "JMI"),
    ("fastcan", "FS-OLS"),
    ("hocmim", "JMI-3"),
    ("hocmim", "HOCMIM"),
)
OURS, OTHERS = "#1f5fae", "#7d8894"


def read_times() -> dict[tuple[str, str, str], str]:
    """The measured calls of ``fit`` with two threads: "0.0232 s", "> 10 s" or "not run (…)"."""
    found = {}
    for line in BENCH.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 9 and cells[0] in SIZES and cells[2].endswith(" (fit)"):
            found[cells[2].removesuffix(" (fit)"), cells[1], cells[0]] = cells[4]
    return found


def read_ranks(classifier: str) -> dict[str, float]:
    """The average rank of each method over the 15 low-dimensional data sets, the best first."""
    with (TABLES / f"{classifier}_robust.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    average = next(row for row in rows if row["dataset"] == "average rank")
    ranks = {
        name.removesuffix(" rank"): float(value)
        for name, value in average.items()
        if name and name.endswith(" rank") and value
    }
    return dict(sorted(ranks.items(), key=lambda item: item[1]))


def read_against(classifier: str) -> dict[str, dict[str, str]]:
    """Wins and losses of HOCMIM-R against each method, and the p-value with Holm's correction."""
    path = TABLES / f"{classifier}_robust_against.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {row["other method"]: row for row in csv.DictReader(file) if row["with Holm"]}


def seconds(measured: str | None) -> str:
    """The median of the runs with two digits, or why there is none."""
    if measured is None:
        return "–"
    value = re.fullmatch(r"(> )?([\d.e+-]+) s.*", measured)
    if value is None:
        return "not run"
    return f"> {value[2]}" if value[1] else in_two_digits(float(value[2]))


def in_two_digits(value: float) -> str:
    """0.0232 as 0.023, 4.5 as 4.5, 51.2 as 51."""
    return f"{value:.0f}" if value >= 9.95 else f"{float(f'{value:.1e}'):g}"


def packages_table(tables: str) -> str:
    """Seconds of each program on the tables with these letters."""
    times = read_times()
    head = [f"{SIZES[at][0]:,} × {SIZES[at][1]:,}".replace(",", " ") for at in tables]
    lines = [["method", "package", *head], ["---"] * (2 + len(tables))]
    for package, method in PROGRAMS:
        cells = [seconds(times.get((package, method, at))) for at in tables]
        name = "**hocmim**" if package == "hocmim" else package
        lines.append([method, name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ranks_table() -> str:
    """The average ranks of all methods, a column for each classifier."""
    columns = [read_ranks(classifier) for classifier in CLASSIFIERS]
    lines = [["method", *CLASSIFIERS.values()], ["---"] * (1 + len(columns))]
    for method in columns[0]:
        cells = [
            f"**{ranks[method]:.2f}**"
            if ranks[method] == min(ranks.values())
            else f"{ranks[method]:.2f}"
            for ranks in columns
        ]
        lines.append([method, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def stored_table(path: str) -> str:
    """A stored table with its notes, in Markdown."""
    lines = (RESULTS / path).read_text("utf-8").splitlines()
    notes = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    header, *rows = csv.reader(line for line in lines if not line.startswith("# "))
    table = [header, ["---"] * len(header), *rows]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in table), *(f"\n{n}" for n in notes)])


# Pandoc takes a paragraph after a table that begins with a colon as its caption.
PACKAGES_CAPTION = """: Seconds for one call. "> 10" (for `hocmim`, "> 30"): stopped at this limit.
"not run": more than three times the limit was expected from smaller tables. Written by
`python paper/figures.py`."""
RANKS_CAPTION = """: Average ranks of twelve methods over 15 data sets with 30 random halves each; 1
is best. Written by `python paper/figures.py`."""
# Where each table stands: the page, the name in its comment, and what makes it.
PLACES = (
    ("paper/paper.md", "packages", lambda: f"\n{packages_table('ABDG')}\n\n{PACKAGES_CAPTION}\n"),
    ("paper/paper.md", "ranks", lambda: f"\n{ranks_table()}\n\n{RANKS_CAPTION}\n"),
    ("docs/performance.md", "packages", lambda: packages_table("ABCDEFG")),
    (
        "docs/development/paper_results.md",
        "claims",
        lambda: stored_table("paper/tables/claims.csv"),
    ),
    ("docs/development/paper_results.md", "variants", lambda: stored_table("paper/variants.csv")),
    *(
        ("docs/development/leaderboard.md", name, partial(stored_table, f"known/tables/{name}.csv"))
        for name in ("leaderboard", "passemiers", "passemiers_2048", "epistasis")
    ),
)


def with_table(text: str, name: str, table: str) -> str:
    """Replace what is between ``<!-- name -->`` and ``<!-- end -->``."""
    start = text.index(f"<!-- {name} -->") + len(f"<!-- {name} -->")
    stop = text.index("<!-- end -->", start)
    return f"{text[:start]}\n{table}\n{text[stop:]}"


def draw_speed(path: Path) -> None:
    """The seconds at 2000 × 1000, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    times = read_times()
    rows = [(p, m, seconds(times.get((p, m, "B")))) for p, m in PROGRAMS]
    rows = [row for row in rows if row[2] not in ("–", "not run")]
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for at, (package, _, shown) in enumerate(rows):
        value = float(shown.removeprefix("> "))
        colour = OURS if package == "hocmim" else OTHERS
        ax.plot(value, at, ">" if shown.startswith(">") else "o", color=colour, ms=8)
        ax.text(value * 1.25, at, f"{shown} s", va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), [f"{method}, {package}" for package, method, _ in rows])
    ax.grid(axis="x", color="#e6e8eb")
    ax.set_axisbelow(True)
    ax.set(xscale="log", xlim=(0.008, 40), xlabel="seconds for 50 of 1000 columns, 2000 rows")
    ax.invert_yaxis()
    finish(figure, ax, path)


def draw_ranks(path: Path) -> None:
    """The average ranks of the methods with both classifiers."""
    import matplotlib.pyplot as plt

    of_knn, of_svm = read_ranks("knn"), read_ranks("svm")
    at = range(len(of_knn))
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    ax.hlines(
        at, *zip(*((of_knn[name], of_svm[name]) for name in of_knn), strict=True), color="#d6dae0"
    )
    ax.plot(list(of_knn.values()), at, "o", color=OURS, label="3-NN")
    ax.plot([of_svm[name] for name in of_knn], at, "s", color="#d9792b", label="linear SVM")
    ax.set_yticks(at, list(of_knn))
    ax.set(xlabel="average rank over 15 data sets, 30 splits each (1 is best)", xlim=(3, 9.2))
    ax.legend(frameon=False, loc="upper right")
    ax.invert_yaxis()
    finish(figure, ax, path)


def finish(figure: Any, ax: Any, path: Path) -> None:
    """Plain axes; write the picture without the date."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=200, metadata={"Software": None})


def main() -> None:
    """Draw the figures and write the tables."""
    import matplotlib as mpl

    mpl.use("Agg")
    draw_speed(HERE / "speed.png")
    draw_ranks(HERE / "ranks.png")
    for page, name, make in PLACES:
        path = ROOT / page
        path.write_text(with_table(path.read_text("utf-8"), name, make()), "utf-8")
        print(f"{page}: {name}")


if __name__ == "__main__":
    main()
