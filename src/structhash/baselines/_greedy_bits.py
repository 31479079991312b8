"""The bits of `KSH`, one after another: an eigenvector, then a gradient ascent from there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

SINGULAR_VALUE_NOISE = 1e-10  # share of the largest singular value of the features, below which it is rounding
MIN_CHANGE = 1e-2  # change of the smooth objective, per row, at which its ascent ends
MAX_DOUBLINGS = 51  # of the curvature, in search of one step


class Residual(NamedTuple):
    """R = n_bits S - Y'Y, by its parts: class of each row (n,), and the bits so far, Y (j, n).

    Where rows have several labels, a class is the rows of one label set, and `alike` (n_classes, n_classes)
    says by 1 or 0 whether two sets share a label. None is the identity.
    """

    n_bits: int
    n_classes: int
    label: NDArray[np.int64]
    Y: NDArray[np.float64]
    alike: NDArray[np.float64] | None = None

    def sums(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of v (n,) over each class."""
        return np.bincount(self.label, v, self.n_classes).astype(np.float64, copy=False)

    def along(self, v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """v'Rv of one vector (n,), Sv in each class, and Yv."""
        sums, Yv = self.sums(v), self.Y @ v
        near, total = over_alike(self.alike, sums), sums.sum()
        return float(self.n_bits * (2 * sums @ near - total**2) - Yv @ Yv), 2 * near - total, Yv

    def times(self, Sv: NDArray[np.float64], Yv: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rv (n,) from what `along` gave."""
        Rv: NDArray[np.float64] = self.n_bits * Sv[self.label] - Yv @ self.Y
        return Rv


def over_alike(alike: NDArray[np.float64] | None, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums (n_classes, ...) over each class, as sums over all rows that share a label with it."""
    return sums if alike is None else alike @ sums


def learn_bits(
    K: NDArray[np.float64],
    class_index: NDArray[np.int64],
    n_classes: int,
    n_bits: int,
    max_iter: int,
    alike: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], list[dict[str, Any]], int]:
    """Learn the bits of `KSH` one after another.

    Parameters
    ----------
    K : ndarray (n, m)
        Centred features.
    class_index : ndarray (n,)
    n_classes, n_bits : int
    max_iter : int
        Steps of each ascent, at most.
    alike : ndarray (n_classes, n_classes) or None
        See `Residual`.

    Returns
    -------
    weights : ndarray (n_bits, m)
        Of the features.
    history : list of dict
        See `KSH`.
    n_steps : int
        Steps of the longest ascent.
    """
    n = len(K)
    P, s, Qt = np.linalg.svd(K, full_matrices=False)
    kept = s > SINGULAR_VALUE_NOISE * s[0]
    P, back = P[:, kept], Qt[kept].T / s[kept]  # a = back @ b, with K a = P b
    sums = np.zeros((n_classes, P.shape[1]))
    np.add.at(sums, class_index, P)
    total = sums.sum(axis=0)
    M = n_bits * (2 * sums.T @ over_alike(alike, sums) - np.outer(total, total))  # P'RP
    A, Y, history = np.empty((n_bits, K.shape[1])), np.empty((n_bits, n)), []
    longest = 0
    left = float(n_bits * n) ** 2  # ||R||_F^2
    for j in range(n_bits):
        R = Residual(n_bits, n_classes, class_index, Y[:j], alike)
        _, top = eigh(M, subset_by_index=[len(M) - 1, len(M) - 1])
        a = back @ top[:, 0] * np.sqrt(n)
        refined, n_steps = ascend(K, R, a, max_iter)
        longest = max(longest, n_steps)
        y, other = signs(K @ a), signs(K @ refined)
        gain, better = R.along(y)[0], R.along(other)[0]
        taken = better > gain
        A[j], Y[j] = (refined, other) if taken else (a, y)
        left += n**2 - 2 * max(gain, better)
        along = P.T @ Y[j]
        M -= np.outer(along, along)
        history.append({"bit": j, "refined": taken, "loss": left / float(n_bits * n) ** 2})
    return A, history, longest


def signs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 where a score is above 0, else -1."""
    return np.where(scores > 0, 1.0, -1.0)


def ascend(
    K: NDArray[np.float64], R: Residual, start: NDArray[np.float64], max_iter: int
) -> tuple[NDArray[np.float64], int]:
    """Maximise f'Rf, f = tanh(Ka / 2), by Nesterov's accelerated gradient method.

    A step goes from v, which lies ahead of the last point, to v + gradient / b. b is doubled until the function
    lies above its quadratic bound of curvature b.

    Parameters
    ----------
    K : ndarray (n, m)
    R : Residual
    start : ndarray (m,)
    max_iter : int

    Returns
    -------
    a : ndarray (m,)
    n_steps : int
    """
    a = last = start
    Ka = last_Ka = K @ a
    value, b, before, now = R.along(np.tanh(Ka / 2))[0], 1.0, 0.0, 1.0
    n_steps = 0
    while n_steps < max_iter:
        n_steps += 1
        ahead = (before - 1) / now
        v, Kv = a + ahead * (a - last), Ka + ahead * (Ka - last_Ka)
        f = np.tanh(Kv / 2)
        level, *parts = R.along(f)
        slope = K.T @ (R.times(*parts) * (1 - f**2))
        square, Kslope = float(slope @ slope), K @ slope
        for _ in range(MAX_DOUBLINGS):
            reached = Kv + Kslope / b
            new = R.along(np.tanh(reached / 2))[0]
            if new >= level + square / (2 * b):
                break
            b *= 2
        else:
            break
        last, last_Ka, a, Ka = a, Ka, v + slope / b, reached
        before, now = now, (1 + np.sqrt(1 + 4 * now**2)) / 2
        change, value = abs(new - value), new
        if change <= MIN_CHANGE * len(K):
            break
    return a, n_steps
