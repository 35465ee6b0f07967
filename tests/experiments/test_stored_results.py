"""The stored runs of the experiment and of the leaderboard give the tables beside them."""

from pathlib import Path

import pytest

from hocmim.experiments import known, paper
from hocmim.experiments.datasets import find_published
from hocmim.experiments.protocol import Protocol
from hocmim.experiments.published import published_sets
from hocmim.experiments.report import write_tables
from hocmim.experiments.store import Store

RESULTS = Path(__file__).parents[2] / "results"
FOLDER = RESULTS / "paper"
SPLITS = {entry.name: 30 for entry in published_sets()} | dict.fromkeys(
    ("pcmac", "basehock", "pengleuk"), 10
)


def rebuild(folder, published_data):
    """Write the tables of the stored outcomes, as ``hocmim bench paper --only-report`` does."""
    found = find_published(published_data, published_sets())
    experiment = paper.paper_experiment(found, Protocol(), SPLITS, paper.METHODS)
    stored = Store(FOLDER / "results.jsonl").read()
    assert set(stored) == set(experiment.items())
    write_tables(paper.paper_report(stored, experiment, found.missing, []), folder)


def read_tables(folder):
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.slow
def test_the_stored_run_gives_the_stored_tables(tmp_path, published_data):
    if not FOLDER.is_dir():
        pytest.skip("results/ is not part of a source distribution.")
    rebuild(tmp_path, published_data)
    stored = read_tables(FOLDER / "tables")
    assert len(stored) > 50
    assert read_tables(tmp_path) == stored


@pytest.mark.slow
def test_the_stored_leaderboard_gives_the_stored_tables(tmp_path):
    """The tables are generated again: the useful columns are not stored."""
    folder = RESULTS / "known"
    if not folder.is_dir():
        pytest.skip("results/ is not part of a source distribution.")
    stored = Store(folder / "results.jsonl").read()
    experiment = known.known_experiment()
    assert set(stored) == set(experiment.items())
    write_tables(known.known_report(stored, experiment), tmp_path)
    assert read_tables(tmp_path) == read_tables(folder / "tables")
