"""hocmim: feature selection by high-order conditional mutual information.

The public names are imported when they are first used (PEP 562), so that ``import hocmim`` does not
wait for scikit-learn. Type checkers and editors read the imports below.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hocmim.coding.encoder import Encoder as Encoder
    from hocmim.coding.target import Target as Target
    from hocmim.criteria.base import Criterion as Criterion
    from hocmim.data.reading import TextConverter as TextConverter
    from hocmim.errors import DataWarning as DataWarning
    from hocmim.experiments.compare import compare_methods as compare_methods
    from hocmim.information.counting import Joint as Joint
    from hocmim.information.functions import cmi as cmi
    from hocmim.information.functions import entropy as entropy
    from hocmim.information.functions import mi as mi
    from hocmim.insight.checks import check_table as check_table
    from hocmim.insight.clusters import cluster_columns as cluster_columns
    from hocmim.insight.screening import interactions as interactions
    from hocmim.insight.substitutes import substitutes as substitutes
    from hocmim.insight.synergy import selected_interactions as selected_interactions
    from hocmim.search.constraints import Budget as Budget
    from hocmim.search.search import Engine as Engine
    from hocmim.search.stopping import StopTest as StopTest
    from hocmim.selectors.cv import SelectorCV as SelectorCV
    from hocmim.selectors.filters.fisher import FisherScore as FisherScore
    from hocmim.selectors.filters.gini import GiniIndex as GiniIndex
    from hocmim.selectors.filters.ilfs import ILFS as ILFS
    from hocmim.selectors.filters.kruskal import KruskalWallis as KruskalWallis
    from hocmim.selectors.filters.nca import NCA as NCA
    from hocmim.selectors.filters.ols import FSOLS as FSOLS
    from hocmim.selectors.filters.relieff import ReliefF as ReliefF
    from hocmim.selectors.methods import CIFE as CIFE
    from hocmim.selectors.methods import CMI as CMI
    from hocmim.selectors.methods import CMICOT as CMICOT
    from hocmim.selectors.methods import CMIM as CMIM
    from hocmim.selectors.methods import CMIM3 as CMIM3
    from hocmim.selectors.methods import CMIM4 as CMIM4
    from hocmim.selectors.methods import DISR as DISR
    from hocmim.selectors.methods import HOCMIM as HOCMIM
    from hocmim.selectors.methods import ICAP as ICAP
    from hocmim.selectors.methods import JIM as JIM
    from hocmim.selectors.methods import JMI as JMI
    from hocmim.selectors.methods import JMI3 as JMI3
    from hocmim.selectors.methods import JMI4 as JMI4
    from hocmim.selectors.methods import JMIM as JMIM
    from hocmim.selectors.methods import MIFS as MIFS
    from hocmim.selectors.methods import MIM as MIM
    from hocmim.selectors.methods import MRMR as MRMR
    from hocmim.selectors.methods import NJMIM as NJMIM
    from hocmim.selectors.methods import BetaGamma as BetaGamma
    from hocmim.selectors.methods import CriterionSelector as CriterionSelector
    from hocmim.selectors.methods import RelaxMRMR as RelaxMRMR
    from hocmim.selectors.methods import RobustHOCMIM as RobustHOCMIM
    from hocmim.selectors.registry import list_methods as list_methods
    from hocmim.selectors.registry import make_selector as make_selector
    from hocmim.selectors.saving import load as load
    from hocmim.selectors.stability import StabilitySelector as StabilitySelector

    __version__: str

# The module of each public name, as above.
_NAMES_OF = {
    "coding.encoder": ("Encoder",),
    "coding.target": ("Target",),
    "criteria.base": ("Criterion",),
    "data.reading": ("TextConverter",),
    "errors": ("DataWarning",),
    "experiments.compare": ("compare_methods",),
    "information.counting": ("Joint",),
    "information.functions": ("cmi", "entropy", "mi"),
    "insight.checks": ("check_table",),
    "insight.clusters": ("cluster_columns",),
    "insight.screening": ("interactions",),
    "insight.substitutes": ("substitutes",),
    "insight.synergy": ("selected_interactions",),
    "search.constraints": ("Budget",),
    "search.search": ("Engine",),
    "search.stopping": ("StopTest",),
    "selectors.cv": ("SelectorCV",),
    "selectors.filters.fisher": ("FisherScore",),
    "selectors.filters.gini": ("GiniIndex",),
    "selectors.filters.ilfs": ("ILFS",),
    "selectors.filters.kruskal": ("KruskalWallis",),
    "selectors.filters.nca": ("NCA",),
    "selectors.filters.ols": ("FSOLS",),
    "selectors.filters.relieff": ("ReliefF",),
    "selectors.methods": (
        "CIFE", "CMI", "CMICOT", "CMIM", "CMIM3", "CMIM4", "DISR", "HOCMIM", "ICAP", "JIM", "JMI",
        "JMI3", "JMI4", "JMIM", "MIFS", "MIM", "MRMR", "NJMIM", "BetaGamma", "CriterionSelector",
        "RelaxMRMR", "RobustHOCMIM",
    ),
    "selectors.registry": ("list_methods", "make_selector"),
    "selectors.saving": ("load",),
    "selectors.stability": ("StabilitySelector",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}

__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hocmim")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'hocmim' has no attribute {name!r}")
    value = getattr(import_module(f"hocmim.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
