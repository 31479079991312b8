"""The exact best cut of one feature for signed pair weights, for stumps and trees.

The score h'Lh of a stump h(x) = [x_j > t] changes only where t passes a training value. If points change their
bit one by one, in the order of feature j, the score changes by prefix sums of

    p_ij = sum_k W_ik sign(z_kj - z_ij)

So all cuts of one feature cost one pass over W. Points with equal values change together, and their terms
cancel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structhash._numerics.kernels import njit

FEATURES_AT_ONCE = 64  # features searched at a time


class Cut(NamedTuple):
    """A cut [x_feature > threshold] of the points, and which part changes its bit."""

    gain: float  # of h'Lh
    feature: int
    threshold: float
    above: bool  # the points above the threshold change; else those at or below it


@njit(cache=True, nogil=True)
def cut_gains(Z, indptr, indices, weights):
    """p_ij = sum_k W_ik sign(z_kj - z_ij), float64 (n, d), of C-ordered Z (n, d) and W in CSR form."""
    out = np.zeros(Z.shape)
    for i in range(len(Z)):
        own, row = Z[i], out[i]
        for e in range(indptr[i], indptr[i + 1]):
            other, w = Z[indices[e]], float(weights[e])
            for j in range(len(own)):
                row[j] += w if other[j] > own[j] else -w if other[j] < own[j] else 0.0
    return out


def best_cut(Z: NDArray[Any], W: csr_array, outside: NDArray[np.float64] | None = None) -> Cut:
    """The best cut of points Z (n, d) that all have the same bit; one part then takes the other bit.

    If the points S take the other bit, the score h'Lh rises by

        sum over i in S of (outside_i + sum over k not in S of W_ik)

    and the best S = {z_j <= t} or {z_j > t} over all features j and thresholds t is found; t is midway
    between two neighbouring values. Without `outside` this is the best decision stump (Section 2.1), and
    the gain its h'Lh. The gain may be negative.

    Parameters
    ----------
    Z : ndarray (n, d)
    W : csr_array (n, n)
        Symmetric pair weights among these points; the diagonal does not count.
    outside : ndarray (n,), optional
        What each point gains from the points that are not in Z: the sum of its weights to those with the
        same bit less the sum of its weights to those with the other bit.

    Returns
    -------
    Cut
        With gain -inf, and all points at or below its threshold, where no feature varies.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> Z = np.array([[0.0, 1.0], [0.0, 4.0], [1.0, 2.0]])
    >>> W = csr_array(np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]]))
    >>> best_cut(Z, W)
    Cut(gain=2.0, feature=1, threshold=3.0, above=True)
    """
    outside = np.zeros(len(Z)) if outside is None else outside
    best = Cut(-np.inf, 0, float(Z[:, 0].max()), True)
    for first in range(0, Z.shape[1], FEATURES_AT_ONCE):
        block = np.ascontiguousarray(Z[:, first : first + FEATURES_AT_ONCE])
        order = block.argsort(axis=0, kind="stable")
        value = np.take_along_axis(block, order, axis=0)
        pull = cut_gains(block, W.indptr, W.indices, W.data)
        inner = np.take_along_axis(pull, order, axis=0).cumsum(axis=0)[:-1]
        below = outside[order].cumsum(axis=0)[:-1]
        fixed = value[1:] == value[:-1]  # no threshold lies between equal values
        for above, outer in ((True, outside.sum() - below), (False, below)):
            gains = np.where(fixed, -np.inf, inner + outer)
            rank, j = divmod(int(gains.argmax()), gains.shape[1]) if gains.size else (0, 0)
            if gains.size and gains[rank, j] > best.gain:
                cut = midway(value[rank, j], value[rank + 1, j])
                best = Cut(float(gains[rank, j]), first + j, cut, above)
    return best


def midway(low: Any, high: Any) -> float:
    """A number t with low <= t < high in the dtype of both, near the middle."""
    middle = low / 2 + high / 2  # the sum could overflow
    return float(middle if low <= middle < high else low)


def searched_features(Z: NDArray[Any], rng: np.random.Generator, retry: bool) -> NDArray[np.int32]:
    """Numbers of the features of Z (n, d) to search: all of them, in order.

    A retry searches a random sample only, as many as the root of those that vary: otherwise the best cut would
    often be the same bit again.
    """
    if not retry:
        return np.arange(Z.shape[1], dtype=np.int32)
    varying = rng.permutation(np.flatnonzero(Z.min(axis=0) < Z.max(axis=0)))
    return varying[: max(1, int(len(varying) ** 0.5))].astype(np.int32)
