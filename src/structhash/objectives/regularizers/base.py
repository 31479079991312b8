"""The contract of a regulariser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.pair_weights import PairWeights

__all__ = ["Regularizer"]


class Regularizer:
    """What a weight costs."""

    @property
    def upper(self) -> float:
        """Largest weight allowed."""
        return np.inf

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight."""
        raise NotImplementedError

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights less what of the cost differs from bit to bit."""
        return pairs
