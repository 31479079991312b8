"""Fast supervised discrete hashing: codes regressed on the labels, all bits at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from structhash.baselines._discrete import DiscreteHash

__all__ = ["FSDH"]


class FSDH(DiscreteHash):
    """Fast supervised discrete hashing: codes regressed on labels, all bits at once.

    Minimises ||B - YW||_F^2 + lambda ||W||_F^2 + nu (||B - F||_F^2 + mu ||P||_F^2) over B in
    {-1, 1}^(n x n_bits), W and P. The regression of `SDH` is reversed, from labels to codes, so that the step
    of the codes is exact, B = sign(YW + nu F). Y, F = phi(X) P and the similarities phi are those of `SDH`.

    With the authors' small nu the codes no longer change after a round or two. Each class then has, bit by bit,
    the sign of most of its rows in the random start. So this is a regression on random codewords, one a class.
    Where rows have several labels, their code is the sign of a sum of vectors, one a label.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    n_anchors : int
        1000 in the authors' experiments; all training rows where there are fewer.
    bandwidth : float
        sigma; 0.4 in the public code, for rows of unit length.
    ridge, nu : float
        lambda and nu: 1 and 1e-5.
    kernel_ridge : float
        mu: 0.01.
    max_iter : int
        Rounds at most: 5. It stops when B no longer changes.
    random_state : int, RandomState, Generator or None
        Draws the anchors and the first B.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    kernel_, coef_, intercept_, losses_, n_iter_ : see `SDH`

    Notes
    -----
    The settings are those of the public code, single-modal-supervised-hashing-baseline-for-image-retrieval of
    Eddie-Wang1120, which takes them from the code of `SDH`. No code of the authors is known. As in that code,
    phi has a constant, P has a ridge, and training rows get the code sign(phi(x)'P) as well.

    References
    ----------
    Gui, Liu, Sun, Tao, Tan (2018), Fast supervised discrete hashing,
    https://doi.org/10.1109/TPAMI.2017.2678475

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> FSDH(n_bits=32, random_state=0).fit(X[:300], y[:300]).encode(X).shape
    (1797, 4)
    """

    source = "Gui et al. 2018"
    original = "Eddie-Wang1120/single-modal-supervised-hashing-baseline-for-image-retrieval"
    settings_from = "as sdh"

    def _regress(self, B: NDArray[np.float64], Y: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        if (Y.sum(axis=1) <= 1).all():  # at most one label a row: Y'Y is diagonal
            W = Y.T @ B / (Y.sum(axis=0)[:, None] + self.ridge)
        else:
            W = solve(Y.T @ Y + self.ridge * np.eye(Y.shape[1]), Y.T @ B, assume_a="pos")
        return W, float(((B - Y @ W) ** 2).sum() + self.ridge * (W**2).sum())

    def _step(
        self, B: NDArray[np.float64], Y: NDArray[np.float64], F: NDArray[np.float64], W: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return np.where(Y @ W + self.nu * F > 0, 1.0, -1.0)
