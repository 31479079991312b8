"""Inverted lists: codes grouped by the nearest of a few centroids, which are codes, too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import spread_rows
from structhash.codes import as_words, pack, unpack
from structhash.search._list_kernels import nearest_list

__all__ = ["Lists", "make_lists"]

_SAMPLE_A_LIST = 40  # codes that the centroids are learned from
_ROUNDS = 10


class Lists(NamedTuple):
    """Codes by list."""

    centroids: NDArray[np.uint8]  # (n_lists, n_bytes)
    starts: NDArray[np.int64]  # (n_lists + 1,): list c owns codes starts[c] to starts[c + 1]
    codes: NDArray[np.uint8]  # (n, n_bytes)
    words: NDArray[np.uint64]  # the codes again; no copy where they fill their words
    rows: NDArray[np.int32]  # (n,): row of each code before, ascending within a list


def make_lists(codes: NDArray[np.uint8], n_lists: int) -> Lists:
    """Group codes by k-majority: k-means in which each bit of a centroid is the majority of its codes' bits.

    Parameters
    ----------
    codes : uint8 array (n, n_bytes)
    n_lists : int
        There are fewer where fewer codes of the sample differ.

    Returns
    -------
    Lists
        The same for the same codes on every machine.
    """
    sample = codes[spread_rows(len(codes), _SAMPLE_A_LIST * n_lists)]
    bits = unpack(sample, 8 * sample.shape[1])
    different = np.unique(sample, axis=0)
    centroids = np.random.default_rng(0).permutation(different)[:n_lists]
    for _ in range(_ROUNDS):
        lists = _assign(sample, centroids)
        members, firsts = np.unique(np.sort(lists), return_index=True)
        sums = np.add.reduceat(bits[np.argsort(lists, kind="stable")], firsts, axis=0, dtype=np.int64)
        counts = np.diff(np.append(firsts, len(lists)))
        centroids = centroids.copy()
        centroids[members] = pack(2 * sums > counts[:, None])
    lists = _assign(codes, centroids)
    rows = np.argsort(lists, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(lists, minlength=len(centroids)))])
    by_list = codes[rows]
    return Lists(centroids, starts, by_list, as_words(by_list, np.uint64), rows)


def _assign(codes: NDArray[np.uint8], centroids: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The nearest centroid of each code (n,)."""
    lists = np.empty(len(codes), np.int32)
    nearest_list(as_words(codes, np.uint64), as_words(centroids, np.uint64), lists)
    return lists
