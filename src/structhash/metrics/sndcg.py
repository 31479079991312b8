"""Simplified NDCG of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_blocks
from structhash.metrics._expectation import ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "sndcg"]


def sndcg(blocks: TieBlocks) -> NDArray[np.float64]:
    """Simplified NDCG: mean of 1 / log2(2 + g) over relevant documents, each with g irrelevant ones before it.

    In a block with m irrelevant documents, and N' irrelevant documents before the block, the g of a relevant
    document is each of N', ..., N' + m with equal chance. Returns one value a query, (Q,), nan without
    relevant documents. TypeError if `blocks` are not tie blocks.

    References
    ----------
    Lin et al., IJCV 2018, eq. (sndcg), https://doi.org/10.1007/s11263-016-0984-4

    Examples
    --------
    >>> from structhash.metrics import sndcg, tie_blocks
    >>> sndcg(tie_blocks([[1, 2, 2]], [[0, 1, 0]])).round(4)
    array([0.5655])
    """
    check_blocks(blocks)
    misses = blocks.size - blocks.hits
    first, last = blocks.before(misses), blocks.before(misses) + misses
    total = np.concatenate(([0.0], np.cumsum(1 / np.log2(2.0 + np.arange(last.max(initial=0) + 1)))))
    return ratio(blocks.sums(blocks.hits / (misses + 1) * (total[last + 1] - total[first])), blocks.relevant)


NAMES = {"sndcg": sndcg}
