"""What column generation learns from an embedding: lists of partners, and how alike each is to its query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.families._scale import blocks, mean_and_scale
from structhash.masters.listwise import ListwiseMaster
from structhash.pairs import PairGraph
from structhash.pieces import Params

POINTS = 4000  # rows that bits are learned from, at most
PARTNERS = 512  # of each of them, drawn at random


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
    if others is None:
        state, Z = embedding.fit(X, y, points, rng)
    else:
        state, _ = embedding.fit(X, y, np.arange(min(len(X), POINTS)), rng)
        if "mean" in state:
            state["mean"] = mean_and_scale(lambda: blocks(others))[0].astype(state["mean"].dtype)
        Z = embedding.embed(others[points], state)
    partners = lists(len(points), PARTNERS, rng)
    queries = np.arange(len(points), dtype=np.int32)
    targets = embedding.targets(Z, queries, partners)
    indptr = np.arange(len(points) + 1, dtype=np.int64) * partners.shape[1]
    graph = PairGraph(queries, indptr, partners.ravel(), len(points))
    return Task(state, Z, graph, ListwiseMaster(graph, targets.ravel(), n_bits, embedding.pull))


def lists(n: int, length: int, rng: np.random.Generator) -> NDArray[np.uint16]:
    """For each of n points others at random, none twice: (n, min(length, n - 1)), n <= 65536."""
    out = np.empty((n, min(length, n - 1)), np.uint16)
    for i in range(n):
        drawn = rng.choice(n - 1, out.shape[1], replace=False, shuffle=False)
        out[i] = drawn + (drawn >= i)
    return out
