"""hocmim: feature selection by high-order conditional mutual information."""

from importlib.metadata import version

from hocmim.comparators import (
    CIFE,
    CMI,
    CMICOT,
    CMIM,
    CMIM3,
    CMIM4,
    DISR,
    ICAP,
    JMI,
    JMI3,
    JMI4,
    JMIM,
    MIFS,
    MIM,
    MRMR,
    BetaGamma,
    CriterionSelector,
    RelaxMRMR,
)
from hocmim.compare import compare_methods
from hocmim.criteria.base import Criterion
from hocmim.encode import Encoder, encode
from hocmim.filters import (
    FSOLS,
    ILFS,
    NCA,
    FisherScore,
    GiniIndex,
    KruskalWallis,
    ReliefF,
)
from hocmim.information import cmi, entropy, mi
from hocmim.methods import list_methods, make_selector
from hocmim.selectors import HOCMIM
from hocmim.stability import StabilitySelector, stability_index

__version__ = version("hocmim")

__all__ = [
    "CIFE",
    "CMI",
    "CMICOT",
    "CMIM",
    "CMIM3",
    "CMIM4",
    "DISR",
    "FSOLS",
    "HOCMIM",
    "ICAP",
    "ILFS",
    "JMI",
    "JMI3",
    "JMI4",
    "JMIM",
    "MIFS",
    "MIM",
    "MRMR",
    "NCA",
    "BetaGamma",
    "Criterion",
    "CriterionSelector",
    "Encoder",
    "FisherScore",
    "GiniIndex",
    "KruskalWallis",
    "RelaxMRMR",
    "ReliefF",
    "StabilitySelector",
    "__version__",
    "cmi",
    "compare_methods",
    "encode",
    "entropy",
    "list_methods",
    "make_selector",
    "mi",
    "stability_index",
]
