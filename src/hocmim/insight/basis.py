"""What explanations, pictures and reports are made from: a selection and the codes it was made on.

A selector gives it (``RankingSelector.basis``). Nothing to the right of this folder is read, and
the table is not encoded again where its codes were kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features
from hocmim.coding.target import Target
from hocmim.criteria.base import Criterion
from hocmim.search.selection import Selection


@dataclass(frozen=True, eq=False)
class Basis:
    """A selection and what it was made from.

    Attributes
    ----------
    method : str
        What to call the selector.
    features : Features
        The columns, and the groups of columns that count as one feature.
    selection : Selection
        In feature indices.
    encoder : Encoder
        Of the columns.
    codes : Codes
        Of all features.
    target : Target
        The codes of y, and its classes or cut points.
    criterion : Criterion or None
        A fresh copy of what the search maximised; None if the method ranks without a search.
    estimator : str
        Of relevance and redundancy.
    """

    method: str
    features: Features
    selection: Selection
    encoder: Encoder
    codes: Codes
    target: Target
    criterion: Criterion | None
    estimator: str

    @property
    def y(self) -> Column:
        """The codes of the target."""
        return self.target.column

    @property
    def selected_columns(self) -> list[Column]:
        """The codes of the selected features, in the order of selection."""
        return [self.codes.column(int(k)) for k in self.selection.indices]
