"""Filters: methods that score the raw columns instead of codes, one file each."""

from hocmim.selectors.filters.fisher import FisherScore
from hocmim.selectors.filters.gini import GiniIndex
from hocmim.selectors.filters.ilfs import ILFS
from hocmim.selectors.filters.kruskal import KruskalWallis
from hocmim.selectors.filters.nca import NCA
from hocmim.selectors.filters.ols import FSOLS
from hocmim.selectors.filters.relieff import ReliefF

__all__ = ["FSOLS", "ILFS", "NCA", "FisherScore", "GiniIndex", "KruskalWallis", "ReliefF"]
