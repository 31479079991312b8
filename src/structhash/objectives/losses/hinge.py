"""Hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.losses.base import Loss
from structhash.objectives.rankings.auc import AUC

__all__ = ["Hinge"]


@dataclass(frozen=True)
class Hinge(Loss):
    """f(rho) = max(0, 1 - rho); f*(u) = u for -1 <= u <= 0, infinite elsewhere.

    Dual of the master: max sum_T mu_T, 0 <= mu_T <= c_T, under the constraints of the bits. At the kink rho = 1
    the slope is 0, so that a triplet counts only for a strict gain.

    The loss is not smooth: CGHash solves it by cutting planes (`masters.hinge`), which `most_violated` finds.
    The structured hinge of AUC is the mean of max(0, 1 - 2 rho), so the search of AUC at half the distances
    finds them.

    Examples
    --------
    >>> import numpy as np
    >>> Hinge().value(np.array([-1.0, 0.5, 2.0]))
    array([2. , 0.5, 0. ])
    """

    smooth: ClassVar[bool] = False

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        return np.maximum(0.0, 1.0 - margins)

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """A subgradient at each margin: -1 below 1, else 0."""
        return np.where(margins < 1, -1.0, 0.0)

    def conjugate(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """f*(u), infinite outside [-1, 0]."""
        return np.where((u <= 0) & (u >= -1), u, np.inf)

    def sums(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """As `Loss.sums`; O((P + N) log(P + N)) a query."""
        _, above, below = self.most_violated(near, far, near_ptr, far_ptr)
        pull, push = above.astype(np.float64), below.astype(np.float64)
        value = np.add.reduceat(pull * (1 + near), near_ptr[:-1]) - np.add.reduceat(push * far, far_ptr[:-1])
        return value, pull, push

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """As `Loss.scaled_conjugate`, with f*(s f') = s f'; O((P + N) log(P + N)) a query."""
        return -scale * np.add.reduceat(self.sums(near, far, near_ptr, far_ptr)[1], near_ptr[:-1])

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking that inverts (j, k) if and only if far_k - near_j < 1: see `Ranking.most_violated`.

        Its loss is twice the share of inverted pairs, so that loss - w'dPsi is twice the query's mean hinge. It
        costs O((P + N) log(P + N)) a query.
        """
        loss, above, below = AUC().most_violated(near / 2, far / 2, near_ptr, far_ptr)
        return 2 * loss, above, below
