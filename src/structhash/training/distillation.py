"""What column generation learns from an embedding: lists of partners, and how alike each is to its query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import normalize_rows, sample_rows
from structhash.embeddings._graph import nearest
from structhash.embeddings.posterior import Posterior
from structhash.masters.listwise import ListwiseMaster
from structhash.pair_weights import PairGraph
from structhash.pieces import Params

PAIRS = 2_560_000  # of a point and a partner, at most
SURVEYED = 2000  # rows of each kind that are asked whether there are new classes, at most
FEW = 1500  # rows below which their graph is too thin
SURER = 0.05  # by how much the chance to be surer exceeds a half where there are


class Task(NamedTuple):
    """State of the embedding, the points, who meets whom, and the master."""

    state: Params
    points: NDArray[np.int64]  # row numbers (k,)
    rows: NDArray[Any]  # their vectors (k, m), as `embed` gives them
    Z: NDArray[Any]  # and as bits are learned from them
    graph: PairGraph
    master: ListwiseMaster


def task(
    X: NDArray[Any], y: Any, others: NDArray[Any] | None, embedding: Any, n_bits: int, rng: np.random.Generator
) -> Task:
    """Fit the embedding to rows X (n, d) and labels y, and draw points and their partners.

    The points are rows of X, or of `others` (m, d) where they are given.
    """
    n, (most, length) = len(X) if others is None else len(others), embedding.sample
    points = sample_rows(n, most, rng)
    with threadpool_limits(1, user_api="blas"):  # else the last digits, and then bits, depend on their number
        state, rows = embedding.fit(X, y, others, points, rng)
        U = normalize_rows(rows).astype(np.float32)
        near, _ = nearest(U, U, min(embedding.nearest, len(points) - 1), own=False)
        partners = lists(len(points), min(length, PAIRS // len(points)), rng, near)
        counts = stand_for(len(points), partners.shape[1], near.shape[1])
        queries = np.arange(len(points), dtype=np.int32)
        targets = embedding.targets(rows, queries, partners, counts)
        Z = embedding.raised(rows) if hasattr(embedding, "raised") else rows
    indptr = np.arange(len(points) + 1, dtype=np.int64) * partners.shape[1]
    graph = PairGraph(queries, indptr, partners.ravel(), len(points))
    return Task(
        state, points, rows, Z, graph, ListwiseMaster(graph, targets.ravel(), n_bits, embedding.pull, counts)
    )


def recommended(X: NDArray[Any], y: Any, others: NDArray[Any] | None) -> str:
    """The embedding for labels y (n,) of rows X: "posterior"; if `others` are of new classes, "manifold".

    They are where rows of X are the surer (`surer`) with a chance above 0.55, beyond what may be by accident.
    Fewer than 1,500 others make too thin a graph: "metric".
    """
    if others is None:
        return "posterior"
    chance, accident = surer(X, y, others)
    if chance <= 0.5 + max(SURER, 3 * accident):
        return "posterior"
    return "manifold" if len(others) >= FEW else "metric"


def surer(X: NDArray[Any], y: Any, others: NDArray[Any]) -> tuple[float, float]:
    """Chance that the posterior is surer of a row of X, left out, than of one of `others`; its standard error.

    It is the Mann-Whitney statistic, as a share; the error is that at 1/2.
    """
    rng, posterior = np.random.default_rng(0), Posterior()
    known, new = (rng.permutation(len(rows))[:SURVEYED] for rows in (X, others))
    with threadpool_limits(1, user_api="blas"):
        state, left_out = posterior.fit(X, y, None, known, rng)
        vectors = posterior.embed(others[np.sort(new)], state)
        sure, unsure = (posterior.raised(Z, 1.0).max(axis=1) for Z in (left_out, vectors))
    n, m = len(sure), len(unsure)
    places = rankdata(np.concatenate([sure, unsure]))[:n]
    return float(places.mean() - (n + 1) / 2) / m, float(np.sqrt((n + m + 1) / (12 * n * m)))


def stand_for(n: int, length: int, n_near: int) -> NDArray[np.float64]:
    """How many of n points each place of a list of `length` stands for, (length,).

    Those of the nearest, the first, for themselves, the others, drawn at random, for all that were not drawn as
    well. Where all are drawn they are alike, and each counts 1.
    """
    counts = np.ones(length)
    if 0 < n_near < length:
        counts[n_near:] = (n - 1 - n_near) / (length - n_near)
    return counts


def lists(
    n: int, length: int, rng: np.random.Generator, first: NDArray[Any] | None = None
) -> NDArray[np.uint16]:
    """For each of n points others, none twice: (n, min(length, n - 1)), n <= 65536.

    Row i of `first` (n, k), numbers of others, comes first, cut at `length`; the rest is drawn at random.
    """
    length = min(length, n - 1)
    first = np.zeros((n, 0), np.uint16) if first is None else first[:, :length]
    out = np.empty((n, length), np.uint16)
    for i in range(n):
        own = np.sort(np.append(first[i], i).astype(np.int64))
        drawn = rng.choice(n - len(own), length - len(own) + 1, replace=False, shuffle=False)
        for taken in own:  # the drawn numbers leave out these
            drawn += drawn >= taken
        out[i] = np.append(first[i], drawn)
    return out
