"""The control: the prediction of a classifier as a code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._classifier import CLASSIFIER_FIELDS, ClassifierBaseline
from structhash.baselines._codebook import codebook
from structhash.baselines.base import TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["OneHot"]


class OneHot(ClassifierBaseline):
    """The output of a classifier as a code: the control that every supervised method has to beat.

    The code of x is the codeword of argmax_c v_c'z + b_c. (v, b) is a multinomial logistic regression, which
    minimises 1/2 sum_c ||v_c||^2 + C sum_i -log p(y_i | z_i). z are the features of the family: for
    ``"linear"``, rows centred and divided by the root mean squared norm of the training rows.

    With as many bits as classes, bit c is 1 where class c is predicted. Further bits are 0, so that the
    distances are those of the one-hot code. With fewer bits each class has its own codeword, random and far
    from the others; then the order of the other classes means nothing. This code is hard to beat where the
    classes of the queries are seen in training; for unseen classes it fails. It refuses n_bits that are too few
    to tell the classes apart.

    Parameters
    ----------
    n_bits : int
        Length of the code; at least log2 of the number of classes.
    C : float
        Weight of the summed loss. 10 was the best of 1, 3, 10, 30, 100 by cross-validation on 2,000 training
        rows of usps, mnist and banking77, and within 0.002 of the best on isolet; scikit-learn's default, 1, is
        too small for rows of norm 1 (accuracy lower by 0.01 to 0.035).
    family : str or piece
        Gives the features: a name of ``names("families")``, such as ``"linear"``.
    max_iter : int
        L-BFGS iterations at most; scikit-learn warns where they do not suffice.
    random_state : int, RandomState, Generator or None
        Draws codewords shorter than one-hot, and what the family draws.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    classes_ : list
        The labels, sorted.
    codebook_ : ndarray (n_classes, n_bits) bool
        Codeword of each class.
    coef_ : ndarray (n_classes, n_features)
    intercept_ : ndarray (n_classes,)
    n_iter_ : int
        L-BFGS iterations done.

    References
    ----------
    Sablayrolles, Douze, Usunier, Jégou (2017), How should we evaluate supervised hashing?,
    https://arxiv.org/abs/1609.06753

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> OneHot(n_bits=10).fit(X[:300], y[:300]).transform(X[:2])
    array([[1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]], dtype=uint8)
    """

    source = "Sablayrolles et al. 2017"
    settings_from = "logistic regression, C=10 by validation; the authors' classifier is a deep network"
    fitted_fields = (
        *CLASSIFIER_FIELDS,
        Field("codebook_", ("n_classes", "n_bits"), "bool"),
    )

    codebook_: NDArray[np.bool_]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        C: float = 10.0,
        family: Any = "linear",
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.C = C
        self.family = family
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        words = codebook(len(rows.classes), self.n_bits, rng)
        return {"codebook_": words, **self._fit_classifier(rows, rng), **equal_bits(self.n_bits)}

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        bits: NDArray[np.bool_] = self.codebook_[self._class_scores(X).argmax(axis=1)]
        return bits
