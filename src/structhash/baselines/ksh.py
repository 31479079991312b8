"""Supervised hashing with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import share_a_label
from structhash._numerics.validation import check_count
from structhash.baselines._gauss_kernel import KERNEL_FIELDS, gauss_features, gauss_kernel
from structhash.baselines._greedy_bits import learn_bits
from structhash.baselines._rows import SAME_LABELS, draw_anchors, draw_rows
from structhash.baselines.base import MAX_SQUARABLE, SupervisedBaseline, TrainingRows, equal_bits
from structhash.io.fields import Field
from structhash.pieces import Params

__all__ = ["KSH"]


class KSH(SupervisedBaseline):
    """Supervised hashing with kernels: bits whose inner products are near the labels' agreement.

    h_j(x) = [a_j'(k(x) - mean) > 0] with k_i(x) = exp(-||x - a_i||^2 / (2 sigma^2)) for anchors a_i, fitted to
    min ||Y Y' / n_bits - S||_F^2. Y in {-1, 1}^(n x n_bits) are the bits of the training rows, and S_ij is 1
    for rows that share a label, -1 for others. Bits are learned one after another: with R = n_bits S - sum_{k <
    j} y_k y_k' the next one maximises y'Ry over y = sign(Ka). There are two candidates. The first is the top
    eigenvector of K'RK a = lambda K'K a, scaled so that ||Ka||^2 = n. The second is what an accelerated
    gradient ascent of f'Rf, f = tanh(Ka / 2), reaches from there. It is taken only if its y'Ry is larger.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    n_anchors : int
        Random training rows that are anchors; the authors use 300. All distinct rows where there are fewer.
    max_iter : int
        Steps of the ascent of a bit, at most; the authors allow 500. It ends earlier where f'Rf changes by at
        most 0.01 n.
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
    n_iter_ : int
        Steps of the longest ascent.

    Notes
    -----
    This follows the authors' code where it is more specific than the paper: sigma^2 is the mean squared
    distance between rows and anchors; the first candidate wins ties; the step of the ascent is found by
    doubling. R is not formed: a product with it is sums over classes and over the bits so far, equal up to
    rounding. So all rows can be labelled, where the authors' code needs an n x n matrix. Where rows have
    several labels, sums are over rows of one label set, and time and memory grow with the square of the number
    of sets that differ: give a smaller `max_rows` where these are thousands. A row without a label is similar
    to none. Where K'K is singular the eigenproblem is solved in the span of the features.

    References
    ----------
    Liu, Wang, Ji, Jiang, Chang (2012), Supervised hashing with kernels,
    https://doi.org/10.1109/CVPR.2012.6247912

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = KSH(n_bits=8, n_anchors=30, random_state=0).fit(X[:200], y[:200])
    >>> encoder.encode(X).shape
    (1797, 1)
    >>> encoder.history_[-1]["loss"] < encoder.history_[0]["loss"]
    True
    """

    source = "Liu et al. 2012"
    original = "ColumbiaDVMM/Supervised-Hashing-with-Kernels"
    settings_from = "authors': 300 anchors; all training rows labelled, up to 10,000"
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    fitted_fields = (
        *KERNEL_FIELDS,
        Field("kernel_/mean", ("n_anchors",)),
        Field("coef_", ("n_bits", "n_anchors")),
        Field("n_iter_", kind="int", least=0),
    )

    takes_several_labels = True

    kernel_: Params
    coef_: NDArray[Any]
    n_iter_: int

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_anchors: int = 300,
        max_iter: int = 500,
        max_rows: int = 10_000,
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
        X, drawn = draw_rows(rows.X, np.arange(len(rows.X)), self.max_rows, rng)
        anchors = draw_anchors(X, self.n_anchors, rng)
        kernel, K = gauss_kernel(X, anchors)
        mean = K.mean(axis=0)
        label, n_sets, alike = _label_sets(rows, drawn)
        A, history, n_steps = learn_bits(K - mean, label, n_sets, self.n_bits, self.max_iter, alike)
        return {
            "kernel_": kernel | {"mean": mean},
            "coef_": A.astype(X.dtype),
            "n_iter_": n_steps,
            **equal_bits(self.n_bits),
            "history_": history,
        }

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        K = gauss_features(X, self.kernel_)
        values: NDArray[np.float64] = (K - self.kernel_["mean"]) @ self.coef_.T.astype(np.float64)
        return values


def _label_sets(
    rows: TrainingRows, drawn: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int, NDArray[np.float64] | None]:
    """The label set of each drawn row (m,), the number s of sets, and 1 or 0 (s, s) where two share a label.

    Where each row has one label, sets are classes, and None stands for the identity. ValueError if every two
    sets share a label, or no two do.
    """
    if rows.indicators is None:
        return rows.class_index[drawn], len(rows.classes), None
    sets, label = np.unique(rows.indicators[drawn], axis=0, return_inverse=True)
    alike = share_a_label(sets, sets)
    if alike.all() or not alike.any():
        raise ValueError(SAME_LABELS)
    return label.reshape(-1), len(sets), alike.astype(np.float64)
