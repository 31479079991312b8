"""Choose the matrix of `Metric` by how well it suits held-out classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.neighbours import nearest_by_cosine

METRIC_RIDGES = (1.0, 3.0, 10.0, 30.0)  # added to the within-class covariance, in units of its mean variance
ASSUMED_VARIANCE = 1.0  # variance between classes that is added to that of every direction
N_SPLITS = 8  # of the classes, to choose among the ridges
HELD_OUT_CLASSES = 0.3  # share of the classes on which a metric is judged
MAX_JUDGED_ROWS = 1000
N_JUDGED_NEIGHBOURS = 10  # of each row, whose classes judge the metric
MAX_DIRECTIONS = 1024
SAMPLED_ROWS = 2048  # unlabeled rows that take part in the choice of the leading directions


def choose_matrix(
    Z: NDArray[Any], class_index: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """The matrix (d, d) of the best ridge, or I, for centred rows Z (n, d)."""
    n_classes = class_index.max() + 1
    n_held = max(2, int(HELD_OUT_CLASSES * n_classes))
    totals = np.zeros(1 + len(METRIC_RIDGES))
    for _ in range(N_SPLITS if n_classes - n_held >= 2 else 0):
        held = np.isin(class_index, rng.permutation(n_classes)[:n_held])
        judged = rng.permutation(np.flatnonzero(held))[:MAX_JUDGED_ROWS]
        rest = np.unique(class_index[~held], return_inverse=True)[1]
        totals[0] += neighbour_precision(Z[judged], class_index[judged])
        for k, M in enumerate(ridge_matrices(Z[~held], rest, METRIC_RIDGES), 1):
            totals[k] += neighbour_precision(Z[judged] @ M, class_index[judged])
    best = int(np.argmax(totals))
    if best == 0:
        return np.eye(Z.shape[1])
    return next(ridge_matrices(Z, class_index, METRIC_RIDGES[best - 1 : best]))


def leading_directions(Z: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """The leading principal directions (d, k), k <= `MAX_DIRECTIONS`, of centred rows Z (n, d)."""
    count = min(MAX_DIRECTIONS, *Z.shape)
    seed = int(rng.integers(2**31))
    directions: NDArray[np.float64] = randomized_svd(Z.astype(np.float64), count, n_iter=4, random_state=seed)[
        2
    ].T
    return directions


def ridge_matrices(
    Z: NDArray[Any],
    class_index: NDArray[np.int64],
    ridges: Sequence[float],
    assumed: float = ASSUMED_VARIANCE,
) -> Iterator[NDArray[np.float64]]:
    """The matrix (d, d) of each ridge, for rows Z (n, d): see `Metric`."""
    size = np.bincount(class_index)
    means = np.zeros((len(size), Z.shape[1]))
    np.add.at(means, class_index, Z.astype(np.float64))
    means /= size[:, None]
    within = Z - means[class_index]
    values, vectors = np.linalg.eigh(within.T @ within / len(Z))
    values, center = np.maximum(values, 0), size @ means / len(Z)
    for ridge in ridges:
        whiten = vectors / np.sqrt(values + ridge * values.mean() + np.finfo(np.float32).tiny) @ vectors.T
        between = (means - center) * np.sqrt(size / len(Z))[:, None] @ whiten
        _, roots, directions = np.linalg.svd(between, full_matrices=False)
        least, most = np.sqrt(assumed / (assumed + 1)), np.sqrt((roots**2 + assumed) / (roots**2 + assumed + 1))
        yield least * whiten + whiten @ (directions.T * (most - least)) @ directions


def neighbour_precision(Z: NDArray[Any], class_index: NDArray[np.int64]) -> float:
    """Share of the nearest ten of each row of Z (n, d), by cosine around the mean, that are of its class."""
    U = normalize_rows(Z - Z.mean(axis=0))
    near, _ = nearest_by_cosine(U, U, min(N_JUDGED_NEIGHBOURS, len(U) - 1), own=False)
    return float((class_index[near] == class_index[:, None]).mean()) if near.size else 0.0
