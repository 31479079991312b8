"""Reciprocal rank of the first relevant document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_blocks
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "reciprocal_rank"]


def reciprocal_rank(blocks: TieBlocks) -> NDArray[np.float64]:
    """1 / rank of the first relevant document.

    The first relevant document is the j-th of its block with chance C(n - j, r - 1) / C(n, r). Returns one
    value a query, (Q,), nan without relevant documents. TypeError if `blocks` are not tie blocks.

    Examples
    --------
    >>> from structhash.metrics import reciprocal_rank, tie_blocks
    >>> reciprocal_rank(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    check_blocks(blocks)
    out, start, query = np.full(blocks.n_queries, np.nan), blocks.before(blocks.size), blocks.query
    for b in np.flatnonzero((blocks.hits > 0) & (blocks.before(blocks.hits) == 0)):
        s, n, r = start[b], blocks.size[b], blocks.hits[b]
        j = np.arange(1, n - r + 1)
        chance = r / n * np.concatenate(([1.0], np.cumprod((n - j - r + 1) / (n - j))))
        out[query[b]] = (chance / np.arange(s + 1, s + n - r + 2)).sum()
    return out


NAMES = {"mrr": reciprocal_rank}
