"""Builds a problem from an embedding: partners of each point, and how alike each is to it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows, sample_rows
from structhash._numerics.neighbours import nearest_by_cosine
from structhash._numerics.threads import one_blas_thread
from structhash.embeddings.base import Embedded, Embedding, Temperatures
from structhash.families.base import Family
from structhash.masters.listwise import ListwiseMaster
from structhash.pair_weights import PairGraph
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Problem

__all__ = ["EmbeddedPoints", "embed_points", "problem_from_embedding"]

stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MAX_ENTRIES = 2_560_000  # (point, partner) pairs


@dataclass(frozen=True)
class EmbeddedPoints:
    """A fitted embedding and the points that bits are learned from.

    Attributes
    ----------
    embedding : Embedding
    embedded : Embedded
    temperatures : Temperatures
    """

    embedding: Embedding
    embedded: Embedded
    temperatures: Temperatures


def embed_points(
    embedding: Embedding,
    X: NDArray[Any],
    labels: NDArray[Any] | None,
    unlabeled: NDArray[Any] | None,
    rng: np.random.Generator,
) -> EmbeddedPoints:
    """Draw the points and fit the embedding.

    Parameters
    ----------
    embedding : Embedding
    X : ndarray (n, d)
    labels : int64 (n,), bool (n, L) or None
        As in `Embedding.fit`.
    unlabeled : ndarray (m, d) or None
        If given, the points are rows of it, else of X.
    rng : Generator

    Returns
    -------
    EmbeddedPoints
    """
    stages.info("fitting the embedding (%s)", type(embedding).__name__.lower())
    points = sample_rows(len(X if unlabeled is None else unlabeled), embedding.n_points, rng)
    with one_blas_thread():  # otherwise the last digits, and then bits, depend on the threads
        embedded = embedding.fit(X, labels, unlabeled, points, rng)
    return EmbeddedPoints(embedding, embedded, embedding.temperatures(labels))


def problem_from_embedding(
    points: EmbeddedPoints, family: Family, n_bits: int, rng: np.random.Generator
) -> Problem:
    """Draw each point's partners, and prepare targets, master and features.

    Parameters
    ----------
    points : EmbeddedPoints
    family : Family
    n_bits : int
        Bits that will be learned, at most.
    rng : Generator

    Returns
    -------
    Problem
    """
    embedding, (state, vectors, _) = points.embedding, points.embedded
    n = len(vectors)
    stages.info("finding near rows of each row")
    with one_blas_thread():
        U = normalize_rows(vectors).astype(np.float32)
        near, _ = nearest_by_cosine(U, U, min(embedding.n_nearest, n - 1), own=False)
        partners = draw_partners(n, min(embedding.n_partners, MAX_ENTRIES // n), rng, near)
        multiplicities = partner_multiplicities(n, partners.shape[1], near.shape[1])
        queries = np.arange(n, dtype=np.int32)
        targets = embedding.targets(vectors, queries, partners, multiplicities, state)
        vectors = embedding.at_temperature(vectors, points.temperatures.points, state)
    indptr = np.arange(n + 1, dtype=np.int64) * partners.shape[1]
    graph = PairGraph(queries, indptr, partners.ravel(), n)
    master = ListwiseMaster(graph, targets.ravel(), n_bits, embedding.self_weight, multiplicities)
    stages.info("preparing the features of bits")
    family_state = family.prepare(vectors, rng)
    function = HashFunction(
        family,
        family_state,
        embedding=embedding,
        embedding_state=state,
        row_temperature=points.temperatures.rows,
    )
    return Problem(family.features(vectors, family_state), graph, master, function)


def partner_multiplicities(n: int, length: int, n_near: int) -> NDArray[np.float64]:
    """How many of n points each place in a list of partners represents, (length,).

    The nearest points come first and represent themselves. The others are drawn at random; they also represent
    all points that were not drawn. If no nearest points come first, each counts 1.
    """
    multiplicities = np.ones(length)
    if 0 < n_near < length:
        multiplicities[n_near:] = (n - 1 - n_near) / (length - n_near)
    return multiplicities


def draw_partners(
    n: int, length: int, rng: np.random.Generator, first: NDArray[Any] | None = None
) -> NDArray[np.uint16]:
    """Draw partners of each of n points, none twice.

    Parameters
    ----------
    n : int
        At most 65,536.
    length : int
        Partners of each point; all others where there are fewer.
    rng : Generator
    first : int (n, k), optional
        Partners that come first in each list; the rest is drawn at random.

    Returns
    -------
    ndarray uint16 (n, min(length, n - 1))
    """
    length = min(length, n - 1)
    first = np.zeros((n, 0), np.uint16) if first is None else first[:, :length]
    out = np.empty((n, length), np.uint16)
    for i in range(n):
        taken = np.sort(np.append(first[i], i).astype(np.int64))
        drawn = rng.choice(n - len(taken), length - len(taken) + 1, replace=False, shuffle=False)
        for each in taken:  # drawn numbers skip these
            drawn += drawn >= each
        out[i] = np.append(first[i], drawn)
    return out
