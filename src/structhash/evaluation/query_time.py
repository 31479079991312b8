"""Seconds that a query of a comparison takes, from its vector to its nearest codes."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import NDArray

from structhash._numerics.threads import one_blas_thread
from structhash.evaluation.reading import ReadCodes
from structhash.evaluation.scoring import IndexDistance
from structhash.search import Exact

__all__ = ["N_NEAREST", "N_TIMED", "query_seconds"]

N_TIMED = 100  # queries that are timed, at most
N_NEAREST = 10  # codes that are found for each


def query_seconds(read: ReadCodes, queries: NDArray[Any]) -> dict[str, float]:
    """Seconds a query, by distance.

    At most `N_TIMED` queries are coded in one batch, and `Exact` finds the `N_NEAREST` codes of each in the
    whole database. Both take one thread, and the index is made before. The batch runs twice and the faster run
    counts: the first one may compile kernels.

    Parameters
    ----------
    read : ReadCodes
    queries : ndarray (q, d)

    Returns
    -------
    dict of float
        By the names of `ReadCodes.index_distances`: a distance of the method's own is missing.
    """
    asked = queries[:N_TIMED]
    return {each.name: _seconds(read, asked, each) / len(asked) for each in read.index_distances()}


def _seconds(read: ReadCodes, queries: NDArray[Any], distance: IndexDistance) -> float:
    """Seconds of a batch: those of the faster of two runs."""
    index = Exact(read.encoder.n_bits_, distance.weights)
    index.add(read.codes)
    runs = []
    with one_blas_thread():
        for _ in range(2):
            began = time.perf_counter()
            index.search(distance.prepare(queries), N_NEAREST)
            runs.append(time.perf_counter() - began)
    return min(runs)
