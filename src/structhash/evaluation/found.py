"""What each query of a comparison finds first, noted while its ranking is scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.evaluation.scoring import Block

__all__ = ["N_FOUND", "FirstFound", "Found"]

N_FOUND = 10  # documents of a query


class Found(NamedTuple):
    """What the queries of one result find first.

    Attributes
    ----------
    queries : sequence of int
        Their row numbers in the data, in the order of the scores.
    documents : sequence of list of int
        For each query the row numbers of the documents found first; empty where a protocol does not rank the
        whole database.
    grades : sequence of list of int
        The relevance of these documents; 0 or 1 where it is bool.
    """

    queries: Sequence[int] = ()
    documents: Sequence[list[int]] = ()
    grades: Sequence[list[int]] = ()


class FirstFound:
    """Notes the documents that are found first, from blocks on their way to `retrieval`.

    Documents at equal distances come in an order that the seed draws once for all queries. The order of the
    rows would not be neutral: the training rows are the first of most databases.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> noted = FirstFound(0)
    >>> _ = list(noted.watch([(np.array([[3, 1, 2]]), np.array([[True, False, True]]))]))
    >>> noted.found(np.array([7]), np.array([10, 11, 12]))
    Found(queries=[7], documents=[[11, 12, 10]], grades=[[0, 1, 1]])
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._places: list[NDArray[np.int64]] = []
        self._grades: list[list[int]] = []

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on, and note what is found in them. They are those of all queries, in order."""
        turn = np.empty(0, np.int64)
        for distances, relevance in blocks:
            n_rows = distances.shape[1]
            if len(turn) != n_rows:
                turn = np.random.default_rng(self._seed).permutation(n_rows)
            k = min(N_FOUND, n_rows)
            furthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
            for apart, relevant, limit in zip(distances, relevance, furthest, strict=True):
                near = np.flatnonzero(apart <= limit)
                first = near[np.lexsort((turn[near], apart[near]))[:k]]
                self._places.append(first)
                self._grades.append(relevant[first].astype(int).tolist())
            yield distances, relevance

    def found(self, queries: NDArray[np.int64], documents: NDArray[np.int64] | None) -> Found:
        """What was noted, by the row numbers of all queries and of all documents; None leaves documents out."""
        if documents is None:
            return Found(queries.tolist())
        return Found(queries.tolist(), [documents[each].tolist() for each in self._places], self._grades)
