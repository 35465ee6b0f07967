"""A method: a criterion under a name that users know, with its parameters.

The file of a criterion ends with ``METHODS``. The scikit-learn estimator, its signature and
docstring, the name in ``list_methods`` and the rows of the docs follow from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hocmim.criteria.base import Criterion
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR
from hocmim.parameters import Parameter


@dataclass(frozen=True)
class Method:
    """A criterion as a method of selection.

    Attributes
    ----------
    name : str
        As users write it: "Relax-mRMR".
    class_name : str
        The scikit-learn estimator: "RelaxMRMR".
    title : str
        What the name stands for.
    criterion : type of Criterion
        Its docstring is the formula, what it rewards, its cost and its reference.
    make : callable
        Called with ``estimator`` and the parameters by name; returns the criterion. The criterion
        itself if its arguments have the names of the parameters.
    estimator : str
        The default estimator.
    parameters : tuple of Parameter
        Besides those that every method has.
    aliases : tuple of str
        Other names.
    doc : str
        In place of the criterion's docstring, where several methods share one criterion.
    """

    name: str
    class_name: str
    title: str
    criterion: type[Criterion]
    make: Callable[..., Criterion]
    estimator: str = SECOND_ORDER_ESTIMATOR
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    doc: str = ""

    @property
    def description(self) -> tuple[str, str]:
        """The formula and what it rewards; and the references."""
        text = self.doc or inspect.getdoc(self.criterion) or ""
        text, _, references = text.partition("\n\nReferences\n----------\n")
        before, _, after = text.partition("\n\nParameters\n----------\n")
        _, _, cost = after.partition("\n\nCost:")
        return before + (f"\n\nCost:{cost}" if cost else ""), references

    @property
    def formula(self) -> str:
        """The formula: the first paragraph of the description."""
        return " ".join(self.description[0].partition("\n\n")[0].split())

    def make_criterion(self, values: dict[str, Any], estimator: str) -> Criterion:
        """Check the values of the parameters and make the criterion."""
        for parameter in self.parameters:
            parameter.check(values[parameter.name])
        return self.make(estimator=estimator, **values)
