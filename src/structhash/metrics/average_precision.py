"""Average precision, of the whole ranking or at a cut."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, softmax

from structhash._numerics.validation import check_choice
from structhash.metrics._checks import check_blocks, check_cut
from structhash.metrics._expectation import ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "average_precision"]


def average_precision(
    blocks: TieBlocks, k: int | None = None, divisor: str = "relevant"
) -> NDArray[np.float64]:
    """Average precision: the sum of precision@i over the ranks i <= k of relevant documents, divided.

    A block inside the cut adds r/n sum_{j=1..n} (c + 1 + (j-1)(r-1)/(n-1)) / (s + j) to the sum.

    Parameters
    ----------
    blocks : TieBlocks
    k : int, optional
        Number of ranks that count, >= 1; None is the whole ranking.
    divisor : {"relevant", "hits"}
        "relevant": all relevant documents of the query. "hits": the relevant documents among the first k; the
        value is 0 if there are none. The number of hits of the block that the cut divides is hypergeometric,
        and the expectation covers it.

    Returns
    -------
    float64 array (Q,)
        nan without relevant documents.

    Raises
    ------
    TypeError
        If `blocks` are not tie blocks.
    ValueError
        If k is not an integer >= 1, or `divisor` is another word.

    Examples
    --------
    >>> from structhash.metrics import average_precision, tie_blocks
    >>> average_precision(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    check_blocks(blocks)
    depth = None if k is None else check_cut(blocks, k)
    check_choice("divisor", divisor, ("relevant", "hits"))
    n, r, query = blocks.size, blocks.hits, blocks.query
    s, c = blocks.before(n), blocks.before(r)
    m = n if depth is None else np.clip(depth - s, 0, n)  # ranks of the block inside the cut
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, (s + n).max(initial=0) + 1))))
    inverse = np.where(m == 1, 1 / (s + 1), harmonic[s + m] - harmonic[s])  # sum_{j<=m} 1 / (s + j)
    slope = m - (s + 1) * inverse  # sum_{j<=m} (j - 1) / (s + j)
    part = r / n * ((c + 1) * inverse + (r - 1) / np.maximum(n - 1, 1) * slope)
    total = blocks.sums(part)
    if divisor == "relevant":
        return ratio(total, blocks.relevant)
    out = np.where(blocks.relevant > 0, total / np.maximum(blocks.sums(r * (m > 0)), 1), np.nan)
    for b in np.flatnonzero((m > 0) & (m < n) & (r > 0)):  # the block that the cut divides
        hits, chance = _hits_of_part(n[b], r[b], m[b])
        # given the number of hits, the m ranks are in random order
        inside = hits / m[b] * ((c[b] + 1) * inverse[b] + (hits - 1) / max(m[b] - 1, 1) * slope[b])
        out[query[b]] = chance @ ((total[query[b]] - part[b] + inside) / np.maximum(c[b] + hits, 1))
    return out


def _hits_of_part(n: int, r: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Possible numbers of relevant documents among m of n documents, r of them relevant, and their chances."""
    hits = np.arange(max(0, m - n + r), min(m, r) + 1)
    counts = np.stack([hits, r - hits, m - hits, n - r - m + hits])
    return hits, softmax(-gammaln(counts + 1.0).sum(axis=0))  # hypergeometric


NAMES = {
    "map": average_precision,
    "map@k": average_precision,
    "map_hits@k": partial(average_precision, divisor="hits"),
}
