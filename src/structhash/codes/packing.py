"""Pack bits into bytes, and check and unpack packed codes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe, refuse_masked

__all__ = ["check_codes", "check_n_bits", "pack", "unpack"]


def check_n_bits(n_bits: Any) -> int:
    """Return `n_bits` as a Python int; TypeError unless it is a whole number, ValueError if it is below 1.

    >>> check_n_bits(64)
    64
    """
    try:
        n_bits = operator.index(n_bits)
    except TypeError:
        raise TypeError(f"n_bits must be a whole number, got {describe(n_bits)}") from None
    if n_bits < 1:
        raise ValueError(f"n_bits must be at least 1, got {n_bits}")
    return int(n_bits)


def pack(bits: ArrayLike) -> NDArray[np.uint8]:
    """Pack bits into bytes, in little bit order, with zero pad bits.

    Parameters
    ----------
    bits : uint8 or bool array (n, n_bits)
        Only 0 and 1.

    Returns
    -------
    uint8 array (n, ceil(n_bits / 8))
        Codes.

    Raises
    ------
    TypeError
        If `bits` has another dtype.
    ValueError
        If `bits` is not 2-D, has no column, or holds a value above 1.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.array([[1, 0, 1, 0, 0, 0, 0, 0, 1]], dtype=np.uint8))
    array([[5, 1]], dtype=uint8)
    """
    refuse_masked("bits", bits)
    bits = np.asarray(bits)
    if bits.dtype not in (np.uint8, np.bool_):
        raise TypeError(f"bits must be uint8 or bool, got {bits.dtype}; convert with (bits > 0)")
    if bits.ndim != 2 or bits.shape[1] == 0:
        raise ValueError(f"bits must have shape (n, n_bits) with n_bits at least 1, got {bits.shape}")
    if bits.dtype == np.uint8 and bits.size and bits.max() > 1:
        raise ValueError(f"bits must be 0 or 1, got {bits.max()}; are these packed codes already?")
    return np.packbits(bits, axis=1, bitorder="little")


def unpack(codes: ArrayLike, n_bits: Any) -> NDArray[np.uint8]:
    """Unpack bytes into bits: the inverse of `pack`.

    Parameters
    ----------
    codes : uint8 array (n, ceil(n_bits / 8))
    n_bits : int

    Returns
    -------
    uint8 array (n, n_bits)
        Bits, 0 or 1.

    Raises
    ------
    TypeError, ValueError
        As in `check_codes`.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(np.array([[5, 1]], dtype=np.uint8), n_bits=9)
    array([[1, 0, 1, 0, 0, 0, 0, 0, 1]], dtype=uint8)
    """
    codes = check_codes(codes, n_bits)
    return np.unpackbits(codes, axis=1, count=check_n_bits(n_bits), bitorder="little")


def check_codes(codes: ArrayLike, n_bits: Any, name: str = "codes") -> NDArray[np.uint8]:
    """Check that an array holds packed codes of `n_bits` bits.

    Parameters
    ----------
    codes : uint8 array (n, ceil(n_bits / 8))
    n_bits : int
    name : str
        Name of the array in error messages.

    Returns
    -------
    uint8 array (n, ceil(n_bits / 8))
        The codes, C-contiguous; the same array if it was C-contiguous.

    Raises
    ------
    TypeError
        If `codes` is not uint8, or `n_bits` is not a whole number.
    ValueError
        If `codes` is not 2-D, has another width, or has a pad bit set, or `n_bits` is below 1.

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
    refuse_masked(name, codes)
    codes = np.asarray(codes)
    if codes.dtype != np.uint8:
        raise TypeError(
            f"{name} must be packed bytes (uint8), got {codes.dtype}; encode(X) makes them from vectors, "
            "pack(bits) from bits"
        )
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
