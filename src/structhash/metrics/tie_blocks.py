"""Cut the ranking of each query into tie blocks: documents at equal distance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash._numerics.validation import check_choice, check_count, refuse_masked

__all__ = ["MAX_GRADE", "TieBlocks", "tie_blocks", "without_self"]

MAX_GRADE = 52  # the highest grade whose gain 2^grade - 1 is exact in float64
_DISTANCES_AT_ONCE = 1 << 17  # so that they stay in the cache


class TieBlocks(NamedTuple):
    """Tie blocks of Q queries; query q owns the blocks ``ptr[q]:ptr[q + 1]``, nearest first.

    Attributes
    ----------
    ptr : int64 (Q + 1,)
    size : int64 (B,)
        Documents in each block.
    hits : int64 (B,)
        Relevant documents in each block.
    gain : float64 (B,)
        Sum of 2^grade - 1 over the documents of each block; equal to `hits` for binary relevance.
    grades : int64 (Q, G)
        Documents of grade 1 to G of each query; G = 1 for binary relevance.
    """

    ptr: NDArray[np.int64]
    size: NDArray[np.int64]
    hits: NDArray[np.int64]
    gain: NDArray[np.float64]
    grades: NDArray[np.int64]

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        return len(self.ptr) - 1

    @property
    def max_documents(self) -> int:
        """Number of documents of the longest ranking; 0 without queries."""
        return int(self.sums(self.size).max(initial=0))

    @property
    def relevant(self) -> NDArray[np.int64]:
        """Number of relevant documents of each query, P (Q,)."""
        counts: NDArray[np.int64] = self.grades.sum(axis=1)
        return counts

    @property
    def query(self) -> NDArray[np.int64]:
        """Query of each block, (B,)."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.ptr))

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sum of the values (B,) over the blocks of each query, (Q,)."""
        sums = np.bincount(self.query, weights=values, minlength=self.n_queries)
        return sums.astype(np.float64, copy=False)

    def before(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum of the values (B,) over the earlier blocks of the same query, (B,)."""
        total = np.concatenate(([0], np.cumsum(values)))
        earlier: NDArray[Any] = total[:-1] - total[self.ptr[:-1]][self.query]
        return earlier


def tie_blocks(distances: ArrayLike, relevance: ArrayLike, ties: str = "expected") -> TieBlocks:
    """Cut the ranking of each query into blocks of equal distance.

    Parameters
    ----------
    distances : integer or float array (Q, n)
        A smaller distance is nearer. Equal means exactly equal: first apply `merge_ties` to distances with
        rounding errors. Infinity is allowed.
    relevance : bool or integer array (Q, n)
        Grades from 0 (irrelevant) to 52. Q = 0 and n = 0 are allowed and give no blocks.
    ties : {"expected", "id"}
        "expected" makes one block of each distance. "id" orders tied documents by column, so that each
        document is a block of its own.

    Returns
    -------
    TieBlocks

    Raises
    ------
    TypeError
        If an array has another dtype.
    ValueError
        If the shapes differ, a distance is NaN, a grade is out of range, or `ties` is another word.

    Examples
    --------
    >>> from structhash.metrics import tie_blocks
    >>> blocks = tie_blocks([[3, 1, 1, 7]], [[True, False, True, False]])
    >>> blocks.size, blocks.hits
    (array([2, 1, 1]), array([1, 1, 0]))
    """
    check_choice("ties", ties, ("expected", "id"))
    refuse_masked("distances", distances)
    refuse_masked("relevance", relevance)
    dist, rel = np.asarray(distances), np.asarray(relevance)
    top = _check_rankings(dist, rel)
    grades = np.stack([(rel == grade).sum(axis=1) for grade in range(1, max(top, 1) + 1)], axis=1)
    # without queries one empty part remains, which gives the empty arrays their dtypes
    parts = row_slices(max(len(dist), 1), rows_within(dist.shape[1], _DISTANCES_AT_ONCE))
    found = [_blocks_of_rows(dist[part], rel[part], ties == "id") for part in parts]
    count, size, hits, gain = map(np.concatenate, zip(*found))
    return TieBlocks(np.concatenate(([0], np.cumsum(count))), size, hits, gain, grades)


def without_self(
    distances: NDArray[Any], relevance: NDArray[Any], first: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Drop each query from its own ranking, for queries that are consecutive rows of the database.

    Parameters
    ----------
    distances, relevance : ndarray (q, n)
    first : int
        Column of the first query; query i is column ``first + i``.

    Returns
    -------
    distances, relevance : ndarray (q, n - 1)

    Examples
    --------
    >>> from structhash.metrics import without_self
    >>> without_self(np.array([[1, 0, 2]]), np.array([[True, True, False]]), first=1)
    (array([[1, 2]]), array([[ True, False]]))
    """
    distances, relevance = np.asarray(distances), np.asarray(relevance)
    check_count("first", first, 0)
    if distances.ndim != 2 or relevance.shape != distances.shape or first + len(distances) > distances.shape[1]:
        raise ValueError(
            f"distances have shape {distances.shape} and relevance has shape {relevance.shape}, from column "
            f"{first}; give both one shape (q, n), with a column for each of the q queries"
        )
    q, n = distances.shape
    others = np.ones((q, n), bool)
    others[np.arange(q), first + np.arange(q)] = False
    return distances[others].reshape(q, n - 1), relevance[others].reshape(q, n - 1)


def _check_rankings(dist: NDArray[Any], rel: NDArray[Any]) -> int:
    """Check distances and relevance, and return the highest grade."""
    if dist.dtype.kind not in "iuf":
        raise TypeError(f"distances have dtype {dist.dtype}; give integers or floats")
    if rel.dtype.kind not in "biu":
        raise TypeError(f"relevance has dtype {rel.dtype}; give bools or integer grades")
    if dist.ndim != 2 or dist.shape != rel.shape:
        raise ValueError(
            f"distances have shape {dist.shape} and relevance has shape {rel.shape}; "
            "give both one shape (queries, documents)"
        )
    if dist.dtype.kind == "f" and np.isnan(dist).any():
        raise ValueError("distances hold NaN; give inf to documents that rank last")
    low, top = int(rel.min(initial=0)), int(rel.max(initial=0))
    if low < 0 or top > MAX_GRADE:
        raise ValueError(f"grades run from {low} to {top}; give grades from 0 to {MAX_GRADE}")
    return top


def _blocks_of_rows(
    dist: NDArray[Any], rel: NDArray[Any], by_id: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Number of blocks of each row, then size, hits and gain of all blocks."""
    if dist.size and dist.dtype.kind in "iu" and int(dist.max()) - int(dist.min()) < 1 << 16:
        dist = np.subtract(dist, dist.min(), dtype=np.uint16, casting="unsafe")  # exact, as modulo 2^16
    counted = by_id or dist.dtype == np.uint16  # the stable sort of uint16 is a radix sort
    order = np.argsort(dist, axis=1, kind="stable" if counted else None)
    dist, rel = np.take_along_axis(dist, order, 1), np.take_along_axis(rel, order, 1).astype(np.int64).ravel()
    new = np.ones(dist.shape, bool)
    new[:, 1:] = (dist[:, 1:] != dist[:, :-1]) | by_id
    first = np.flatnonzero(new)
    hits = np.add.reduceat(rel > 0, first, dtype=np.int64)
    gain = np.add.reduceat((np.exp2(np.arange(MAX_GRADE + 1)) - 1)[rel], first)
    return new.sum(axis=1), np.diff(first, append=new.size), hits, gain
