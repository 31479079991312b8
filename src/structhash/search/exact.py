"""Exhaustive search, exact and in a fixed order."""

from __future__ import annotations

from typing import ClassVar

from numpy.typing import ArrayLike

from structhash._numerics.threads import n_threads
from structhash.search._stored import StoredIndex

__all__ = ["Exact"]


class Exact(StoredIndex):
    """Index that compares every query with every code.

    Results are ordered by (distance, id), so that ties come out the same on every machine.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    weights : float array of shape (n_bits,), optional
        Finite and non-negative. Distances are then d_w(q, b) = sum_j w_j |q_j - b_j|, as float32.
    n_jobs : int or None
        Threads of a `search`, each over a part of the codes; -1 takes all cores, None is 1. Results do not
        depend on it. Files do not keep it: set ``index.n_jobs`` after loading. `radius` takes one thread.

    Raises
    ------
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1, the weights have another shape, are negative or are not finite, or `n_jobs` is
        0 or no integer.

    Examples
    --------
    >>> import numpy as np
    >>> index = Exact(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8))
    >>> distances, ids = index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    >>> distances, ids
    (array([[0, 1]], dtype=int32), array([[2, 0]]))
    """

    kind: ClassVar[str] = "index.exact"
    takes_weights: ClassVar[bool] = True

    def __init__(self, n_bits: int, weights: ArrayLike | None = None, n_jobs: int | None = 1) -> None:
        super().__init__(n_bits, weights)
        n_threads(n_jobs)
        self.n_jobs = n_jobs

    def _n_threads(self) -> int:
        return n_threads(self.n_jobs)
