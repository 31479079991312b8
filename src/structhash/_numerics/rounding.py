"""Distances that are equal but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def merge_ties(distances: NDArray[Any], largest: float, digits: int = 6) -> NDArray[np.float64]:
    """Float distances in whole units of ``largest * 10**-digits``, so that sums equal but for rounding tie.

    >>> merge_ties(np.array([0.1 + 0.2, 0.3]), largest=1.0)
    array([300000., 300000.])
    """
    return np.rint(distances / (max(largest, np.finfo(float).tiny) * 10.0**-digits))
