"""What every ranking measure gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Ranking:
    """A ranking measure and the ranking that violates it most."""

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """Value of a ranked list (n,), nearest first."""
        ...

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that maximises loss - w'dPsi (eq. infer), by its counts.

        w'dPsi = 2 / (P N) * (sum_k below_k far_k - sum_j above_j near_j). An irrelevant point moves ahead of a
        relevant one only for a strict gain, so that models are the same on every machine.

        Parameters
        ----------
        near, far : float64 arrays (sum P,) and (sum N,)
            Distances of the relevant and of the irrelevant points of Q queries.
        near_ptr, far_ptr : int64 arrays (Q + 1,)
            Query i owns ``near[near_ptr[i]:near_ptr[i + 1]]``, and ``far`` alike.

        Returns
        -------
        loss : float64 array (Q,)
            1 - score; 0 where a query lacks relevant or irrelevant points.
        above : int32 array (sum P,)
            Irrelevant points before each relevant one.
        below : int32 array (sum N,)
            Relevant points after each irrelevant one.

        Raises
        ------
        ValueError
            If a distance is not finite or the pointers do not cut the arrays.
        """
        ...

    def ideal(self, n_relevant: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Ideal gain of each query (Q,); None where a grade step counts by its gain alone."""
        return None
