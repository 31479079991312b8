"""Binary reconstructive embeddings, learned from labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._anchors import some_rows
from structhash.baselines._shared import Supervised, keep_planes, mean_of, planes_of
from structhash.codes.planes import Planes
from structhash.estimators.base import whole

SHARE = 0.05  # of the rows that are partners of a row
PARTNERS = 50  # at least, where there are so many rows
SPREAD = 1e-3  # standard deviation of the weights at the start
PAST = 1e-6  # twice how far past the outermost threshold a weight goes
QUIET = 5  # rounds without gain that end the descent
STILL = 1e-12  # similarity of unit rows up to which an anchor does not move a score


class BRE(Supervised):
    """Supervised binary reconstructive embeddings: Hamming distances near 0 within a class, near 1 across.

    h_b(x) = [sum_q W_bq k(a_bq, x) > 0], with anchors a_b1 ... a_bs of its own for each bit and k(a, x) = a'x,
    rows being centred and of unit length, is fitted to

    min sum over pairs (i, j) of (d_ij - t_ij)^2, d_ij the share of bits that differ, t_ij = [y_i != y_j],

    by coordinate descent. As a function of one weight the objective is constant but for one step a row, where
    the row's bit changes: weight W_bq - score_b(x) / k(a_bq, x). So all its values come from one pass over the
    pairs, and the weight goes to the middle of the best interval. A round moves one weight, at random, of each
    bit; the descent ends with five rounds in a row that gain nothing.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    anchors : int
        s: training rows a bit is the weighted sum of, at random; the authors' demonstration has 50. All rows
        where there are fewer.
    max_iter : int
        Rounds at most.
    max_rows : int
        Training rows learned from, drawn at random where there are more; the authors use 1,000. Pairs, and so
        time, grow with their square.
    random_state : int, RandomState, Generator or None
        Draws rows, pairs, anchors, first weights, and the weights that move.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        sum_q W_bq a_bq of each bit.
    n_iter_ : int
        Rounds done.
    losses_ : ndarray (n_iter_ + 1,)
        Mean of (d_ij - t_ij)^2 over the pairs, before the first and after each round; never rises.

    Notes
    -----
    Settings are those of the authors' code as others have kept it (their page is gone): the kernel is linear,
    so that a bit is a plane through the mean; each row is paired with 5 percent of the rows at random, 50 of
    their 1,000 (we take 50 of fewer rows, too); weights start as N(0, 0.001^2). That code has the unsupervised
    method; the targets for labels, 0 and 1, are the paper's. Its copies end the descent at the
    first round that gains less than 1e-6, or less than 1, in half the sum of squares. A round tries one weight
    of 50, so the first of these, too, stops by chance, early where bits are few: hence our five rounds. With
    the same draws our weights equal that code's. Where rounding makes a move miss its interval, the weight
    stays.

    References
    ----------
    Kulis, Darrell (2009), Learning to hash with binary reconstructive embeddings, NIPS 22,
    https://papers.nips.cc/paper/3667-learning-to-hash-with-binary-reconstructive-embeddings

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = BRE(n_bits=8, random_state=0).fit(X[:200], y[:200])
    >>> encoder.encode(X).shape
    (1797, 1)
    >>> bool(encoder.losses_[-1] < encoder.losses_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        anchors: int = 50,
        max_iter: int = 1000,
        max_rows: int = 4000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.anchors = anchors
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and labels (n,), numbers or strings.

        Raises
        ------
        ValueError
            If a parameter is not allowed, y is not labels of at least two classes, or all rows are the same.
        """
        for name in ("n_bits", "anchors", "max_iter", "max_rows"):
            check_count(name, getattr(self, name))
        check_count("max_rows", self.max_rows, 2)
        X, _, index = self._check_labels(X, y)
        rng = generator(self.random_state)
        X, index = some_rows(X, index, self.max_rows, rng)
        mean = mean_of(X)
        Z = normalize_rows(X - mean)
        n, m = len(Z), self.n_bits
        first, second = random_pairs(n, rng)
        anchors = np.array([rng.permutation(n)[: self.anchors] for _ in range(m)])
        W = SPREAD * rng.standard_normal(anchors.shape)
        missed = -m * (index[first] != index[second]).astype(np.float64)
        with threadpool_limits(1, user_api="blas"):
            losses = descend(Z, first, second, missed, anchors, W, self.max_iter, rng)
            planes = normals(Z, anchors, W)
        self.n_iter_ = len(losses) - 1
        self.losses_ = np.array(losses) / (len(first) * m**2)
        keep_planes(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return planes_of(self)


def random_pairs(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Each of n rows with some others, as two arrays (pairs,)."""
    count = min(n, max(PARTNERS, int(SHARE * n)))
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
    """Coordinate descent on weights W (n_bits, s), in place.

    Parameters
    ----------
    Z : float64 (n, d)
        Unit rows.
    first, second : int32 (pairs,)
    missed : float64 (pairs,)
        Number of bits by which each pair exceeds its target, for codes without a bit set; follows W.
    anchors : int64 (n_bits, s)
        Row numbers.

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
        if len(losses) > QUIET and loss == losses[-1 - QUIET]:  # they are whole numbers
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
    """The step s that minimises the objective, its bits scores + s k > 0 for h; 0 if no bit moves."""
    moves = np.abs(k) > STILL
    if not moves.any():
        return 0.0
    edges, place = np.unique(-scores[moves] / k[moves], return_inverse=True)
    rank = np.full(len(k), len(edges))
    rank[moves] = place
    low = np.where(moves, k < 0, scores > 0)  # bits for s = -inf
    costs = np.cumsum(sweep(rank, low, h, first, second, missed, len(edges)))
    best = int(costs.argmin())
    outer = PAST * np.maximum(1, np.abs(edges[[0, -1]])) * [-1, 1] + edges[[0, -1]]
    ends = np.concatenate([outer[:1], edges, outer[1:]])
    return float(ends[best] + ends[best + 1]) / 2


@njit(cache=True, nogil=True)
def sweep(rank, low, h, first, second, missed, n_edges):
    """What the objective changes by from each interval between edges to the next, (n_edges + 1,).

    Row i has bit low[i] in intervals 0 ... rank[i] and the other one after them; h are its bits in `missed`.
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
    """Replace one bit's values (n,) in `missed`, in place; the sum of its squares."""
    total = 0.0
    for p in range(len(first)):
        i, j = first[p], second[p]
        missed[p] += int(new[i] != new[j]) - int(old[i] != old[j])
        total += missed[p] ** 2
    return total
