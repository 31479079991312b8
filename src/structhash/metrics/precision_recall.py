"""Precision-recall curve and the area under it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_blocks
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "pr_area", "pr_area_per_query", "precision_recall_curve"]


def precision_recall_curve(blocks: TieBlocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean recall@i and mean precision@i for i = 1..n, over the queries with relevant documents.

    Combine the curves of parts of the queries by their mean, weighted with ``(blocks.relevant > 0).sum()``.
    Leave out a part where this weight is 0.

    Returns
    -------
    recall, precision : float64 array (n,)
        nan if no query has a relevant document.

    Raises
    ------
    TypeError
        If `blocks` are not tie blocks.
    ValueError
        If the queries rank different numbers of documents.

    Examples
    --------
    >>> from structhash.metrics import precision_recall_curve, tie_blocks
    >>> precision_recall_curve(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    (array([0.5, 1. , 1. ]), array([0.5       , 0.5       , 0.33333333]))
    """
    check_blocks(blocks)
    n_used = int((blocks.relevant > 0).sum())
    shape = 2, blocks.max_documents
    total = np.zeros(shape) if n_used else np.full(shape, np.nan)
    for _, *curve in _curves(blocks):
        total += curve
    recall, precision = total / max(n_used, 1)
    return recall, precision


def pr_area(blocks: TieBlocks) -> float:
    """Area under the curve of mean precision over mean recall, by trapezoids between the ranks 1..n.

    The curve has no point at recall 0, so that one perfectly ranked query has the area 1 - 1/P. The area is
    nan if no query has a relevant document. For errors see `precision_recall_curve`.

    Examples
    --------
    >>> from structhash.metrics import pr_area, tie_blocks
    >>> pr_area(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    0.25
    """
    recall, precision = precision_recall_curve(blocks)
    return float(np.trapezoid(precision, recall)) if len(recall) else float("nan")


def pr_area_per_query(blocks: TieBlocks) -> NDArray[np.float64]:
    """Area under the expected curve of each query, (Q,), for paired tests; its mean is not `pr_area`.

    The area is nan for a query without relevant documents. For errors see `precision_recall_curve`.

    Examples
    --------
    >>> from structhash.metrics import pr_area_per_query, tie_blocks
    >>> pr_area_per_query(tie_blocks([[1, 1, 2], [1, 2, 3]], [[0, 1, 0], [1, 1, 0]]))
    array([0.25, 0.5 ])
    """
    check_blocks(blocks)
    out = np.full(blocks.n_queries, np.nan)
    for q, recall, precision in _curves(blocks):
        out[q] = np.trapezoid(precision, recall)
    return out


def _curves(blocks: TieBlocks) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield (query, expected recall (n,), expected precision (n,)) of each query with relevant documents."""
    lengths = np.unique(blocks.sums(blocks.size)).astype(int).tolist()
    if len(lengths) > 1:
        raise ValueError(
            f"queries rank {lengths[0]} to {lengths[-1]} documents; give all queries the same number"
        )
    rank, relevant = np.arange(1, sum(lengths) + 1), blocks.relevant
    for q in np.flatnonzero(relevant).tolist():
        own = slice(blocks.ptr[q], blocks.ptr[q + 1])
        end, hits = (np.concatenate(([0], np.cumsum(x[own]))) for x in (blocks.size, blocks.hits))
        found = np.interp(rank, end, hits)  # linear inside a block
        yield q, found / relevant[q], found / rank


NAMES = {"pr_area": pr_area_per_query}
