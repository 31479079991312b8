"""Cutting planes: the weights of StructHash, and their dual (Algorithm 2)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.memory import allocate
from structhash.masters._keys import add_scaled, sum_differing
from structhash.masters.base import RegularizedMaster, Solution
from structhash.masters.columns import FEW_WEIGHTS, Columns
from structhash.masters.schedules.base import Schedule
from structhash.masters.solvers import PlaneProgram
from structhash.objectives.rankings.base import Ranking
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import Comparisons, PairGraph, repeat

__all__ = ["RankingMaster"]

MAX_STORED_PLANES = 4  # planes whose counts are held, with few free weights
PATIENCE = 2  # bits that a plane may stay inactive before it is dropped, with many free weights


class RankingMaster(RegularizedMaster):
    """Weights for a ranking measure: min cost'w + C mean_i xi_i over 0 <= w <= upper (eq. sh).

    The queries form a few groups, and each group has one slack; in stage-wise training there is one group (eq.
    sh-1s).

    A *cutting plane* is one ranking for every query. It is stored as the counts of each entry (`above` for near
    points, `below` for far ones). Its coefficient for a bit is the mean of dPsi. Planes stay valid when a bit
    is added: only the coefficient of the new bit is computed. The `gap` of a solution is C times the part of
    the loss that the planes still miss, at most C * tolerance unless `max_rounds` is reached.

    With few free weights, only the planes that are active at the end stay for the next bit, and the counts of
    few planes are stored. A plane of the current bit whose counts were dropped is computed from its weights
    again if it turns active. Inactive planes of earlier bits are dropped when there are too many.

    Parameters
    ----------
    comparisons : Comparisons
    graph : PairGraph
        Of these comparisons.
    ranking : Ranking
    regularizer : Regularizer
    schedule : Schedule
    C : float
        Weight of the mean loss over queries.
    tolerance : float
        In units of the mean loss.
    max_rounds : int
        Cutting-plane rounds a bit, at most.
    n_jobs : int
        Threads over queries.
    """

    precision = 1e-7  # of the linear programme, in units of the mean loss

    def __init__(
        self,
        comparisons: Comparisons,
        graph: PairGraph,
        ranking: Ranking,
        regularizer: Regularizer,
        schedule: Schedule,
        C: float,
        tolerance: float = 1e-3,
        max_rounds: int = 1000,
        n_jobs: int = 1,
    ) -> None:
        super().__init__(regularizer)
        self.graph, self.ranking, self.schedule = graph, ranking, schedule
        self.C, self.tolerance, self.max_rounds = C, tolerance, max_rounds
        n_near, n_far = np.diff(comparisons.near_ptr), np.diff(comparisons.far_ptr)
        self.query_weights = self.query_shares(comparisons)
        unit = 2 * self.query_weights / (n_near * n_far)  # 2 / (n_queries P N), the factor that mu carries
        self.unit = np.concatenate([-unit, unit])  # of each row of the graph
        self.count_dtype = np.min_scalar_type(max(n_near.max(), n_far.max()))
        self.inverted = np.concatenate([n_far, n_near], dtype=self.count_dtype, casting="unsafe")
        self.columns = Columns(comparisons, graph, schedule, unit, n_jobs)
        self.first = self.columns.set_groups(schedule.n_groups)  # query of each group
        groups = np.arange(len(self.first), dtype=np.uint8)
        self.group = np.tile(np.repeat(groups, np.diff(self.first, append=len(n_near))), 2)
        self.entry_dtype: Any = np.float64 if schedule.exact else np.float32
        self.costs = np.zeros(0)
        self.planes: list[NDArray[np.unsignedinteger] | None] = []
        self.losses = np.zeros((0, len(self.first)))
        self.slopes = np.zeros((0, 0, len(self.first)))  # coefficients: free weights, planes, groups
        self.idle = np.zeros(0, int)

    def query_shares(self, comparisons: Comparisons) -> NDArray[np.float64]:
        """Weight of each query (Q,), of sum 1.

        A query with several grades is split into one query for each step between grades; these have the same
        point. With a measure that has an `ideal`, they share the weight of the query in proportion to
        weight * ideal: see `NDCG.ideal`.
        """
        weights: NDArray[Any] = comparisons.query_weights
        ideal = self.ranking.ideal(np.diff(comparisons.near_ptr))
        if ideal is not None:
            _, point = np.unique(comparisons.queries, return_inverse=True)
            gains: NDArray[Any] = weights * ideal
            total = np.bincount(point, gains)[point]
            weights = np.bincount(point, weights)[point] * np.divide(
                gains, total, out=0 * gains, where=total > 0
            )
        return weights / weights.sum()

    def first_entries(self) -> NDArray[np.floating]:
        """Entry weights before the first bit: every query's ranking reversed, with dual C / n_queries."""
        each = self.C * self.unit * self.inverted
        return repeat(each.astype(self.entry_dtype), self.graph.indptr)

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """Weights and duals with one more bit (n,)."""
        self.add_column(bit)
        program = PlaneProgram(self.costs, self.C, self.upper, len(self.first), self.precision)
        program.add(np.moveaxis(self.slopes, 0, -1), self.losses)
        found: list[NDArray[np.float64]] = []  # weights at which the planes of this bit were found
        best, centre = np.inf, None  # least objective and its weights
        for rounds in range(1, self.max_rounds + 1):
            u, slack, duals = program.solve()
            if len(u) <= FEW_WEIGHTS:
                duals = self._release(program, duals, len(found))
            trials, step = [u], self.step_fraction(len(u))
            if centre is not None and step < 1 and rounds < self.max_rounds:
                trials.insert(0, centre + step * (u - centre))
            for trial in trials:
                plane, loss, slope = self.most_violated(trial)
                objective = float(self.costs @ trial + self.C * (loss - slope @ trial).sum())
                if objective < best:
                    best, centre = objective, trial
                missed = loss - slope @ u - slack
                if np.maximum(missed, 0.0).sum() > self.allowed(objective):
                    break
            else:
                break  # no plane cuts u off: what is missed and the objective are those of u
            if rounds == self.max_rounds:
                break
            found.append(trial)
            self.planes.append(plane)
            self.losses = np.vstack([self.losses, loss])
            self.slopes = np.concatenate([self.slopes, slope.T[:, None]], axis=1)
            self.idle = np.append(self.idle, 0)
            program.add(slope[None], loss[None])

        del plane  # the last one cut nothing off
        self._prune(duals, found)
        self.columns.free_counts()
        entries = self.combine(duals[duals.any(axis=1)])
        gap = max(0.0, float(self.C * missed.sum()))
        return Solution(self.schedule.expand(u, self.columns.n_bits), entries, objective, gap, rounds)

    def add_column(self, bit: NDArray[np.uint8]) -> None:
        """One more bit: its column, and its coefficient in every plane."""
        differ, new = self.graph.differ(bit), np.zeros((1, *self.losses.shape))
        for plane, row in zip(self.planes, new[0]):
            sum_differing(self.graph.indptr, self.unit, self.group, plane, differ, row)
        n_free, *shape = self.slopes.shape
        rows = np.vstack([self.slopes.reshape(n_free, new.size), new.reshape(1, new.size)])
        rows, self.costs = self.schedule.reduce(rows, np.append(self.costs, self.cost(bit)))
        self.slopes = rows.reshape(len(self.costs), *shape)
        self.columns.add(bit, len(self.costs))

    def step_fraction(self, n_free: int) -> float:
        """Share of the way from the best known weights to the programme's, where a plane is sought first."""
        return 1.0 if n_free <= FEW_WEIGHTS else 0.5

    def allowed(self, objective: float) -> float:
        """The part of the mean loss that the planes may miss."""
        return self.tolerance

    def most_violated(
        self, u: NDArray[np.float64]
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64], NDArray[np.float64]]:
        """Every query's most violated ranking (eq. infer).

        Returns
        -------
        plane : (E,)
            Its counts.
        loss, slope : (groups,) and (groups, n_free)
            Each group's part of the mean loss and of the coefficients.
        """
        plane = allocate(len(self.graph.indices), self.count_dtype)
        loss, slope = self.columns.evaluate(u, self.ranking.most_violated, plane.__setitem__)
        return plane, np.add.reduceat(self.query_weights * loss, self.first), slope

    def _release(self, program: PlaneProgram, duals: NDArray[np.float64], n_found: int) -> NDArray[np.float64]:
        """Drop the counts of inactive planes of this bit, and surplus inactive planes of earlier bits.

        Returns the duals of the planes left.
        """
        inactive, n_old = np.flatnonzero(~duals.any(axis=1)), len(self.planes) - n_found
        for r in inactive[inactive >= n_old]:
            self.planes[r] = None
        n_stored = sum(plane is not None for plane in self.planes)
        keep = np.ones(len(duals), bool)
        keep[inactive[inactive < n_old][: max(0, n_stored - MAX_STORED_PLANES)]] = False
        program.remove(np.flatnonzero(~keep))
        self.drop(keep)
        return duals[keep]

    def drop(self, keep: NDArray[np.bool_]) -> None:
        """Keep the planes of this mask."""
        self.planes = list(itertools.compress(self.planes, keep))
        self.losses, self.slopes, self.idle = self.losses[keep], self.slopes[:, keep], self.idle[keep]

    def _prune(self, duals: NDArray[np.float64], found: list[NDArray[np.float64]]) -> None:
        """Drop planes that were inactive for long; compute missing counts of active ones again."""
        self.idle = np.where(duals.any(axis=1), 0, self.idle + 1)
        n_old = len(self.planes) - len(found)
        keep = self.idle <= (PATIENCE if len(self.costs) > FEW_WEIGHTS else 0)
        for r in np.flatnonzero(keep):
            if self.planes[r] is None:
                self.planes[r] = self.most_violated(found[r - n_old])[0]
        self.drop(keep)

    def combine(self, duals: NDArray[np.float64]) -> NDArray[np.floating]:
        """Entry weights (E,) of the duals of the active planes."""
        entries = allocate(len(self.graph.indices), self.entry_dtype)
        entries[:] = 0
        active = np.flatnonzero(self.idle == 0)
        for r, dual in zip(active, duals):
            add_scaled(self.graph.indptr, self.unit * dual[self.group], self.planes[r], entries)
        return entries
