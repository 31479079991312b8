"""The contract of a regulariser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.pair_weights import PairWeights

__all__ = ["Regularizer"]


class Regularizer:
    """The cost of a bit's weight in the master, and its upper bound.

    A subclass is a frozen dataclass whose fields are settings. It gives `cost`. Where the cost is 0, `upper`
    must be finite; else the master has no optimum.
    """

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of the weight of this bit, 0/1 (n,) on the training points; the same for 1 - bit."""
        raise NotImplementedError

    @property
    def upper(self) -> float:
        """Largest weight that a bit may have; infinity by default."""
        return np.inf

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights minus the part of the cost that differs from bit to bit, as the family gets them.

        The score h'Lh of a bit falls by its `cost` minus that of a constant bit. By default all bits cost the
        same and the pair weights stay as they are.
        """
        return pairs
