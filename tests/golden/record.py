"""Write golden.jsonl anew: ``python tests/golden/record.py``.

Only before a deliberate change of results, with the code as it was; or after one, once every
difference the test shows has been explained. Never to make a test pass. Another file name as an
argument leaves golden.jsonl as it is.

Scores are recorded to the last bit, as this machine and its versions of numpy and scipy give them.
"""

import json
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from golden.cases import cluster  # noqa: E402
from golden.test_golden import CASES, GROUPS, RECORD, produced  # noqa: E402


def main(path):
    warnings.simplefilter("ignore")
    records = {}
    for group in GROUPS:
        began = time.process_time()
        with (
            tempfile.TemporaryDirectory() as folder,
            cluster() if group == "dask" else nullcontext(),
        ):
            found = produced(group, Path(folder))
        records |= found
        print(f"{time.process_time() - began:6.2f} s  {len(found):4} cases  {group}")
    lines = [json.dumps([key, records[key]], ensure_ascii=False) + "\n" for key in sorted(records)]
    path.write_text("".join(lines), encoding="utf-8")
    print(f"{len(CASES)} cases, {path.stat().st_size:,} bytes in {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD)
