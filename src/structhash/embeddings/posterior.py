"""Class probabilities by kernel regression, for the classes that the training rows have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from structhash._numerics.blocks import float_type, row_slices, sample_rows
from structhash._numerics.gaussian import similarities_to
from structhash._numerics.program import Program
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS, check_rows_differ, float_blocks, mean_and_scale
from structhash._numerics.validation import check_count, check_positive
from structhash.embeddings._many_rows import regress_on_anchors
from structhash.embeddings._outcomes import Classes, Outcomes
from structhash.embeddings._regression import choose_kernel, kernel_rows, regress, rows_a_class
from structhash.embeddings._sureness import judged_rows, least_new_share, spread_sureness
from structhash.embeddings._targets import dot_products, sharpen
from structhash.embeddings.base import Embedded, Embedding, LeftOut, Temperatures
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Posterior"]

MAX_LEFT_OUT = 4000  # training rows by which the ridge is chosen, where the points are other rows
ALL_ANCHORS = 2000  # training rows up to which each is an anchor
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
        Field("center", ("n_features",)),
        Field("units", ("n_units",), least=0),
        Field("directions", ("n_kernel_features", "n_directions_or_0")),
        Field("anchors", ("n_anchors", "n_anchor_features")),
        Field("bandwidth", positive=True),
        Field("coef", ("n_anchors", "n_classes")),
        Field("prior", ("n_classes",)),
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
        class_index: NDArray[np.int64] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The regression, and vectors at `max_row_temperature`; see `Embedding.fit`."""
        if class_index is None:
            raise ValueError("the embedding 'posterior' learns from labels; give class_index")
        check_rows_differ(X)
        mean, scale = mean_and_scale(lambda: float_blocks(X))
        outcomes, left_out = self._outcomes(class_index), points
        units, sigma = choose_kernel(X, outcomes, mean, scale, rng)
        if unlabeled is not None:
            beside_others = np.flatnonzero(~outcomes.alone)
            left_out = beside_others[sample_rows(len(beside_others), MAX_LEFT_OUT, rng)]
        n_anchors = self._anchors_for(len(X))
        if n_anchors == len(X):
            anchors = kernel_rows(X, mean, units)
            directions = np.empty((anchors.shape[1], 0))  # all
            found = regress(anchors, outcomes, sigma, left_out)
        else:
            (directions, anchors, sigma), found = regress_on_anchors(
                lambda part: kernel_rows(X[part], mean, units),
                outcomes,
                sigma,
                n_anchors,
                left_out,
                rng,
            )
        factor, dtype = found.link.sharpness / self.max_row_temperature, float_type(X.dtype)
        offset = found.link.offset / self.max_row_temperature
        P = self._probabilities(found.left_out * factor + offset)
        state = {
            "center": mean,
            "units": np.array(units),
            "directions": directions,
            "anchors": anchors,
            "bandwidth": np.asarray(sigma),
            "coef": found.coef * factor,
            "prior": outcomes.prior * factor + offset,
            "sureness": spread_sureness(sharpen(P, self.max_row_temperature)),
        }
        state = {name: array.astype(dtype, order="C") for name, array in state.items()}
        kept = LeftOut(left_out, P.astype(dtype))
        vectors = kept.vectors if unlabeled is None else self.embed(unlabeled[points], state)
        return Embedded(state, vectors, kept)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, n_classes) of rows X (n, d), at `max_row_temperature`."""
        out = np.empty((len(X), len(state["prior"])), float_type(X.dtype))
        similar, coef = similarities_to(state["anchors"], state["bandwidth"]), state["coef"].astype(np.float64)
        for block in row_slices(len(X), FEATURE_BLOCK_ROWS):
            rows = kernel_rows(X[block], state["center"], state["units"])
            if state["directions"].size:
                rows = rows @ state["directions"].astype(np.float64)
            out[block] = self._probabilities(similar(rows) @ coef + state["prior"])
        return out

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        units, parts = [float(unit) for unit in state["units"]], []
        if units[0]:
            parts.append(program.step("divide", program.normalized(X), units[0]))
        if units[1]:
            parts.append(program.step("divide", program.step("subtract", X, state["center"]), units[1]))
        rows = program.step("concatenate", *parts)
        if state["directions"].size:
            rows = program.step("matmul", rows, state["directions"])
        similar = program.similarities(rows, state["anchors"], state["bandwidth"])
        P = program.softmax(program.step("add", program.step("matmul", similar, state["coef"]), state["prior"]))
        exponent = self.max_row_temperature / temperature
        return P if exponent == 1 else program.sharpened(P, exponent)

    def new_class_share(self, X: NDArray[Any], state: Params) -> float:
        """Share of rows that are of no known class, at least, by 1,000 of them: see `least_new_share`."""
        P = sharpen(self.embed(judged_rows(X), state), self.max_row_temperature)
        return least_new_share(state["sureness"], P)

    def _outcomes(self, class_index: NDArray[Any]) -> Outcomes:
        """What is known of the training rows."""
        return Classes.of(class_index)

    def _probabilities(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities (n, n_classes) from logits."""
        P: NDArray[np.float64] = softmax(logits, axis=1)
        return P

    def _anchors_for(self, n: int) -> int:
        """How many of n training rows are anchors."""
        return min(self.n_anchors, n if n <= ALL_ANCHORS else int(np.sqrt(ALL_ANCHORS * n)))

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
        out = dot_products(P.astype(np.float32), queries, partners)
        out += np.finfo(np.float32).tiny
        out *= multiplicities
        return out / out.sum(axis=1, keepdims=True)

    def temperatures(self, class_index: NDArray[np.int64] | None) -> Temperatures:
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
        if class_index is not None:
            sizes = np.unique(class_index, return_counts=True)[1]
            share = float(np.clip(np.log(rows_a_class(sizes) / FEW_ROWS) / np.log(MANY_ROWS / FEW_ROWS), 0, 1))
        rows = self.temperature ** (1 - share) * self.max_row_temperature**share
        queries = (rows, *(each for each in self.query_candidates if each < rows))
        return Temperatures(self.temperature, rows, queries if self.query_candidates else ())

    def at_temperature(self, vectors: NDArray[Any], temperature: float, state: Params) -> NDArray[Any]:
        """Vectors (n, n_classes) at a temperature, from those at `max_row_temperature`; see `Embedding`."""
        if temperature == self.max_row_temperature:
            return vectors
        return sharpen(vectors, self.max_row_temperature / temperature).astype(vectors.dtype)
