"""How alike the points of a list are to their query: rows of chances that sum to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows

SHARE, MOST = 0.1, 200.0  # of the points that count as near, the perplexity of a target, and at most
SHARPEST, ROUNDS = 1e4, 40  # largest inverse temperature, halvings in search of it


def dots(A: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any]) -> NDArray[np.float64]:
    """Products of the rows of A (n, k) numbered queries (q,) with those numbered partners (q, m): (q, m)."""
    out = np.empty(partners.shape)
    for i, (query, row) in enumerate(zip(queries, partners, strict=True)):
        out[i] = A[row] @ A[query]
    return out


def by_cosine(
    Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
) -> NDArray[np.float64]:
    """Softmax of the cosines of each list, as sharp as gives it a perplexity of `SHARE` of the points.

    The m places of a list stand for `counts` (m,) points each. The perplexity, exp of the entropy, is a smooth
    count of neighbours, as in t-SNE (van der Maaten, Hinton 2008), at most `MOST`. So no unit and no spread of
    the vectors matters.
    """
    cosines = dots(normalize_rows(Z).astype(np.float32), queries, partners)
    sharpen(cosines, counts, np.log(max(1.5, min(MOST, SHARE * counts.sum()))))
    return cosines


@njit(cache=True, nogil=True)
def sharpen(rows, counts, entropy):
    """Rows of similarities (q, m), in place, as counts * exp(b * similarity) / sum, b giving this entropy.

    The entropy is that of sum(counts) points, of which those of one place have equal chances.
    """
    for i in range(len(rows)):
        gap = rows[i].max() - rows[i]
        low, high = 0.0, SHARPEST
        for _ in range(ROUNDS):
            b = np.sqrt(max(low, 1e-3) * high)
            chances = counts * np.exp(-b * gap)
            total = chances.sum()
            if np.log(total) + b * (chances * gap).sum() / total > entropy:
                low = b
            else:
                high = b
        rows[i] = counts * np.exp(-b * gap)
        rows[i] /= rows[i].sum()
