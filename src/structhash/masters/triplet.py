"""The weights of CGHash for smooth losses, and their dual (Algorithm 1, eq. cgh-general-kkt)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from structhash.masters.base import RegularizedMaster, Solution
from structhash.masters.columns import Columns, EntryBlock
from structhash.masters.schedules.base import Schedule
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import Comparisons, PairGraph, repeat

__all__ = ["MIN_OBJECTIVE", "Risk", "TripletMaster"]

MIN_OBJECTIVE = 1e-9  # times C: gaps are relative to this where the objective is smaller


class Risk(NamedTuple):
    """Objective at some weights, and its gradient."""

    objective: float
    gradient: NDArray[np.float64]


class TripletMaster(RegularizedMaster):
    """Weights for a triplet loss: min cost'w + C mean f(w'dh) over 0 <= w <= upper.

    The triplets are all (query, near, far) of the comparisons.

    The `gap` of a solution is its duality gap, primal minus dual objective, relative to the primal. The KKT
    duals are scaled by 1/max(1, max_r mu'dh_r / cost_r), which makes them feasible for all bits so far and
    proves the bound.

    Parameters
    ----------
    comparisons : Comparisons
    graph : PairGraph
        Of these comparisons.
    loss : Loss
        A smooth one.
    regularizer : Regularizer
    schedule : Schedule
    C : float
        Weight of the mean loss over triplets.
    tolerance : float
        Relative duality gap.
    max_rounds : int
        Newton steps a bit, at most.
    n_jobs : int
        Threads over queries.
    """

    def __init__(
        self,
        comparisons: Comparisons,
        graph: PairGraph,
        loss: Any,
        regularizer: Regularizer,
        schedule: Schedule,
        C: float,
        tolerance: float = 1e-6,
        max_rounds: int = 50,
        n_jobs: int = 1,
    ) -> None:
        super().__init__(regularizer)
        self.graph, self.loss, self.schedule = graph, loss, schedule
        self.C, self.tolerance, self.max_rounds = C, tolerance, max_rounds
        n_near, n_far = np.diff(comparisons.near_ptr), np.diff(comparisons.far_ptr)
        weights = comparisons.query_weights
        self.triplet_weights = weights / (weights @ (n_near * n_far))
        self.unit = np.concatenate([-self.triplet_weights, self.triplet_weights])  # of each row of the graph
        self.partners = np.concatenate([n_far, n_near])
        self.columns = Columns(comparisons, graph, schedule, C * self.triplet_weights, n_jobs)
        self.costs = np.zeros(0)
        self.u = np.zeros(0)

    def first_entries(self) -> NDArray[np.float64]:
        """Entry weights before the first bit: all triplets alike."""
        return repeat(self.C * self.unit * self.partners, self.graph.indptr)

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """Weights and duals with one more bit (n,)."""
        costs = np.append(self.costs, self.cost(bit))
        _, self.costs = self.schedule.reduce(costs[:, None], costs)
        self.columns.add(bit, len(self.costs))
        u = np.append(self.u[: len(self.costs) - 1], 0.0)  # the new bit begins at weight 0
        self.u, risk, gap, rounds = self.polish(*self.descend(u))
        weights, entries = self.schedule.expand(self.u, self.columns.n_bits), self.entries(self.u)
        self.columns.free_counts()
        return Solution(weights, entries, risk.objective, gap, rounds)

    def risk(self, u: NDArray[np.float64]) -> Risk:
        """Primal objective and its gradient at free weights u (eq. cgh-general-l1)."""
        value, sums = self.columns.evaluate(u, self.loss.sums)
        return Risk(float(self.costs @ u + self.C * (self.triplet_weights @ value)), self.costs - sums[0])

    def entries(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Entry weights of the KKT duals at free weights u (eq. cgh-general-kkt)."""
        out = repeat(self.C * self.unit, self.graph.indptr)

        def keep(entries: slice, values: NDArray[np.float64]) -> None:
            out[entries] *= values

        self.columns.evaluate(u, self.loss.sums, keep)
        return out

    def descend(self, u: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
        """Bounded L-BFGS-B on the primal: weights and evaluations."""
        found = minimize(
            self.risk,
            u,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, self.upper),
            options={"maxiter": 20, "ftol": 1e-7},
        )
        return found.x, int(found.nfev)

    def polish(self, u: NDArray[np.float64], rounds: int) -> tuple[NDArray[np.float64], Risk, float, int]:
        """Projected Newton steps until the duality gap is within the tolerance or nothing is gained."""
        risk = self.risk(u)
        gap = self.gap(u, risk)
        for _ in range(self.max_rounds):
            if gap <= self.tolerance:
                break
            step, length = self.newton(u, risk.gradient), 1.0
            while length > 1e-8:  # with few curved triplets the full step is far too long
                trial = np.clip(u + length * step, 0.0, self.upper)
                new = self.risk(trial)
                rounds += 1
                if new.objective < risk.objective:
                    break
                length /= 2
            else:
                break
            u, risk = trial, new
            gap = self.gap(u, risk)
        return u, risk, gap, rounds

    def newton(self, u: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Newton direction over the weights that are not held at a bound."""
        held = ((u <= 0) & (gradient > 0)) | ((u >= self.upper) & (gradient < 0))
        free, view = ~held, self.columns.tabled(u)

        def curvature(near: EntryBlock, far: EntryBlock) -> NDArray[np.float64]:
            apart = view(near).distances, view(far).distances
            columns = [self.columns.differing(block, free) for block in (near, far)]
            return self.loss.curvature(*apart, near.ptr, far.ptr, *columns, self.triplet_weights[near.queries])

        H = self.C * np.sum(self.columns.each(curvature), axis=0)
        H[np.diag_indices(len(H))] += 1e-10 * max(np.trace(H), 1e-300)
        step = np.zeros(len(u))
        step[free] = -np.linalg.lstsq(H, gradient[free], rcond=None)[0]
        return step

    def gap(self, u: NDArray[np.float64], risk: Risk) -> float:
        """Duality gap of the KKT duals relative to the objective.

        With an upper bound the dual is feasible as it is and pays upper * excess (eq. cgh-general-linf-dual);
        without one the duals are scaled until every column's mu'dh_r is at most its cost.
        """
        dual_values = self.costs - risk.gradient  # mu'dh_r
        upper, scale, paid = self.upper, 1.0, 0.0
        if np.isfinite(upper):
            paid = upper * np.maximum(0.0, dual_values - self.costs).sum()
        else:
            scale = 1.0 / max(1.0, np.max(dual_values / self.costs))

        view = self.columns.tabled(u)

        def conjugate(near: EntryBlock, far: EntryBlock) -> NDArray[np.float64]:
            apart = view(near).distances, view(far).distances
            return self.loss.scaled_conjugate(*apart, near.ptr, far.ptr, scale)

        each = np.concatenate(self.columns.each(conjugate))
        dual = -self.C * (self.triplet_weights @ each) - paid
        return float((risk.objective - dual) / max(abs(risk.objective), MIN_OBJECTIVE * self.C))
