"""With too little memory a fit ends in MemoryError, or with fewer threads; it never aborts."""

import subprocess
import sys

import pytest

# Every method under several limits on the address space, in one process: an abort ends it.
SCRIPT = """
import resource, sys
import numpy as np
import hocmim, sklearn.svm
from hocmim.selectors.registry import make_selector, list_methods

rng = np.random.default_rng(0)
X, y = rng.normal(size=(800, 3000)), np.arange(800) % 2
X[:, :20] += y[:, None]

def fit(name):
    selector = make_selector(name, n_features_to_select=3)
    if "n_jobs" in selector.get_params():
        selector.set_params(n_jobs=4)
    if "team_size" in selector.get_params():
        selector.set_params(team_size=2)
    return selector.fit(X, y).selected_.tolist()

names = [name for name in list_methods() if name not in SLOW]
expected = {name: fit(name) for name in names}
for megabytes in (1, 4, 12, 40):
    for name in names:
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        try:
            found = fit(name)
        except MemoryError:
            found = "MemoryError"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        assert found in ("MemoryError", expected[name]), (name, megabytes, found)
        print(name, megabytes, "ok" if found == expected[name] else found, flush=True)
"""
# Third order and above, and NCA: each takes seconds here.
SLOW = ["CMIM-3", "CMIM-4", "JMI-3", "JMI-4", "Relax-mRMR", "NCA"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_limit_on_the_address_space():
    run = subprocess.run(
        [sys.executable, "-c", f"SLOW = {SLOW!r}\n{SCRIPT}"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert run.returncode == 0, (lines[-1:], run.stderr[-2000:])
    results = [line.rsplit(" ", 1)[1] for line in lines]
    assert {"ok", "MemoryError"} == set(results)


# The first product of matrices of a process: OpenBLAS has to reserve memory for it.
FIRST_FIT = """
import resource, sys
import numpy as np
import hocmim
from hocmim.selectors.registry import make_selector

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 8)), np.arange(60) % 2
hocmim.MIM(2).fit(X, y)  # imports what is imported late
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (30 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    if sys.argv[1] == "SelectorCV":
        hocmim.SelectorCV([hocmim.MIM()], model="linear", cv=2, max_features=2).fit(X, y)
    elif sys.argv[1] == "FS-OLS":
        make_selector("FS-OLS", n_features_to_select=2, n_jobs=4).fit(X, y)
    else:
        make_selector(sys.argv[1], n_features_to_select=2).fit(X, y)
except MemoryError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("name", ["FS-OLS", "Fisher", "NCA", "SelectorCV"])
def test_the_first_fit_with_too_little_memory_for_products(name):
    run = subprocess.run(
        [sys.executable, "-c", FIRST_FIT, name],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.startswith("Products of matrices need 0.3 GB of address space")
