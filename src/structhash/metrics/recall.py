"""Recall at a cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_cut
from structhash.metrics._expectation import expected_sum, ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "recall"]


def recall(blocks: TieBlocks, k: int = 100) -> NDArray[np.float64]:
    """Relevant documents among the first k ranks, divided by all relevant documents of the query.

    Returns one value a query, (Q,), nan without relevant documents. TypeError if `blocks` are not tie blocks;
    ValueError unless k is an integer >= 1.

    Examples
    --------
    >>> from structhash.metrics import recall, tie_blocks
    >>> recall(tie_blocks([[1, 1, 2]], [[0, 1, 1]]), k=1)
    array([0.25])
    """
    depth = check_cut(blocks, k)
    found = expected_sum(blocks, blocks.hits, np.arange(depth + 1))
    return ratio(found, blocks.relevant)


NAMES = {"recall@k": recall}
