"""Queries that are not cut to bits: a base a query, and one number a bit or a table of 256 numbers a byte."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash._numerics.validation import describe
from structhash.codes.decoding import LARGEST_DISTANCE, Decoder
from structhash.codes.distances import byte_tables, hamming, table_distances
from structhash.codes.packing import check_codes, check_n_bits, pack

__all__ = ["PreparedQueries", "prepare_values", "prepared_distances"]

_TABLES_AT_ONCE = 1 << 22  # numbers; they take 32 MB


@dataclass(frozen=True, eq=False)
class PreparedQueries:
    """Queries of any reader, in the form in which an index takes them in place of packed codes.

    The distance of query q to a code b is ``base[q] + sum_j values[q, j] b_j`` with one number a bit, or
    ``base[q] + sum_j values[q, j, byte j of b]`` with one table a byte. It is added in float64 and rounded once
    to float32. With a decoder, the squared length of the vector of the code is added, too. `len` gives the
    number of queries, and a slice some of them.

    Parameters
    ----------
    n_bits : int
        Length of the codes that are searched.
    base : float array (n_queries,)
        Stored as float64.
    values : float array (n_queries, n_bits) or (n_queries, ceil(n_bits / 8), 256)
        Stored as float32, so that sums in float64 do not depend on their order.
    decoder : Decoder, optional
        An index computes the squared lengths of its codes once, and keeps them while it has the codes.

    Raises
    ------
    TypeError, ValueError
        If the arrays are not finite numbers of these shapes, the decoder is of another length, or a distance
        could leave the range of float32.

    Examples
    --------
    >>> queries = PreparedQueries(n_bits=2, base=[0.5], values=[[2.0, -0.5]])
    >>> prepared_distances(queries, np.array([[0b00], [0b01], [0b10]], dtype=np.uint8))
    array([[0.5, 2.5, 0. ]], dtype=float32)
    """

    n_bits: int
    base: NDArray[np.float64]
    values: NDArray[np.float32]
    decoder: Decoder | None = None

    def __post_init__(self) -> None:
        n_bits, base = check_n_bits(self.n_bits), _numbers("base", self.base)
        values = _numbers("values", self.values)
        allowed = (n_bits,), (-(-n_bits // 8), 256)
        if base.ndim != 1 or values.shape[:1] != base.shape or values.shape[1:] not in allowed:
            raise ValueError(
                f"base has shape {base.shape} and values {values.shape}; give (n_queries,), and (n_queries, "
                f"{n_bits}) or (n_queries, {allowed[1][0]}, 256)"
            )
        if self.decoder is not None and self.decoder.n_bits != n_bits:
            raise ValueError(
                f"n_bits={n_bits}: the decoder is for {self.decoder.n_bits} bits; give one for {n_bits}"
            )
        sizes = np.abs(values).max(axis=2, initial=0) if values.ndim == 3 else np.abs(values)
        with np.errstate(over="ignore"):
            farthest = np.abs(base) + sizes.sum(axis=1, dtype=np.float64)
        if not farthest.max(initial=0) <= LARGEST_DISTANCE:  # also NaN
            raise ValueError(
                f"distances must be finite and at most {LARGEST_DISTANCE:g}; divide base and values"
            )
        for name, value in (
            ("n_bits", n_bits),
            ("base", base.astype(np.float64)),
            ("values", values.astype(np.float32)),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, part: slice | NDArray[np.int64]) -> Self:
        return replace(self, base=self.base[part], values=self.values[part])

    def tables(self) -> NDArray[np.float64]:
        """One table a byte, float64 (n_queries, ceil(n_bits / 8), 256)."""
        if self.values.ndim == 3:
            return self.values.astype(np.float64)
        tables = [byte_tables(each) for each in self.values]
        return np.stack(tables) if tables else np.empty((0, -(-self.n_bits // 8), 256))

    def codes(self) -> NDArray[np.uint8] | None:
        """Packed codes whose Hamming distances are these distances; None if there are none."""
        if self.decoder is not None or self.values.ndim == 3 or not (np.abs(self.values) == 1).all():
            return None
        bits = self.values < 0
        return pack(bits) if np.array_equal(self.base, bits.sum(axis=1)) else None


def prepare_values(values: ArrayLike, weights: ArrayLike | None = None) -> PreparedQueries:
    """Queries whose bits count as much as their real values say.

    d(q, b) = sum_j w_j |z_j| / mean|z| over the bits j in which b differs from the sign of z. This is the
    Hamming distance of the signs where all |z_j| are equal and w_j = 1. The mean is that of the query, so that
    distances are on the scale of Hamming distances whatever the unit of z.

    Parameters
    ----------
    values : float array (n_queries, n_bits)
        Real values z of the bits; a bit is 1 where its value is above 0.
    weights : float array (n_bits,), optional
        Weight w of each bit, 1 by default.

    Returns
    -------
    PreparedQueries

    Raises
    ------
    TypeError, ValueError
        If the values are not a finite matrix, or the weights do not fit.

    Examples
    --------
    >>> prepare_values([[3.0, -1.0]]).values
    array([[-1.5,  0.5]], dtype=float32)
    """
    z = _numbers("values", values).astype(np.float64)
    if z.ndim != 2 or z.shape[1] == 0 or not np.isfinite(z).all():
        raise ValueError(f"values={describe(values)}: give a finite matrix (n_queries, n_bits)")
    largest = np.abs(z).max(axis=1, keepdims=True, initial=0)
    z = z / np.where(largest > 0, largest, 1)  # so that no sum overflows or vanishes
    mean = np.abs(z).mean(axis=1, keepdims=True)
    z /= np.where(mean > 0, mean, 1)
    if weights is not None:
        given = _numbers("weights", weights)
        if given.shape != z.shape[1:]:
            raise ValueError(f"weights have shape {given.shape}; give ({z.shape[1]},), one for each bit")
        z *= given
    x = -z.astype(np.float32)
    return PreparedQueries(z.shape[1], np.where(x < 0, -x, 0).sum(axis=1, dtype=np.float64), x)


def prepared_distances(queries: PreparedQueries, codes: ArrayLike) -> NDArray[np.float32]:
    """Distances of prepared queries to codes, all of them.

    Parameters
    ----------
    queries : PreparedQueries
    codes : uint8 array (n, ceil(n_bits / 8))

    Returns
    -------
    float32 array (n_queries, n)
        Added in float64 and rounded once.

    Raises
    ------
    TypeError, ValueError
        If the codes are not packed codes of the length of the queries.
    """
    codes = check_codes(codes, queries.n_bits)
    if (plain := queries.codes()) is not None:
        return hamming(plain, codes).astype(np.float32)
    terms = None if queries.decoder is None else queries.decoder.squared_lengths(codes)
    distances = np.empty((len(queries), len(codes)), np.float32)
    for part in row_slices(len(queries), rows_within(256 * codes.shape[1], _TABLES_AT_ONCE)):
        distances[part] = table_distances(queries.base[part], queries[part].tables(), codes, terms)
    return distances


def _numbers(name: str, given: ArrayLike) -> NDArray[Any]:
    """An array of real numbers; TypeError if it holds something else."""
    array = np.asarray(given)
    if array.dtype.kind not in "fiub" or isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name}={describe(given)}: give an array of numbers")
    return array
