"""The information-theoretic selectors: a scikit-learn estimator for each method of ``criteria``.

The classes are made from the ``METHODS`` of the criteria's files. Each is a public name of the
package: ``hocmim.ICAP``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hocmim.criteria.base import Criterion
from hocmim.criteria.method import Method
from hocmim.errors import InvalidParameterError
from hocmim.parameters import Parameter
from hocmim.selectors.declared import parameters_section
from hocmim.selectors.information import InformationSelector
from hocmim.selectors.parameters import (
    ATTRIBUTES,
    COMMON,
    N_FEATURES,
    REPRESENTATIVE_SETS,
    estimator_parameter,
)
from hocmim.text import value_text

EXAMPLES = """\
Examples
--------
>>> from sklearn.datasets import load_breast_cancer
>>> from hocmim import {name}
>>> X, y = load_breast_cancer(return_X_y=True)
>>> {name}(n_features_to_select=3).fit(X, y).transform(X).shape
(569, 3)"""


class MethodSelector(InformationSelector):
    """Selects by the criterion of a method."""

    method: ClassVar[Method]

    def make_criterion(self) -> Criterion:
        """Check the parameters of the method and make its criterion."""
        values = {
            parameter.name: getattr(self, parameter.name) for parameter in self.method.parameters
        }
        return self.method.make_criterion(values, self.estimator)


class CriterionSelector(InformationSelector):
    """Selects by a criterion of your own.

    The other parameters, and the attributes: see ``HOCMIM``.

    Parameters
    ----------
    criterion : Criterion
        An instance of a subclass of ``Criterion``; it has its own estimator.

    Examples
    --------
    >>> from hocmim import CriterionSelector
    >>> from hocmim.criteria.jmi_k import JMIkCriterion
    >>> CriterionSelector(JMIkCriterion(2), n_features_to_select=3).n_features_to_select
    3
    """

    criterion: Criterion

    @property
    def display_name(self) -> str:
        """The name shown to users: that of the class of the criterion."""
        return type(self.criterion).__name__

    parameters = (Parameter("criterion", None, is_required=True), N_FEATURES, *COMMON)

    def make_criterion(self) -> Criterion:
        """Return the criterion, if it is one."""
        if not isinstance(self.criterion, Criterion):
            raise InvalidParameterError(
                "criterion must be an instance of a subclass of hocmim.Criterion. Got "
                f"{value_text(self.criterion)} instead."
            )
        return self.criterion.copy()


def selector_class(method: Method) -> type[InformationSelector]:
    """Return the scikit-learn estimator of a method."""
    parameters = (
        N_FEATURES,
        *method.parameters,
        estimator_parameter(method.estimator),
        *COMMON,
    )
    members: dict[str, Any] = {
        "__doc__": _docstring(method, parameters),
        "__module__": "hocmim",
        "method": method,
        "method_name": method.name,
        "method_aliases": method.aliases,
        "parameters": parameters,
    }
    return type(method.class_name, (MethodSelector,), members)


def _docstring(method: Method, parameters: tuple[Parameter, ...]) -> str:
    text, references = method.description
    attributes = ATTRIBUTES
    if method.criterion.has_representative_sets:
        attributes += REPRESENTATIVE_SETS
    sections = [
        f"{method.name}, {method.title}.",
        text,
        parameters_section(parameters),
        attributes,
        EXAMPLES.format(name=method.class_name),
    ]
    if references:
        sections.insert(4, f"References\n----------\n{references}")
    return "\n\n".join(sections)
