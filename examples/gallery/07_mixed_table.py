"""
A raw table: numbers, strings, dates and missing values
=======================================================

You do not have to encode, scale or impute anything. The table below is artificial, so the useful
columns are known: the age (or the birth year), the ward, and whether the lactate was measured at
all, which a worried doctor does.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hocmim import RobustHOCMIM

rng = np.random.default_rng(0)
N = 1500
age = rng.normal(62, 15, N).clip(18, 99).round()
ward = rng.choice(["surgery", "medicine", "intensive care"], N, p=[0.45, 0.4, 0.15])
worried = rng.random(N) < 0.3
risk = 0.05 * (age - 62) + 1.6 * (ward == "intensive care") + 1.4 * worried - 1.3
died = np.where(rng.random(N) < 1 / (1 + np.exp(-risk)), "died", "recovered")

table = pd.DataFrame(
    {
        "age": age,
        "birth year": 2024 - age,
        "ward": pd.Categorical(ward),
        "lactate": np.where(worried, rng.gamma(4, 0.5, N), np.nan),
        "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, N), "D"),
        "smoker": pd.array(rng.choice([True, False, None], N, p=[0.3, 0.6, 0.1]), "boolean"),
        "blood group": rng.choice(["0", "A", "B", "AB"], N, p=[0.41, 0.43, 0.11, 0.05]),
        "heart rate": rng.normal(80, 12, N).round(),
    }
)
print(table.head(4).to_string())

# %%
# The stopping rule determines the number of columns. ``encoder_`` describes how each column was
# read: columns with more than five distinct numbers are cut into five bins of equal frequency,
# strings are levels, and missing is a level of its own.

selector = RobustHOCMIM("auto").fit(table, died)
for name, column in zip(table.columns, selector.encoder_.columns_, strict=True):
    note = ", one of them for missing values" if column.missing is not None else ""
    print(f"{name:12} {column.kind:10} {column.arity} levels{note}")

# %%
# The age and the birth year have the same information. One of them is selected, the other is not.

order = np.argsort(selector.relevance_)
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
colours = np.where(selector.get_support()[order], "#2f6db3", "#c9ced6")
ax.barh(np.arange(len(order)), selector.relevance_[order], color=colours)
ax.set_yticks(np.arange(len(order)), table.columns[order])
ax.set(xlabel="I(X;Y), nats (blue: selected)")
ax.spines[["top", "right"]].set_visible(False)
ax.tick_params(axis="y", length=0)

print(selector.get_feature_names_out())
print("age is replaced by", selector.explain("age", table).replaced_by)
