"""Binary reconstructive embeddings, learned from labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.validation import check_count
from structhash.baselines._coordinate_descent import descend, normals, random_pairs
from structhash.baselines._rows import draw_rows, mean_of
from structhash.baselines.base import (
    PLANE_FIELDS,
    SupervisedBaseline,
    TrainingRows,
    planes_through,
    through_mean,
)
from structhash.codes.planes import Planes
from structhash.io.fields import Field

__all__ = ["BRE"]

_START_DEVIATION = 1e-3  # standard deviation of the weights at the start


class BRE(SupervisedBaseline):
    """Supervised binary reconstructive embeddings: Hamming distances near 0 within a class, near 1 across.

    h_b(x) = [sum_q W_bq k(a_bq, x) > 0], has its own anchors a_b1 ... a_bs for each bit, and k(a, x) = a'x of
    rows that are centred and of unit length. It is fitted to

    min sum over pairs (i, j) of (d_ij - t_ij)^2, d_ij the share of bits that differ, t_ij = [y_i != y_j],

    by coordinate descent. As a function of one weight the objective is piecewise constant, with one step a row,
    where the bit of the row changes: weight W_bq - score_b(x) / k(a_bq, x). One pass over the pairs gives all
    its values. The weight goes to the middle of the best interval. A round moves one weight, at random, of each
    bit; the descent ends with five rounds in a row that gain nothing.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    n_anchors : int
        s, random training rows of which a bit is the weighted sum; the authors' demonstration has 50. All rows
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
    Settings are those of the authors' code (their page is gone, but others have kept copies): the
    kernel is linear, so that a bit is a plane through the mean; each row is paired with a random 5 percent of
    the rows, 50 of their 1,000 (we take 50 of fewer rows, too); weights start as N(0, 0.001^2). That code has
    the unsupervised method; the targets for labels, 0 and 1, are the paper's. The copies end the descent at the
    first round that gains less than 1e-6, or less than 1, in half the sum of squares. A round tries one weight
    of 50, so both rules stop by chance, early where bits are few. Here five rounds without gain end it. The
    same draws give the weights of that code. Where rounding makes a move miss its interval, the weight stays.

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

    source = "Kulis, Darrell 2009"
    original = "ZJULearning/MatlabFunc"
    settings_from = (
        "authors': linear kernel, 50 anchors a bit, pairs with 5 percent of the rows; supervised targets"
    )
    fitted_fields = (
        Field("n_iter_", kind="int", least=0),
        Field("losses_", ("n_losses",)),
        *PLANE_FIELDS,
    )

    mean_: NDArray[Any]
    planes_: NDArray[Any]
    n_iter_: int
    losses_: NDArray[np.float64]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_anchors: int = 50,
        max_iter: int = 1000,
        max_rows: int = 4000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("n_anchors", "max_iter", "max_rows"):
            check_count(name, getattr(self, name))
        check_count("max_rows", self.max_rows, 2)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        X, class_index = draw_rows(rows.X, rows.class_index, self.max_rows, rng)
        mean = mean_of(X)
        Z = normalize_rows(X - mean)
        n, m = len(Z), self.n_bits
        first, second = random_pairs(n, rng)
        anchors = np.array([rng.permutation(n)[: self.n_anchors] for _ in range(m)])
        W = _START_DEVIATION * rng.standard_normal(anchors.shape)
        missed = -m * (class_index[first] != class_index[second]).astype(np.float64)
        losses = descend(Z, first, second, missed, anchors, W, self.max_iter, rng)
        return {
            "n_iter_": len(losses) - 1,
            "losses_": np.array(losses) / (len(first) * m**2),
            **planes_through(mean, normals(Z, anchors, W), X.dtype),
        }

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)
