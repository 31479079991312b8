"""The weights of CGHash for a loss that is not smooth: the planes of `RankingMaster` on triplets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.masters.base import Solution
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.base import Schedule
from structhash.masters.triplet import MIN_OBJECTIVE
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import Comparisons, PairGraph


class HingeMaster(RankingMaster):
    """min cost'w + C mean f(w'dh) over 0 <= w <= upper, for a loss f with `most_violated`: see `Hinge`.

    The mean is over triplets, so a query weighs as much as it has of them; a ranking's loss being twice the
    mean hinge, C is halved. The plane duals are the duals of the triplets, and `gap` of a solution is relative
    to its objective, as that of `TripletMaster`: at most `tolerance` unless `max_rounds` is met, or C times the
    `precision` of the linear programme is more.
    """

    precision = 1e-10  # the finest that HiGHS has

    def __init__(
        self,
        comparisons: Comparisons,
        graph: PairGraph,
        loss: Any,
        regularizer: Regularizer,
        schedule: Schedule,
        C: float,
        tolerance: float = 1e-6,
        max_rounds: int = 1000,
        n_jobs: int = 1,
    ) -> None:
        weights = comparisons.query_weights
        weights = weights * np.diff(comparisons.near_ptr) * np.diff(comparisons.far_ptr)
        comparisons = comparisons._replace(weights=weights)
        super().__init__(comparisons, graph, loss, regularizer, schedule, C / 2, tolerance, max_rounds, n_jobs)

    def query_shares(self, comparisons: Comparisons) -> NDArray[np.float64]:
        """Weight of each query (Q,), of sum 1."""
        weights = comparisons.query_weights
        return weights / weights.sum()

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """Weights and duals with one more bit (n,)."""
        solution = super().add(bit)
        return solution._replace(gap=solution.gap / max(solution.objective, MIN_OBJECTIVE * self.C))

    def step_fraction(self, n_free: int) -> float:
        """A small step: for so small a gap it needs a fifth of the planes that a full step needs."""
        return 0.1

    def allowed(self, objective: float) -> float:
        """What the planes may miss of a ranking's mean loss."""
        return max(self.tolerance * objective / self.C, 2 * len(self.first) * self.precision)
