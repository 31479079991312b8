"""Tables of whole numbers, whose sums judge a code for many queries at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.search._lanes import LANES

__all__ = ["quick_tables"]

_LEAST_WORK = 1 << 16  # pairs of a query and a code; with fewer, quick tables cost more than they save


def quick_tables(
    base: NDArray[np.float64], tables: NDArray[np.float64], terms: NDArray[np.float32], n: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Tables of whole numbers whose sums are lower bounds of distances.

    Parameters
    ----------
    base : float64 array (n_queries,), n_queries at most LANES
    tables : float64 array (n_queries, n_bytes, 256)
    terms : float32 array (n,) or (0,)
    n : int
        Number of codes.

    Returns
    -------
    quick, unit, shift, slack, least
        As `nearest_by_tables` takes them; `quick` has no bytes if the codes are few.
    """
    n_queries, n_bytes, _ = tables.shape
    lows, highs = tables.min(axis=2), tables.max(axis=2)
    least = float(terms.min()) if len(terms) else 0.0
    spans = highs - lows
    # larger entries are cut, so that one large weight does not hide the others
    largest = np.minimum(spans.max(axis=1), 4 * np.median(spans, axis=1))
    unit = np.where(largest > 0, largest, spans.max(axis=1)) / 255
    unit = np.maximum(unit, 1e-280)  # so that quotients are not denormal
    if len(terms):
        unit[:] = unit.max()
    sizes = np.abs(base) + np.maximum(np.abs(lows), np.abs(highs)).sum(axis=1) + np.abs(terms).max(initial=0)
    slack = (
        1e-3 + (n_bytes + 8) * 2.0**-50 * sizes / unit
    )  # each operation of float64 errs by 2^-53 of its result
    quick = np.zeros((n_bytes if n_queries * n > _LEAST_WORK else 0, 256, LANES), np.uint8)
    if len(quick):
        steps = np.minimum((tables - lows[:, :, None]) / unit[:, None, None], 255)
        quick[:, :, :n_queries] = steps.transpose(1, 2, 0)
    return quick, unit, lows.sum(axis=1) + least, slack, least
