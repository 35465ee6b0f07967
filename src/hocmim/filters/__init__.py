"""Filters that work on the raw table instead of on codes, one file each."""

from hocmim.filters.fisher import FisherScore
from hocmim.filters.gini import GiniIndex
from hocmim.filters.ilfs import ILFS
from hocmim.filters.kruskal import KruskalWallis
from hocmim.filters.nca import NCA
from hocmim.filters.ols import FSOLS
from hocmim.filters.relieff import ReliefF

__all__ = ["FSOLS", "ILFS", "NCA", "FisherScore", "GiniIndex", "KruskalWallis", "ReliefF"]
