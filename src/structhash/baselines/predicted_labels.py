"""The control for rows with several labels: a bit a label that our label probabilities predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash.baselines.base import MAX_SQUARABLE, SupervisedBaseline, TrainingRows, equal_bits
from structhash.embeddings.multilabel import Multilabel
from structhash.io.fields import Field

__all__ = ["PredictedLabels"]

_MAX_POINTS = 4000  # training rows that may judge the regression, each left out
_MULTILABEL = Multilabel()
_FIELDS = _MULTILABEL.state_fields or ()


class PredictedLabels(SupervisedBaseline):
    """The labels that DistilHash's own probabilities p(l | x) predict, a bit each: h_l(x) = [p(l | x) > 1/2].

    The embedding `Multilabel` gives p. The labels with the most training rows have the bits; of equally many,
    those earlier in y. So the first bits of a code are a shorter code of the same kind. Bits beyond the number
    of labels are 0. One label a row is taken, too: `PredictedClass` is the control for that.

    Its own distance, ``"posterior"``, reads the query by its probabilities and the row by its bits: it is
    sum_l p(l | query) (1 - h_l(row)), over the labels that have bits. This orders rows by the number of labels
    that they are expected to share with the query. It shows what is lost by coding the query.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    random_state : int, RandomState, Generator or None
        Draws the rows on which the kernel is chosen.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    labels_ : ndarray (n_labels,) int64
        Which label each bit stands for: its place among the labels that training rows have.
    center_, units_, directions_, anchors_, bandwidth_, coef_, prior_ : ndarrays
        The state of the embedding, for these labels.

    References
    ----------
    Sablayrolles, Douze, Usunier, Jégou (2017), How should we evaluate supervised hashing?,
    https://arxiv.org/abs/1609.06753: the control for one label a row.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(400, n_classes=6, random_state=0)
    >>> encoder = PredictedLabels(4, random_state=0).fit(X[:300], Y[:300])
    >>> encoder.labels_, Y[:300].sum(axis=0)
    (array([5, 1, 0, 2]), array([ 89, 105,  89,  89,  79, 117]))
    >>> encoder.transform(X[301:303])
    array([[0, 0, 0, 0],
           [0, 0, 0, 1]], dtype=uint8)
    >>> Y[301:303, encoder.labels_]
    array([[0, 0, 0, 0],
           [0, 0, 0, 1]])
    """

    own_distance_ = "posterior"
    takes_several_labels = True
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    source = "Sablayrolles et al. 2017"
    settings_from = "those of `Multilabel`; a control of our own"
    fitted_fields = (
        Field("labels_", ("n_classes",), "int", least=0),
        *(replace(field, name=f"{field.name}_") for field in _FIELDS),
    )

    labels_: NDArray[np.int64]

    def __init__(self, n_bits: int = 64, *, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        Y = rows.label_matrix() > 0
        points = sample_rows(len(rows.X), _MAX_POINTS, rng)
        state = dict(_MULTILABEL.fit(rows.X, Y, None, points, rng).state)
        chosen = np.argsort(-Y.sum(axis=0), kind="stable")[: self.n_bits]
        state |= {"coef": state["coef"][:, chosen], "prior": state["prior"][chosen]}
        return {
            "labels_": chosen,
            **{f"{name}_": value for name, value in state.items()},
            **equal_bits(self.n_bits),
        }

    def _probabilities(self, X: NDArray[Any]) -> NDArray[Any]:
        """p(l | x) (n, n_labels) of rows X (n, d), of the labels that have bits."""
        return _MULTILABEL.embed(X, {field.name: getattr(self, f"{field.name}_") for field in _FIELDS})

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        bits = np.zeros((len(X), self.n_bits_), bool)
        bits[:, : len(self.labels_)] = self._probabilities(X) > 0.5
        return bits

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: the expected number of the query's labels that a row's bits lack."""
        lacking = 1.0 - self.transform(rows)[:, : len(self.labels_)]
        return lambda queries: self._probabilities(np.asarray(queries)).astype(np.float64) @ lacking.T
