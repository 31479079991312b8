"""Seconds that a query of a comparison takes, from its vector to its nearest codes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.threads import one_blas_thread
from structhash.codes import PreparedQueries
from structhash.evaluation.reading import ReadCodes
from structhash.search import Exact

__all__ = ["N_NEAREST", "N_TIMED", "query_seconds"]

N_TIMED = 100  # queries that are timed, at most
N_NEAREST = 10  # codes that are found for each

_Prepare = Callable[[NDArray[Any]], "NDArray[np.uint8] | PreparedQueries"]


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
        By the names that `ReadCodes.distances` yields. A distance of the method's own is missing: no index has
        it.
    """
    encoder = read.encoder
    ways: dict[str, tuple[_Prepare, NDArray[np.float64] | None]] = {}  # how queries are coded, and weights
    if read.reader is not None:
        ways[read.asked] = read.reader.prepare, None
    elif not encoder.codes_are_bits:
        ways["tables"] = encoder.prepare_queries, None
    else:
        ways["plain"] = encoder.encode_queries, None
        if encoder.weighted_:
            ways["weighted"] = encoder.encode_queries, encoder.search_weights_
    asked = queries[:N_TIMED]
    return {name: _seconds(read, asked, *way) / len(asked) for name, way in ways.items()}


def _seconds(
    read: ReadCodes, queries: NDArray[Any], prepare: _Prepare, weights: NDArray[np.float64] | None
) -> float:
    """Seconds of a batch: those of the faster of two runs."""
    index = Exact(read.encoder.n_bits_, weights)
    index.add(read.codes)
    runs = []
    with one_blas_thread():
        for _ in range(2):
            began = time.perf_counter()
            index.search(prepare(queries), N_NEAREST)
            runs.append(time.perf_counter() - began)
    return min(runs)
