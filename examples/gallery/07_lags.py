"""
Which lags, which other series?
===============================

**The question.** A shop forecasts its sales of tomorrow. Which of the last 28 days, and which of
twelve other series, should the model see?

**The table.** Three years of artificial sales. They depend on the sales of yesterday and of a week
ago, on the temperature, and on a promotion that raises them on dry days and lowers them on rainy
ones: neither promotion nor rain says anything alone. Nine other series are noise.

**The way.** Lags are columns. The first 900 days select, the last 167 judge.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from hocmim import RobustHOCMIM

BLUE, GREY = "#2f6db3", "#c9ced6"
rng = np.random.default_rng(0)
n = 1095
days = pd.date_range("2023-01-01", periods=n)
temperature = 12 + 9 * np.sin(2 * np.pi * np.arange(n) / 365) + rng.normal(0, 3, n)
rain, promotion = rng.random(n) < 0.5, rng.random(n) < 0.5
sales = np.full(n, 100.0)
for t in range(7, n):
    carried = 0.35 * sales[t - 1] + 0.45 * sales[t - 7] + 20
    lift = 12 if promotion[t] != rain[t] else 0
    sales[t] = carried + lift + 0.4 * temperature[t] + rng.normal(0, 4)

other = pd.DataFrame(
    {"temperature": temperature, "rain": rain.astype(int), "promotion": promotion.astype(int)},
    index=days,
)
for number in range(9):
    other[f"series {number}"] = rng.normal(size=n)
y = pd.Series(sales, days, name="sales")

# %%
# Lags are columns
# ----------------
#
# The first 28 days have no full row of lags and are left out.

lags = pd.concat({f"lag {k}": y.shift(k) for k in range(1, 29)}, axis=1)
X = lags.join(other).iloc[28:]
target = y.iloc[28:]
past, future = slice(0, 900), slice(900, None)

selector = RobustHOCMIM(5, target="quantity").fit(X.iloc[past], target.iloc[past])
print(selector.trace_)
strongest = selector.interactions_[0]
names = " and ".join(f"'{X.columns[j]}'" for j in strongest.members)
print(f"{names} tell {strongest.synergy:.3f} nats together that neither tells alone.")

# %%
# What the model loses without the other columns
# ----------------------------------------------
#
# A test of significance would need independent rows, and days are not. The forecast of days that
# come later is the judge here. Columns are added in the order of selection.


def error(columns):
    """Mean absolute error on the days after the first 900."""
    model = HistGradientBoostingRegressor(max_iter=100, random_state=0)
    model.fit(X[columns].iloc[past], target.iloc[past])
    return np.abs(model.predict(X[columns].iloc[future]) - target.iloc[future]).mean()


ordered = list(X.columns[selector.selected_])
always = np.abs(target.iloc[future] - target.iloc[past].mean()).mean()
errors = [always, *(error(ordered[:k]) for k in range(1, len(ordered) + 1))]
everything = error(list(X.columns))
for k, value in enumerate(errors):
    print(f"{k} columns: error {value:.2f}")
print(f"all {X.shape[1]} columns: error {everything:.2f}")

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(range(len(errors)), errors, "o-", color=BLUE)
ax.axhline(everything, color=GREY, ls="--")
ax.annotate(f"all {X.shape[1]} columns", (0, everything), (0, 4), textcoords="offset points")
ax.set_xticks(range(len(errors)), ["none", *ordered], rotation=20)
ax.set(ylabel="mean absolute error", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)

# %%
# With skforecast
# ---------------
#
# ``select_features`` takes any selector that has names of columns; it makes the lags itself.

try:
    from skforecast.feature_selection import select_features
    from skforecast.recursive import ForecasterRecursive
except ImportError:
    print("pip install skforecast")
else:
    forecaster = ForecasterRecursive(HistGradientBoostingRegressor(max_iter=100), lags=28)
    found = select_features(
        forecaster,
        RobustHOCMIM(5, target="quantity"),
        y.iloc[:928],
        other.iloc[:928],
        subsample=1.0,
        verbose=False,
    )
    print("lags", found[0], "and", found[2])

# %%
# Many short series: tsfresh
# --------------------------
#
# Here each row is a series, and ``extract_features`` makes a table of its features. The classes of
# these 120 series differ in how much they vary.

kind = rng.integers(0, 2, 120)
series = pd.concat(
    pd.DataFrame({"id": i, "time": range(50), "value": rng.normal(0, 1 + kind[i], 50)})
    for i in range(120)
)
try:
    from tsfresh import extract_features
    from tsfresh.feature_extraction import MinimalFCParameters
except ImportError:
    print("pip install tsfresh")
else:
    table = extract_features(
        series,
        column_id="id",
        column_sort="time",
        default_fc_parameters=MinimalFCParameters(),
        disable_progressbar=True,
        n_jobs=0,
    )
    print(RobustHOCMIM(1).fit(table, kind).get_feature_names_out())
