"""Encode rows as packed codes, block by block, so that no matrix is copied as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import BLOCK_ROWS, as_floats, row_slices
from structhash._numerics.matrices import check_finite_rows
from structhash.codes.packing import pack
from structhash.codes.planes import Planes, make_product, write_codes

__all__ = ["encode_by_bits", "encode_by_planes"]

_SAMPLED_ROWS = 64  # rows that show how far from the origin the rows are


def encode_by_bits(
    method: str,
    bits_of: Callable[[NDArray[Any]], NDArray[np.bool_]],
    rows: NDArray[Any],
    n_learned: int,
    n_bits: int,
) -> NDArray[np.uint8]:
    """Encode rows by a function that gives the bits of a block.

    Parameters
    ----------
    method : str
        Class name, for error messages.
    bits_of : callable
        Takes a block of rows, float64 (b, d), and returns all its bits (b, n_learned).
    rows : ndarray (n, d)
        Of any number type.
    n_learned : int
        Number of bits that `bits_of` must return.
    n_bits : int
        Number of bits to keep, the first ones.

    Returns
    -------
    uint8 array (n, ceil(n_bits / 8))
        Codes.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, or `bits_of` returns another number of bits.
    """
    codes = np.empty((len(rows), -(-n_bits // 8)), np.uint8)
    for block in row_slices(len(rows), BLOCK_ROWS):
        X = rows[block].astype(np.float64, order="C", copy=False)  # equal numbers of any type have one code
        check_finite_rows(X, f"{method}: X", block.start)
        bits = bits_of(X)
        if bits.shape[1] != n_learned:
            raise ValueError(f"there are {bits.shape[1]} columns for {n_learned} bits")
        codes[block] = pack(bits[:, :n_bits])
    return codes


def encode_by_planes(
    method: str, planes: Planes, rows: NDArray[Any], n_learned: int, n_bits: int
) -> NDArray[np.uint8]:
    """Encode rows by planes, with one matrix product a block.

    Parameters
    ----------
    method : str
        Class name, for error messages.
    planes : Planes
        One for each learned bit.
    rows : ndarray (n, d)
        Of any number type.
    n_learned : int
        Number of planes that there must be.
    n_bits : int
        Number of bits to keep, the first ones.

    Returns
    -------
    uint8 array (n, ceil(n_bits / 8))
        Codes.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, or there is another number of planes.
    """
    if len(planes.normals) != n_learned:
        raise ValueError(f"there are {len(planes.normals)} planes for {n_learned} bits")
    codes = np.empty((len(rows), -(-n_bits // 8)), np.uint8)
    if not len(rows):
        return codes
    first = Planes(planes.center, planes.normals[:n_bits], planes.thresholds[:n_bits])
    product = make_product(first, rows[:: 1 + len(rows) // _SAMPLED_ROWS].astype(np.float64))
    scores = np.empty((min(BLOCK_ROWS, len(rows)), n_bits), np.float32)
    for block in row_slices(len(rows), BLOCK_ROWS):
        X = as_floats(rows[block])
        if not write_codes(product, X, codes[block], scores):
            check_finite_rows(X, f"{method}: X", block.start)
    return codes
