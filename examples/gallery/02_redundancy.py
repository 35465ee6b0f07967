"""
Redundancy that only several columns show
=========================================

A copy of a selected column is useless. So is a blend, a column that follows one of three others in
each row, but no single column and no pair shows this. This table has six useful columns, two
copies, four blends, and noise. Which methods select the six useful columns?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hocmim import RobustHOCMIM, make_selector

rng = np.random.default_rng(0)
N = 4000
useful = rng.integers(2, size=(6, N))
evidence = [2.0, 1.8, 1.6, 0.7, 0.6, 0.5] @ (useful - 0.5)
y = rng.random(N) < 1 / (1 + np.exp(-1.5 * evidence))
a, b, c, *_ = useful


def blend(*columns):
    """Return a column that follows one of the columns in each row, with a few errors."""
    return np.choose(rng.integers(len(columns), size=N), columns) ^ (rng.random(N) < 0.06)


table = dict(zip("abcdef", useful, strict=True))
table |= {"copy of a": a, "copy of b": b}
table |= {"a or b": blend(a, b), "b or c": blend(b, c)}
table |= {"a, b or c": blend(a, b, c), "again a, b or c": blend(a, b, c)}
table |= {f"noise {k}": rng.integers(2, size=N) for k in range(1, 7)}
X = pd.DataFrame(table)

# %%
# Blue columns are useful. MIM scores each column alone and selects the copies. JMI averages over
# the selected columns, so one copy among several has little effect. CMIM and mRMR compare with one
# column at a time: they detect copies, not blends. CMIM-3 compares with pairs and detects the
# blends of two. HOCMIM and HOCMIM-R compare with as many columns as necessary.

methods = ["MIM", "JMI", "mRMR", "CMIM", "CMIM-3", "HOCMIM", "HOCMIM-R"]
fig, ax = plt.subplots(figsize=(8.5, 3.9), layout="constrained")
for row, method in enumerate(methods):
    selected = make_selector(method, n_features_to_select=6).fit(X, y).selected_
    for rank, j in enumerate(selected, 1):
        colour = "#2f6db3" if j < 6 else "#d9792b"
        ax.add_patch(plt.Rectangle((j - 0.5, row - 0.5), 1, 1, color=colour, lw=0))
        ax.text(j, row, rank, color="white", ha="center", va="center", weight="bold")
    n_useful = int((selected < 6).sum())
    ax.text(X.shape[1] - 0.2, row, f"{n_useful} of 6", va="center", color="#333a42")
ax.set(xlim=(-0.5, X.shape[1] - 0.5), ylim=(len(methods) - 0.5, -0.5))
ax.set_yticks(range(len(methods)), methods)
ax.set_xticks(range(X.shape[1]), X.columns, rotation=45, ha="right", rotation_mode="anchor")
ax.set_xticks(np.arange(X.shape[1]) - 0.5, minor=True)
ax.set_yticks(np.arange(len(methods)) - 0.5, minor=True)
ax.grid(which="minor", color="#dfe3e8")
ax.tick_params(which="both", length=0)
ax.spines[:].set_visible(False)
ax.set_title(
    "order of selection; blue: useful, orange: redundant or noise", loc="left", fontsize=11
)

# %%
# On this table, with two levels a column and many rows, conditioning on all selected columns
# (``CMI``) is as good. With more levels or fewer rows its cells become too small long before those
# of HOCMIM-R, which conditions only on columns that overlap with a candidate:
# :doc:`/gallery/03_sample_size`.
#
# The explanation of HOCMIM-R for a blend:

print(RobustHOCMIM(6).fit(X, y).explain("a, b or c", X))
