"""Codes that rank as an embedding does: the weight of all bits under a listwise cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structhash.masters.base import Solution
from structhash.objectives.regularizers.linf import LInf
from structhash.pair_weights import PairGraph

ROUNDS = 50  # Newton steps for one number, at most
ENOUGH = 1e-9  # slope of the mean loss at which they end
LEAST, MOST = 1e-6, 50.0  # the weight
FARTHEST = 700.0  # weighted distance, at most, so that its chance is above 0


class ListwiseMaster:
    """min over w > 0 of mean_i sum_j -t_ij log q_ij, q_ij = c_j exp(-w d_ij) / (pull + sum_k c_k exp(-w d_ik)).

    The cross entropy of ListNet's top-one chances (Cao et al. 2007), d being Hamming distances, the targets t
    of each list being given, and c_j being how many points the j-th of a list stands for. The pull is that of
    the query itself, which is at distance 0 and no target: it draws those alike together, not only nearer than
    others, and the more so the larger it is.
    One weight serves all bits, so that codes are made for plain Hamming distance. The derivative by the weight
    of one more bit h is -h'Lh with pair weights (q_ij - t_ij) / Q: points nearer than their target says are
    pushed apart, others pulled together.

    Parameters
    ----------
    graph : PairGraph
        One list of partners for each of Q queries.
    targets : float array (E,)
        t of each entry of the graph; each list sums to 1.
    n_bits : int
        Bits that will be added, at most.
    pull : float
        At least 0.
    counts : array (m,), optional
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
        pull: float = 0.0,
        counts: NDArray[Any] | None = None,
    ) -> None:
        self.graph, self.targets = graph, targets.astype(np.float32)
        self.regularizer, self.own = LInf(MOST), float(pull)
        self.counts = np.ones(np.diff(graph.indptr).max()) if counts is None else counts
        self.n_bits, self.weight = 0, 1.0
        self.distances = np.zeros(len(targets), np.uint8 if n_bits < 256 else np.int32)

    def start(self) -> NDArray[np.float32]:
        """Pair weights as before the first bit: every point has the same chance."""
        return self.entries(np.ones(self.n_bits + 1))

    def add(self, bit: NDArray[np.uint8]) -> Solution:
        """The weight, and the pair weights, with one more bit (n,)."""
        np.add(self.distances, self.graph.differ(bit), out=self.distances)
        self.n_bits += 1
        steps = np.arange(self.n_bits + 1)
        most = min(MOST, FARTHEST / self.n_bits)
        self.weight = min(self.weight, most)
        ptr, rounds, before = self.graph.indptr, 0, 0.0
        while rounds < ROUNDS and self.weight != before:
            rounds += 1
            table = np.exp(-self.weight * steps)
            loss, slope, curvature = losses(
                ptr, self.distances, self.targets, self.counts, self.weight, table, self.own
            )
            before = self.weight
            if abs(slope) > ENOUGH and curvature > 0:
                after = before - slope / curvature
                self.weight = float(min(max(after, before / 2, LEAST), before * 2, most))
        weights = np.full(self.n_bits, self.weight)
        return Solution(weights, self.entries(np.exp(-self.weight * steps)), loss, abs(slope), rounds)

    def entries(self, table: NDArray[np.float64]) -> NDArray[np.float32]:
        """(q - t) / Q of each entry, where exp(-w d) is table[d]."""
        out = np.empty(len(self.targets), np.float32)
        miss(self.graph.indptr, self.distances, self.targets, self.counts, table, self.own, out)
        return out


@njit(cache=True, nogil=True)
def losses(ptr, distances, targets, counts, weight, table, own):
    """Mean loss over the lists but for a constant, and its first and second derivative by the weight."""
    loss, slope, curvature = 0.0, 0.0, 0.0
    for i in range(len(ptr) - 1):
        total, first, second, wanted = own, 0.0, 0.0, 0.0
        for e in range(ptr[i], ptr[i + 1]):
            d = distances[e]
            chance = counts[e - ptr[i]] * table[d]
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
def miss(ptr, distances, targets, counts, table, own, out):
    """out = (softmax - target) / number of lists."""
    share = 1.0 / (len(ptr) - 1)
    for i in range(len(ptr) - 1):
        total = own
        for e in range(ptr[i], ptr[i + 1]):
            total += counts[e - ptr[i]] * table[distances[e]]
        for e in range(ptr[i], ptr[i + 1]):
            out[e] = (counts[e - ptr[i]] * table[distances[e]] / total - targets[e]) * share
