"""
How stable is a selection?
==========================

Would another sample of patients give the same columns? ``StabilitySelector`` repeats a selection on
resamples of the rows and counts how often each column is selected.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from hocmim import MIM, RobustHOCMIM, StabilitySelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selectors = {"HOCMIM-R": RobustHOCMIM(6), "MIM": MIM(6)}
fitted = {name: StabilitySelector(one, n_resamples=50).fit(X, y) for name, one in selectors.items()}

# %%
# Every column that was selected in at least a tenth of the resamples, with Wilson's interval of its
# frequency. Each resample selects six columns, so the frequencies of all columns add up to six.

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharex=True)
for ax, (name, stable) in zip(axes, fitted.items(), strict=True):
    often = np.argsort(-stable.frequencies_, kind="stable")
    often = often[stable.frequencies_[often] >= 0.1]
    low, high = stable.frequency_intervals_[often].T
    at, frequency = np.arange(len(often)), stable.frequencies_[often]
    colour = np.where(frequency >= 0.5, "#2f6db3", "#b9c0c8")
    ax.hlines(at, low, high, color=colour, lw=3, alpha=0.6)
    ax.scatter(frequency, at, c=colour, s=50, zorder=3)
    ax.axvline(0.5, color="#d9792b", lw=1, ls="--")
    ax.set_yticks(at, X.columns[often])
    ax.set(xlim=(0, 1.03), ylim=(12.5, -0.5), xlabel="selected in this share of resamples")
    index, interval = stable.stability_, stable.stability_interval_
    title = f"{name}: stability {index:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
    ax.set_title(title, loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)

# %%
# MIM is more stable, but for a bad reason. It selects the columns that measure size or concavity in
# every resample: all of them are relevant, and they repeat each other. HOCMIM-R selects some of
# them, and also texture and smoothness. Which of the similar columns it selects differs from
# resample to resample, so a frequency of a half does not mean a low relevance. The redundancy of
# the columns it selects on all rows:

selector = RobustHOCMIM(8).fit(X, y)
selector.plot_redundancy_heatmap()
