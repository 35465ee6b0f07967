"""Where the data sets of the paper are, for the tests that use them."""

import os
from pathlib import Path

import pytest


def find_published_data():
    """The folder named by the environment variable HOCMIM_DATA."""
    named = os.environ.get("HOCMIM_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("The paper's data sets were not found: set HOCMIM_DATA to their folder.")
    return Path(named)
