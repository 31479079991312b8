"""1-slack cutting planes: the weights of StructHash, and what their dual says of every pair (Algorithm 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.masters.columns import by_query, distances, dot
from structhash.masters.solvers import PlaneProgram
from structhash.pairs import PairGraph
from structhash.pieces import Ranking, Rankings, Schedule, Solution

PATIENCE = 5  # bits that a plane may stay inactive before it is dropped


class RankingMaster:
    """min cost'w + C mean_i xi_i over 0 <= w <= upper, for a ranking measure (eq. sh-1s).

    A *plane* is one ranking for every query, kept as the counts of each entry (`above` of the near points,
    `below` of the far ones); its coefficient for a bit is the mean of dPsi. Planes stay valid when a bit is
    added: only their new coefficient is computed. `gap` of a solution is C times what the cutting planes still
    miss of the loss, at most C * tolerance unless `max_rounds` is met.
    """

    precision = 1e-7  # of the linear programme, in units of the mean loss
    reach = 1.0  # where a plane is sought first: this far from the best weights known to those of the programme

    def __init__(
        self,
        rankings: Rankings,
        graph: PairGraph,
        ranking: Ranking,
        regularizer: Any,
        schedule: Schedule,
        C: float,
        tolerance: float = 1e-3,
        max_rounds: int = 1000,
        n_jobs: int = 1,
    ) -> None:
        self.rankings, self.graph, self.ranking = rankings, graph, ranking
        self.regularizer, self.schedule = regularizer, schedule
        self.C, self.tolerance, self.max_rounds, self.n_jobs = C, tolerance, max_rounds, n_jobs
        n_near, n_far = np.diff(rankings.near_ptr), np.diff(rankings.far_ptr)
        weights = np.ones(len(n_near)) if rankings.weights is None else rankings.weights
        self.query_weights = weights / weights.sum()
        unit = 2 * self.query_weights / (n_near * n_far)  # 2 / (n_queries P N), the factor that mu carries
        self.unit = np.concatenate([-np.repeat(unit, n_near), np.repeat(unit, n_far)])
        self.inverted = np.concatenate([np.repeat(n_far, n_near), np.repeat(n_near, n_far)])
        self.columns = np.zeros((0, len(self.unit)), np.uint8)
        self.costs = np.zeros(0)
        self.n_bits = 0
        self.planes: list[NDArray[np.int32]] = []
        self.losses = np.zeros(0)
        self.slopes = np.zeros((0, 0))  # coefficient of each free weight (rows) in each plane
        self.idle = np.zeros(0, int)

    def start(self) -> NDArray[np.float64]:
        """Entry weights before the first bit: every query's ranking reversed, with dual C / n_queries."""
        return self.C * self.unit * self.inverted

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """Weights and duals with one more bit (n,)."""
        self.n_bits += 1
        column = self.graph.differ(bit)[None]
        costs = np.append(self.costs, self.regularizer.cost(bit))
        new = np.array([dot(column, self.unit * plane)[0] for plane in self.planes])
        self.slopes, _ = self.schedule.reduce(np.vstack([self.slopes, new]), costs)
        self.columns, self.costs = self.schedule.reduce(np.vstack([self.columns, column]), costs)

        program = PlaneProgram(self.costs, self.C, self.regularizer.upper, self.precision)
        program.add(self.slopes.T, self.losses)
        best, centre = np.inf, None  # least objective and its weights
        for rounds in range(1, self.max_rounds + 1):
            u, slack, duals = program.solve()
            points = [u]
            if centre is not None and self.reach < 1 and rounds < self.max_rounds:
                points.insert(0, centre + self.reach * (u - centre))
            for point in points:
                plane, loss = self.most_violated(point)
                slope = dot(self.columns, self.unit * plane)
                objective = float(self.costs @ point + self.C * (loss - slope @ point))
                if objective < best:
                    best, centre = objective, point
                risk = loss - slope @ u
                if risk > slack + self.allowed(objective):
                    break
            else:
                break  # no plane cuts u off: risk and objective are those of u
            if rounds == self.max_rounds:
                break
            self.planes.append(plane)
            self.losses = np.append(self.losses, loss)
            self.slopes = np.column_stack([self.slopes, slope])
            self.idle = np.append(self.idle, 0)
            program.add(slope[None], np.array([loss]))

        counts = np.zeros(len(self.unit))
        for plane, dual in zip(self.planes, duals):
            counts += dual * plane
        self.forget(duals)
        gap = max(0.0, float(self.C * (risk - slack)))
        return Solution(self.schedule.expand(u, self.n_bits), self.unit * counts, objective, gap, rounds)

    def allowed(self, objective: float) -> float:
        """What the planes may miss of the mean loss."""
        return self.tolerance

    def most_violated(self, u: NDArray[np.float64]) -> tuple[NDArray[np.int32], float]:
        """Counts (E,) and mean loss of every query's most violated ranking (eq. infer)."""
        apart = distances(self.columns, u)
        loss, above, below = by_query(self.ranking.most_violated, self.rankings, apart, self.n_jobs)
        return np.concatenate([above, below]), float(self.query_weights @ loss)

    def forget(self, duals: NDArray[np.float64]) -> None:
        """Drop the planes that were inactive for long."""
        self.idle = np.where(duals[: len(self.idle)] > 0, 0, self.idle + 1)
        keep = self.idle <= PATIENCE
        self.planes = [plane for plane, kept in zip(self.planes, keep) if kept]
        self.losses, self.slopes, self.idle = self.losses[keep], self.slopes[:, keep], self.idle[keep]
