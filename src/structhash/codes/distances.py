"""Distances of packed codes: Hamming, and Hamming with a weight for each bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash._numerics.rounding import merge_ties
from structhash._numerics.validation import describe, refuse_masked
from structhash.codes._kernels import count_differing, sum_tables
from structhash.codes.packing import check_codes, unpack

__all__ = [
    "as_words",
    "byte_tables",
    "code_distances",
    "hamming",
    "table_distances",
    "weighted_hamming",
    "weighted_tables",
]

_TABLES_AT_ONCE = 1 << 22  # numbers; they take 32 MB


def hamming(queries: ArrayLike, codes: ArrayLike) -> NDArray[np.int32]:
    """Number of differing bits between every query and every code.

    Parameters
    ----------
    queries : uint8 array (n_queries, n_bytes)
    codes : uint8 array (n, n_bytes)

    Returns
    -------
    int32 array (n_queries, n)

    Raises
    ------
    TypeError, ValueError
        If the arrays are not uint8 matrices of the same width.

    Examples
    --------
    >>> import numpy as np
    >>> hamming(np.array([[0]], dtype=np.uint8), np.array([[0], [7], [255]], dtype=np.uint8))
    array([[0, 3, 8]], dtype=int32)
    """
    queries, codes = _same_width(queries, codes)
    distances = np.empty((len(queries), len(codes)), dtype=np.int32)
    count_differing(as_words(queries, np.uint64), as_words(codes, np.uint64), distances)
    return distances


def as_words(codes: NDArray[np.uint8], dtype: type[Any]) -> NDArray[Any]:
    """Packed bytes (n, n_bytes) as unsigned words, low bytes first, padded with zero bytes.

    >>> as_words(np.array([[1, 2, 3]], dtype=np.uint8), np.uint32)
    array([[197121]], dtype=uint32)
    """
    n, width = codes.shape
    word = np.dtype(dtype)
    if width % word.itemsize:
        padded = np.zeros((n, -(-width // word.itemsize) * word.itemsize), dtype=np.uint8)
        padded[:, :width] = codes
        codes = padded
    elif codes.ctypes.data % word.itemsize:
        codes = codes.copy()
    return codes.view(word.newbyteorder("<")).astype(word, copy=False)


def byte_tables(weights: ArrayLike) -> NDArray[np.float64]:
    """Sums of bit weights, for every value of every byte of a code.

    Parameters
    ----------
    weights : float array (n_bits,)
        Finite; the sum of their absolute values must not exceed the largest float32.

    Returns
    -------
    float64 array (ceil(n_bits / 8), 256)
        Entry [b, x] is the sum of the weights of the bits that are set in a byte of value x at byte position
        b. Pad bits have weight 0.

    Raises
    ------
    ValueError
        If `weights` is not 1-D, is empty, or is not finite in float32.

    Examples
    --------
    >>> byte_tables([1.0, 2.0, 4.0])[0, :8]
    array([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    refuse_masked("weights", weights)
    given, weights = weights, np.asarray(weights)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"weights={describe(given)}: give numbers, one for each bit")
    weights = weights.astype(np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(f"weights must have shape (n_bits,) with n_bits at least 1, got {weights.shape}")
    with np.errstate(over="ignore"):
        total = np.abs(weights).sum()
    if not total <= np.finfo(np.float32).max:  # also catches NaN
        raise ValueError("weights must be finite and sum to less than 3.4e38; rescale them")
    padded = np.zeros(-(-weights.size // 8) * 8)
    padded[: weights.size] = weights
    bits = unpack(np.arange(256, dtype=np.uint8)[:, None], 8)
    tables: NDArray[np.float64] = padded.reshape(-1, 8) @ bits.T.astype(np.float64)
    return tables


def weighted_hamming(queries: ArrayLike, codes: ArrayLike, weights: ArrayLike) -> NDArray[np.float32]:
    """Sum of the weights of the differing bits, d_w(q, b) = sum_j w_j |q_j - b_j|.

    Parameters
    ----------
    queries : uint8 array (n_queries, n_bytes)
    codes : uint8 array (n, n_bytes)
    weights : float array (n_bits,), with ceil(n_bits / 8) = n_bytes

    Returns
    -------
    float32 array (n_queries, n)
        Added in float64 and rounded once, so that sums which differ by float64 rounding only are equal.

    Raises
    ------
    TypeError
        If a code array is not uint8.
    ValueError
        If the arrays are not matrices of the same width, or the weights have another length or are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [6]], dtype=np.uint8)
    >>> weighted_hamming(codes[:1], codes, [0.5, 1.0, 2.0])
    array([[0. , 0.5, 3. ]], dtype=float32)
    """
    queries, codes = _same_width(queries, codes)
    tables = byte_tables(weights)
    if len(tables) != codes.shape[1]:
        raise ValueError(f"{np.size(weights)} weights fill {len(tables)} bytes, codes have {codes.shape[1]}")
    distances = np.empty((len(queries), len(codes)), dtype=np.float32)
    for part in row_slices(len(queries), rows_within(tables.size, _TABLES_AT_ONCE)):
        own = weighted_tables(queries[part], tables)
        distances[part] = table_distances(np.zeros(len(own)), own, codes)
    return distances


def table_distances(
    base: NDArray[np.float64],
    tables: NDArray[np.float64],
    codes: NDArray[np.uint8],
    terms: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Distances that are a base a query, the sum of one table entry a byte, and a term of the code.

    Parameters
    ----------
    base : float64 array (n_queries,)
    tables : float64 array (n_queries, n_bytes, 256)
    codes : uint8 array (n, n_bytes)
    terms : float32 array (n,), optional
        0 by default.

    Returns
    -------
    float32 array (n_queries, n)
        Added in float64 and rounded once.
    """
    distances = np.empty((len(base), len(codes)), np.float32)
    terms = np.zeros(len(codes), np.float32) if terms is None else terms
    sum_tables(base, tables, terms, codes, distances)
    return distances


def weighted_tables(queries: NDArray[np.uint8], tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tables of weighted Hamming distances, for every value of every byte of a code.

    Parameters
    ----------
    queries : uint8 array (n_queries, n_bytes)
    tables : float64 array (n_bytes, 256)
        From `byte_tables`.

    Returns
    -------
    float64 array (n_queries, n_bytes, 256)
        Entry [q, b, x] is the weight of the bits in which byte b of query q differs from x.
    """
    differing = queries[:, :, None] ^ np.arange(256, dtype=np.uint8)
    found: NDArray[np.float64] = tables[np.arange(len(tables))[:, None], differing]
    return found


def code_distances(queries: ArrayLike, codes: ArrayLike, weights: ArrayLike | None) -> NDArray[Any]:
    """Distances of packed codes for a metric: sums that differ by rounding errors only are tied.

    Parameters
    ----------
    queries : uint8 array (n_queries, n_bytes)
    codes : uint8 array (n, n_bytes)
    weights : float64 array (n_bits,), optional
        Weight of each bit; None is the plain Hamming distance.

    Returns
    -------
    int32 or float64 array (n_queries, n)
        `hamming`, or `weighted_hamming` in units of a millionth of the sum of the absolute weights.

    Raises
    ------
    TypeError, ValueError
        As in `weighted_hamming`.
    """
    if weights is None:
        return hamming(queries, codes)
    return merge_ties(weighted_hamming(queries, codes, weights), float(np.abs(weights).sum()))


def _same_width(queries: ArrayLike, codes: ArrayLike) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Both arrays as C-contiguous uint8 matrices; pad bits are unknown here and count as bits."""
    refuse_masked("codes", codes)
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] == 0:
        raise ValueError(f"codes must have shape (n, n_bytes) with n_bytes at least 1, got {codes.shape}")
    n_bits = 8 * codes.shape[1]
    return check_codes(queries, n_bits, "queries"), check_codes(codes, n_bits)
