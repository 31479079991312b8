"""A linear metric learned from classes, for classes that the training rows lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from structhash._numerics.blocks import float_type, normalize_rows
from structhash.embeddings._graph import nearest
from structhash.embeddings.cosine import Cosine
from structhash.families.linear import Linear
from structhash.pieces import Params

RIDGES = (1.0, 3.0, 10.0, 30.0)  # added to the within-class covariance, in its mean variances
KEEP = 1.0  # variance between classes that every direction is thought to have besides
SPLITS = 8  # of the classes, to choose among the ridges
HELD_OUT = 0.3  # share of the classes on which a metric is judged
JUDGED = 1000  # rows judged, at most
NEAREST = 10  # of each row, whose classes judge
WIDEST = 1024  # directions, at most
SOME = 2048  # unlabeled rows that say which directions lead


@dataclass(frozen=True)
class Metric(Cosine):
    """Rows whitened within classes and stretched between them, compared by their cosine.

    With S the covariance of rows around their class means, z = (S + ridge I)^(-1/2) (x - mean), and with b the
    variances of the class means along their principal directions of z, those are scaled by
    sqrt((b + 1) / (b + 2)): what differs between the classes at hand counts most, and what does not may still
    tell others apart. The ridge, and whether to leave rows as they are, are chosen by how many of the ten
    nearest are of the same class among rows of classes held out; of fewer than four classes none can be, and
    rows stay as they are. Of more than 1,024 features the leading 1,024 principal directions count, of the rows
    of X and of the unlabeled ones.

    References
    ----------
    Ioffe, Probabilistic linear discriminant analysis, ECCV 2006, https://doi.org/10.1007/11744085_41: the
    scaling sqrt(b / (b + 1)) is that of its similarity.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> state, Z = Metric().fit(X[:300], y[:300], None, np.arange(300), np.random.default_rng(0))
    >>> Z.shape
    (300, 64)
    """

    labelled: ClassVar[bool] = True
    pull: ClassVar[float] = 8.0
    nearest: ClassVar[int] = 0
    sample: ClassVar[tuple[int, int]] = (4000, 512)

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, learned from rows X (n, d) with labels y (n,), and vectors (k, d) of the rows `points`.

        They are rows of `others` (m, d), which are centred to be around the origin, or of X where it is None.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        state, Z = Cosine().fit(X, y, None, np.arange(len(X)), rng)
        index = np.unique(y, return_inverse=True)[1]
        if others is None:
            chosen = Z[points]
        else:
            state, chosen = Cosine().fit(X, y, others, points, rng)
        if Z.shape[1] <= WIDEST:
            matrix = self.matrix(Z, index, rng)
        else:
            some = Z[:0] if others is None else Cosine().embed(others[:: 1 + len(others) // SOME], state)
            lead = leading(np.vstack([Z, some]), rng)
            matrix = lead @ self.matrix(Z @ lead, index, rng)
        state["matrix"] = matrix.astype(float_type(X.dtype))
        return state, chosen @ state["matrix"]

    def matrix(
        self, Z: NDArray[Any], index: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """The matrix (d, d) of the best choice, or I, for centred rows Z of classes index (n,)."""
        n_classes = index.max() + 1
        n_held = max(2, int(HELD_OUT * n_classes))
        totals = np.zeros(1 + len(RIDGES))
        for _ in range(SPLITS if n_classes - n_held >= 2 else 0):
            held = np.isin(index, rng.permutation(n_classes)[:n_held])
            judged = rng.permutation(np.flatnonzero(held))[:JUDGED]
            rest = np.unique(index[~held], return_inverse=True)[1]
            totals[0] += precision(Z[judged], index[judged])
            for k, M in enumerate(matrices(Z[~held], rest, RIDGES), 1):
                totals[k] += precision(Z[judged] @ M, index[judged])
        best = int(np.argmax(totals))
        return np.eye(Z.shape[1]) if best == 0 else next(matrices(Z, index, RIDGES[best - 1 : best]))

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, d) of rows X (n, d)."""
        return Linear().features(X, state) @ state["matrix"]

    def linear(self, state: Params) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Centre (d,), matrix (d, k) and scale of the embedding as (x - centre)'matrix / scale."""
        return state["mean"].astype(np.float64), state["matrix"].astype(np.float64), float(state["scale"])


def leading(Z: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """The leading principal directions (d, k), k <= `WIDEST`, of centred rows Z (n, d)."""
    count = min(WIDEST, *Z.shape)
    seed = int(rng.integers(2**31))
    return randomized_svd(Z.astype(np.float64), count, n_iter=4, random_state=seed)[2].T


def matrices(
    Z: NDArray[Any], index: NDArray[np.int64], ridges: Sequence[float], keep: float = KEEP
) -> Iterator[NDArray[np.float64]]:
    """The matrix (d, d) of each ridge."""
    size = np.bincount(index)
    means = np.zeros((len(size), Z.shape[1]))
    np.add.at(means, index, Z.astype(np.float64))
    means /= size[:, None]
    within = Z - means[index]
    values, vectors = np.linalg.eigh(within.T @ within / len(Z))
    values, center = np.maximum(values, 0), size @ means / len(Z)
    for ridge in ridges:
        whiten = vectors / np.sqrt(values + ridge * values.mean() + np.finfo(np.float32).tiny) @ vectors.T
        apart = (means - center) * np.sqrt(size / len(Z))[:, None] @ whiten
        _, roots, directions = np.linalg.svd(apart, full_matrices=False)
        least, most = np.sqrt(keep / (keep + 1)), np.sqrt((roots**2 + keep) / (roots**2 + keep + 1))
        yield least * whiten + whiten @ (directions.T * (most - least)) @ directions


def precision(Z: NDArray[Any], index: NDArray[np.int64]) -> float:
    """Share of the nearest ten of each row of Z (n, d), by cosine around the mean, that are of its class."""
    U = normalize_rows(Z - Z.mean(axis=0))
    near, _ = nearest(U, U, min(NEAREST, len(U) - 1), own=False)
    return float((index[near] == index[:, None]).mean()) if near.size else 0.0
