"""Vectors from codes: one vector a set bit, or one of 256 vectors a byte, added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.codes._kernels import add_squared_lengths
from structhash.codes.packing import check_codes, check_n_bits, unpack

__all__ = ["LARGEST_DISTANCE", "Decoder", "byte_vectors"]

LARGEST_DISTANCE = 1e37  # sums of larger numbers may leave float32


@dataclass(frozen=True, eq=False)
class Decoder:
    """Vector of a code b: offset + sum_j vectors[j] b_j, or offset + sum_j vectors[j, byte j of b].

    Parameters
    ----------
    n_bits : int
    offset : float array (d,)
    vectors : float array (n_bits, d) or (ceil(n_bits / 8), 256, d)
        Both are stored as float32.

    Raises
    ------
    ValueError
        If the shapes are not these.

    Examples
    --------
    >>> decoder = Decoder(2, np.float32([1, 0]), np.float32([[1, 1], [0, 3]]))
    >>> decoder.squared_lengths(np.array([[0b01], [0b10]], dtype=np.uint8))
    array([ 5., 10.], dtype=float32)
    """

    n_bits: int
    offset: NDArray[np.float32]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        n_bits, offset = check_n_bits(self.n_bits), np.asarray(self.offset, np.float32)
        vectors = np.asarray(self.vectors, np.float32)
        allowed = (n_bits, *offset.shape), (-(-n_bits // 8), 256, *offset.shape)
        if offset.ndim != 1 or vectors.shape not in allowed:
            raise ValueError(
                f"offset has shape {offset.shape} and vectors {vectors.shape}; give (d,), and ({n_bits}, d) or "
                f"({allowed[1][0]}, 256, d)"
            )
        object.__setattr__(self, "offset", offset)
        object.__setattr__(self, "vectors", vectors)

    def squared_lengths(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Squared lengths (n,) of the vectors of packed codes (n, ceil(n_bits / 8)).

        ValueError if one is not finite or may leave the range of float32 in a distance.
        """
        lengths = np.empty(len(codes), np.float32)
        with np.errstate(all="ignore"):
            add_squared_lengths(self.offset, self._tables(), check_codes(codes, self.n_bits), lengths)
        if not lengths.max(initial=0) <= LARGEST_DISTANCE:  # also NaN
            raise ValueError(
                f"squared lengths of decoded vectors exceed {LARGEST_DISTANCE:g}; fit the decoder again"
            )
        return lengths

    def _tables(self) -> NDArray[np.float32]:
        """One vector for each value of each byte, float32 (n_bytes, 256, d)."""
        if self.vectors.ndim == 3:
            return self.vectors
        return byte_vectors(self.vectors)


def byte_vectors(vectors: NDArray[Any]) -> NDArray[Any]:
    """Sums of the vectors (n_bits, d) of set bits, for each value of each byte (ceil(n_bits / 8), 256, d)."""
    n_bits, d = vectors.shape
    padded = np.zeros((-(-n_bits // 8) * 8, d), vectors.dtype)
    padded[:n_bits] = vectors
    bits = unpack(np.arange(256, dtype=np.uint8)[:, None], 8)
    return np.stack([bits.astype(vectors.dtype) @ part for part in padded.reshape(-1, 8, d)])
