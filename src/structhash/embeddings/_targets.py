"""Targets: how alike the partners of a query are to it, as probabilities that sum to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.kernels import njit

NEAR_SHARE, MAX_PERPLEXITY = 0.1, 200.0  # the perplexity of a target: this share of the points, and at most
MAX_INVERSE_TEMPERATURE, HALVINGS = 1e4, 40


def dot_products(A: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any]) -> NDArray[np.float64]:
    """Products of the rows of A (n, k) numbered queries (q,) with those numbered partners (q, m): (q, m)."""
    out = np.empty(partners.shape)
    for i, (query, row) in enumerate(zip(queries, partners, strict=True)):
        out[i] = A[row] @ A[query]
    return out


def scaled_products(
    P: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], multiplicities: NDArray[Any]
) -> NDArray[np.float64]:
    """`dot_products` of probabilities P (n, k), times `multiplicities` (m,); those of a query sum to 1."""
    out = dot_products(P.astype(np.float32), queries, partners)
    out += np.finfo(np.float32).tiny
    out *= multiplicities
    return out / out.sum(axis=1, keepdims=True)


def targets_by_cosine(
    vectors: NDArray[Any],
    queries: NDArray[Any],
    partners: NDArray[Any],
    multiplicities: NDArray[Any],
    max_perplexity: float = MAX_PERPLEXITY,
) -> NDArray[np.float64]:
    """Softmax of the cosines of each list, at the sharpness that gives the wanted perplexity.

    The perplexity, exp of the entropy, is a smooth count of neighbours, as in t-SNE (van der Maaten, Hinton
    2008). It is a tenth of the points, at most `max_perplexity`. So neither the unit nor the variance of the
    vectors matters.

    Parameters
    ----------
    vectors : ndarray (n, d)
    queries : int (q,)
    partners : int (q, m)
    multiplicities : float64 (m,)
        How many points each place in a list represents.
    max_perplexity : float

    Returns
    -------
    ndarray float64 (q, m)
    """
    cosines = dot_products(normalize_rows(vectors).astype(np.float32), queries, partners)
    perplexity = max(1.5, min(max_perplexity, NEAR_SHARE * multiplicities.sum()))
    _softmax_of_entropy(cosines, multiplicities, np.log(perplexity))
    return cosines


def sharpen(P: NDArray[Any], exponent: float | NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities (n, k) to this power, one or one a row (n, 1), each row scaled to sum to 1."""
    powers = (P / P.max(axis=1, keepdims=True)).astype(np.float64) ** exponent
    scaled: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return scaled


@njit(cache=True, nogil=True)
def _softmax_of_entropy(rows, multiplicities, entropy):
    """Turn similarities (q, m), in place, into multiplicities * exp(b * similarity) / sum of this entropy.

    The entropy is that of all points that the places represent; those of one place have equal probabilities.
    """
    for i in range(len(rows)):
        gap = rows[i].max() - rows[i]
        low, high = 0.0, MAX_INVERSE_TEMPERATURE
        for _ in range(HALVINGS):
            b = np.sqrt(max(low, 1e-3) * high)
            chances = multiplicities * np.exp(-b * gap)
            total = chances.sum()
            if np.log(total) + b * (chances * gap).sum() / total > entropy:
                low = b
            else:
                high = b
        rows[i] = multiplicities * np.exp(-b * gap)
        rows[i] /= rows[i].sum()
