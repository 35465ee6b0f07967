"""The estimators of information, by name.

The kernels hold the list (``src/native/estimators/registry.cpp``); ``ESTIMATORS`` is read from it.

Counts c over the cells of a table of N samples, marginals n_r of its rows and n_c of its columns.
A set of columns is one variable whose levels are the cells that occur.

plugin
    H = log N − (1/N) Σ c log c, and I from the entropies. Exact identities hold; biased upwards
    when cells are many and samples few.
shrinkage
    Sechidis et al. 2019: p* = λ ind + (1−λ) p with p = c/N, ind = n_r n_c / N², and the λ in [0, 1]
    that minimises the expected squared error:

        λ = Σ (Var p − Cov(p, ind)) / Σ E (p − ind)²

    I* = Σ p* log(p*/ind). For I(X;Y|Z) the table has rows (x, z) and columns y, and
    I* = I*(XZ;Y) − I*(Z;Y) under one p*: never negative, not symmetric in X and Y. The entropy of
    one variable is the plug-in's.
miller_madow
    Plug-in less its first-order bias: H + (k−1)/(2N), I(X;Y) − (k_x−1)(k_y−1)/(2N), and
    I(X;Y|Z) − Σ_z (k_x(z)−1)(k_y(z)−1)/(2N), k counting levels that occur. May be negative.
grassberger
    Grassberger 2003: H = log N − (1/N) Σ c G(c),
    G(c) = ψ(c) + ½(−1)^c [ψ((c+1)/2) − ψ(c/2)], and I from the entropies. May be negative.
jeffreys
    Half a sample added to every cell of the table (Dirichlet prior ½), then the plug-in.

References
----------
Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown: Efficient feature selection using shrinkage
estimators. Machine Learning 108, 2019.
Grassberger: Entropy estimates from insufficient samplings. arXiv physics/0307138, 2003.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hocmim._native import Estimator, estimator_names
from hocmim.parameters import check_value, one_of

ESTIMATORS = tuple(estimator_names())
_ALLOWED = [one_of(ESTIMATORS)]
# Relative frequencies: exact identities hold.
PLUGIN_ESTIMATOR = "plugin"
# What methods of second order and of higher order were published with.
SECOND_ORDER_ESTIMATOR = PLUGIN_ESTIMATOR
HIGH_ORDER_ESTIMATOR = "shrinkage"
# A column without information has the value 0 on average.
UNBIASED_ESTIMATOR = "miller_madow"


def estimator_by_name(name: str) -> Estimator:
    """Return the kernels' estimator of that name."""
    check_value("estimator", name, _ALLOWED)
    return getattr(Estimator, name)


def plugin_entropy(counts: NDArray[np.int64]) -> float:
    """Return H of a column whose levels have these counts, plug-in, in nats."""
    p = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(p * np.log(p)).sum())
