"""The contract of a master: weights of the bits so far, and pair weights for the next bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import PairWeights

__all__ = ["Master", "RegularizedMaster", "Solution"]


class Solution(NamedTuple):
    """The solution of a master after one more bit.

    Attributes
    ----------
    weights : float64 (n_bits,)
        Of all bits so far.
    entries : floating (E,)
        Weight of each entry of the pair graph: > 0 pushes its two points apart, < 0 pulls them together.
    objective : float
    gap : float
        How far the weights may be from the optimum; its unit is the master's own.
    rounds : int
        Iterations of the master's solver.
    """

    weights: NDArray[np.float64]
    entries: NDArray[np.floating]
    objective: float
    gap: float
    rounds: int


class Master:
    """Keeps the bits so far, and computes their weights and the pair weights for the next bit.

    The masters of comparisons are constructed as ``Kind(comparisons, graph, objective, regularizer, schedule,
    C, tolerance, n_jobs=...)``, where the objective is a loss or a ranking.

    Attributes
    ----------
    upper : float
        Largest weight that a bit may have.
    """

    upper: float = np.inf

    def first_entries(self) -> NDArray[np.floating]:
        """Entry weights (E,) before the first bit."""
        raise NotImplementedError

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """The solution with one more bit, 0/1 uint8 (n,)."""
        raise NotImplementedError

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: the bit helps where its h'Lh exceeds that."""
        return 0.0

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights minus the part of the cost that depends on the bit, as the family gets them."""
        return pairs


class RegularizedMaster(Master):
    """A master whose costs and bound are those of a regulariser."""

    def __init__(self, regularizer: Regularizer) -> None:
        self.regularizer = regularizer
        self.upper = regularizer.upper

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight."""
        return self.regularizer.cost(bit)

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights minus the part of the cost that depends on the bit."""
        return self.regularizer.charge_costs(pairs)
