"""Rows and queries as vectors whose inner product says how alike they are.

With the parts of `structhash.embeddings.mixture`, the inner product of a query and a row is

    4 k^3 sqrt(k') sum_c r_c p(c | x) p(c | x') + (1 - k) (1 - k')
    + 0.6 r soft'soft' + (2 - k / 2 - k r) near'near' + 0.7 centred'centred',

where k and k' are the chances that the query and the row are of a known class, r_c is the trust in the labels
of a class, and r its mean over p(c | x). The soft part is the direction of softened class probabilities around
their mean. It says which other classes a row is like. So it orders rows whose class is the same or doubtful, and
it tells new classes apart. A query of a known class asks for rows of that class first. A query of
a new class asks for rows of new classes that are near in the graph. Where labels are trusted fully, a query of
k = 1/2 counts a sure row of its class and a row of a new class alike, 1/2 each. At k = 1 a sure row of its
class counts 4, and at k = 0 a row of a new class counts 1. The root lets doubtful rows keep most of their
class. The graph counts less where the labels are trusted: there the order inside a class is that of the
vectors. Only queries have weights, so no part of a row is longer than 1, and a code describes every part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ALIKE", "query_factors", "row_factors"]

_CLASS_WEIGHT = 4.0
_SOFT_WEIGHT = 0.6
_CENTRED_WEIGHT = 0.7
MOST_ALIKE = 8.0  # above any product, 4 + .6 + .5 + .7, so that inexact sums have no distance below 0


def row_factors(
    P: NDArray[Any], known: NDArray[Any], soft: NDArray[Any], near: NDArray[Any], centred: NDArray[Any]
) -> NDArray[np.float64]:
    """The factors (n, 2c + 1 + m + d) of rows.

    Parameters
    ----------
    P : ndarray (n, c)
        Class probabilities.
    known : ndarray (n,)
        Chances of a known class.
    soft : ndarray (n, c)
        Softened class probabilities around their mean, of length 1.
    near : ndarray (n, m)
        Vectors of the graph, of length 1.
    centred : ndarray (n, d)
        Centred rows, of length 1.

    Returns
    -------
    float64 array (n, 2c + 1 + m + d)
    """
    k = known.astype(np.float64)[:, None]
    return np.hstack([np.sqrt(k) * P, 1 - k, soft, near, centred])


def query_factors(
    P: NDArray[Any],
    known: NDArray[Any],
    soft: NDArray[Any],
    near: NDArray[Any],
    centred: NDArray[Any],
    trust: NDArray[Any],
) -> NDArray[np.float64]:
    """The factors of queries: as `row_factors`, with weights.

    Parameters
    ----------
    P, known, soft, near, centred
        See `row_factors`.
    trust : ndarray (c,)
        How much the labels of a class are trusted, 0 to 1.

    Returns
    -------
    float64 array (n, 2c + 1 + m + d)
    """
    k = known.astype(np.float64)[:, None]
    r = (P @ trust)[:, None]
    of_class, of_graph = _CLASS_WEIGHT * k**3 * (P * trust), (2 - k / 2 - k * r) * near
    return np.hstack([of_class, 1 - k, _SOFT_WEIGHT * r * soft, of_graph, _CENTRED_WEIGHT * centred])
