"""Where the data sets of the paper are, for the tests that use them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def find_published_data():
    """The folder named by HOCMIM_DATA, or the nearest folder ``*/data`` beside a parent folder."""
    named = os.environ.get("HOCMIM_DATA")
    beside = (path.parent for above in ROOT.parents for path in above.glob("*/data/krvskp.npz"))
    folder = Path(named) if named else next(beside, None)
    if folder is None or not folder.is_dir():
        pytest.skip("The paper's data sets were not found: set HOCMIM_DATA to their folder.")
    return folder
