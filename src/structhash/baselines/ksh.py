"""Supervised hashing with kernels."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._anchors import draw_anchors, some_rows
from structhash.baselines._gauss import gauss_features, gauss_kernel
from structhash.baselines._shared import Supervised, keep_bits
from structhash.estimators.base import MODERATE, whole

NOISE = 1e-10  # singular values of the features, as a share of the largest, that are rounding error
CLOSE = 1e-2  # change of the smooth objective, per row, at which its ascent ends
DOUBLINGS = 51  # of the curvature, in search of one step, at most


class KSH(Supervised):
    """Supervised hashing with kernels: bits whose inner products are near the labels' agreement.

    h_j(x) = [a_j'(k(x) - mean) > 0] with k_i(x) = exp(-||x - a_i||^2 / (2 sigma^2)) for anchors a_i, fitted to
    min ||Y Y' / n_bits - S||_F^2, where Y in {-1, 1}^(n x n_bits) are the training rows' bits and S_ij is 1
    for rows of one class, -1 for others. Bits come one after another: with R = n_bits S - sum_{k < j} y_k y_k'
    the next one maximises y'Ry over y = sign(Ka). Two candidates: the top eigenvector of
    K'RK a = lambda K'K a, scaled so that ||Ka||^2 = n; and, from there, the accelerated gradient ascent of
    f'Rf, f = tanh(Ka / 2). The second is taken only if its y'Ry is larger.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    anchors : int
        Training rows, at random, that serve as anchors; the authors use 300. All distinct rows where there
        are fewer.
    steps : int
        Of the ascent of a bit, at most; the authors allow 500. It ends earlier where f'Rf changes by no more
        than 0.01 n.
    max_rows : int
        Training rows learned from, drawn at random where there are more. The authors label 1,000 to 5,000 of
        the rows. Time and memory grow with the rows, not their square (see Notes).
    random_state : int, RandomState, Generator or None
        Draws anchors, and rows where there are too many.

    Attributes
    ----------
    n_bits_, weights_ : see `HashEncoder`
    kernel_ : dict of arrays
        Anchors, sigma, and the ``mean`` of k over the training rows.
    coef_ : ndarray (n_bits, m)
        a_j of each bit.
    history_ : list of dict
        For each bit ``refined``, whether the ascent's candidate was taken, and ``loss``, the mean of
        (Y Y' / n_bits - S)^2 over all pairs with the bits so far.

    Notes
    -----
    We follow the authors' code where it says more than the paper: sigma^2 is the mean squared distance between
    rows and anchors; the first candidate wins ties; and the ascent's step is found by doubling. R is not
    formed: a product with it is sums over classes and over the bits so far, equal to theirs but for rounding,
    so that all rows can be labelled where theirs needs an n x n matrix. Where K'K is singular the eigenproblem
    is solved in the span of the features.

    References
    ----------
    Liu, Wang, Ji, Jiang, Chang (2012), Supervised hashing with kernels,
    https://doi.org/10.1109/CVPR.2012.6247912

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = KSH(n_bits=8, anchors=30, random_state=0).fit(X[:200], y[:200])
    >>> encoder.encode(X).shape
    (1797, 1)
    >>> encoder.history_[-1]["loss"] < encoder.history_[0]["loss"]
    True
    """

    reach_ = (1 / MODERATE, MODERATE)

    def __init__(
        self,
        n_bits: int = 64,
        *,
        anchors: int = 300,
        steps: int = 500,
        max_rows: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.anchors = anchors
        self.steps = steps
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
        for name in ("n_bits", "anchors", "steps", "max_rows"):
            check_count(name, getattr(self, name))
        check_count("max_rows", self.max_rows, 2)
        X, classes, index = self._check_labels(X, y)
        rng = generator(self.random_state)
        X, index = some_rows(X, index, self.max_rows, rng)
        anchors = draw_anchors(X, self.anchors, rng)
        with threadpool_limits(1, user_api="blas"):
            kernel, K = gauss_kernel(X, anchors)
            mean = K.mean(axis=0)
            A, history = learn_bits(K - mean, index, len(classes), self.n_bits, self.steps)
        self.kernel_ = kernel | {"mean": mean}
        self.coef_ = A.astype(X.dtype)
        keep_bits(self)
        self.history_ = history
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        K = gauss_features(X, self.kernel_)
        return (K - self.kernel_["mean"]) @ self.coef_.T.astype(np.float64) > 0


class _Residual(NamedTuple):
    """R = n_bits S - Y'Y, by its parts: class of each row (n,), and the bits so far, Y (j, n)."""

    n_bits: int
    n_classes: int
    label: NDArray[np.int64]
    Y: NDArray[np.float64]

    def sums(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of v (n,) over each class."""
        return np.bincount(self.label, v, self.n_classes).astype(np.float64, copy=False)

    def along(self, v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """v'Rv of one vector (n,), its sum over each class, and Yv."""
        sums, Yv = self.sums(v), self.Y @ v
        return float(self.n_bits * (2 * sums @ sums - sums.sum() ** 2) - Yv @ Yv), sums, Yv

    def times(self, sums: NDArray[np.float64], Yv: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rv (n,) from what `along` gave."""
        return self.n_bits * (2 * sums - sums.sum())[self.label] - Yv @ self.Y


def learn_bits(
    K: NDArray[np.float64], index: NDArray[np.int64], n_classes: int, n_bits: int, steps: int
) -> tuple[NDArray[np.float64], list[dict[str, Any]]]:
    """Weights (n_bits, m) on features K (n, m) of rows of classes index (n,), and the record of each bit."""
    n = len(K)
    P, s, Qt = np.linalg.svd(K, full_matrices=False)
    kept = s > NOISE * s[0]
    P, back = P[:, kept], Qt[kept].T / s[kept]  # a = back @ b, with K a = P b
    sums = np.zeros((n_classes, P.shape[1]))
    np.add.at(sums, index, P)
    total = sums.sum(axis=0)
    M = n_bits * (2 * sums.T @ sums - np.outer(total, total))  # P'RP
    A, Y, history = np.empty((n_bits, K.shape[1])), np.empty((n_bits, n)), []
    left = float(n_bits * n) ** 2  # ||R||_F^2
    for j in range(n_bits):
        R = _Residual(n_bits, n_classes, index, Y[:j])
        _, top = eigh(M, subset_by_index=[len(M) - 1, len(M) - 1])
        a = back @ top[:, 0] * np.sqrt(n)
        refined = ascend(K, R, a, steps)
        y, other = signs(K @ a), signs(K @ refined)
        gain, better = R.along(y)[0], R.along(other)[0]
        taken = better > gain
        A[j], Y[j] = (refined, other) if taken else (a, y)
        left += n**2 - 2 * max(gain, better)
        along = P.T @ Y[j]
        M -= np.outer(along, along)
        history.append({"bit": j, "refined": taken, "loss": left / float(n_bits * n) ** 2})
    return A, history


def signs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 where a score is above 0, else -1."""
    return np.where(scores > 0, 1.0, -1.0)


def ascend(K: NDArray[np.float64], R: _Residual, start: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Weights a that Nesterov's accelerated gradient method reaches for max f'Rf, f = tanh(Ka / 2).

    A step goes from the point v ahead of the last one to v + gradient / b, where b is doubled until the
    function lies above its quadratic bound of curvature b.
    """
    a = last = start
    Ka = last_Ka = K @ a
    value, b, before, now = R.along(np.tanh(Ka / 2))[0], 1.0, 0.0, 1.0
    for _ in range(steps):
        ahead = (before - 1) / now
        v, Kv = a + ahead * (a - last), Ka + ahead * (Ka - last_Ka)
        f = np.tanh(Kv / 2)
        level, *parts = R.along(f)
        slope = K.T @ (R.times(*parts) * (1 - f**2))
        square, Kslope = float(slope @ slope), K @ slope
        for _ in range(DOUBLINGS):
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
        if change <= CLOSE * len(K):
            break
    return a
