"""Make distances equal that differ by rounding errors only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["merge_ties"]


def merge_ties(distances: NDArray[Any], largest: float, digits: int = 6) -> NDArray[np.float64]:
    """Round distances to whole units, so that sums which differ by rounding errors only are tied.

    Parameters
    ----------
    distances : float array
    largest : float
        Magnitude of the largest distance.
    digits : int
        The unit is ``largest * 10**-digits``.

    Returns
    -------
    float64 array of the same shape
        Distances in units, rounded to integers.

    Examples
    --------
    >>> merge_ties(np.array([0.1 + 0.2, 0.3]), largest=1.0)
    array([300000., 300000.])
    """
    units: NDArray[np.float64] = np.rint(distances / (max(largest, np.finfo(float).tiny) * 10.0**-digits))
    return units
