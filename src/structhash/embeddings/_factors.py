"""Rows and queries as vectors whose inner product says how alike they are.

With the parts of `structhash.embeddings.mixture`, the inner product of a query and a row is

    4 k^3 sqrt(k') sum_c r_c p(c | x) p(c | x') + (1 - k + 2 s) (1 - k') + 0.6 r soft'soft'
    + (2 + 7 s + 3 k (1/2 - r)) near'near' + 0.7 centred'centred',    s = (1 - k)^4,

where k and k' are the chances that the query and the row are of a known class, r_c is the trust in the labels
of a class, and r its mean over p(c | x). The soft part is made of the square roots of softened class
probabilities. Their mean is taken off, and the rest is scaled to length 1. It says which other classes a row
is like, so it orders rows whose class is the same or doubtful.

A query of a known class asks for rows of that class first. A query of a new class asks for rows of new classes
that are near in the graph. Take the first two terms alone, where labels are trusted fully. A query of k = 0.52
then counts a sure row of its class and a row of a new class alike, 0.6 each. At k = 1 a sure row of its class
counts 4, and at k = 0 a row of a new class counts 3. The root lets doubtful rows keep most of their class.

The graph counts most, 9, for a sure new class, because nothing else tells new classes apart well. A fourth
power is small for all other queries. Where a class is known, the graph counts 3.5 if it has few labels, and .5
if they are trusted: there the order inside the class is that of the vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ALIKE", "FactorParts", "query_factors", "row_factors"]

_CLASS_WEIGHT = 4.0
_SOFT_WEIGHT = 0.6
_CENTRED_WEIGHT = 0.7
MOST_ALIKE = 32.0  # far above any product (at most 3 + .6 + 9 + .7), so that no inexact distance is below 0


class FactorParts(NamedTuple):
    """What factors are made of, for n rows or queries.

    Attributes
    ----------
    P : ndarray (n, c)
        Class probabilities.
    known : ndarray (n,)
        Chances of a known class.
    soft : ndarray (n, c)
        Square roots of softened class probabilities around their mean, of length 1 (or 0).
    near : ndarray (n, m)
        Vectors of the graph, of length 1.
    centred : ndarray (n, d)
        Centred rows, of length 1.
    """

    P: NDArray[Any]
    known: NDArray[Any]
    soft: NDArray[Any]
    near: NDArray[Any]
    centred: NDArray[Any]


def row_factors(parts: FactorParts) -> NDArray[np.float64]:
    """The factors (n, 2c + 1 + m + d) of rows."""
    P, known, soft, near, centred = parts
    k = known.astype(np.float64)[:, None]
    return np.hstack([np.sqrt(k) * P, 1 - k, soft, near, centred])


def query_factors(parts: FactorParts, trust: NDArray[Any]) -> NDArray[np.float64]:
    """The factors of queries: as `row_factors`, with weights; `trust` (c,) is that in each class."""
    P, known, soft, near, centred = parts
    k, r = known.astype(np.float64)[:, None], (P @ trust)[:, None]
    of_class = _CLASS_WEIGHT * k**3 * (P * trust)
    surely_new = (1 - k) ** 4
    of_graph = (2 + 7 * surely_new + 3 * k * (0.5 - r)) * near
    of_new = 1 - k + 2 * surely_new
    return np.hstack([of_class, of_new, _SOFT_WEIGHT * r * soft, of_graph, _CENTRED_WEIGHT * centred])
