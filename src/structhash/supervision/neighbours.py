"""Nearest neighbours: rows that are near by L2 should have near codes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count, describe
from structhash.pair_weights import Comparisons
from structhash.supervision._draw import draw_others, draw_some, make_comparisons
from structhash.supervision._nearest import (
    kth_smallest,
    nearest_rows,
    query_slices,
    scale_rows,
    squared_distances,
)
from structhash.supervision.base import Supervision, check_partners

__all__ = ["Neighbours"]


@dataclass(frozen=True)
class Neighbours(Supervision):
    """The nearest rows by L2 are relevant and all others irrelevant: no labels are needed.

    For each point `n_near` of its nearest and `n_far` of the other rows are drawn at random, all of them where
    there are fewer. A point is not a neighbour of itself. Of equal distances the lower row number is nearer.

    Parameters
    ----------
    k : int, optional
        Number of relevant rows of each point; by default `fraction` sets it.
    fraction : float
        Share of the rows that is relevant, at least one row (the paper: 2 percent, Section 5.1). It is not used
        where k is given.
    n_near, n_far : int
        Partners drawn for each point.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [5.0], [7.0]])
    >>> r = Neighbours(k=1).comparisons(X, np.random.default_rng(0))
    >>> r.near.tolist(), r.near_ptr.tolist()
    ([1, 0, 3, 2], [0, 1, 2, 3, 4])
    """

    k: int | None = None
    fraction: float = 0.02
    n_near: int = 50
    n_far: int = 100

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Find the neighbours of every point and draw its partners.

        Raises
        ------
        ValueError
            If k, the fraction or a number of partners is not allowed, or no row is left to be irrelevant.
        """
        check_partners(self.n_near, self.n_far)
        n, k = len(X), self.count(len(X))
        space = scale_rows(X)
        near, far = [], []
        for rows in query_slices(n):
            distances = squared_distances(space, rows)
            distances[np.arange(len(distances)), np.arange(rows.start, rows.stop)] = np.inf
            edges = kth_smallest(distances, k)
            for i in range(rows.start, rows.stop):
                found = nearest_rows(X, i, distances[i - rows.start], edges[i - rows.start], k)
                near.append(draw_some(rng, found, self.n_near))
                taken = np.insert(found, np.searchsorted(found, i), i)
                far.append(draw_others(rng, n, taken, self.n_far))
        return make_comparisons(list(range(n)), near, far)

    def count(self, n: int) -> int:
        """Number of relevant rows of each of n points.

        Raises
        ------
        ValueError
            If k or the fraction is not allowed, or no row is left to be irrelevant.
        """
        if self.k is None:
            share: Any = self.fraction
            if not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) < 1:
                raise ValueError(
                    f"fraction={describe(share)}: give a number between 0 and 1, the share that is near"
                )
            k = max(1, round(float(share) * n))
        else:
            check_count("k", self.k)
            k = int(self.k)
        if k > n - 2:
            raise ValueError(
                f"{k} neighbours of each of {n} rows leave none to be far; give at most {n - 2}, or more rows"
            )
        return k
