"""Damage the files that hocmim reads, and check that every damage is recognised.

``python tests/trust/flips.py --flips 5000`` flips one bit at a random place of a saved selector, a
selection, a checkpoint and each file of stored codes, so many times each. It also cuts each file
off at random places, and replaces it by foreign files. Reading it must raise InvalidFileError: a
damaged file must never give a result.
"""

from __future__ import annotations

import argparse
import pickle
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crash import FITTED, X, Y

from hocmim import JMI, Encoder, Engine, RobustHOCMIM, load
from hocmim.coding.store import stored_codes
from hocmim.errors import InvalidFileError
from hocmim.search.selection import Selection


class RunsCode:
    """A pickle of it makes a folder when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.mkdir, (self.mark,)


def read_again(path: Path) -> None:
    RobustHOCMIM(4, engine=Engine(checkpoint=path), n_jobs=1).fit(X, Y)


def read_selection(path: Path) -> Selection:
    return Selection.from_json(path.read_bytes().decode("latin-1"))


def make_files(folder: Path) -> list[tuple[str, Path, Callable[[], object]]]:
    """Write one file of each kind; return its kind, its path, and a function that reads it."""
    model = FITTED.save(folder / "model.json")
    selection = folder / "selection.json"
    selection.write_text(FITTED.selection_.to_json())
    checkpoint = folder / "run.checkpoint"
    read_again(checkpoint)
    # Without a limit of levels one column has two bytes per code, so that no file is empty.
    engine = Engine(codes_dir=folder / "codes")
    JMI(2, engine=engine, encoder=Encoder(max_levels=None), n_jobs=1).fit(X, Y)
    (codes,) = (folder / "codes").iterdir()

    def read_codes() -> object:
        return stored_codes(codes.parent, codes.name, None)

    return [
        ("selector", model, lambda: load(model)),
        ("selection", selection, lambda: read_selection(selection)),
        ("checkpoint", checkpoint, lambda: read_again(checkpoint)),
        *((f"codes: {path.name}", path, read_codes) for path in sorted(codes.iterdir())),
    ]


def is_recognised(path: Path, data: bytes, read: Callable[[], object]) -> bool:
    """Whether reading these bytes raises the error that they should."""
    path.write_bytes(data)
    try:
        read()
    except InvalidFileError:
        return True
    return False


def damage(path: Path, read: Callable[[], object], n_flips: int, seed: int) -> tuple[int, int]:
    """Return how many damages of a file were tried and how many were not recognised."""
    whole, rng, tried, missed = path.read_bytes(), random.Random(seed), 0, 0
    read()
    mark = path.with_name("mark")
    foreign = [b"", b"{}", b"\n", b'{"sha256": "', b"\x00" * len(whole), whole + b"\n", whole * 2]
    foreign += [pickle.dumps(RunsCode(mark)), whole.replace(b"\n", b"\r\n"), b"[" * 100_000]
    damaged = [data for data in foreign if data != whole]
    damaged += [whole[: rng.randrange(len(whole))] for _ in range(n_flips // 10)]
    for data in damaged:
        tried += 1
        missed += not is_recognised(path, data, read)
    for _ in range(n_flips):
        place, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
        data = bytearray(whole)
        data[place] ^= bit
        tried += 1
        missed += not is_recognised(path, bytes(data), read)
    assert not mark.exists(), "a pickle was read"
    path.write_bytes(whole)
    read()
    return tried, missed


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--flips", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for kind, path, read in make_files(Path(folder)):
            began = time.monotonic()
            tried, missed = damage(path, read, given.flips, given.seed)
            print(
                f"{kind} ({path.stat().st_size} bytes): {tried} damages, {tried - missed} "
                f"recognised; {time.monotonic() - began:.0f} s",
                flush=True,
            )
            assert not missed


if __name__ == "__main__":
    main()
