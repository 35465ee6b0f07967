"""Where the data sets of the paper are, for the tests that use them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def find_published_data():
    """The folder of the environment variable HOCMIM_DATA, or one beside this project."""
    named = os.environ.get("HOCMIM_DATA")
    beside = [path.parent for path in sorted(ROOT.parent.glob("*/data/krvskp.npz"))]
    folders = [Path(named)] if named else beside
    if not folders or not folders[0].is_dir():
        pytest.skip("the paper's data sets are not here: set HOCMIM_DATA to their folder")
    return folders[0]
