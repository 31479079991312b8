"""Nearest rows by cosine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices

__all__ = ["nearest_by_cosine"]

_PRODUCT_BLOCK_ROWS = 512  # rows whose cosines to all others are held at a time
_COSINE_DIGITS = 9  # of cosines, so that rounding does not order equal ones


def nearest_by_cosine(
    U: NDArray[Any], V: NDArray[Any], count: int, own: bool = True
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The `count` nearest rows of V (m, d) to each row of U (n, d), in any order, and 1 - cosine.

    All rows have norm 1. Where V is U, ``own=False`` leaves each row out of its own neighbours.
    """
    near, apart = np.empty((len(U), count), np.int64), np.empty((len(U), count), U.dtype)
    for run in row_slices(len(U) if count else 0, _PRODUCT_BLOCK_ROWS):
        D = -np.round(U[run] @ V.T, _COSINE_DIGITS)
        if not own:
            D[np.arange(len(D)), np.arange(run.start, run.stop)] = np.inf
        near[run] = np.argpartition(D, count - 1, axis=1)[:, :count]
        apart[run] = np.maximum(1 + np.take_along_axis(D, near[run], axis=1), 0)
    return near, apart
