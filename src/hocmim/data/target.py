"""Properties of a target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_continuous(y: NDArray[Any]) -> bool:
    """Whether a target is a quantity: floating-point numbers that are not all whole."""
    return y.dtype.kind == "f" and bool((y != np.rint(y)).any())
