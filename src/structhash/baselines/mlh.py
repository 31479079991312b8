"""Minimal loss hashing: pairs, exact loss-augmented inference, perceptron-like steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count, check_positive, describe
from structhash.baselines._shared import Supervised, keep_planes, mean_of, planes_of
from structhash.codes import hamming, pack
from structhash.codes.planes import Planes
from structhash.estimators.base import whole

DECAYS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # the authors' candidates
DECAY = 1e-4  # where rho is chosen, and where there is nothing to hold out
RATE, MOMENTUM, SIZE = 0.1, 0.9, 100  # the authors': first step size, momentum, pairs a mini-batch
PAIRS = 10  # pairs a row in an iteration
RECALL = 0.3  # of random planes, where the search for rho starts
TAIL = 5  # iterations over which the score of a candidate is averaged


class MLH(Supervised):
    """Minimal loss hashing: linear bits that put alike rows less than rho bits apart, and others more.

    With z the centred row divided by its length and f(x) = Wz, it lowers an upper bound on the loss l of pairs
    of codes h = sign f(x),

        max_{g, g'} (l(d(g, g')) + g'f(x) + g''f(x')) - max_{h, h'} (h'f(x) + h''f(x')),

        l(d) = [d - rho + 1]_+ / (n_bits - rho + 1)     for rows of one class,
        l(d) = [rho + 1 - d]_+ / (rho + 1)              for others,

    plus weight_decay / 2 ||W||^2. The maximum over g is exact: l is the greater of 0 and a linear function of
    d, and with either the bits are independent, so that it needs no sorting. Each step takes 100 pairs, half of
    them alike; momentum is 0.9, the step size 0.1, falling linearly to 0.

    rho and weight_decay, where not given, are chosen as the authors do: 10 percent of the training rows are
    held out; rho0 is the number of radii at which random planes recall less than 30 percent of their alike
    pairs; of rho0 + (-2, -1, 0, 1, 2) max(1, n_bits / 32) the one, and then of 10^-2, ..., 10^-6 the weight
    decay, whose codes have the greatest area under the curve of precision against recall.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    rho : int, optional
        From 1 to n_bits.
    weight_decay : float, optional
    positive_share : float
        Least share of alike pairs in a step, above 0 and at most 1; the authors' lambda.
    n_iter : int
        Iterations, each of 10 n pairs. The authors take 50 of 100,000 pairs for 1,000 rows (500 or 2,000 for
        20,000); on held-out training rows of usps the score is the same from about 10 iterations here on.
    validation_iter : int
        Iterations for each candidate, of the same size, and 4 more to average over; the authors take 20 to 75.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
    planes_ : ndarray (n_bits, d)
        W: one normal vector a bit.
    rho_ : int
    weight_decay_ : float
        As given or chosen.
    losses_ : ndarray (n_iter,)
        Mean loss of the pairs of each iteration.

    Notes
    -----
    This is the method of the authors' code, which they say differs from the paper: there the rows of W have
    norm 1 and the loss is multiplied by a constant to be chosen; the loss of rows of one class is not divided
    by n_bits - rho + 1, nor that of others by rho + 1 but multiplied by lambda. No plane has an offset, as in
    their runs. Where no row can be held out, rho is n_bits / 4 and the weight decay 10^-4.

    References
    ----------
    Norouzi, Fleet (2011), Minimal loss hashing for compact binary codes, ICML,
    http://www.cs.toronto.edu/~norouzi/research/mlh/

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = MLH(n_bits=16, rho=4, weight_decay=0.01, random_state=0).fit(X[:500], y[:500])
    >>> encoder.encode(X).shape
    (1797, 2)
    >>> bool(encoder.losses_[-1] < encoder.losses_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        rho: int | None = None,
        weight_decay: float | None = None,
        positive_share: float = 0.5,
        n_iter: int = 50,
        validation_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.rho = rho
        self.weight_decay = weight_decay
        self.positive_share = positive_share
        self.n_iter = n_iter
        self.validation_iter = validation_iter
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and labels (n,), numbers or strings.

        Raises
        ------
        ValueError
            If a parameter is not allowed, y is not labels of at least two classes, or all rows are the same.
        """
        for name in ("n_bits", "n_iter", "validation_iter"):
            check_count(name, getattr(self, name))
        check_positive("positive_share", self.positive_share, 1.0)
        if self.weight_decay is not None:
            check_positive("weight_decay", self.weight_decay)
        if self.rho is not None:
            check_count("rho", self.rho)
            if self.rho > self.n_bits:
                raise ValueError(f"rho={describe(self.rho)}: give at most n_bits, {self.n_bits}")
        X, _, index = self._check_labels(X, y)
        rng = generator(self.random_state)
        mean = mean_of(X)
        with threadpool_limits(1, user_api="blas"):
            Z = normalize_rows(X - mean)
            rho, decay = self._choose(Z, index, rng)
            steps = train(Z, index, self._draw(Z, rng), rho, decay, self.positive_share, rng)
            losses = np.zeros(self.n_iter)
            for number in range(self.n_iter):
                W, losses[number] = steps(RATE * (1 - (number + 1) / self.n_iter))
        self.losses_ = losses
        self.rho_, self.weight_decay_ = int(rho), float(decay)
        keep_planes(self, X, mean, W)
        return self

    def _planes(self) -> Planes:
        return planes_of(self)

    def _draw(self, Z: NDArray[np.float64], rng: Any) -> NDArray[np.float64]:
        return 0.1 * rng.standard_normal((self.n_bits, Z.shape[1]))

    def _choose(self, Z: NDArray[np.float64], index: NDArray[np.int64], rng: Any) -> tuple[int, float]:
        """rho and weight decay, as given or by rows held out."""
        rho, decay = self.rho, self.weight_decay
        if rho is not None and decay is not None:
            return rho, decay
        held, kept = np.split(rng.permutation(len(Z)), [-(-len(Z) // 10)])
        alike = index[held][:, None] == index[kept]
        if not alike.any() or alike.all() or len(np.unique(index[kept])) < 2:
            return rho or max(1, self.n_bits // 4), decay or DECAY

        parts = (Z[held], Z[kept], index[kept], alike)
        if rho is None:
            start = self._draw(Z, rng)
            _, recall = curve(
                hamming(pack(Z[held] @ start.T > 0), pack(Z[kept] @ start.T > 0)), alike, self.n_bits
            )
            middle, spread = int((recall < RECALL).sum()), max(1, round(self.n_bits / 32))
            rhos = np.unique(np.clip(middle + spread * np.arange(-2, 3), 1, self.n_bits))
            rho = int(self._best(parts, [(int(each), decay or DECAY) for each in rhos], rng)[0])
        if decay is None:
            decay = self._best(parts, [(rho, each) for each in DECAYS], rng)[1]
        return rho, decay

    def _best(self, parts: tuple[Any, ...], candidates: list[tuple[int, float]], rng: Any) -> tuple[int, float]:
        """The pair of rho and weight decay whose codes have the greatest area under the curve."""
        held, kept, index, alike = parts
        start, areas = self._draw(kept, rng), []
        for rho, decay in candidates:
            steps = train(kept, index, start, rho, decay, self.positive_share, rng)
            found = []
            for number in range(1, self.validation_iter + TAIL):
                W, _ = steps(RATE)
                if number >= self.validation_iter:
                    apart = hamming(pack(held @ W.T > 0), pack(kept @ W.T > 0))
                    precision, recall = curve(apart, alike, self.n_bits)
                    found.append(np.trapezoid(precision, recall))
            areas.append(np.mean(found))
        return candidates[int(np.argmax(areas))]


def curve(
    apart: NDArray[Any], alike: NDArray[np.bool_], n_bits: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall of the pairs at most 0, 1, ..., n_bits apart; precision is 1 where there is none."""
    found = np.bincount(apart.ravel(), minlength=n_bits + 1).cumsum()
    right = np.bincount(apart[alike], minlength=n_bits + 1).cumsum()
    return np.where(found > 0, right / np.maximum(found, 1), 1.0), right / right[-1]


def train(
    Z: NDArray[np.float64],
    index: NDArray[np.int64],
    start: NDArray[np.float64],
    rho: int,
    decay: float,
    share: float,
    rng: Any,
) -> Callable[[float], tuple[NDArray[np.float64], float]]:
    """Training from W = start (n_bits, d) on, as a function.

    It does one iteration with a given step size, and gives W and the mean loss of the iteration's pairs.
    """
    W, speed = start.copy(), np.zeros_like(start)
    order = np.argsort(index, kind="stable")
    counts = np.bincount(index)
    first = np.cumsum(counts) - counts
    chance = counts / len(Z) * counts
    # alike pairs of a step beside those by chance
    drawn = min(round(SIZE * max(share - chance.sum() / len(Z), 0)), SIZE)
    n_steps = -(-len(Z) * PAIRS // SIZE)

    def iterate(rate: float) -> tuple[NDArray[np.float64], float]:
        nonlocal W, speed
        pairs = rng.integers(len(Z), size=(2, n_steps, SIZE))
        classes = rng.choice(len(counts), p=chance / chance.sum(), size=(n_steps, drawn))
        place = (rng.random((2, n_steps, drawn)) * counts[classes]).astype(np.int64)
        pairs[:, :, SIZE - drawn :] = order[first[classes] + place]
        total = 0.0
        for one, other in pairs.swapaxes(0, 1):
            X, Y = Z[one], Z[other]
            G, K, losses = augment(X @ W.T, Y @ W.T, index[one] == index[other], rho)
            total += losses.mean()
            rows, others = G.any(axis=1), K.any(axis=1)
            gradient = G[rows].T @ X[rows] + K[others].T @ Y[others]
            speed = MOMENTUM * speed + rate * (gradient / SIZE - decay * W)
            W = W + speed
        return W, total / n_steps

    return iterate


@njit(cache=True, nogil=True)
def augment(F: Any, H: Any, alike: Any, rho: int) -> tuple[Any, Any, Any]:  # pragma: no cover
    """Exact loss-augmented inference for pairs of scores F, H (n, n_bits).

    Where the loss is a linear function s d + c of the distance, a bit is best flipped in the row where its
    score f is nearer to 0, if that changes d in the direction of s and 2 |f| < |s|. Flipping none is best for a
    loss of 0. The greater of the two is the answer.

    Returns
    -------
    G, K : float64 (n, n_bits)
        sign(f) - g of either row, g being the codes where the bound is taken: 2 sign(f) at flipped bits.
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
