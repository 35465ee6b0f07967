"""
A first selection
=================

Which few of the 30 measurements of the breast cancer table are enough to distinguish benign from
malignant? A selector selects columns in order. In a pipeline, cross-validation shows how many are
needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hocmim import RobustHOCMIM

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = RobustHOCMIM(n_features_to_select=8).fit(X, y)
print(X.columns[selector.selected_].tolist())

# %%
# The relevance of each column (hollow), and its score when it was selected (full). The second is
# weak alone, but the first repeats little of it. The columns with a high relevance and a low score
# repeat much of the columns before them. ``HOCMIM``, the method as published, has the same
# attributes and plots.

selector.plot("scores")

# %%
# The selection is part of the pipeline, so it is repeated on each training fold. Selecting on the
# whole table first would use the test folds, and the accuracy would be too high.

pipeline = make_pipeline(RobustHOCMIM(), StandardScaler(), LogisticRegression())
sizes = np.arange(1, 16)
_, scores = validation_curve(
    pipeline, X, y, param_name="robusthocmim__n_features_to_select", param_range=sizes, cv=5
)
every_column = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=5)

mean, error = scores.mean(axis=1), scores.std(axis=1) / np.sqrt(5)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(sizes, mean - error, mean + error, color="#2f6db3", alpha=0.2, lw=0)
ax.plot(sizes, mean, "o-", color="#2f6db3", label="columns selected by HOCMIM-R (± standard error)")
ax.axhline(every_column.mean(), color="#d9792b", ls="--", label="all 30 columns")
ax.set(xlabel="columns selected", ylabel="accuracy, 5-fold cross-validation", xticks=sizes)
ax.legend(loc="lower right", frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Six columns come within two points of the accuracy of all 30.
#
# Read more: :doc:`/how_many`, :doc:`/why`.
