"""hocmim: feature selection by high-order conditional mutual information."""

from importlib.metadata import version

from hocmim.encode import Encoder, encode
from hocmim.information import cmi, entropy, mi
from hocmim.selectors import HOCMIM

__version__ = version("hocmim")

__all__ = ["HOCMIM", "Encoder", "__version__", "cmi", "encode", "entropy", "mi"]
