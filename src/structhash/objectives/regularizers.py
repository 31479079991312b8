"""What a weight costs: regularisers of the master.

l1 and l-infinity are one problem, min cost'w + C loss(w) with 0 <= w <= upper, at (cost, upper) = (1, inf) and
(0, C').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class L1:
    """Sum of the weights, ||w||_1 (eq. cgh-shinge-l1, eq. sh).

    Examples
    --------
    >>> L1().cost([0, 1]), L1().upper
    (1.0, inf)
    """

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 1."""
        return 1.0

    @property
    def upper(self) -> float:
        """Largest weight allowed: infinity."""
        return np.inf
