"""Sums over ranks, in expectation over all orders inside the tie blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.metrics.tie_blocks import TieBlocks


def expected_sum(blocks: TieBlocks, mass: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the expected value of the document at rank i, times the weight of rank i, over ranks i <= k.

    Inside a block every document is at every rank with equal chance. So a block contributes
    mass / n * (total[s + n] - total[s]).

    Parameters
    ----------
    blocks : TieBlocks
    mass : array (B,)
        Sum of the values of the documents of each block, such as its hits.
    total : array (k + 1,)
        Cumulative sum of the weights of the ranks 1 to k, from 0.

    Returns
    -------
    float64 array (Q,)
    """
    start, k = blocks.before(blocks.size), len(total) - 1
    inside = total[np.minimum(start + blocks.size, k)] - total[np.minimum(start, k)]
    return blocks.sums(mass / blocks.size * inside)


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[np.float64]:
    """Divide elementwise; nan where the denominator is 0."""
    quotient = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
