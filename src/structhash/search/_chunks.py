"""Codes by the values of their chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.codes import as_words
from structhash.search._chunk_kernels import within_by_chunks

__all__ = ["Chunks", "make_chunks", "pairs_within"]

_LEAST_BITS = 8
_COST_OF_A_LOOK_UP = 20  # about the time of a code that is looked up, in codes that are scanned
_PAIRS_AT_ONCE = 1 << 20  # they take 12 MB


class Chunks(NamedTuple):
    """Codes by the values of chunks: value v of chunk j has rows[j, starts[s + v] : starts[s + v + 1]]."""

    words: NDArray[np.uint64]  # (n, w)
    places: NDArray[np.int64]  # (m, 4): word, lowest bit and number of bits of each chunk, and its s
    starts: NDArray[np.int32]  # (sum of 2**bits + 1,)
    rows: NDArray[np.int32]  # (m, n)
    most: int  # values and codes that a search looks at before all codes are compared


def make_chunks(codes: NDArray[np.uint8], n_bits: int) -> Chunks:
    """Cut codes (n, n_bytes) into chunks of at most log2(n) bits, and sort them by each.

    A chunk of log2(n) bits has one code a value, on average.
    """
    words, n = as_words(codes, np.uint64), len(codes)
    most_bits = max(_LEAST_BITS, n.bit_length() - 1)
    places: list[tuple[int, int, int, int]] = []
    for word in range(words.shape[1]):
        left = min(64, n_bits - 64 * word)
        ends = np.linspace(0, left, -(-left // most_bits) + 1).astype(int)
        for low, stop in pairwise(ends.tolist()):
            start = sum((1 << bits) + 1 for _, _, bits, _ in places)
            places.append((word, low, stop - low, start))
    starts, rows = [], np.empty((len(places), n), np.int32)
    for j, (word, low, bits, _) in enumerate(places):
        values = (words[:, word] >> np.uint64(low)) & np.uint64((1 << bits) - 1)
        rows[j] = np.argsort(values, kind="stable")
        counts = np.bincount(values.astype(np.int64), minlength=1 << bits)
        starts.append(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    return Chunks(
        words, np.array(places, np.int64), np.concatenate(starts), rows, max(1, int(n / _COST_OF_A_LOOK_UP))
    )


def pairs_within(
    chunks: Chunks, queries: NDArray[np.uint8], r: float, after: NDArray[np.int64] | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]]:
    """Yield all codes within r of each query, some queries at a time, in bounded memory.

    Parameters
    ----------
    chunks : Chunks
    queries : uint8 array (n_queries, n_bytes)
    r : float
    after : int64 array (n_queries,), optional
        Codes up to this row are left out. By default none.

    Yields
    ------
    lims : int64 array (m + 1,)
        Query i of the next m queries owns places lims[i] to lims[i + 1].
    distances : int32 array
    rows : int64 array
        By (query, distance, row).
    """
    words, n_bits = as_words(queries, np.uint64), int(chunks.places[:, 2].sum())
    after = np.full(len(queries), -1) if after is None else after
    room = max(len(chunks.words), _PAIRS_AT_ONCE)
    distances, rows = np.empty(room, np.int32), np.empty(room, np.int64)
    lims, first = np.empty(len(queries) + 1, np.int64), 0
    whole = int(min(r, n_bits))
    while first < len(queries):
        done = within_by_chunks(words, first, after, *chunks, whole, lims, distances, rows)
        own = lims[first : done + 1].copy()
        yield own, distances[: own[-1]].copy(), rows[: own[-1]].copy()
        first = done
