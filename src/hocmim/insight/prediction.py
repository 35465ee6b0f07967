"""How well the selected columns predict rows that were not used: the score of 0, 1, 2, … columns.

The number of columns that cross-validation chose has these scores already (``validation_``).
Otherwise ``hocmim.search.validation`` computes them: the search is repeated on the training rows of
each fold. A method that ranks columns without a search is not repeated: the model alone is
validated, on columns that were selected on all rows, and ``in_words`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hocmim.coding.codes import Codes
from hocmim.coding.encoded import Encoded
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.insight.chart_data import wilson_intervals
from hocmim.search.search import search
from hocmim.search.selection import Selection
from hocmim.search.validation import Validation, cross_validate
from hocmim.text import count, percent

# A share of right answers whose interval, confidence 95 %, is wider than this is shown with it.
MAX_INTERVAL = 0.1


@dataclass(frozen=True, eq=False)
class Prediction:
    """Scores of a simple model on rows it has not seen.

    ``is_repeated``: the columns were selected on the training rows of each fold.
    """

    validation: Validation
    n_selected: int
    is_repeated: bool

    @property
    def is_rate(self) -> bool:
        """Whether the accuracy is a share of right answers."""
        return self.validation.measure == "mean log probability"

    @property
    def measure(self) -> str:
        """What the accuracy is."""
        if self.is_rate:
            return "right answers"
        return "R²" if self.validation.measure == "R²" else "mean of right answers and R²"

    @property
    def mean(self) -> Values:
        """The accuracy with 0, 1, 2, … columns."""
        return np.asarray(self.validation.accuracy.mean(axis=0))

    @property
    def standard_error(self) -> Values:
        """Of the mean over the folds."""
        folds = self.validation.accuracy
        return np.asarray(folds.std(axis=0, ddof=1) / np.sqrt(len(folds)))

    @property
    def size(self) -> int:
        """The number of columns that the sentences speak of."""
        return min(self.n_selected, int(self.validation.sizes[-1]))

    @property
    def accuracy(self) -> float:
        """With the selected columns."""
        return float(self.mean[self.size])

    @property
    def baseline(self) -> float:
        """Without a column."""
        return float(self.mean[0])

    @property
    def sentence(self) -> str:
        """What the columns are worth, without a unit of information theory."""
        which = f"With these {self.size:,} columns" if self.size > 1 else "With this column"
        if self.size < self.n_selected:
            which = f"With the first {self.size:,} columns"
        if self.is_rate:
            return (
                f"{which} a simple model is right in {percent(self.accuracy)} of cases it has not "
                f"seen; always answering the most frequent class, in {percent(self.baseline)}."
            )
        if self.validation.measure == "R²":
            return (
                f"{which} a simple model explains {percent(max(0.0, self.accuracy))} of the "
                "variance of the target in cases it has not seen; always answering the mean "
                "explains none of it."
            )
        return (
            f"{which} a simple model has a mean score of {self.accuracy:.2f} on cases it has not "
            f"seen (right answers, and R² of numbers); without a column, {self.baseline:.2f}."
        )

    @property
    def caution(self) -> str:
        """What to keep in mind with the sentence; empty if there is nothing."""
        parts = []
        if not self.validation.is_better(self.size):
            parts.append("The columns do not predict better than no columns at all.")
        elif self.is_rate and self.accuracy <= self.baseline:
            parts.append(
                "It names the class no better, but its probabilities of the classes are better "
                "than their frequencies."
            )
        n = self.validation.n_rows
        [(low, high)] = wilson_intervals([self.accuracy * n], n) if self.is_rate else [(0.0, 0.0)]
        if high - low > MAX_INTERVAL:
            parts.append(
                f"{count(n, 'row')} are few: the true share may be from {percent(low)} to "
                f"{percent(high)}."
            )
        if not self.is_repeated:
            parts.append(
                "The columns were selected on all rows, so that the figure is too good, above all "
                "with few rows and many columns."
            )
        return " ".join(parts)

    @property
    def method(self) -> str:
        """How the figures were computed."""
        found = self.validation
        rows = count(found.n_rows, "row")
        if found.n_rows < found.n_rows_in_all:
            rows += f", a sample of {found.n_rows_in_all:,}"
        where = (
            "the columns are selected anew in each fold, without its test rows"
            if self.is_repeated
            else "the columns are those selected on all rows"
        )
        return (
            f"Cross-validation with {count(len(found.scores), 'fold')} of {rows}: {where}, and the "
            "rows nearest by these columns vote."
        )


def predict(basis: Basis) -> Prediction | None:
    """Return how well the selected columns predict; None if there are none, or too few rows."""
    K = len(basis.selection)
    if basis.validation is not None and K:
        return Prediction(basis.validation, K, is_repeated=True)
    encoded = basis.encoded or _encoded(basis)
    units = encoded.row_groups if encoded is not None else None
    n_units = basis.n_samples if units is None else len(np.unique(units))
    if not K or encoded is None or n_units < 2:
        return None
    constraints = basis.selection.constraints
    make_criterion = basis.make_criterion

    def search_rows(part: Encoded, k: int) -> Selection:
        if make_criterion is None:
            return replace(basis.selection, steps=basis.selection.steps[:k])
        return search(part, make_criterion(), constraints, k, n_jobs=basis.n_jobs)

    return Prediction(
        cross_validate(encoded, search_rows, K), K, is_repeated=make_criterion is not None
    )


def _encoded(basis: Basis) -> Encoded | None:
    """Return the table as the search takes it, if the codes are at hand."""
    if not isinstance(basis.codes, Codes):
        return None
    return Encoded(
        basis.codes,
        basis.target,
        basis.encoder,
        basis.features,
        np.array(sorted(basis.left_out), np.int64),
        basis.row_counts,
        None,
        None,
        basis.time_kinds,
    )
