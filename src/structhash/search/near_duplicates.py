"""All pairs of codes that are near each other, and the groups that they form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from structhash._numerics.blocks import row_slices
from structhash._numerics.validation import describe
from structhash.codes import check_codes
from structhash.search._checks import check_radius
from structhash.search._chunks import make_chunks, pairs_within
from structhash.search._sublinear import MOST_ROWS, check_setting

__all__ = ["group_pairs", "near_groups", "near_pairs"]

_ROWS_AT_ONCE = 1 << 14
_PAIRS_AT_ONCE = 1 << 20

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]


def near_pairs(
    codes: NDArray[np.uint8], n_bits: int, radius: float, max_pairs: int | None = None
) -> Iterator[Pairs]:
    """Yield all pairs of rows whose codes differ in at most `radius` bits, some at a time.

    Pairs are found by the values of parts of the codes, as in `MultiHash`, or by comparison with all codes
    where there is too much to look at. None is missed.

    Parameters
    ----------
    codes : uint8 array (n, ceil(n_bits / 8))
    n_bits : int
    radius : float, at least 0
    max_pairs : int, optional
        Stop with an error when there are more. By default there is no limit: memory does not grow with the
        number of pairs, time does.

    Yields
    ------
    i, j : int64 arrays (m,)
        Rows, i < j. Pairs ascend by (i, distance, j).
    distances : int32 array (m,)

    Raises
    ------
    TypeError, ValueError
        If the codes or the radius are not valid, or there are more than `max_pairs` pairs.

    Examples
    --------
    >>> codes = np.array([[0b0], [0b1111], [0b1]], dtype=np.uint8)
    >>> list(near_pairs(codes, n_bits=8, radius=1))
    [(array([0]), array([2]), array([1], dtype=int32))]
    """
    codes, radius = check_codes(codes, n_bits), check_radius(radius)
    if len(codes) > MOST_ROWS:
        raise ValueError(f"{len(codes):,} codes: give at most {MOST_ROWS:,}; look at parts of them")
    return _pairs(codes, n_bits, radius, check_setting("max_pairs", max_pairs, 0, 1 << 62))


def _pairs(codes: NDArray[np.uint8], n_bits: int, radius: float, max_pairs: int | None) -> Iterator[Pairs]:
    """`near_pairs` after the checks."""
    if len(codes) < 2:
        return
    chunks, n_found = make_chunks(codes, n_bits), 0
    for part in row_slices(len(codes), _ROWS_AT_ONCE):
        first = part.start
        for lims, distances, j in pairs_within(chunks, codes[part], radius, np.arange(part.start, part.stop)):
            i = first + np.repeat(np.arange(len(lims) - 1), np.diff(lims))
            first += len(lims) - 1
            n_found += len(j)
            if max_pairs is not None and n_found > max_pairs:
                raise ValueError(
                    f"more than {max_pairs:,} pairs of the first {i[-1] + 1:,} of {len(codes):,} codes are "
                    f"within radius {radius:g}: give a smaller radius"
                )
            if len(j):
                yield i, j, distances


def group_pairs(pairs: Iterable[tuple[NDArray[Any], ...]], n: int) -> NDArray[np.int64]:
    """Join rows that are connected by pairs into groups.

    A group is a connected component: two of its rows may be farther apart than any of the pairs.

    Parameters
    ----------
    pairs : iterable of (i, j, ...), int64 arrays (m,)
        Such as `near_pairs` yields.
    n : int
        Number of rows.

    Returns
    -------
    int64 array (n,)
        The lowest row of the group of each row; a row without a pair is its own group.

    Raises
    ------
    ValueError
        If a row is not a whole number from 0 to n - 1, or a pair lacks a row.

    Examples
    --------
    >>> group_pairs([(np.array([1, 2]), np.array([2, 4]))], n=5)
    array([0, 1, 1, 3, 1])
    """
    groups, waiting, size = np.arange(n), [], 0
    for i, j, *_ in pairs:
        rows = np.concatenate([i, j])
        if len(i) != len(j) or (rows.size and rows.dtype.kind not in "iu"):
            raise ValueError(f"pairs={describe((i, j))}: give two arrays of row numbers, of equal length")
        if rows.size and not 0 <= rows.min() <= rows.max() < n:
            raise ValueError(f"pairs={describe(rows)}: give rows from 0 to {n - 1}")
        waiting.append((i, j))
        size += len(i)
        if size > max(n, _PAIRS_AT_ONCE):
            groups, waiting, size = _joined(groups, waiting), [], 0
    return _joined(groups, waiting) if waiting else groups


def _joined(
    groups: NDArray[np.int64], pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """The groups (n,) after these pairs join theirs."""
    i, j = (np.concatenate(each) for each in zip(*pairs))
    graph = coo_array((np.ones(len(i), bool), (groups[i], groups[j])), shape=(len(groups), len(groups)))
    labels = connected_components(graph, directed=False)[1][groups]
    return _lowest_rows(labels)


def _lowest_rows(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lowest row with the label of each row (n,)."""
    _, lowest, place = np.unique(labels, return_index=True, return_inverse=True)
    return lowest[place]


def near_groups(
    codes: NDArray[np.uint8], n_bits: int, radius: float, max_pairs: int | None = 100_000_000
) -> NDArray[np.int64]:
    """Groups of rows that near pairs connect: `group_pairs` of `near_pairs`, with equal codes taken once.

    Parameters
    ----------
    codes : uint8 array (n, ceil(n_bits / 8))
    n_bits : int
    radius : float, at least 0
    max_pairs : int, optional
        Limit of pairs of different codes, as in `near_pairs`.

    Returns
    -------
    int64 array (n,)
        The lowest row of the group of each row. The rows that are their own group are what deduplication keeps.

    Raises
    ------
    TypeError, ValueError
        As `near_pairs`.

    Examples
    --------
    >>> near_groups(np.array([[0], [15], [1], [0]], dtype=np.uint8), n_bits=8, radius=1)
    array([0, 1, 0, 0])
    """
    different, place = np.unique(check_codes(codes, n_bits), axis=0, return_inverse=True)
    groups = group_pairs(near_pairs(different, n_bits, radius, max_pairs), len(different))
    return _lowest_rows(groups[place.ravel()])
