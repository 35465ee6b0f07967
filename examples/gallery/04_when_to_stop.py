"""
When to stop
============

How many columns should be selected? ``n_features_to_select="auto"`` continues while the best
candidate adds more than chance would. Here the answer is known: five columns are useful, two are
noisy copies of them, and 40 are noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from hocmim import RobustHOCMIM

rng = np.random.default_rng(0)


def known_answer(n_samples):
    """Columns 0 to 4 are useful, 5 and 6 are noisy copies of 0 and 1, the others are noise."""
    useful = rng.integers(3, size=(n_samples, 5))
    evidence = (useful - 1) @ [1.2, 1.0, 0.8, 0.6, 0.45]
    y = evidence + 0.6 * rng.logistic(size=n_samples) > 0
    is_noisy = rng.random((n_samples, 2)) < 0.1
    copies = np.where(is_noisy, rng.integers(3, size=(n_samples, 2)), useful[:, :2])
    return np.column_stack([useful, copies, rng.integers(3, size=(n_samples, 40))]), y


# %%
# One table of 1000 rows. ``p_values_`` are those of the selected columns, corrected for the number
# of candidates. ``stopping_`` describes the column at which the selection ended, and the reason.

X, y = known_answer(1000)
selector = RobustHOCMIM("auto").fit(X, y)
print("selected:", selector.selected_)
print(selector.stopping_)

steps = np.arange(1, len(selector.selected_) + 2)
columns = [*selector.selected_, selector.stopping_.index]
p_values = np.array([*selector.p_values_, selector.stopping_.p_value]).clip(1e-30)
is_selected = p_values <= selector.alpha

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.axhspan(selector.alpha, 1e3, color="#f3e3d7", lw=0)
ax.axhline(selector.alpha, color="#d9792b", lw=1)
ax.text(0.6, selector.alpha * 3, "no more than chance", color="#a85a1c", va="bottom")
ax.plot(steps[is_selected], p_values[is_selected], "o", ms=10, color="#2f6db3")
ax.plot(
    steps[~is_selected], p_values[~is_selected], "o", ms=10, color="white", mec="#d9792b", mew=2
)
for step, j, p in zip(steps, columns, p_values, strict=True):
    kind = "useful" if j < 5 else "copy" if j < 7 else "noise"
    ax.annotate(
        f"column {j}\n({kind})", (step, p), (12, 0), textcoords="offset points", va="center"
    )
ax.set(yscale="log", xlim=(0.5, len(steps) + 0.9), ylim=(1e-33, 1e3), xticks=steps)
ax.set(xlabel="step", ylabel="p-value, corrected (at least 1e-30)")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Twenty tables of each size, alpha 0.01. With few rows only the strong columns are significant.
# With many rows all five are found, and copies and noise are not selected.

sizes, n_tables = [100, 200, 500, 1000, 2000, 5000], 20
counts = np.zeros((3, len(sizes)))
for at, n_samples in enumerate(sizes):
    for _ in range(n_tables):
        selected = RobustHOCMIM("auto").fit(*known_answer(n_samples)).selected_
        useful = selected[selected < 7]
        n_found = len(set(useful % 5))  # columns 5 and 6 repeat 0 and 1
        n_redundant, n_noise = len(useful) - n_found, len(selected) - len(useful)
        counts[:, at] += np.array([n_found, n_redundant, n_noise]) / n_tables

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
labels = ["found, of 5 (or their copies)", "redundant", "noise"]
styles = [("#2f6db3", 6), ("#8a6bbe", 10), ("#d9792b", 5)]
for label, (colour, size), curve in zip(labels, styles, counts, strict=True):
    ax.plot(sizes, curve, "o-", color=colour, ms=size, label=label)
ax.set(xscale="log", xlabel="samples", ylabel="columns selected, mean", ylim=(-0.15, 5.3))
ax.set_xticks(sizes, sizes)
ax.set_xticks([], minor=True)
ax.legend(frameon=False, loc="center right")
ax.spines[["top", "right"]].set_visible(False)

print(f"{'samples':30}", *(f"{n:>5}" for n in sizes))
for label, curve in zip(labels, counts, strict=True):
    print(f"{label:30}", *(f"{value:5.2f}" for value in curve))

# %%
# The same for other methods and with an exclusive or: :doc:`/development/stopping`.
