"""The numbers of the software paper are those of the stored results, and its references exist."""

import csv
import importlib.util
import re
from pathlib import Path

import pytest

import hocmim

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "paper" / "paper.md"
if not (ROOT / "results").is_dir():
    pytest.skip("A SOURCE DISTRIBUTION: it has no stored results.", allow_module_level=True)


def load_figures():
    spec = importlib.util.spec_from_file_location("paper_figures", ROOT / "paper" / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


figures = load_figures()


def prose(page=PAPER):
    """The text of a page, with line breaks as spaces."""
    return " ".join(page.read_text("utf-8").split())


def row_of(path, **values):
    with (ROOT / "results" / path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if all(row[name] == value for name, value in values.items()):
                return row
    raise AssertionError(f"{path}: no row with {values}")


@pytest.mark.parametrize(
    ("page", "name", "make"),
    figures.PLACES,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tables_are_those_of_the_stored_results(page, name, make):
    text = (ROOT / page).read_text("utf-8")
    assert figures.with_table(text, name, make()) == text, "Run python paper/figures.py."


def test_ranks_in_the_text():
    text = prose()
    claim = row_of("paper/tables/claims.csv", claim="Average rank of HOCMIM, low-dimensional, knn")
    rank, place = re.match(r"(\S+) .*; (place \d+ of \d+),", claim["ours"]).groups()
    assert f"average rank over the 15 low-dimensional sets is {rank} ({place})" in text
    assert f"where {claim['published'].split()[0]} was published" in text
    places = {name: list(figures.read_ranks(name)).index("HOCMIM-R") for name in ("knn", "svm")}
    assert places == {"knn": 0, "svm": 2}
    assert "HOCMIM-R is first with 3-NN and third with the linear SVM" in text


def test_wins_and_losses_in_the_text():
    text = prose()
    knn, svm = figures.read_against("knn"), figures.read_against("svm")
    wins, losses = knn["Relax-mRMR"]["wins"], knn["Relax-mRMR"]["losses"]
    assert f"against Relax-mRMR on {wins} of 15 sets and loses on {losses}" in text
    wins, losses = svm["Relax-mRMR"]["wins"], svm["Relax-mRMR"]["losses"]
    assert f"with the SVM it wins on {wins} and loses on {losses}" in text
    for against in (knn, svm):
        assert [name for name, row in against.items() if float(row["with Holm"]) < 0.05] == [
            "CMICOT"
        ]
    assert f"CMICOT is significant (p = {knn['CMICOT']['with Holm']} with 3-NN)" in text


def test_leaderboard_in_the_text():
    path = ROOT / "results" / "known" / "tables" / "leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rank = {row["method"]: row["mean rank"] for row in rows[:3]}
    assert list(rank) == ["HOCMIM-R", "JMI-3", "JMI"]
    shown = f"{rank['HOCMIM-R']}, then JMI-3, {rank['JMI-3']}, and JMI, {rank['JMI']}."
    assert shown in prose()
    methods = [row for row in rows if not row["method"].startswith("#")]
    assert f"with {len(methods)} methods" in prose()


@pytest.mark.parametrize("page", [PAPER, ROOT / "README.md"], ids=lambda page: page.stem)
def test_number_of_methods(page):
    kinds = [hocmim.make_selector(name) for name in hocmim.list_methods()]
    n_information = sum(hasattr(kind, "explain") for kind in kinds)
    n_filters = len(kinds) - n_information
    shown = f"{n_information} methods of information theory and {n_filters} other filters"
    assert shown in prose(page)


def test_references_are_cited_and_listed():
    listed = set(
        re.findall(r"(?m)^@\w+\{([\w-]+),", (PAPER.parent / "paper.bib").read_text("utf-8"))
    )
    cited = set(re.findall(r"@([a-z][\w-]+)", PAPER.read_text("utf-8")))
    assert cited == listed


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    for draw in (figures.draw_speed, figures.draw_ranks):
        draw(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
