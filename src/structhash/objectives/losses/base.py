"""The contract of a triplet loss, with sums that hold for any loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Loss"]

_STEP = 1e-5  # of the differences of `slope`, in units of max(1, |margin|)


class Loss:
    """A convex loss f(rho) >= 0 of the margin rho that falls as the margin grows.

    A subclass is a frozen dataclass whose fields are settings. It gives `value`, `slope` and `conjugate`, all
    elementwise. The other methods follow from these three; a subclass overrides them where it has a faster or a
    more exact way.

    They sum over *structured* triplets: all (near j, far k) of each query, with rho = far_k - near_j. Every
    query has near and far points. The methods here take one query at a time, so that only its P N margins are
    in memory.

    A loss that is not smooth sets `smooth` to False and gives `most_violated`: CGHash then solves it by cutting
    planes, without a Newton step and so without `curvature`.
    """

    smooth: ClassVar[bool] = True

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        raise NotImplementedError

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f' <= 0 at each margin; a subgradient where f has a kink."""
        raise NotImplementedError

    def conjugate(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """f*(u) = sup_rho u rho - f(rho) at each u; infinite where the supremum is."""
        raise NotImplementedError

    def sums(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Loss and slopes, summed over the triplets of each query; O(P N) a query.

        Parameters
        ----------
        near, far : float64 (sum P,) and (sum N,)
            Distances of the near and of the far points of Q queries.
        near_ptr, far_ptr : int64 (Q + 1,)
            Query i owns ``near[near_ptr[i]:near_ptr[i + 1]]`` and ``far[far_ptr[i]:far_ptr[i + 1]]``.

        Returns
        -------
        value : float64 (Q,)
            sum_jk f(rho_jk).
        pull : float64 (sum P,)
            sum_k -f'(rho_jk) of each near point j.
        push : float64 (sum N,)
            sum_j -f'(rho_jk) of each far point k.
        """
        value = np.zeros(len(near_ptr) - 1)
        pull, push = np.zeros(len(near)), np.zeros(len(far))
        for query, (ours, theirs) in enumerate(_queries(near_ptr, far_ptr)):
            margins = far[None, theirs] - near[ours, None]
            slopes = self.slope(margins)
            value[query] = self.value(margins).sum()
            pull[ours], push[theirs] = -slopes.sum(axis=1), -slopes.sum(axis=0)
        return value, pull, push

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """sum_jk f*(scale f'(rho_jk)) of each query, for the dual objective; O(P N) a query.

        Parameters
        ----------
        near, far, near_ptr, far_ptr
            As in `sums`.
        scale : float
            In [0, 1].

        Returns
        -------
        float64 (Q,)
        """
        out = np.zeros(len(near_ptr) - 1)
        for query, (ours, theirs) in enumerate(_queries(near_ptr, far_ptr)):
            out[query] = self.conjugate(scale * self.slope(far[None, theirs] - near[ours, None])).sum()
        return out

    def curvature(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        near_columns: NDArray[Any],
        far_columns: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """sum_q weights_q sum_jk f''(rho_jk) dh_jk dh_jk', the Hessian of the weighted loss; O(P N t) a query.

        f'' is a central difference of `slope`: at a kink of f' it is the mean of both sides. The faster methods
        of the package's losses take the side of larger margins there, and sum in single precision.

        Parameters
        ----------
        near, far, near_ptr, far_ptr
            As in `sums`.
        near_columns, far_columns : ndarray (sum P, t) and (sum N, t)
            Bits in which each entry's two points differ, of t free weights; dh_jk is far column k minus near
            column j.
        weights : float64 (Q,)
            Weight of each triplet of a query.

        Returns
        -------
        float64 (t, t)
        """
        H = np.zeros((near_columns.shape[1],) * 2)
        for (ours, theirs), weight in zip(_queries(near_ptr, far_ptr), weights):
            margins = far[None, theirs] - near[ours, None]
            step = _STEP * np.maximum(1.0, np.abs(margins))
            bend = (self.slope(margins + step) - self.slope(margins - step)) * (weight / (2 * step))
            G, F = (columns.astype(np.float64) for columns in (near_columns[ours], far_columns[theirs]))
            cross = G.T @ bend @ F
            H += (F.T * bend.sum(axis=0)) @ F + (G.T * bend.sum(axis=1)) @ G - cross - cross.T
        return H

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """Cutting plane of each query, by the counts of a ranking: see `Ranking.most_violated` and `Hinge`.

        Only a loss that is not smooth gives it. The loss of the ranking, minus w'dPsi, is twice the mean of f.

        Parameters
        ----------
        near, far : float64 (sum P,) and (sum N,)
            Distances of the relevant and of the irrelevant points of Q queries.
        near_ptr, far_ptr : int64 (Q + 1,)
            Query i owns ``near[near_ptr[i]:near_ptr[i + 1]]``, and ``far`` alike.

        Returns
        -------
        loss : float64 (Q,)
        above : int32 (sum P,)
            Irrelevant points before each relevant one.
        below : int32 (sum N,)
            Relevant points after each irrelevant one.
        """
        raise NotImplementedError


def _queries(near_ptr: NDArray[np.int64], far_ptr: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Places of the near and of the far points of each query."""
    for query in range(len(near_ptr) - 1):
        yield slice(*near_ptr[query : query + 2].tolist()), slice(*far_ptr[query : query + 2].tolist())
