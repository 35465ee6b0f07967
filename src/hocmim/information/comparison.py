"""The one rule by which values are compared: rounded to 12 decimals, in nats.

Rounding makes a comparison independent of the last bits of a sum. Ties are broken by order: the
candidate with the lowest column index, the member that was selected earliest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def comparison_key(values: ArrayLike) -> NDArray[np.float64]:
    """Round to 12 decimals: values are compared only after that."""
    return np.rint(np.asarray(values) * 1e12)
