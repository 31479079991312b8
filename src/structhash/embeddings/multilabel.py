"""Label probabilities by kernel regression, where rows have several labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from structhash._numerics.blocks import float_type
from structhash._numerics.program import Program
from structhash._numerics.validation import check_count
from structhash.embeddings._kernel_logits import LOGIT_FIELDS, express_logits, fit_logits, logit_blocks
from structhash.embeddings._outcomes import LabelSets
from structhash.embeddings._targets import scaled_products
from structhash.embeddings.base import Embedded, FactoredEmbedding
from structhash.io.fields import Fields
from structhash.pieces import Params

__all__ = ["Multilabel"]


@dataclass(frozen=True)
class Multilabel(FactoredEmbedding):
    """Probabilities p(l | x) of labels, of which a row has any number. Rows are alike by the labels they share.

    Two rows are alike by the number of labels that they are expected to share, sum_l p(l | x) p(l | y). The
    scores f are a ridge regression of label indicators on Gaussian similarities to training rows. The log-odds
    of label l are a f_l + b logit(share of l) + c, with a > 0. The labels choose the bandwidth, the ridge, a,
    b, c, and whether rows are compared by their directions, by their positions or by both: the choice maximises
    the likelihood of the training labels, where each row is left out of its own regression (a closed form).
    Bits are learned from these left-out probabilities.

    Parameters
    ----------
    n_points, n_partners, n_nearest, self_weight
        As in `Embedding`.
    n_anchors : int
        Training rows that similarities are measured to, at most, as in `Posterior`; at least 2.

    References
    ----------
    Rifkin, Lippert, Notes on regularized least squares, MIT-CSAIL-TR-2007-025,
    https://hdl.handle.net/1721.1/37318: the regression that leaves each row out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> Y = np.column_stack([y % 2 == 0, y % 3 == 0, y > 6])
    >>> state, vectors, _ = Multilabel().fit(X[:300], Y[:300], None, np.arange(300), np.random.default_rng(0))
    >>> vectors.shape, bool(((Multilabel().embed(X[300:], state) > 0.5) == Y[300:]).mean() > 0.9)
    ((300, 3), True)
    """

    labelled: ClassVar[bool] = True
    takes_several_labels: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = LOGIT_FIELDS

    n_anchors: int = 8000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_anchors", self.n_anchors, 2)

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The regression, and label probabilities; see `Embedding.fit`."""
        if labels is None:
            raise ValueError("the embedding 'multilabel' learns from labels; give labels")
        Y = labels[:, None] == np.arange(labels.max() + 1) if labels.ndim == 1 else labels
        found = fit_logits(X, LabelSets.of(Y), points, unlabeled, self.n_anchors, 1.0, rng)
        dtype = float_type(X.dtype)
        state = {name: array.astype(dtype, order="C") for name, array in found.state.items()}
        if unlabeled is None:
            return Embedded(state, expit(found.of_left_out).astype(dtype))
        vectors = self.embed(unlabeled[points], state)
        if (vectors == vectors[0]).all():
            raise ValueError(
                f"the labels of X say the same of all {len(vectors)} unlabeled rows to learn from, as of "
                "rows far from X; give unlabeled rows like those of X, or none"
            )
        return Embedded(state, vectors)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Label probabilities (n, n_labels) of rows X (n, d)."""
        out = np.empty((len(X), len(state["prior"])), float_type(X.dtype))
        for block, logits in logit_blocks(X, state):
            out[block] = expit(logits)
        return out

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        return program.logistic(express_logits(program, X, state))

    def targets(
        self,
        vectors: NDArray[Any],
        queries: NDArray[Any],
        partners: NDArray[Any],
        multiplicities: NDArray[Any],
        state: Params,
    ) -> NDArray[np.float64]:
        """Expected numbers of common labels, scaled to sum to 1 for each query."""
        return scaled_products(vectors, queries, partners, multiplicities)

    def factors(self, vectors: NDArray[Any], state: Params, queries: bool = False) -> NDArray[np.float64]:
        """The label probabilities: their inner product is the expected number of common labels."""
        return vectors.astype(np.float64)

    def most_alike(self, state: Params) -> float:
        """See `FactoredEmbedding.most_alike`."""
        return len(state["prior"]) + 1.0
