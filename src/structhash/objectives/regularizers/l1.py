"""Sum of the weights, ||w||_1 (eq. cgh-shinge-l1, eq. sh)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import PairWeights


@dataclass(frozen=True)
class L1(Regularizer):
    """Sum of the weights, ||w||_1 (eq. cgh-shinge-l1, eq. sh).

    Examples
    --------
    >>> L1().cost([0, 1]), L1().upper
    (1.0, inf)
    """

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 1."""
        return 1.0

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """The pair weights as they are: all bits cost the same."""
        return pairs

    @property
    def upper(self) -> float:
        """Largest weight allowed: infinity."""
        return np.inf
