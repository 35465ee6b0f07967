"""The stored run of the published experiment still gives the tables beside it."""

from pathlib import Path

import pytest

from hocmim.experiments import paper
from hocmim.experiments.datasets import find_published
from hocmim.experiments.protocol import Protocol
from hocmim.experiments.published import published_sets
from hocmim.experiments.report import write_tables
from hocmim.experiments.store import Store

FOLDER = Path(__file__).parents[2] / "results" / "paper"
SPLITS = {entry.name: 30 for entry in published_sets()} | dict.fromkeys(
    ("pcmac", "basehock", "pengleuk"), 10
)


def rebuild(folder, published_data):
    """Write the tables of the stored outcomes, as ``hocmim bench paper --only-report`` does."""
    found = find_published(published_data, published_sets())
    experiment = paper.paper_experiment(found, Protocol(), SPLITS, paper.METHODS)
    known = Store(FOLDER / "results.jsonl").read()
    assert set(known) == set(experiment.items())
    write_tables(paper.paper_report(known, experiment, found.missing, []), folder)


@pytest.mark.slow
def test_the_stored_run_gives_the_stored_tables(tmp_path, published_data):
    if not FOLDER.is_dir():
        pytest.skip("results/ is not part of a source distribution.")
    rebuild(tmp_path, published_data)
    stored = {path.name: path.read_text("utf-8") for path in (FOLDER / "tables").iterdir()}
    assert len(stored) > 100
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == stored
