"""The control in one byte: the class that our class probabilities predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash._numerics.validation import MAX_BITS, check_count
from structhash.baselines._codebook import codebook
from structhash.baselines.base import MAX_SQUARABLE, SupervisedBaseline, TrainingRows, equal_bits
from structhash.embeddings.posterior import Posterior
from structhash.io.fields import Field

__all__ = ["PredictedClass"]

_MAX_CONFIDENCE_BITS = 8
_MAX_POINTS = 4000  # training rows whose left-out probabilities set the levels of confidence
_POSTERIOR = Posterior()
_FIELDS = _POSTERIOR.state_fields or ()


class PredictedClass(SupervisedBaseline):
    """The likeliest class of DistilHash's own probabilities p(c | x) as a code: what a byte a row is worth.

    The embedding `Posterior` gives p. By default the code is one-hot: bit c is 1 where class c is the
    likeliest. So rows of the query's class come first, in no order among themselves, and then all others. One
    number a row stores that: a byte for up to 256 classes. One-hot bits make its distance a Hamming distance.

    With `confidence_bits` b > 0, a code also says how large p is for the class: a level from 1 to 2^b. Each
    level has an equal share of the training rows, by probabilities that leave each row out. A class then has
    2^b bits. A row sets as many of the bits of its class as its level, and a query sets all of them. So rows of
    the query's class come first, by falling p, and then the others, by rising p.

    Its own distance, ``"posterior"``, reads the probabilities themselves: it orders rows y by sum_c p(c | x)
    p(c | y), the probability of a common class, before any coding. It shows what is lost by coding.

    Parameters
    ----------
    n_bits : int, optional
        Length of the code; by default one-hot, with 2^b bits a class. Further bits are 0. With fewer bits,
        which only ``confidence_bits=0`` allows, classes have random codewords as in `OneHot`.
    confidence_bits : int
        Bits that a level of confidence takes where the class is stored as a number, 0 to 8.
    random_state : int, RandomState, Generator or None
        Draws the rows on which the kernel is chosen, and codewords shorter than one-hot.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    center_, units_, anchors_, bandwidth_, coef_, prior_ : ndarrays
        The state of the embedding.
    levels_ : ndarray (2^confidence_bits - 1,)
        Probabilities between the levels of confidence, sorted.
    codebook_ : ndarray (n_classes, n_bits) bool
        Codeword of each class.

    References
    ----------
    Sablayrolles, Douze, Usunier, Jégou (2017), How should we evaluate supervised hashing?,
    https://arxiv.org/abs/1609.06753

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> PredictedClass(random_state=0).fit(X[:300], y[:300]).transform(X[:2])
    array([[1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]], dtype=uint8)
    """

    own_distance_ = "posterior"
    own_distance_reads_floats = True
    codes_are_one_hot = True
    own_length = True
    variants = ("", ":confidence_bits=4")
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    source = "Sablayrolles et al. 2017"
    settings_from = "those of `Posterior`; a control of our own"
    fitted_fields = (
        *(Field(f"{field.name}_", field.shape, field.kind) for field in _FIELDS),
        Field("levels_", ("n_levels",)),
        Field("codebook_", ("n_classes", "n_bits"), "bool"),
    )

    levels_: NDArray[np.float64]
    codebook_: NDArray[np.bool_]

    def __init__(
        self, n_bits: int | None = None, *, confidence_bits: int = 0, random_state: Any = None
    ) -> None:
        self.n_bits = n_bits
        self.confidence_bits = confidence_bits
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("confidence_bits", self.confidence_bits, 0, _MAX_CONFIDENCE_BITS)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        n_classes, n_levels = len(rows.classes), 2**self.confidence_bits
        n_bits = self.n_bits or n_classes * n_levels
        if n_levels > 1 and n_bits < n_classes * n_levels:
            raise ValueError(
                f"n_bits={n_bits}: {n_classes} classes with {n_levels} levels of confidence take "
                f"{n_classes * n_levels} bits; give at least as many, or None"
            )
        if n_bits > MAX_BITS:
            raise ValueError(
                f"{n_classes} classes with {n_levels} levels of confidence take {n_bits} bits, a code at most "
                f"{MAX_BITS}; give a smaller confidence_bits"
            )
        words = codebook(n_classes, n_bits // n_levels, rng).repeat(n_levels, axis=1)
        words = np.pad(words, ((0, 0), (0, n_bits - words.shape[1])))
        points = sample_rows(len(rows.X), _MAX_POINTS, rng)
        found = _POSTERIOR.fit(rows.X, rows.class_index, None, points, rng)
        confidence = _POSTERIOR.at_temperature(found.vectors, 1.0, found.state).max(axis=1)
        return {
            **{f"{name}_": value for name, value in found.state.items()},
            "levels_": np.quantile(confidence.astype(np.float64), np.arange(1, n_levels) / n_levels),
            "codebook_": words,
            **equal_bits(n_bits),
        }

    def _probabilities(self, X: NDArray[Any]) -> NDArray[Any]:
        """p(c | x) (n, n_classes) of rows X (n, d)."""
        state = {field.name: getattr(self, f"{field.name}_") for field in _FIELDS}
        return _POSTERIOR.at_temperature(_POSTERIOR.embed(X, state), 1.0, state)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        P = self._probabilities(X)
        level = np.searchsorted(self.levels_, P.max(axis=1), side="right")
        place = np.arange(self.n_bits_) % (len(self.levels_) + 1)
        bits: NDArray[np.bool_] = self.codebook_[P.argmax(axis=1)] & (place <= level[:, None])
        return bits

    def queries_differ(self, n_bits: int | None = None) -> bool:
        """Whether queries set all bits of their class; see `HashEncoder.queries_differ`."""
        return len(self.levels_) > 0

    def _query_bits(self, X: NDArray[Any], n_bits: int) -> NDArray[np.bool_]:
        bits: NDArray[np.bool_] = self.codebook_[self._probabilities(X).argmax(axis=1)]
        return bits

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: 1 less the probability of a common class."""
        P = self._probabilities(np.asarray(rows)).astype(np.float64)
        return lambda queries: 1 - self._probabilities(np.asarray(queries)).astype(np.float64) @ P.T
