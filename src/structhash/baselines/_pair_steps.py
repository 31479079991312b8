"""The training of `MLH`: random pairs, an exact bound on their loss, steps with momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit

MOMENTUM = 0.9  # the authors'
BATCH_PAIRS = 100  # the authors'
PAIRS_PER_ROW = 10  # in an iteration


def curve(
    apart: NDArray[Any], alike: NDArray[np.bool_], n_bits: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall (n_bits + 1,) of the pairs at most 0, 1, ..., n_bits apart.

    Parameters
    ----------
    apart : ndarray (n_queries, n)
        Hamming distances.
    alike : bool ndarray (n_queries, n)
    n_bits : int

    Returns
    -------
    precision, recall : ndarrays (n_bits + 1,)
        Precision is 1 where there is no pair.
    """
    found = np.bincount(apart.ravel(), minlength=n_bits + 1).cumsum()
    right = np.bincount(apart[alike], minlength=n_bits + 1).cumsum()
    return np.where(found > 0, right / np.maximum(found, 1), 1.0), right / right[-1]


def train(
    Z: NDArray[np.float64],
    class_index: NDArray[np.int64],
    start: NDArray[np.float64],
    rho: int,
    decay: float,
    share: float,
    rng: Any,
) -> Callable[[float], tuple[NDArray[np.float64], float]]:
    """A function that trains for one iteration, from where the last one ended.

    Parameters
    ----------
    Z : ndarray (n, d)
        Unit rows.
    class_index : ndarray (n,)
    start : ndarray (n_bits, d)
        The first W.
    rho : int
    decay : float
        Weight decay.
    share : float
        Least share of alike pairs in a step.
    rng : Generator

    Returns
    -------
    callable
        A function of the step size, which gives W and the mean loss of the pairs of the iteration.
    """
    W, speed = start.copy(), np.zeros_like(start)
    order = np.argsort(class_index, kind="stable")
    counts = np.bincount(class_index)
    first = np.cumsum(counts) - counts
    chance = counts / len(Z) * counts
    # alike pairs that a step draws on top of those that come by chance
    drawn = min(round(BATCH_PAIRS * max(share - chance.sum() / len(Z), 0)), BATCH_PAIRS)
    n_steps = -(-len(Z) * PAIRS_PER_ROW // BATCH_PAIRS)

    def iterate(rate: float) -> tuple[NDArray[np.float64], float]:
        nonlocal W, speed
        pairs = rng.integers(len(Z), size=(2, n_steps, BATCH_PAIRS))
        classes = rng.choice(len(counts), p=chance / chance.sum(), size=(n_steps, drawn))
        place = (rng.random((2, n_steps, drawn)) * counts[classes]).astype(np.int64)
        pairs[:, :, BATCH_PAIRS - drawn :] = order[first[classes] + place]
        total = 0.0
        for one, other in pairs.swapaxes(0, 1):
            X, Y = Z[one], Z[other]
            G, K, losses = augment(X @ W.T, Y @ W.T, class_index[one] == class_index[other], rho)
            total += losses.mean()
            rows, others = G.any(axis=1), K.any(axis=1)
            gradient = G[rows].T @ X[rows] + K[others].T @ Y[others]
            speed = MOMENTUM * speed + rate * (gradient / BATCH_PAIRS - decay * W)
            W = W + speed
        return W, total / n_steps

    return iterate


@njit(cache=True, nogil=True)
def augment(F, H, alike, rho):  # pragma: no cover
    """Exact loss-augmented inference for pairs of scores F, H (n, n_bits).

    Where the loss is a linear function s d + c of the distance, a bit flips in the row whose score f is nearer
    to 0, if that changes d in the direction of s and 2 |f| < |s|. Where the loss is 0, no bit flips. The
    greater of the two values is the result.

    Returns
    -------
    G, K : float64 (n, n_bits)
        sign(f) - g of either row, where g are the codes at which the bound is taken: 2 sign(f) at flipped bits.
    losses : float64 (n,)
        Of the codes.
    """
    n, n_bits = F.shape
    G, K, losses = np.zeros((n, n_bits)), np.zeros((n, n_bits)), np.empty(n)
    for i in range(n):
        slope = 1 / (n_bits - rho + 1) if alike[i] else -1 / (rho + 1)
        least = abs(slope) / 2  # a score nearer to 0 is worth a flip
        linear, gain = abs(slope) - slope * rho, 0.0
        for j in range(n_bits):
            differ = (F[i, j] > 0) != (H[i, j] > 0)
            linear += slope * int(differ)
            if differ != alike[i]:
                gain += 2 * max(least - min(abs(F[i, j]), abs(H[i, j])), 0.0)
        losses[i] = max(linear, 0.0)
        if linear + gain <= 0:
            continue
        for j in range(n_bits):
            f, h = F[i, j], H[i, j]
            if ((f > 0) != (h > 0)) != alike[i] and min(abs(f), abs(h)) < least:
                if abs(f) < abs(h):
                    G[i, j] = 2 * np.sign(f)
                else:
                    K[i, j] = 2 * np.sign(h)
    return G, K, losses
