"""The weight of all bits under a listwise cross entropy, for codes that rank as an embedding does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit
from structhash.masters.base import Master, Solution
from structhash.pair_weights import PairGraph

__all__ = ["ListwiseMaster"]

MAX_NEWTON_STEPS = 50
MAX_SLOPE = 1e-9  # of the mean loss, at which Newton steps end
MIN_WEIGHT, MAX_WEIGHT = 1e-6, 50.0
MAX_DISTANCE = 700.0  # weighted; above it, exp(-distance) would be 0


class ListwiseMaster(Master):
    """min over w > 0 of mean_i sum_j -t_ij log q_ij, q_ij = c_j exp(-w d_ij) / (s + sum_k c_k exp(-w d_ik)).

    This is the cross entropy of ListNet's top-one probabilities (Cao et al. 2007). d are Hamming distances, t
    the targets of each list, and c_j is the number of points that the j-th place of a list represents. The self
    weight s is the term of the query itself, which is at distance 0 and has no target. A larger s draws the
    codes of similar points closer together; without it, similar points only come nearer than the rest.

    One weight serves all bits, so that codes are made for plain Hamming distance. The derivative by the weight
    of one more bit h is -h'Lh with pair weights (q_ij - t_ij) / Q: points that are nearer than their target are
    pushed apart, the others pulled together.

    Parameters
    ----------
    graph : PairGraph
        One list of partners for each of Q queries.
    targets : float array (E,)
        t of each entry of the graph; each list sums to 1.
    n_bits : int
        Bits that will be added, at most.
    self_weight : float
        At least 0.
    multiplicities : float64 (m,), optional
        c of each place, where all lists have length m; 1 by default.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li, Learning to rank: from pairwise approach to listwise approach, ICML 2007,
    https://doi.org/10.1145/1273496.1273513
    """

    def __init__(
        self,
        graph: PairGraph,
        targets: NDArray[Any],
        n_bits: int,
        self_weight: float = 0.0,
        multiplicities: NDArray[Any] | None = None,
    ) -> None:
        self.graph, self.targets = graph, targets.astype(np.float32)
        self.upper, self.self_weight = MAX_WEIGHT, float(self_weight)
        self.multiplicities = np.ones(np.diff(graph.indptr).max()) if multiplicities is None else multiplicities
        self.n_added, self.weight = 0, 1.0
        self.distances = np.zeros(len(targets), np.uint8 if n_bits < 256 else np.int32)

    def first_entries(self) -> NDArray[np.float32]:
        """Pair weights as before the first bit: every point has the same chance."""
        return self.entries(np.ones(self.n_added + 1))

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """The weight, and the pair weights, with one more bit (n,)."""
        np.add(self.distances, self.graph.differ(bit), out=self.distances)
        self.n_added += 1
        steps = np.arange(self.n_added + 1)
        most = min(MAX_WEIGHT, MAX_DISTANCE / self.n_added)
        self.weight = min(self.weight, most)
        ptr, rounds, before = self.graph.indptr, 0, 0.0
        while rounds < MAX_NEWTON_STEPS and self.weight != before:
            rounds += 1
            table = np.exp(-self.weight * steps)
            loss, slope, curvature = losses(
                ptr, self.distances, self.targets, self.multiplicities, self.weight, table, self.self_weight
            )
            before = self.weight
            if abs(slope) > MAX_SLOPE and curvature > 0:
                after = before - slope / curvature
                self.weight = float(min(max(after, before / 2, MIN_WEIGHT), before * 2, most))
        weights = np.full(self.n_added, self.weight)
        return Solution(weights, self.entries(np.exp(-self.weight * steps)), loss, abs(slope), rounds)

    def entries(self, table: NDArray[np.float64]) -> NDArray[np.float32]:
        """(q - t) / Q of each entry, where exp(-w d) is table[d]."""
        out = np.empty(len(self.targets), np.float32)
        write_entries(
            self.graph.indptr, self.distances, self.targets, self.multiplicities, table, self.self_weight, out
        )
        return out


@njit(cache=True, nogil=True)
def losses(ptr, distances, targets, multiplicities, weight, table, self_weight):
    """Mean loss over the lists, up to a constant, and its first and second derivative by the weight."""
    loss, slope, curvature = 0.0, 0.0, 0.0
    for i in range(len(ptr) - 1):
        total, first, second, wanted = self_weight, 0.0, 0.0, 0.0
        for e in range(ptr[i], ptr[i + 1]):
            d = distances[e]
            chance = multiplicities[e - ptr[i]] * table[d]
            total += chance
            first += chance * d
            second += chance * d * d
            wanted += targets[e] * d
        first /= total
        loss += weight * wanted + np.log(total)
        slope += wanted - first
        curvature += second / total - first * first
    n = len(ptr) - 1
    return loss / n, slope / n, curvature / n


@njit(cache=True, nogil=True)
def write_entries(ptr, distances, targets, multiplicities, table, self_weight, out):
    """out = (softmax - target) / number of lists."""
    share = 1.0 / (len(ptr) - 1)
    for i in range(len(ptr) - 1):
        total = self_weight
        for e in range(ptr[i], ptr[i + 1]):
            total += multiplicities[e - ptr[i]] * table[distances[e]]
        for e in range(ptr[i], ptr[i + 1]):
            out[e] = (multiplicities[e - ptr[i]] * table[distances[e]] / total - targets[e]) * share
