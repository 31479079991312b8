"""NDCG cut at k, with the paper's discount."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash._numerics.validation import describe
from structhash.objectives.rankings._chain import best_chain, shifted_sums
from structhash.objectives.rankings._queries import as_flags, as_queries, check_cut, count_after, search
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def total_discount(k):
    """Sum of the discounts of the places 1 to k, without an array of that size."""
    total = 1.0
    for place in range(2, k + 1):
        total += 1.0 / np.log2(place)
    return total


@njit(cache=True, nogil=True)
def violate_ndcg(near, far, near_ptr, far_ptr, discount, total, k, longest):
    """Run `best_chain` on each query; `total[P]` is the normaliser Z of a query with P relevant points."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    scale, scaled, sums = 0.0, np.empty(discount.size), np.empty(discount.size + 1)
    room, blocks = np.empty((6, longest + 1)), np.empty((4, longest), np.int64)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead = near[ours], far[theirs], above[ours]
        if close.size == 0 or away.size == 0:
            continue
        if scale != close.size * away.size / (2 * total[close.size]):  # most queries are of one size
            scale = close.size * away.size / (2 * total[close.size])
            shifted_sums(discount * scale, 0.0, scaled, sums)
        best_chain(close, away, scaled, sums, k, ahead, room, blocks)
        gain = 0.0
        for i in range(min(k, ahead.size)):
            if i + ahead[i] < k:
                gain += discount[i + ahead[i]]
        loss[query] = 1.0 - gain / total[ahead.size]
        count_after(ahead, below[theirs])
    return loss, above, below


@dataclass(frozen=True)
class NDCG(Ranking):
    """Normalised discounted cumulative gain of the first k places.

    score = 1/Z * sum_(i <= k) S(i) [i-th point relevant], S(1) = 1, S(i) = 1 / log2(i)
    (paper, "Ranking measures"), with Z = sum of S to min(k, P), or to k as the paper has it.

    Parameters
    ----------
    k : int >= 1, the last place that counts
    normalizer : "ideal" or "paper"; only "ideal" gives the perfect ranking of fewer than k relevant points 1

    Raises
    ------
    ValueError : if a setting is not allowed

    References
    ----------
    Chakrabarti et al., Structured learning for non-smooth ranking losses, doi:10.1145/1401890.1401906.

    Examples
    --------
    >>> round(NDCG(k=3).score([True, False, True]), 4)
    0.8155
    >>> loss, above, below = NDCG(k=3).most_violated([0.0, 2.0], [1.0, 3.0], [0, 2], [0, 2])
    >>> loss.round(4), above, below
    (array([0.1845]), array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """

    k: int = 100
    normalizer: str = "ideal"

    def __post_init__(self):
        check_cut(self.k)
        if self.normalizer not in ("ideal", "paper"):
            raise ValueError(
                f"normalizer is {describe(self.normalizer)}; give 'ideal' (Z to min(k, P)) or 'paper' (to k)"
            )

    def discounts(self, n):
        """Return S(1), ..., S(n), float64 (n,), 0 past place k."""
        places = np.arange(1.0, n + 1.0)
        return np.where(places <= self.k, 1.0 / np.log2(np.maximum(places, 2.0)), 0.0)

    def ideal(self, n_near):
        """Return the normaliser Z of queries with so many relevant points, float64 (Q,), for int `n_near` (Q,).

        The gain of a graded list is the sum over its grade steps of step * DCG of the binary list, so that

            1 - graded NDCG = sum_t (step_t Z_t / sum_s step_s Z_s) (1 - NDCG_t)

        for the binary queries t of one graded query. `RankingMaster` gives them these shares; the structured
        hinge loss, a bound on each binary loss, is then one on the graded loss (both of the drawn points).
        """
        n_near = np.asarray(n_near)
        if self.normalizer == "paper":
            return np.full(n_near.shape, total_discount(int(self.k)))
        return np.append(0.0, np.cumsum(self.discounts(n_near.max(initial=0))))[n_near]

    def score(self, relevant):
        """Return the normalised gain; 1.0 where all points are of one kind.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        flags = as_flags(relevant)
        if flags.all() or not flags.any():
            return 1.0
        discounts = self.discounts(flags.size)
        ideal = discounts[: np.count_nonzero(flags)].sum()
        total = ideal if self.normalizer == "ideal" else total_discount(int(self.k))
        return float(discounts[flags].sum() / total)

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(P + N), and a sort unless the distances ascend.
        Where sums of rounded distances are compared, a strict gain is one above 1e-12 * max(1, their spread).
        """
        queries = as_queries(near, far, near_ptr, far_ptr)
        n_near, n_far = (int(np.diff(ptr).max(initial=0)) for ptr in queries[2:])
        k = min(int(self.k), n_near + n_far)
        discount = 1.0 / np.log2(
            np.maximum(2.0, np.arange(1.0, 2.0 + min(k, n_near) + min(k, n_far)))
        )  # no cut
        total = np.append(0.0, np.cumsum(self.discounts(n_near)))
        if self.normalizer == "paper":
            total[:] = total_discount(int(self.k))
        return search(violate_ndcg, queries, discount, total, k, max(n_near, n_far))
