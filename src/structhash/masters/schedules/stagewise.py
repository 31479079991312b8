"""One shared weight for the old bits, one for the new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.masters.schedules.base import Schedule

__all__ = ["Stagewise"]


@dataclass(frozen=True)
class Stagewise(Schedule):
    """One shared weight for the old bits, one for the new (the paper's stage-wise training).

    The shared column costs what its bits cost together, and keeps the upper bound of one weight. Codes are
    searched by plain Hamming distance.

    Examples
    --------
    >>> import numpy as np
    >>> Stagewise().expand(np.array([0.5, 0.2]), 4)
    array([0.5, 0.5, 0.5, 0.2])
    """

    weighted: ClassVar[bool] = False
    n_groups: ClassVar[int] = 1
    exact: ClassVar[bool] = False

    def reduce(
        self, columns: NDArray[Any], costs: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Columns (n_bits, m) to (2, m): the sum of the old ones and the new one; costs alike."""
        if len(columns) < 2:
            return columns, costs
        dtype = np.int16 if columns.dtype == np.uint8 else columns.dtype
        old = columns[:-1].sum(axis=0, dtype=dtype)
        return np.stack([old, columns[-1].astype(dtype)]), np.array([costs[:-1].sum(), costs[-1]])

    def expand(self, free_weights: NDArray[np.float64], n_bits: int) -> NDArray[np.float64]:
        """The two weights (2,) as weights (n_bits,)."""
        if n_bits < 2:
            return free_weights
        return np.append(np.full(n_bits - 1, free_weights[0]), free_weights[1])
