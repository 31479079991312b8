"""Every weight moves at every bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.masters.schedules.base import Schedule

__all__ = ["TotallyCorrective"]


@dataclass(frozen=True)
class TotallyCorrective(Schedule):
    """Every weight moves at every bit (Algorithms 1 and 3 of the paper).

    Examples
    --------
    >>> import numpy as np
    >>> TotallyCorrective().expand(np.array([0.5, 0.2]), 2)
    array([0.5, 0.2])
    """

    def reduce(
        self, columns: NDArray[Any], costs: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Columns (n_bits, m) and costs (n_bits,) as they are."""
        return columns, costs

    def expand(self, free_weights: NDArray[np.float64], n_bits: int) -> NDArray[np.float64]:
        """Weights (n_bits,) as they are."""
        return free_weights
