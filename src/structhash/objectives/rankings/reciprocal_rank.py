"""Reciprocal rank of the first relevant point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings._reciprocal_rank import violate_reciprocal_rank
from structhash.objectives.rankings.base import Ranking

__all__ = ["ReciprocalRank"]


@dataclass(frozen=True)
class ReciprocalRank(Ranking):
    """Reciprocal rank: one over the place of the first relevant point.

    score = 1 / (1 + g_1), with g_1 the irrelevant points before the first relevant one. Its mean over queries
    is MRR. The search is one merge, because the other relevant points only have to stay behind the first.

    References
    ----------
    Chakrabarti et al., Structured learning for non-smooth ranking losses, doi:10.1145/1401890.1401906.

    Examples
    --------
    >>> ReciprocalRank().score([False, True, True])
    0.5
    >>> ReciprocalRank().most_violated([0.0, 2.0], [0.5, 3.0], [0, 2], [0, 2])
    (array([0.5]), array([1, 1], dtype=int32), array([2, 0], dtype=int32))
    """

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """One over the place of the first relevant point; 1.0 where there is none.

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
        return 1.0 / (1.0 + int(flags.argmax())) if flags.any() else 1.0

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
        return search(violate_reciprocal_rank, as_queries(near, far, near_ptr, far_ptr))
