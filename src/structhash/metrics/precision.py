"""Precision at a cut."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_cut
from structhash.metrics._expectation import expected_sum
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "precision"]


def precision(blocks: TieBlocks, k: int = 100) -> NDArray[np.float64]:
    """Relevant documents among the first k ranks, divided by k, also if there are fewer than k documents.

    Returns one value a query, (Q,). TypeError if `blocks` are not tie blocks; ValueError unless k is an
    integer >= 1.

    Examples
    --------
    >>> from structhash.metrics import precision, tie_blocks
    >>> precision(tie_blocks([[1, 1, 2]], [[0, 1, 1]]), k=1)
    array([0.5])
    """
    depth = check_cut(blocks, k)
    found = expected_sum(blocks, blocks.hits, np.arange(depth + 1))
    return found / (int(k) if k <= sys.float_info.max else np.inf)  # numpy divides by no larger integer


NAMES = {"precision@k": precision}
