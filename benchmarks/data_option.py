"""The option ``--data`` of the benchmarks that use the paper's data sets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def add_data_option(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add ``--data FOLDER``; its default is the environment variable HOCMIM_DATA."""
    named = os.environ.get("HOCMIM_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(named) if named else None,
        required=required and not named,
        metavar="FOLDER",
        help="folder of the paper's data sets (<name>.npz); default: the variable HOCMIM_DATA",
    )
