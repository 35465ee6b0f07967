"""Which selector and how many features to use, from cross-validated scores.

For each selector the rule gives a number of features K, from the mean score over the splits:

best
    the K with the highest mean; among equals the smallest.
one-se
    the smallest K whose mean is at least the highest mean minus its standard error. The standard
    error is that of the mean over the splits, as if these were independent.

The baseline is the score without features. If the highest mean is not above it, by two standard
errors of the difference over the splits, no K is of use, and the smallest one is chosen.

Of several selectors the one with the highest mean at any K is used; among equals the one that
needs fewer features for it, then the first. Means are compared after rounding to 12 decimals.

Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984 (one standard error).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim import html
from hocmim.information.comparison import comparison_key
from hocmim.search.validation import MIN_GAIN
from hocmim.text import one_line

RULES = ("best", "one-se")
# Every number of features up to this one is tried; beyond it, each is about a tenth larger.
MAX_CONSECUTIVE = 20
NAME_WIDTH = 32


def sizes_to_try(most: int, least: int = 1) -> list[int]:
    """Return the numbers of features to try, from least to most.

    Every number up to 20, beyond it each about a tenth larger than the one before, and the ends.
    """
    sizes = list(range(1, min(most, MAX_CONSECUTIVE) + 1))
    while sizes[-1] < most:
        sizes.append(min(most, round(1.1 * sizes[-1])))
    return [least, *(size for size in sizes if size > least)]


@dataclass(frozen=True, eq=False)
class Curve:
    """The scores of one selector: a row for each split, a column for each number of features."""

    name: str
    sizes: NDArray[np.int64]
    scores: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the splits, for each number of features."""
        return self.scores.mean(axis=0)

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard error of the mean, with the splits treated as independent."""
        return self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores))


@dataclass(frozen=True)
class Choice:
    """One selector with the number of features that the rule gives it.

    Attributes
    ----------
    selector : str
        Its name.
    n_features : int
    score : float
        The mean score with this number of features.
    standard_error : float
        Of this mean.
    best_n_features : int
        The number of features with the highest mean score.
    best_score : float
        This mean.
    """

    selector: str
    n_features: int
    score: float
    standard_error: float
    best_n_features: int
    best_score: float


def beats_baseline(curve: Curve, baseline: NDArray[np.float64]) -> bool:
    """Return whether the highest mean is above the baseline, of which there is one per split.

    True if there is nothing to compare with: a baseline of NaN.
    """
    gains = curve.scores[:, int(np.argmax(comparison_key(curve.mean)))] - baseline
    least = MIN_GAIN * gains.std(ddof=1) / np.sqrt(len(gains))
    return not (gains.mean() <= 0 or gains.mean() < least)


def choose_size(curve: Curve, rule: str, baseline: NDArray[np.float64] | float = np.nan) -> Choice:
    """Return the number of features that a rule gives; ``baseline``: the scores without any."""
    mean, error = curve.mean, curve.standard_error
    keys = comparison_key(mean)
    best = int(np.argmax(keys))
    place = best
    if rule == "one-se":
        place = int(np.argmax(keys >= comparison_key(mean[best] - error[best])))
    if not beats_baseline(curve, np.broadcast_to(baseline, len(curve.scores))):
        place = 0
    return Choice(
        curve.name,
        int(curve.sizes[place]),
        float(mean[place]),
        float(error[place]),
        int(curve.sizes[best]),
        float(mean[best]),
    )


def order_choices(
    curves: Sequence[Curve], rule: str, baseline: NDArray[np.float64] | float = np.nan
) -> list[Choice]:
    """Return the choice of each selector, that of the best selector first."""
    choices = [choose_size(curve, rule, baseline) for curve in curves]
    return sorted(
        choices, key=lambda one: (-float(comparison_key(one.best_score)), one.best_n_features)
    )


def as_results(curves: Sequence[Curve]) -> dict[str, NDArray[Any]]:
    """Return the curves as arrays, one value for each selector and number of features.

    ``selector``, ``n_features``, ``split0_test_score`` and so on, ``mean_test_score``,
    ``std_test_score`` (as in scikit-learn), ``standard_error`` and ``rank_test_score``.
    """
    scores = np.hstack([curve.scores for curve in curves])
    names = [curve.name for curve in curves for _ in curve.sizes]
    mean = scores.mean(axis=0)
    keys = comparison_key(mean)
    results: dict[str, NDArray[Any]] = {
        "selector": np.array(names, object),
        "n_features": np.concatenate([curve.sizes for curve in curves]),
    }
    for split, values in enumerate(scores):
        results[f"split{split}_test_score"] = values
    results["mean_test_score"] = mean
    results["std_test_score"] = scores.std(axis=0)
    results["standard_error"] = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    results["rank_test_score"] = 1 + np.array([(keys > key).sum() for key in keys], np.int64)
    return results


class Choices(Sequence[Choice]):
    """The choice of each selector, the best selector first; ``print`` shows a table.

    Parameters
    ----------
    choices : sequence of Choice
    measure : str
        What the scores are.
    baseline : float
        The mean score without features.
    """

    def __init__(self, choices: Sequence[Choice], measure: str, baseline: float) -> None:
        self._all, self.measure, self.baseline = tuple(choices), measure, baseline

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self._all)

    def __repr__(self) -> str:
        return f"<Choices of {len(self)} selectors, the best is {self._all[0].selector}>"

    def __str__(self) -> str:
        width = max(8, *(min(NAME_WIDTH, len(one.selector)) for one in self))
        title = f"{self.measure} ± s.e."
        wide = max(18, len(title))
        lines = [f"{'selector':<{width}}  {'K':>4}  {title:>{wide}}  {'best':>7}  {'at K':>4}"]
        for one in self:
            name = one_line(one.selector, NAME_WIDTH)
            score = f"{one.score:.4f} ± {one.standard_error:.4f}"
            lines.append(
                f"{name:<{width}}  {one.n_features:>4}  {score:>{wide}}  {one.best_score:>7.4f}  "
                f"{one.best_n_features:>4}"
            )
        score = f"{self.baseline:.4f}         "
        return "\n".join([*lines, f"{'none':<{width}}  {0:>4}  {score:>{wide}}"])

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        rows = [
            [
                html.Name(one.selector),
                one.n_features,
                one.score,
                one.standard_error,
                one.best_score,
                one.best_n_features,
            ]
            for one in self
        ]
        rows.append(["none", 0, self.baseline, None, None, None])
        titles = ["selector", "K", self.measure, "standard error", "best", "at K"]
        return html.table(titles, rows)
