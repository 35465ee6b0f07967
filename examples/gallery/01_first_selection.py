"""
A first selection
=================

Which few of the 30 measurements of the breast cancer table are enough to tell benign from
malignant? A selector chooses columns in order; in a pipeline, cross-validation says how many it
takes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hocmim import HOCMIM

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = HOCMIM(n_features_to_select=8).fit(X, y)
print(X.columns[selector.selected_].tolist())

# %%
# What each column says of the diagnosis by itself (hollow), and what it added when it was taken
# (full). The third is weak alone, but little of it is said by the first two. Scores that rise again
# further down say that 569 rows are few for comparing with so many columns at once; what to do
# about it is in :doc:`/gallery/03_sample_size`.

selector.plot_scores()

# %%
# The selection is part of the pipeline, so that it is made anew on each training fold: choosing
# columns on the whole table first would let the test folds help to choose, and flatter the result.

pipeline = make_pipeline(HOCMIM(), StandardScaler(), LogisticRegression())
sizes = np.arange(1, 16)
_, scores = validation_curve(
    pipeline, X, y, param_name="hocmim__n_features_to_select", param_range=sizes, cv=5
)
every_column = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=5)

mean, error = scores.mean(axis=1), scores.std(axis=1) / np.sqrt(5)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(sizes, mean - error, mean + error, color="#2f6db3", alpha=0.2, lw=0)
ax.plot(sizes, mean, "o-", color="#2f6db3", label="columns selected by HOCMIM (± standard error)")
ax.axhline(every_column.mean(), color="#d9792b", ls="--", label="all 30 columns")
ax.set(xlabel="columns selected", ylabel="accuracy, 5-fold cross-validation", xticks=sizes)
ax.legend(loc="lower right", frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Next: :doc:`/gallery/04_when_to_stop` lets the data say how many, and
# :doc:`/gallery/05_stability` asks how much the choice depends on the sample.
