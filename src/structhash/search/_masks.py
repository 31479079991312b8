"""The rows that a mask of codes keeps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount
from structhash.codes import as_words

__all__ = ["DenseMask", "dense_mask", "rows_kept"]

_AT_ONCE = 8  # set bits of a word
_LEAST_CODES, _LEAST_SHARE = 1 << 14, 1 / 128  # of a dense mask; the share is for each byte of a code


class DenseMask(NamedTuple):
    """A mask (n,) in C order, and how many codes it keeps."""

    kept: NDArray[np.bool_]
    n_kept: int


def dense_mask(among: Any, codes: NDArray[np.uint8]) -> DenseMask | None:
    """A mask of codes (n, n_bytes) that keeps many of them; None for all else.

    One query passes over the codes that are not kept faster than the others can be picked out.
    """
    n, n_bytes = codes.shape
    if type(among) is not np.ndarray or among.dtype != np.bool_ or among.shape != (n,) or n < _LEAST_CODES:
        return None
    n_kept = int(np.count_nonzero(among))
    return DenseMask(np.ascontiguousarray(among), n_kept) if n_kept >= _LEAST_SHARE * n_bytes * n else None


def rows_kept(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return ``np.flatnonzero(mask)``; faster for a mask that keeps few rows."""
    words = as_words(np.packbits(mask, bitorder="little")[None], np.uint64)[0]
    # bits of the copy are counted: another thread may change the mask meanwhile
    n = np.bitwise_count(words).sum(dtype=np.int64)
    rows = np.empty(n + _AT_ONCE, np.int64)
    _write_rows(words, rows)
    return rows[:n]


@njit(cache=True, nogil=True)
def _write_rows(words, rows):
    """Write the places of the set bits of words, some at once, so that few branches are hard to foresee.

    What is written beyond the bits of a word is overwritten by the next word; `rows` has room for it.
    """
    n = np.int64(0)
    for i in range(len(words)):
        word = words[i]
        count = np.int64(popcount(word))
        for first in range(0, count, _AT_ONCE):
            for j in range(_AT_ONCE):
                lower = word - np.uint64(word != 0)
                zeros = np.int64(popcount(~word & lower))  # below the lowest set bit
                rows[n + first + j] = 64 * i + zeros
                word &= lower
        n += count
