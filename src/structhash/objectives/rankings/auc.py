"""Area under the ROC curve."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def violate_auc(near, far, near_ptr, far_ptr):
    """Invert a pair if and only if far - near < 1/2: one merge of the sorted distances."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead, after = near[ours], far[theirs], above[ours], below[theirs]
        g, inverted = 0, 0
        for i in range(close.size):
            while g < away.size and away[g] - close[i] < 0.5:
                after[g] = close.size - i
                g += 1
            ahead[i] = g
            inverted += g
        loss[query] = inverted / max(1, close.size * away.size)
    return loss, above, below


@dataclass(frozen=True)
class AUC(Ranking):
    """Area under the ROC curve: the share of (relevant, irrelevant) pairs in the right order.

    score = 1 / (P N) * sum_j sum_k [relevant j before irrelevant k]    (paper, "Ranking measures").
    The structured hinge equals the mean triplet hinge max(0, 1 - 2 (far_k - near_j)).

    References
    ----------
    Joachims, A support vector method for multivariate performance measures, doi:10.1145/1102351.1102399.

    Examples
    --------
    >>> AUC().score([True, False, True])
    0.5
    >>> AUC().most_violated([0.0, 2.0], [1.0, 3.0], [0, 2], [0, 2])
    (array([0.25]), array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """

    def score(self, relevant):
        """Return the share of pairs in the right order; 1.0 where there is no pair.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        flags = as_flags(relevant)
        pairs = np.count_nonzero(flags) * np.count_nonzero(~flags)
        return 1.0 - float(np.cumsum(~flags)[flags].sum() / max(1, pairs))

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(n), and a sort unless the distances ascend.
        """
        return search(violate_auc, as_queries(near, far, near_ptr, far_ptr))
