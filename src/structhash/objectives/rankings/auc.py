"""Area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.rankings._auc import violate_auc
from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings.base import Ranking

__all__ = ["AUC"]


@dataclass(frozen=True)
class AUC(Ranking):
    """Area under the ROC curve: the share of (relevant, irrelevant) pairs in the right order.

    score = 1 / (P N) * sum_j sum_k [relevant j before irrelevant k]    (paper, "Ranking measures").
    Its structured hinge loss is the mean triplet hinge max(0, 1 - 2 (far_k - near_j)).

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

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """The share of pairs in the right order; 1.0 where there is no pair.

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
        pairs = np.count_nonzero(flags) * np.count_nonzero(~flags)
        return 1.0 - float(np.cumsum(~flags)[flags].sum() / max(1, pairs))

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that violates it most: see `Ranking.most_violated`.

        It costs O(P + N) a query, and a sort unless the distances ascend.
        """
        return search(violate_auc, as_queries(near, far, near_ptr, far_ptr))
