"""A second control: random planes in the space of a classifier's output."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from structhash._numerics.validation import describe
from structhash.baselines._classifier import CLASSIFIER_FIELDS, ClassifierBaseline
from structhash.baselines.base import TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["ClassifierLSH"]

_ANSWERS = ("probabilities", "scores")


class ClassifierLSH(ClassifierBaseline):
    """Locality-sensitive hashing of a classifier's output: h_j(x) = [g_j'p(x) > 0], g_j ~ N(0, I).

    p(x) are the class probabilities of the logistic regression of `OneHot`, or its scores. Two rows differ in a
    bit with probability angle / pi, where the angle is that between their p. p(x)'p(y) estimates the
    probability that x and y are of one class. So this is the random code of the ranking by that probability.

    Parameters
    ----------
    n_bits : int
        Length of the code. With the same integer seed a shorter code is the prefix of a longer one.
    of : str
        What the planes cut. ``"probabilities"`` suits queries of the classes seen in training. ``"scores"``,
        the scores v_c'z + b_c minus their mean over the classes, suits other classes, about which scores hold
        more information. On held-out training rows of usps, isolet and banking77 (64 bits) probabilities have
        the higher mean average precision on the classes of training (by 0.16, 0.31, 0.29), scores on other
        classes (by 0.03, 0.06, 0.06).
    C, family, max_iter
        See `OneHot`.
    random_state : int, RandomState, Generator or None
        Draws the planes, and what the family draws.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    classes_, coef_, intercept_, n_iter_ : see `OneHot`
    planes_ : ndarray (n_bits, n_classes)
        One normal vector a bit.

    Notes
    -----
    The authors' classifier is a convolutional network; no code of theirs is public.

    References
    ----------
    Sablayrolles, Douze, Usunier, Jégou (2017), How should we evaluate supervised hashing?,
    https://arxiv.org/abs/1609.06753; Charikar (2002), https://doi.org/10.1145/509907.509965

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> ClassifierLSH(n_bits=32, random_state=0).fit(X[:300], y[:300]).encode(X).shape
    (1797, 4)
    """

    variants = ("", ":of=scores")
    source = "Sablayrolles et al. 2017"
    settings_from = "the classifier of one_hot; of=probabilities for known classes, of=scores for others"
    fitted_fields = (
        *CLASSIFIER_FIELDS,
        Field("planes_", ("n_bits", "n_classes")),
    )

    planes_: NDArray[Any]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        of: str = "probabilities",
        C: float = 10.0,
        family: Any = "linear",
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.of = of
        self.C = C
        self.family = family
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        if self.of not in _ANSWERS:
            raise ValueError(f"of={describe(self.of)}: give {' or '.join(map(repr, _ANSWERS))}")

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        planes = rng.standard_normal((self.n_bits, len(rows.classes))).astype(rows.X.dtype)
        return {"planes_": planes, **self._fit_classifier(rows, rng), **equal_bits(self.n_bits)}

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        answers = self._class_scores(X).astype(np.float64)
        answers -= answers.mean(axis=1, keepdims=True)
        if self.of == "probabilities":
            answers = softmax(answers, axis=1)
        values: NDArray[np.float64] = answers @ self.planes_.T
        return values
