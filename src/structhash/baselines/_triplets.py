"""The training of `HDML`: random triplets, an exact bound on their loss, stochastic gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit
from structhash.codes import hamming, pack

WEIGHT_DECAYS = (3e-2, 3e-3, 3e-4)  # the authors' candidates; the first where too few rows can be held out
MIN_HELD_ROWS = 100
BATCH_TRIPLETS = 100
MOMENTUM = 0.9
EPOCHS_BETWEEN_LOOKS = 25  # at the step size and at dead bits
MIN_STEP = 1e-5  # steps below this end the training
MIN_BALANCE = 0.02  # share of the rows below which a bit is drawn again
MAX_PULL = 0.5  # mean score of a bit up to which its pull towards 0 grows
VOTING_NEIGHBOURS = 3  # where the weight decay is chosen
MAX_VOTES_IN_MEMORY = 2_000_000


class Training(NamedTuple):
    """Settings of `train`: length of the code, margin, first step size, weight decay, epochs at most."""

    n_bits: int
    margin: float
    learning_rate: float
    decay: float
    max_iter: int


class Trained(NamedTuple):
    """Results of `train`: weights (n_bits, d + 1), the losses of each look (n_looks, 2), epochs done."""

    W: NDArray[np.float64]
    losses: NDArray[np.float64]
    n_epochs: int


class TripletSampler:
    """Draws triplets: each row whose class has another row, one row of its class, and one of another class."""

    def __init__(self, class_index: NDArray[np.int64]) -> None:
        self.order = np.argsort(class_index, kind="stable")
        self.counts = np.bincount(class_index)[class_index]
        self.first = np.searchsorted(class_index[self.order], class_index)
        self.place = np.empty(len(class_index), np.int64)
        self.place[self.order] = np.arange(len(class_index))
        self.rows = np.flatnonzero(self.counts > 1)

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Row numbers (n,) of rows in random order, of near rows and of far rows."""
        rows = rng.permutation(self.rows)
        first, counts = self.first[rows], self.counts[rows]
        near = first + rng.integers(counts - 1)
        near += near >= self.place[rows]
        far = rng.integers(len(self.order) - counts)
        far += np.where(far >= first, counts, 0)
        return rows, self.order[near], self.order[far]


