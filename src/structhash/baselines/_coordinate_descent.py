"""The coordinate descent of `BRE`: one weight of one bit moves at a time, to its best value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit

PARTNER_SHARE = 0.05  # of the rows that are partners of a row
MIN_PARTNERS = 50  # of a row, where there are so many rows
OUTER_MARGIN = 1e-6  # twice how far past the outermost threshold a weight goes
QUIET_ROUNDS = 5  # rounds without gain that end the descent
SIMILARITY_NOISE = 1e-12  # similarity of unit rows up to which an anchor does not move a score


def random_pairs(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Random partners of each of n rows, as two arrays (pairs,) of row numbers."""
    count = min(n, max(MIN_PARTNERS, int(PARTNER_SHARE * n)))
    first = np.repeat(np.arange(n, dtype=np.int32), count)
    second = np.concatenate([rng.permutation(n)[:count] for _ in range(n)]).astype(np.int32)
    others = first != second
    return first[others], second[others]


def normals(Z: NDArray[np.float64], anchors: NDArray[np.int64], W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal (n_bits, d) of each bit's plane."""
    return np.array([w @ Z[rows] for w, rows in zip(W, anchors, strict=True)])


def descend(
    Z: NDArray[np.float64],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    missed: NDArray[np.float64],
    anchors: NDArray[np.int64],
    W: NDArray[np.float64],
    max_iter: int,
    rng: np.random.Generator,
) -> list[float]:
    """Lower the objective of `BRE` by coordinate descent on the weights of the anchors.

    Parameters
    ----------
    Z : float64 (n, d)
        Unit rows.
    first, second : int32 (pairs,)
    missed : float64 (pairs,)
        Number of bits by which each pair exceeds its target, at first for codes without a bit set. It is
        updated in place as W changes.
    anchors : int64 (n_bits, s)
        Row numbers.
    W : float64 (n_bits, s)
        Weights, changed in place.
    max_iter : int
        Rounds at most.
    rng : Generator
        Draws the weights that move.

    Returns
    -------
    list of float
        Sum of missed^2 before the first and after each round.
    """
    scores = normals(Z, anchors, W) @ Z.T
    H = scores > 0
    none = np.zeros(len(Z), bool)
    for h in H:
        flip(none, h, first, second, missed)
    losses = [float(missed @ missed)]
    for _ in range(max_iter):
        loss = losses[-1]
        for b, q in enumerate(rng.integers(anchors.shape[1], size=len(W))):
            k = Z @ Z[anchors[b, q]]
            step = best_step(scores[b], k, H[b], first, second, missed)
            moved = scores[b] + step * k
            h = moved > 0
            if (h != H[b]).any():
                now = flip(H[b], h, first, second, missed)
                if now > loss:  # the interval was too narrow to hit
                    flip(h, H[b], first, second, missed)
                    continue
                loss = now
            W[b, q] += step
            scores[b], H[b] = moved, h
        losses.append(loss)
        if len(losses) > QUIET_ROUNDS and loss == losses[-1 - QUIET_ROUNDS]:  # they are whole numbers
            break
    return losses


def best_step(
    scores: NDArray[np.float64],
    k: NDArray[np.float64],
    h: NDArray[np.bool_],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    missed: NDArray[np.float64],
) -> float:
    """The step s of one weight that minimises the objective; 0 if no bit moves.

    Parameters
    ----------
    scores : ndarray (n,)
        Scores of one bit.
    k : ndarray (n,)
        Similarities to the anchor of the weight: a step s gives the bits scores + s k > 0.
    h : bool ndarray (n,)
        The bits now, which `missed` counts.
    first, second, missed : see `descend`

    Returns
    -------
    float
    """
    moves = np.abs(k) > SIMILARITY_NOISE
    if not moves.any():
        return 0.0
    edges, place = np.unique(-scores[moves] / k[moves], return_inverse=True)
    rank = np.full(len(k), len(edges))
    rank[moves] = place
    low = np.where(moves, k < 0, scores > 0)  # bits for s = -inf
    costs = np.cumsum(sweep(rank, low, h, first, second, missed, len(edges)))
    best = int(costs.argmin())
    outer = OUTER_MARGIN * np.maximum(1, np.abs(edges[[0, -1]])) * [-1, 1] + edges[[0, -1]]
    ends = np.concatenate([outer[:1], edges, outer[1:]])
    return float(ends[best] + ends[best + 1]) / 2


@njit(cache=True, nogil=True)
def sweep(rank, low, h, first, second, missed, n_edges):
    """Change (n_edges + 1,) of the objective from each interval between edges to the next.

    Row i has bit low[i] in intervals 0 ... rank[i] and the other bit after them; `missed` counts the bits h.
    The first value is the objective of interval 0, up to a constant.
    """
    change = np.zeros(n_edges + 2)
    for p in range(len(first)):
        i, j = first[p], second[p]
        differ = int(low[i] != low[j])
        gain = 2 * (missed[p] - int(h[i] != h[j])) + 1  # (rest + 1)^2 - rest^2
        change[0] += differ * gain
        gain *= 1 - 2 * differ
        change[min(rank[i], rank[j]) + 1] += gain
        change[max(rank[i], rank[j]) + 1] -= gain
    return change[:-1]


@njit(cache=True, nogil=True)
def flip(old, new, first, second, missed):
    """Replace the values (n,) of one bit in `missed`, in place; return the sum of squares of `missed`."""
    total = 0.0
    for p in range(len(first)):
        i, j = first[p], second[p]
        missed[p] += int(new[i] != new[j]) - int(old[i] != old[j])
        total += missed[p] ** 2
    return total
