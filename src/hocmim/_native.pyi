"""The compiled kernels; each releases the GIL while it works."""

import numpy as np
from numpy.typing import NDArray

def relieff_block(
    values: NDArray[np.float64],
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    prior: NDArray[np.float64],
    k: int,
    start: int,
    stop: int,
    value_sums: NDArray[np.float64],
    code_sums: NDArray[np.float64],
) -> None: ...
def nca_block(
    values: NDArray[np.float64],
    y: NDArray[np.int32],
    start: int,
    stop: int,
    gradient: NDArray[np.float64],
) -> float: ...