def choose_decay(
    Z: NDArray[np.float64], class_index: NDArray[np.int64], training: Training, rng: np.random.Generator
) -> float:
    """The weight decay whose codes classify a held-out fifth of the rows best.

    Parameters
    ----------
    Z : ndarray (n, d + 1)
        Rows and a constant.
    class_index : ndarray (n,)
    training : Training
        Its decay is replaced by each candidate.
    rng : Generator

    Returns
    -------
    float
    """
    order = rng.permutation(len(Z))
    held, kept = np.split(order, [-(-len(Z) // 5)])
    n_classes = (len(np.unique(class_index[part])) for part in (held, kept))
    if len(held) < MIN_HELD_ROWS or min(n_classes) < 2 or np.bincount(class_index[kept]).max() < 2:
        return WEIGHT_DECAYS[0]
    found = []
    for decay in WEIGHT_DECAYS:
        W = train(Z[kept], class_index[kept], training._replace(decay=decay), rng).W
        codes = pack(Z @ W.T > 0)
        apart = hamming(codes[held], codes[kept])
        found.append(accuracy(apart, class_index[held], class_index[kept], training.n_bits))
    return WEIGHT_DECAYS[int(np.argmax(found))]


def train(
    Z: NDArray[np.float64], class_index: NDArray[np.int64], training: Training, rng: np.random.Generator
) -> Trained:
    """Stochastic gradient descent on the bound of `HDML`.

    Parameters
    ----------
    Z : ndarray (n, d + 1)
        Rows and a constant.
    class_index : ndarray (n,)
    training : Training
    rng : Generator

    Returns
    -------
    Trained
    """
    n_bits, margin, learning_rate, decay, max_iter = training
    sampler = TripletSampler(class_index)
    W = draw_bits(Z, 0.1, n_bits, rng)
    speed, rate = np.zeros_like(W), float(learning_rate)
    lowest, sums, losses = np.full(2, np.inf), np.zeros(2), []
    for epoch in range(1, max_iter + 1):
        momentum = MOMENTUM / 2 if epoch <= min(EPOCHS_BETWEEN_LOOKS, max_iter / 20) else MOMENTUM
        triplets = sampler.draw(rng)
        size = min(BATCH_TRIPLETS, len(sampler.rows))
        n = len(sampler.rows) // size * size
        for first in range(0, n, size):
            batch = tuple(part[first : first + size] for part in triplets)
            gradient, found = step(Z, class_index, batch, W, float(margin), decay)
            speed = momentum * speed + rate * gradient
            W += speed
            sums += found
        if epoch % EPOCHS_BETWEEN_LOOKS:
            continue
        if epoch >= 3 * EPOCHS_BETWEEN_LOOKS and (sums > lowest).all():
            rate /= 2
        elif epoch >= 3 * EPOCHS_BETWEEN_LOOKS and (sums < lowest).all():
            rate *= 1.05
        losses.append(sums / (EPOCHS_BETWEEN_LOOKS * n))
        lowest, sums = np.minimum(lowest, sums), np.zeros(2)
        if rate < MIN_STEP:
            break
        on = (Z @ W.T > 0).mean(axis=0)
        idle = np.minimum(on, 1 - on) < MIN_BALANCE
        if idle.any():
            W[idle] = draw_bits(Z, 0.01, idle.sum(), rng)
    return Trained(W, np.array(losses).reshape(-1, 2), epoch)


def draw_bits(Z: NDArray[np.float64], deviation: float, n_bits: int, rng: Any) -> NDArray[np.float64]:
    """Random weights (n_bits, d + 1) of bits that are 1 for half of the rows Z (n, d + 1) each."""
    W: NDArray[np.float64] = deviation * rng.standard_normal((n_bits, Z.shape[1]))
    W[:, -1] -= np.median(Z @ W.T, axis=0)
    return W


def accuracy(apart: NDArray[Any], given: NDArray[Any], class_index: NDArray[Any], n_bits: int) -> float:
    """Share of queries that their neighbours classify correctly.

    The neighbours are all rows within the least distance that holds `VOTING_NEIGHBOURS` rows and gives one
    class the most votes. A draw at all distances counts as wrong.

    Parameters
    ----------
    apart : ndarray (n_queries, n)
        Hamming distances.
    given : ndarray (n_queries,)
        Class index of each query.
    class_index : ndarray (n,)
    n_bits : int

    Returns
    -------
    float
    """
    n_classes = max(given.max(), class_index.max()) + 1
    right, step = 0, max(1, MAX_VOTES_IN_MEMORY // (n_classes * (n_bits + 1)))
    for first in range(0, len(given), step):
        block = apart[first : first + step].astype(np.int64)
        votes = np.zeros((len(block), n_bits + 1, n_classes), np.int64)
        np.add.at(votes, (np.arange(len(block))[:, None], block, class_index[None]), 1)
        votes = votes.cumsum(axis=1)
        best = np.partition(votes, -2, axis=2)[:, :, -2:]
        clear = (votes.sum(axis=2) >= VOTING_NEIGHBOURS) & (best[:, :, 1] > best[:, :, 0])
        told = votes[np.arange(len(block)), clear.argmax(axis=1)].argmax(axis=1)
        right += (clear.any(axis=1) & (told == given[first : first + step])).sum()
    return float(right / len(given))


def step(
    Z: NDArray[np.float64],
    class_index: NDArray[np.int64],
    triplets: tuple[NDArray[np.int64], ...],
    W: NDArray[np.float64],
    margin: float,
    decay: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradient and losses of one mini-batch.

    Parameters
    ----------
    Z : ndarray (n, d + 1)
        Rows and a constant.
    class_index : ndarray (n,)
    triplets : three arrays (m,)
        Row numbers: rows, one row of the class of each, and rows of other classes to pick from.
    W : ndarray (n_bits, d + 1)
    margin, decay : float

    Returns
    -------
    gradient : float64 (n_bits, d + 1)
        Downhill, of the mean bound with its penalties.
    sums : float64 (2,)
        Summed over the triplets: the bound with both penalties, and the loss with the penalty of the weights.
    """
    rows, near, far = triplets
    X, X_near, X_far = Z[rows], Z[near], Z[far]
    F, F_near, F_far = X @ W.T, X_near @ W.T, X_far @ W.T
    alike = np.sign(F) @ np.sign(F_far).T
    alike[class_index[rows][:, None] == class_index[far]] = -np.inf
    pick = alike.argmax(axis=1)
    X_far, F_far = X_far[pick], F_far[pick]
    scores = np.stack([F, F_near, F_far], axis=1)
    G = np.empty_like(scores)
    sums = augment(scores, margin, G)
    active = np.flatnonzero(G.any(axis=(1, 2)))
    mean = F.mean(axis=0)
    pull = np.clip(mean, -MAX_PULL, MAX_PULL)
    gradient = -np.outer(pull, X.sum(axis=0))
    for part, points in enumerate((X, X_near, X_far)):
        gradient += G[active, part].T @ points[active]
    penalty = decay / 2 * (W * W).sum()
    sums += len(rows) * np.array([penalty + (pull * (mean - pull / 2)).sum(), penalty])
    return gradient / len(rows) - decay * W, sums


@njit(cache=True, nogil=True)
def augment(scores, margin, G):  # pragma: no cover
    """Exact loss-augmented inference for triplets.

    Parameters
    ----------
    scores : float64 array (n, 3, n_bits)
        f of the query, the near and the far row.
    margin : float
    G : float64 array (n, 3, n_bits)
        Becomes sign(f) - g, where g are the codes at which the bound is taken.

    Returns
    -------
    float64 (2,)
        The upper bound and the loss of the codes, summed.
    """
    sums = np.zeros(2)
    G[:] = 0.0
    for i in range(len(scores)):
        loss, bound = margin, margin
        for j in range(scores.shape[2]):
            q, p, f = scores[i, 0, j], scores[i, 1, j], scores[i, 2, j]
            apart = int((q > 0) != (p > 0)) - int((q > 0) != (f > 0))
            now = abs(q) + abs(p) + abs(f) + apart
            best, a, b = now, 0, 0
            for sign in (-1, 1):  # of the near code and of the far one, times that of the query
                for other in (1, -1):
                    value = abs(q + sign * p + other * f) + (other - sign) / 2
                    if value > best:
                        best, a, b = value, sign, other
            loss += apart
            bound += apart + best - now
            if a != 0:
                g = 1.0 if q + a * p + b * f > 0 else -1.0
                G[i, 0, j], G[i, 1, j], G[i, 2, j] = np.sign(q) - g, np.sign(p) - a * g, np.sign(f) - b * g
        if bound <= 0:
            G[i] = 0.0
        sums[0] += max(bound, 0.0)
        sums[1] += max(loss, 0.0)
    return sums
