"""The weights of CGHash for a loss that is not smooth, by the cutting planes of `RankingMaster`."""

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

__all__ = ["HingeMaster"]


class HingeMaster(RankingMaster):
    """Weights for a triplet loss that is not smooth: min cost'w + C mean f(w'dh) over 0 <= w <= upper.

    The loss gives its cutting planes by `most_violated`: see `Hinge`. The mean is over triplets, so each query
    counts in proportion to its triplets. `most_violated` gives twice the loss, so C is halved. The duals of the
    planes are the duals of the triplets. The `gap` of a solution is relative to its objective, as in
    `TripletMaster`. It is at most `tolerance`, unless `max_rounds` is reached or C times the `precision` of the
    linear programme is more.

    Parameters
    ----------
    comparisons, graph, loss, regularizer, schedule, C, tolerance, n_jobs
        As in `TripletMaster`.
    max_rounds : int
        Cutting-plane rounds a bit, at most.
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
        """A small step: at such a small gap it needs a fifth of the planes that a full step needs."""
        return 0.1

    def allowed(self, objective: float) -> float:
        """The part of a ranking's mean loss that the planes may miss."""
        return max(self.tolerance * objective / self.C, 2 * len(self.first) * self.precision)
