"""Use everything that the extension module offers, then end.

Run by tests/trust/test_exit.py: nanobind reports objects that are left at the end of a process.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import hocmim
from hocmim import _native
from hocmim.errors import HocmimError
from hocmim.selectors.registry import make_selector

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.integers(0, 4, (80, 7)).astype(float)
X[:, 3] += rng.normal(size=80)
y = (X[:, 0] + X[:, 1] > 3).astype(int)


def stop(event):
    raise ZeroDivisionError


KEPT = []  # objects of the module in a list, a cache and a cycle until the end
for name in hocmim.list_methods():
    selector = make_selector(name, n_features_to_select=3)
    for n_jobs in (1, 2):
        if "n_jobs" in selector.get_params():
            selector.set_params(n_jobs=n_jobs)
        KEPT.append(selector.fit(X, y))
for discretizer in ("uniform", "quantile", "mdlp"):
    try:
        KEPT.append(hocmim.JMI(2, encoder=hocmim.Encoder(discretizer=discretizer)).fit(X, y))
    except HocmimError as error:
        KEPT.append(error)
for estimator in _native.estimator_names():
    KEPT.append(hocmim.cmi(X[:, 0], y, X[:, 1:3], estimator=estimator))
    KEPT.append(hocmim.RobustHOCMIM(3, estimator=estimator).fit(X, y))
try:
    hocmim.RobustHOCMIM(3).fit(X, y, progress=stop)
except ZeroDivisionError as error:
    KEPT.append(error)  # with the frames of the fit
columns = _native.Columns(80)
columns.append(np.zeros(80, np.uint8), 1)
KEPT += [columns, _native.BitPlanes(columns), _native.information, KEPT]
used = {name for name in dir(_native) if not name.startswith("_")}
print(len(used), file=sys.stdout)
