"""Binary codes: packed bytes, popcount distance, byte tables for weighted distance.

A code of ``n_bits`` bits is a row of ``ceil(n_bits / 8)`` bytes. Bit j stands in byte j // 8 at the place of
value 2 ** (j % 8) (little bit order); the pad bits of the last byte are zero.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.rounding import merge_ties
from structhash._numerics.validation import describe
from structhash.codes._popcount import add_tables, count_differing

__all__ = [
    "byte_tables",
    "check_codes",
    "check_n_bits",
    "code_distances",
    "hamming",
    "pack",
    "unpack",
    "weighted_hamming",
]


def check_n_bits(n_bits):
    """Return `n_bits` as a Python int; TypeError if it is no whole number, ValueError if it is below 1.

    >>> check_n_bits(64)
    64
    """
    try:
        n_bits = operator.index(n_bits)
    except TypeError:
        raise TypeError(f"n_bits must be a whole number, got {describe(n_bits)}") from None
    if n_bits < 1:
        raise ValueError(f"n_bits must be at least 1, got {n_bits}")
    return n_bits


def pack(bits):
    """Pack bits into bytes, little bit order, pad bits zero.

    Parameters
    ----------
    bits : uint8 or bool array of shape (n, n_bits)
        Only 0 and 1.

    Returns
    -------
    codes : uint8 array of shape (n, ceil(n_bits / 8))

    Raises
    ------
    TypeError, ValueError
        If `bits` has another dtype, is not 2-D, has no column, or holds other values than 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.array([[1, 0, 1, 0, 0, 0, 0, 0, 1]], dtype=np.uint8))
    array([[5, 1]], dtype=uint8)
    """
    bits = np.asarray(bits)
    if bits.dtype not in (np.uint8, np.bool_):
        raise TypeError(f"bits must be uint8 or bool, got {bits.dtype}; convert with (bits > 0)")
    if bits.ndim != 2 or bits.shape[1] == 0:
        raise ValueError(f"bits must have shape (n, n_bits) with n_bits at least 1, got {bits.shape}")
    if bits.dtype == np.uint8 and bits.size and bits.max() > 1:
        raise ValueError(f"bits must be 0 or 1, got {bits.max()}; are these packed codes already?")
    return np.packbits(bits, axis=1, bitorder="little")


def unpack(codes, n_bits):
    """Unpack bytes into bits; the inverse of `pack`.

    Parameters
    ----------
    codes : uint8 array of shape (n, ceil(n_bits / 8))
    n_bits : int

    Returns
    -------
    bits : uint8 array of shape (n, n_bits)

    Raises
    ------
    TypeError, ValueError
        As `check_codes`.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(np.array([[5, 1]], dtype=np.uint8), n_bits=9)
    array([[1, 0, 1, 0, 0, 0, 0, 0, 1]], dtype=uint8)
    """
    codes = check_codes(codes, n_bits)
    return np.unpackbits(codes, axis=1, count=check_n_bits(n_bits), bitorder="little")


def check_codes(codes, n_bits, name="codes"):
    """Return `codes` as a C-contiguous array after checking that it holds codes of `n_bits` bits.

    Parameters
    ----------
    codes : uint8 array of shape (n, ceil(n_bits / 8))
    n_bits : int
    name : str, what an error message calls the array

    Returns
    -------
    codes : uint8 array of shape (n, ceil(n_bits / 8)), C-contiguous; the same array where it was already

    Raises
    ------
    TypeError, ValueError
        If `codes` is not uint8, is not 2-D, has another width, or has a pad bit set.

    Examples
    --------
    >>> import numpy as np
    >>> check_codes(np.array([[5, 255]], dtype=np.uint8), n_bits=9)
    Traceback (most recent call last):
    ...
    ValueError: codes of 9 bits must have zero pad bits, but row 0 has a bit set after bit 8; pack again
    """
    n_bits = check_n_bits(n_bits)
    width = -(-n_bits // 8)
    codes = np.asarray(codes)
    if codes.dtype != np.uint8:
        raise TypeError(f"{name} must be packed bytes (uint8), got {codes.dtype}; use pack(bits)")
    if codes.ndim != 2:
        raise ValueError(f"{name} must have shape (n, {width}), got {codes.shape}; pass one code as code[None]")
    if codes.shape[1] != width:
        raise ValueError(f"{name} of {n_bits} bits must have {width} bytes a row, got {codes.shape[1]}")
    if n_bits % 8:
        bad = codes[:, -1] >> (n_bits % 8) != 0
        if bad.any():
            raise ValueError(
                f"{name} of {n_bits} bits must have zero pad bits, but row {bad.argmax()} has a bit set "
                f"after bit {n_bits - 1}; pack again"
            )
    return np.ascontiguousarray(codes)


def hamming(queries, codes):
    """Number of differing bits between every query and every code.

    Parameters
    ----------
    queries : uint8 array of shape (n_queries, n_bytes)
    codes : uint8 array of shape (n, n_bytes)

    Returns
    -------
    distances : int32 array of shape (n_queries, n)

    Raises
    ------
    TypeError, ValueError
        If the two are not uint8 matrices of one width.

    Examples
    --------
    >>> import numpy as np
    >>> hamming(np.array([[0]], dtype=np.uint8), np.array([[0], [7], [255]], dtype=np.uint8))
    array([[0, 3, 8]], dtype=int32)
    """
    queries, codes = _one_width(queries, codes)
    distances = np.empty((len(queries), len(codes)), dtype=np.int32)
    count_differing(_words(queries), _words(codes), distances)
    return distances


def byte_tables(weights):
    """Sums of bit weights for every value of every byte of a code.

    Parameters
    ----------
    weights : float array of shape (n_bits,)
        Finite; their absolute values must sum to a float32.

    Returns
    -------
    tables : float64 array of shape (ceil(n_bits / 8), 256)
        ``tables[b, x]`` sums the weights of the bits set in byte x at byte position b; pad bits weigh 0.

    Raises
    ------
    ValueError
        If `weights` is not 1-D, is empty, or is not finite in float32.

    Examples
    --------
    >>> byte_tables([1.0, 2.0, 4.0])[0, :8]
    array([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(f"weights must have shape (n_bits,) with n_bits at least 1, got {weights.shape}")
    with np.errstate(over="ignore"):
        total = np.abs(weights).sum()
    if not total <= np.finfo(np.float32).max:  # also catches NaN
        raise ValueError("weights must be finite and sum to less than 3.4e38; rescale them")
    padded = np.zeros(-(-weights.size // 8) * 8)
    padded[: weights.size] = weights
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return padded.reshape(-1, 8) @ bits.T.astype(np.float64)


def weighted_hamming(queries, codes, weights):
    """Sum of the weights of the differing bits, d_w(q, b) = sum_j w_j |q_j - b_j|.

    Parameters
    ----------
    queries : uint8 array of shape (n_queries, n_bytes)
    codes : uint8 array of shape (n, n_bytes)
    weights : float array of shape (n_bits,), with ceil(n_bits / 8) = n_bytes

    Returns
    -------
    distances : float32 array of shape (n_queries, n)
        Added in float64 and rounded once, so that sums equal but for rounding tie.

    Raises
    ------
    TypeError, ValueError
        If the two are not uint8 matrices of one width, or the weights are of another width or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [6]], dtype=np.uint8)
    >>> weighted_hamming(codes[:1], codes, [0.5, 1.0, 2.0])
    array([[0. , 0.5, 3. ]], dtype=float32)
    """
    queries, codes = _one_width(queries, codes)
    tables = byte_tables(weights)
    if len(tables) != codes.shape[1]:
        raise ValueError(f"{np.size(weights)} weights fill {len(tables)} bytes, codes have {codes.shape[1]}")
    distances = np.empty((len(queries), len(codes)), dtype=np.float32)
    add_tables(queries, codes, tables, distances)
    return distances


def _one_width(queries, codes):
    """Both as C-contiguous uint8 matrices; pad bits cannot be seen here and count as bits."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] == 0:
        raise ValueError(f"codes must have shape (n, n_bytes) with n_bytes at least 1, got {codes.shape}")
    n_bits = 8 * codes.shape[1]
    return check_codes(queries, n_bits, "queries"), check_codes(codes, n_bits)


def _words(codes):
    """Packed bytes as uint64 words, padded with zero bytes."""
    n, width = codes.shape
    if width % 8:
        padded = np.zeros((n, -(-width // 8) * 8), dtype=np.uint8)
        padded[:, :width] = codes
        codes = padded
    elif codes.ctypes.data % 8:
        codes = codes.copy()
    return codes.view(np.uint64)


def code_distances(
    queries: NDArray[np.uint8], codes: NDArray[np.uint8], weights: NDArray[np.float64] | None
) -> NDArray[Any]:
    """Hamming distances (n_queries, n) of packed codes, to be scored.

    Weighted ones are rounded to a millionth of the largest, so that sums equal but for rounding tie.
    """
    if weights is None:
        return hamming(queries, codes)
    return merge_ties(weighted_hamming(queries, codes, weights), weights.sum())
