"""The contract of a ranking measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranking"]


class Ranking:
    """A ranking measure, and the search for the ranking that violates it most.

    A subclass is a frozen dataclass whose fields are settings. It gives `score` and `most_violated`.
    """

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """Value of a ranked list of points, at most 1.

        Parameters
        ----------
        relevant : bool array (n,)
            Which points are relevant, in ranking order, nearest first.
        """
        raise NotImplementedError

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that maximises loss - w'dPsi (eq. infer), by its counts.

        For a query of P relevant and N irrelevant points

            w'dPsi = 2 / (P N) * (sum_k below_k far_k - sum_j above_j near_j).

        An irrelevant point moves ahead of a relevant one only for a strict gain, so that models are the same on
        every machine.

        Parameters
        ----------
        near, far : float64 (sum P,) and (sum N,)
            Distances of the relevant and of the irrelevant points of Q queries.
        near_ptr, far_ptr : int64 (Q + 1,)
            Query i owns ``near[near_ptr[i]:near_ptr[i + 1]]`` and ``far[far_ptr[i]:far_ptr[i + 1]]``.

        Returns
        -------
        loss : float64 (Q,)
            1 - score; 0 where a query lacks relevant or irrelevant points.
        above : int32 (sum P,)
            Number of irrelevant points before each relevant one.
        below : int32 (sum N,)
            Number of relevant points after each irrelevant one.

        Raises
        ------
        ValueError
            If a distance is not finite or the pointers do not cut the arrays.
        """
        raise NotImplementedError

    def ideal(self, n_relevant: NDArray[Any]) -> NDArray[np.float64] | None:
        """Ideal gain of queries with so many relevant points, float64 (Q,), for int `n_relevant` (Q,).

        The grade steps of one graded query share its weight in proportion to gain of the step * ideal gain: see
        `NDCG.ideal`. None, the default, where a grade step counts by its gain alone.
        """
        return None
