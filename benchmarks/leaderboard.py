"""Writes the leaderboards of a finished ``hocmim bench known`` into docs/leaderboard.md.

    python benchmarks/leaderboard.py [FOLDER]

FOLDER is the output folder of the command; by default results/known.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs_tables import DOCS, write_table

NAMES = ("leaderboard", "leaderboard_noise", "leaderboard_networks")


def main(folder: Path) -> None:
    for name in NAMES:
        text = (folder / "tables" / f"{name}.md").read_text("utf-8")
        write_table("leaderboard.md", name, text.partition("\n\n")[2])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS.parent / "results" / "known")
