"""Write golden.json: ``python tests/golden/record.py [another file]``.

Only with the code as it was before a deliberate change of results, or after one, once every
difference that the test shows is explained. Never to make a test pass.

The record has a line per case. Numbers with fractions are a digest of all their bits, followed by
the first three, rounded, for the reader: ``3f2a90c1d5e7 0.211 0.104 0.00613``. After ``~`` the last
bits depend on the versions of numpy, scipy and scikit-learn and on the kernels of BLAS: where these
are others than those of the record, only the rounded numbers are compared.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

sys.path[:0] = [] if "golden" in sys.modules else [str(Path(__file__).resolve().parents[1])]

from golden.cases import all_cases  # noqa: E402
from golden.spelling import Inexact, Unread, run  # noqa: E402

RECORD = Path(__file__).with_name("golden.json")


@cache
def machine():
    """What the last bits of inexact numbers depend on."""
    np.ones((2, 2)) @ np.ones((2, 2))
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    kernels = sorted({pool.get("architecture", "unknown") for pool in blas})
    versions = [f"{module.__name__} {module.__version__}" for module in (np, scipy, sklearn)]
    return ", ".join([*versions, *kernels])


def written(value):
    """A result as it is recorded."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {name: written(part) for name, part in value.items()}
    if isinstance(value, Inexact):
        return f"~{digest(value)}"
    if isinstance(value, Unread):
        return digest(value).split()[0]
    array = np.asarray(value)
    if array.dtype.kind == "f" and array.size:
        return digest(array)
    return " ".join(map(str, array.tolist()))


def digest(values):
    """A digest of the bits of numbers, and the first three of them."""
    array = np.asarray(values, "<f8")
    array = np.where(np.isnan(array), np.nan, array)  # the same bits for all
    bits = hashlib.sha256(array.tobytes()).hexdigest()[:12]
    return " ".join([bits, *(f"{number:.3g}" for number in array[:3])])


def result(case):
    """What a case gives now, as it is recorded."""
    with (
        tempfile.TemporaryDirectory() as folder,
        threadpool_limits(1, "blas"),  # a product of matrices depends on the number of threads
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        return written(run(case, Path(folder)))


def main(path):
    found = {key: result(case) for key, case in all_cases().items() if "same_as" not in case}
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in {"machine": machine(), **found}.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} cases, {path.stat().st_size:,} bytes in {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD)
