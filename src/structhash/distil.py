"""What column generation learns from an embedding: lists of partners, and how alike each is to its query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._rows import unit_rows
from structhash.embeddings._graph import nearest
from structhash.masters.listwise import ListwiseMaster
from structhash.pairs import PairGraph
from structhash.pieces import Params

POINTS = 4000  # rows that bits are learned from, at most
PARTNERS = 512  # of each of them


class Task(NamedTuple):
    """State of the embedding, vectors (k, m) of the points, who meets whom, and the master."""

    state: Params
    Z: NDArray[Any]
    graph: PairGraph
    master: ListwiseMaster


def task(
    X: NDArray[Any], y: Any, others: NDArray[Any] | None, embedding: Any, n_bits: int, rng: np.random.Generator
) -> Task:
    """Fit the embedding to rows X (n, d) and labels y, and draw points and their partners.

    The points are rows of X, or of `others` (m, d) where they are given.
    """
    n = len(X) if others is None else len(others)
    points = np.arange(n) if n <= POINTS else np.sort(rng.permutation(n)[:POINTS])
    state, Z = embedding.fit(X, y, others, points, rng)
    U = unit_rows(Z).astype(np.float32)
    near, _ = nearest(U, U, min(embedding.nearest, len(points) - 1), own=False)
    partners = lists(len(points), PARTNERS, rng, near)
    queries = np.arange(len(points), dtype=np.int32)
    targets = embedding.targets(Z, queries, partners)
    indptr = np.arange(len(points) + 1, dtype=np.int64) * partners.shape[1]
    graph = PairGraph(queries, indptr, partners.ravel(), len(points))
    return Task(state, Z, graph, ListwiseMaster(graph, targets.ravel(), n_bits, embedding.pull))


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
