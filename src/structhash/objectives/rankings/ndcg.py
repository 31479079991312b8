"""NDCG cut at k, with the paper's discount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.objectives.rankings._ndcg import total_discount, violate_ndcg
from structhash.objectives.rankings._queries import as_flags, as_queries, check_cut, search
from structhash.objectives.rankings.base import Ranking

__all__ = ["NDCG"]


@dataclass(frozen=True)
class NDCG(Ranking):
    """Normalised discounted cumulative gain of the first k places.

    score = 1/Z * sum_(i <= k) S(i) [i-th point relevant], S(1) = 1, S(i) = 1 / log2(i)
    (paper, "Ranking measures"), with the normaliser Z.

    Parameters
    ----------
    k : int
        Last place that counts, at least 1.
    normalizer : str
        ``"ideal"``: Z sums S to min(k, P), so that the perfect ranking scores 1. ``"paper"``: Z sums S to k, so
        that the perfect ranking of P < k relevant points scores less than 1.

    Raises
    ------
    ValueError
        If a setting is not allowed.

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

    def __post_init__(self) -> None:
        check_cut(self.k)
        if self.normalizer not in ("ideal", "paper"):
            raise ValueError(
                f"normalizer is {describe(self.normalizer)}; give 'ideal' (Z to min(k, P)) or 'paper' (to k)"
            )

    def discounts(self, n: int) -> NDArray[np.float64]:
        """Discounts S(1), ..., S(n), float64 (n,); 0 past place k."""
        places = np.arange(1.0, n + 1.0)
        return np.where(places <= self.k, 1.0 / np.log2(np.maximum(places, 2.0)), 0.0)

    def ideal(self, n_relevant: NDArray[Any]) -> NDArray[np.float64]:
        """Normaliser Z of queries with so many relevant points, float64 (Q,), for int `n_relevant` (Q,).

        The gain of a graded list is the sum over its grade steps of step * DCG of the binary list, so that

            1 - graded NDCG = sum_t (step_t Z_t / sum_s step_s Z_s) (1 - NDCG_t)

        for the binary queries t of one graded query. `RankingMaster` weights them by these shares. The
        structured hinge loss bounds each binary loss, so its weighted sum bounds the graded loss of the drawn
        points.
        """
        n_relevant = np.asarray(n_relevant)
        if self.normalizer == "paper":
            return np.full(n_relevant.shape, total_discount(int(self.k)))
        totals = np.append(0.0, np.cumsum(self.discounts(n_relevant.max(initial=0))))
        ideal: NDArray[np.float64] = totals[n_relevant]
        return ideal

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """The normalised gain; 1.0 where all points are of one kind.

        Parameters
        ----------
        relevant : bool array (n,)
            In ranking order, nearest first.

        Raises
        ------
        ValueError
            If `relevant` is anything else.
        """
        flags = as_flags(relevant)
        if flags.all() or not flags.any():
            return 1.0
        discounts = self.discounts(flags.size)
        ideal = discounts[: np.count_nonzero(flags)].sum()
        total = ideal if self.normalizer == "ideal" else total_discount(int(self.k))
        return float(discounts[flags].sum() / total)

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that violates it most: see `Ranking.most_violated`.

        It costs O(P + N) a query, and a sort unless the distances ascend.

        Sums of rounded distances are compared: a gain is strict where it exceeds 1e-12 * max(1, spread of the
        distances).
        """
        queries = as_queries(near, far, near_ptr, far_ptr)
        n_near, n_far = (int(np.diff(ptr).max(initial=0)) for ptr in queries[2:])
        k = min(int(self.k), n_near + n_far)
        ranks = np.arange(1.0, 2.0 + min(k, n_near) + min(k, n_far))
        discount = 1.0 / np.log2(np.maximum(2.0, ranks))  # no cut
        total = np.append(0.0, np.cumsum(self.discounts(n_near)))
        if self.normalizer == "paper":
            total[:] = total_discount(int(self.k))
        return search(violate_ndcg, queries, discount, total, k, max(n_near, n_far))
