"""Recall in the first tenth of the ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_blocks
from structhash.metrics._expectation import ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "recall_tenth"]


def recall_tenth(blocks: TieBlocks) -> NDArray[np.float64]:
    """Relevant documents in the first tenth of the ranking, divided by all relevant documents of the query.

    The tenth of n documents is n / 10 ranks. Where that is no whole number, the document at the cut counts by
    the part of its rank that lies inside. So a random order has the value 0.1.

    Returns one value a query, (Q,), nan without relevant documents. TypeError if `blocks` are not tie blocks.

    Examples
    --------
    >>> from structhash.metrics import parse, tie_blocks
    >>> distances, relevance = [[*range(15)]], [[1, 1, *[0] * 13]]
    >>> parse("recall_tenth")(tie_blocks(distances, relevance))  # rank 1, and half of rank 2
    array([0.75])
    """
    check_blocks(blocks)
    cut = blocks.sums(blocks.size)[blocks.query] / 10
    inside = np.clip((cut - blocks.before(blocks.size)) / blocks.size, 0, 1)
    return ratio(blocks.sums(blocks.hits * inside), blocks.relevant)


NAMES = {"recall_tenth": recall_tenth}
