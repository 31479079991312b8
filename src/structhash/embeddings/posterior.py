"""Class probabilities by kernel regression, for the classes that the training rows have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from structhash._numerics.blocks import float_type
from structhash._numerics.program import Program
from structhash._numerics.validation import check_count, check_positive
from structhash.embeddings._kernel_logits import LOGIT_FIELDS, express_logits, fit_logits, logit_blocks
from structhash.embeddings._outcomes import Classes
from structhash.embeddings._regression import rows_a_class
from structhash.embeddings._sureness import judged_rows, least_new_share, spread_sureness
from structhash.embeddings._targets import scaled_products, sharpen
from structhash.embeddings.base import Embedded, Embedding, LeftOut, Temperatures
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Posterior"]

FEW_ROWS, MANY_ROWS = 10, 100  # training rows a class between which the temperature of rows rises


@dataclass(frozen=True)
class Posterior(Embedding):
    """Class probabilities p(c | x). Two rows are alike with probability sum_c p(c | x) p(c | y).

    No ranking that uses the probabilities alone can beat the ranking by this probability of a common class. The
    scores f are a ridge regression of class indicators on Gaussian similarities to training rows, and p =
    softmax(s f). The labels choose the bandwidth, the ridge, s, and whether rows are compared by their
    directions, by their positions or by both: the choice maximises the likelihood of the training labels, where
    each row is left out of its own regression (a closed form). Bits are learned from these left-out
    probabilities, because a regression is too sure of rows that it has seen.

    Bits are learned from softened probabilities, so that they can separate rows of which p is sure. Rows are
    coded at a temperature that is as high or higher, so that ambiguous rows lie between the classes, away from
    the clear ones. An ambiguous query is sharpened, so that it retrieves confident rows of its likeliest class.
    It is sharpened no more than known classes need: a sharpened query of a new class loses its neighbours.

    Parameters
    ----------
    n_points, n_partners, n_nearest, self_weight
        As in `Embedding`.
    n_anchors : int
        Training rows that similarities are measured to, at most; at least 2. All of up to 2,000 training rows
        are anchors, and sqrt(2000 n) of n > 2,000: 8,000 of 32,000. A fit takes time in proportion to n times
        their number squared, and memory of 24 bytes times their number squared.
    temperature : float
        Of the probabilities that bits are learned from, and of rows where a class has 10 training rows or
        fewer.
    max_row_temperature : float
        Of rows where a class has 100 training rows or more; between 10 and 100 the temperature rises
        geometrically.
    query_candidates : tuple of float
        Temperatures that queries may have below that of rows; higher ones are left out. That of rows comes
        first, then these in the order given. The method takes the first one whose mean average precision on
        left-out training rows is within 0.003 of the best, and adds at most a fifth to what the best lacks of
        1. Empty: queries are coded as rows.

    References
    ----------
    Rifkin, Lippert, Notes on regularized least squares, MIT-CSAIL-TR-2007-025,
    https://hdl.handle.net/1721.1/37318: the regression that leaves each row out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> state, vectors, _ = Posterior().fit(X[:300], y[:300], None, np.arange(300), np.random.default_rng(0))
    >>> vectors.shape, bool((Posterior().embed(X[300:], state).argmax(axis=1) == y[300:]).mean() > 0.9)
    ((300, 10), True)
    """

    labelled: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = (
        *LOGIT_FIELDS,
        Field("sureness", ("n_judged",), least=0, most=1),
    )

    n_anchors: int = 8000
    temperature: float = 8.0
    max_row_temperature: float = 16.0
    query_candidates: tuple[float, ...] = (11.3, 8.0, 5.66, 4.0, 2.83, 2.0, 1.41, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_anchors", self.n_anchors, 2)
        check_positive("temperature", self.temperature)
        check_positive("max_row_temperature", self.max_row_temperature)
        given: Any = self.query_candidates
        object.__setattr__(
            self, "query_candidates", tuple(given) if isinstance(given, tuple | list) else (given,)
        )
        for each in self.query_candidates:
            check_positive("query_candidates", each)

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The regression, and vectors at `max_row_temperature`; see `Embedding.fit`."""
        if labels is None:
            raise ValueError("the embedding 'posterior' learns from labels; give labels")
        found = fit_logits(
            X, Classes.of(labels), points, unlabeled, self.n_anchors, self.max_row_temperature, rng
        )
        P, dtype = softmax(found.of_left_out, axis=1), float_type(X.dtype)
        sureness = spread_sureness(sharpen(P, self.max_row_temperature))
        arrays = {**found.state, "sureness": sureness}
        state = {name: array.astype(dtype, order="C") for name, array in arrays.items()}
        kept = LeftOut(found.left_out, P.astype(dtype))
        vectors = kept.vectors if unlabeled is None else self.embed(unlabeled[points], state)
        return Embedded(state, vectors, kept)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, n_classes) of rows X (n, d), at `max_row_temperature`."""
        out = np.empty((len(X), len(state["prior"])), float_type(X.dtype))
        for block, logits in logit_blocks(X, state):
            out[block] = softmax(logits, axis=1)
        return out

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        P = program.softmax(express_logits(program, X, state))
        exponent = self.max_row_temperature / temperature
        return P if exponent == 1 else program.sharpened(P, exponent)

    def new_class_share(self, X: NDArray[Any], state: Params) -> float:
        """Share of rows that are of no known class, at least, by 1,000 of them: see `least_new_share`."""
        P = sharpen(self.embed(judged_rows(X), state), self.max_row_temperature)
        return least_new_share(state["sureness"], P)

    def targets(
        self,
        vectors: NDArray[Any],
        queries: NDArray[Any],
        partners: NDArray[Any],
        multiplicities: NDArray[Any],
        state: Params,
    ) -> NDArray[np.float64]:
        """Probabilities of a common class, scaled to sum to 1 for each query."""
        P = sharpen(vectors, self.max_row_temperature)
        return scaled_products(P, queries, partners, multiplicities)

    def temperatures(self, labels: NDArray[Any] | None) -> Temperatures:
        """Rows are coded softer the more training rows a class has.

        Training rows a class are counted by their harmonic mean, so that a large class does not outweigh a rare
        one. Thresholds between the two lie near the large one, and softer codes would put both on one side.

        Examples
        --------
        >>> [round(Posterior().temperatures(np.arange(n) % 2).rows, 1) for n in (10, 20, 60, 200, 1000)]
        [8.0, 8.0, 11.1, 16.0, 16.0]
        >>> Posterior().temperatures(np.repeat([0, 1], [396, 4])).rows
        8.0
        """
        share = 1.0
        if labels is not None:
            sizes = np.unique(labels, return_counts=True)[1]
            share = float(np.clip(np.log(rows_a_class(sizes) / FEW_ROWS) / np.log(MANY_ROWS / FEW_ROWS), 0, 1))
        rows = self.temperature ** (1 - share) * self.max_row_temperature**share
        queries = (rows, *(each for each in self.query_candidates if each < rows))
        return Temperatures(self.temperature, rows, queries if self.query_candidates else ())

    def at_temperature(self, vectors: NDArray[Any], temperature: float, state: Params) -> NDArray[Any]:
        """Vectors (n, n_classes) at a temperature, from those at `max_row_temperature`; see `Embedding`."""
        if temperature == self.max_row_temperature:
            return vectors
        return sharpen(vectors, self.max_row_temperature / temperature).astype(vectors.dtype)
