"""Plain neighbours: what is near by L2 shall be near by its code."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.pair_weights import Comparisons
from structhash.supervision.nearest import blocks, closest, distances, kth, scaled
from structhash.supervision.shared import check_partners, draw, draw_outside, gather, list_triplets


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows by L2 are relevant, all others irrelevant: no labels are needed.

    For each point `n_near` of its nearest and `n_far` of the other rows are drawn at random, all where there
    are fewer. A point is no neighbour of its own; equal distances go by row number.

    Parameters
    ----------
    k : int, optional
        How many rows are relevant; `fraction` says it by default.
    fraction : float
        Share of the rows that is relevant, at least one row (the paper: 2 percent, Section 5.1). Not read where
        k is given.
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
        """Find every point's neighbours and draw its partners.

        Raises
        ------
        ValueError
            If k, the fraction or a number of partners is not allowed, or no row is left to be irrelevant.
        """
        check_partners(self.n_near, self.n_far)
        n, k = len(X), self.count(len(X))
        space = scaled(X)
        near, far = [], []
        for rows in blocks(n):
            apart = distances(space, rows)
            apart[np.arange(len(apart)), np.arange(rows.start, rows.stop)] = np.inf
            edges = kth(apart, k)
            for i in range(rows.start, rows.stop):
                found = closest(X, i, apart[i - rows.start], edges[i - rows.start], k)
                near.append(draw(rng, found, self.n_near))
                taken = np.insert(found, np.searchsorted(found, i), i)
                far.append(draw_outside(rng, n, taken, self.n_far))
        return gather(list(range(n)), near, far)

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Every (query, near, far) of `comparisons`, listed: int32 (T, 3)."""
        return list_triplets(self.comparisons(X, rng)), None

    def count(self, n: int) -> int:
        """Relevant rows of each of n points."""
        k: Any = self.k
        if k is None:
            share: Any = self.fraction
            if not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) < 1:
                raise ValueError(
                    f"fraction={describe(share)}: give a number between 0 and 1, the share that is near"
                )
            k = max(1, round(float(share) * n))
        elif not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"k={describe(k)}: give an integer of at least 1, the neighbours of a row")
        if k > n - 2:
            raise ValueError(
                f"{k} neighbours of each of {n} rows leave none to be far; give at most {n - 2}, or more rows"
            )
        return int(k)
