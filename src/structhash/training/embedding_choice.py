"""Which embedding to distil: chosen from the labels and the unlabeled rows."""

from __future__ import annotations

import copy
import logging
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from structhash._numerics.randomness import generator
from structhash._numerics.threads import one_blas_thread
from structhash.embeddings.base import Embedding
from structhash.embeddings.centered import Centered
from structhash.embeddings.manifold import Manifold
from structhash.embeddings.metric import Metric
from structhash.embeddings.mixture import Mixture
from structhash.embeddings.multilabel import Multilabel
from structhash.embeddings.posterior import Posterior
from structhash.pieces import spell
from structhash.training.distillation import EmbeddedPoints, embed_points

__all__ = ["EmbeddingChoice", "choose_embedding", "new_class_evidence", "warn_without_unlabeled"]

logger = logging.getLogger("structhash")

MAX_COMPARED_ROWS = 2000  # of the training rows, and of the unlabeled rows
MIN_GRAPH_ROWS = 1500  # fewer unlabeled rows make too thin a graph for `Manifold`
MIN_KNOWN_SHARE, MAX_KNOWN_SHARE = 0.25, 0.95  # of the unlabeled rows, between which `Mixture` serves them
MAX_LABEL_TRUST = 0.9  # of `Mixture`, from which on the labels need no help of the unlabeled rows
MIN_EXCESS = 0.05  # of the evidence of new classes over a half, for `Metric`

_ALL_KNOWN = "the unlabeled rows are of the labelled classes"
_FEW = "the labels are few, and the unlabeled rows help"
_ALL_NEW = "unlabeled rows are of classes without labels"


class EmbeddingChoice(NamedTuple):
    """An embedding that was chosen and fitted.

    Attributes
    ----------
    points : EmbeddedPoints
    rng : Generator
        To go on with.
    reason : str
        Why it was chosen, in words.
    row_bits : bool
        Whether some bits should follow the rows themselves (`structhash.training.row_bits`).
    """

    points: EmbeddedPoints
    rng: np.random.Generator
    reason: str
    row_bits: bool = False


def choose_embedding(
    X: NDArray[Any],
    labels: NDArray[Any] | None,
    unlabeled: NDArray[Any] | None,
    random_state: Any,
) -> EmbeddingChoice:
    """Fit the embedding that suits the data.

    Without labels it is `Centered`. Where rows have several labels it is `Multilabel`. With one label a row it
    is `Posterior`, unless there are unlabeled rows. Then it depends on how many of these are of known classes:
    `Posterior` for nearly all, `Mixture` for a part or where the labels are few, `Manifold` where the known
    ones are few. Below 1,500 unlabeled rows it is `Posterior`, or `Metric` where the evidence of new classes is
    clear; where no class has two labelled rows, their number does not count. Codes of `Posterior` get row bits.

    Parameters
    ----------
    X : ndarray (n, d)
    labels : int64 (n,), bool (n, L) or None
        Class number of each row, or which labels it has.
    unlabeled : ndarray (m, d) or None
    random_state : int, RandomState, Generator or None

    Returns
    -------
    EmbeddingChoice
    """
    saved = copy.deepcopy(random_state)

    def fitted(embedding: Embedding, again: bool = False) -> tuple[EmbeddedPoints, np.random.Generator]:
        """The embedding, drawn as if a setting named it."""
        rng = generator(copy.deepcopy(saved) if again else random_state)
        return embed_points(embedding, X, labels, unlabeled, rng), rng

    if labels is None:
        return _report(*fitted(Centered()), "there are no labels (ITQ is better on some such data: compare)")
    if labels.ndim == 2:
        return _report(*fitted(Multilabel()), "rows have several labels")
    if unlabeled is None:
        return _report(*fitted(Posterior()), "there are labels", row_bits=True)
    single = np.bincount(labels).max() == 1
    if len(unlabeled) < MIN_GRAPH_ROWS and not single:
        tried = fitted(Posterior())
        chance, error = new_class_evidence(tried[0], unlabeled)
        if chance <= 0.5 + max(MIN_EXCESS, 3 * error):
            return _report(*tried, _ALL_KNOWN, row_bits=True)
        return _report(*fitted(Metric(), again=True), _ALL_NEW)
    tried = fitted(Mixture())
    vectors, state = tried[0].embedded.vectors, tried[0].embedded.state
    share, trust = Mixture().known_share(vectors, state), Mixture().label_trust(vectors, state)
    if share >= MAX_KNOWN_SHARE and trust < MAX_LABEL_TRUST:
        return _report(*tried, _FEW)
    if share >= MAX_KNOWN_SHARE:
        return _report(*fitted(Posterior(), again=True), _ALL_KNOWN, row_bits=True)
    if share < MIN_KNOWN_SHARE:
        return _report(*fitted(Manifold(), again=True), _ALL_NEW)
    return _report(*tried, f"about {1 - share:.0%} of the unlabeled rows are of classes without labels")


def new_class_evidence(points: EmbeddedPoints, unlabeled: NDArray[Any]) -> tuple[float, float]:
    """Evidence that the classes of training rows are clearer than those of unlabeled rows.

    Parameters
    ----------
    points : EmbeddedPoints
        Of a `Posterior`, whose left-out training rows are compared.
    unlabeled : ndarray (m, d)

    Returns
    -------
    chance : float
        That the largest class probability of a training row exceeds that of an unlabeled row (the Mann-Whitney
        statistic, as a share). About a half where the classes are the same.
    error : float
        Its standard error at a half.
    """
    embedding, embedded = points.embedding, points.embedded
    if embedded.left_out is None:
        raise ValueError(f"{embedding!r} gives no left-out vectors; give the points of a Posterior")
    rng = np.random.default_rng(0)
    known, new = (rng.permutation(n)[:MAX_COMPARED_ROWS] for n in (len(embedded.left_out.rows), len(unlabeled)))
    with one_blas_thread():
        vectors = embedding.embed(unlabeled[np.sort(new)], embedded.state)
        sure, unsure = (
            embedding.at_temperature(each, 1.0, embedded.state).max(axis=1)
            for each in (embedded.left_out.vectors[known], vectors)
        )
    n, m = len(sure), len(unsure)
    ranks = rankdata(np.concatenate([sure, unsure]))[:n]
    return float(ranks.mean() - (n + 1) / 2) / m, float(np.sqrt((n + m + 1) / (12 * n * m)))


def warn_without_unlabeled(
    embedding: Embedding, labels: NDArray[Any] | None, unlabeled: NDArray[Any] | None
) -> None:
    """Warn where an embedding needs unlabeled rows beside labels and gets none.

    Parameters
    ----------
    embedding : Embedding
    labels : int64 (n,), bool (n, L) or None
    unlabeled : ndarray (m, d) or None
    """
    if embedding.wants_unlabeled and labels is not None and unlabeled is None:
        logger.warning(
            "embedding=%r learns from rows like those to be searched: give unlabeled=, or take 'metric', which "
            "is better where there are only the labelled rows",
            spell(embedding),
        )


def _report(
    points: EmbeddedPoints, rng: np.random.Generator, reason: str, row_bits: bool = False
) -> EmbeddingChoice:
    """The choice, after a line about it in the log."""
    logger.info("embedding %s: %s", type(points.embedding).__name__.lower(), reason)
    return EmbeddingChoice(points, rng, reason, row_bits)
