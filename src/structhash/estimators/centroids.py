"""Codes whose bytes are numbers of centroids, one a byte; queries are read by tables of distances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.codes import Decoder, PreparedQueries, unpack
from structhash.estimators.base import HashEncoder
from structhash.io.fields import Field, Fields

__all__ = [
    "SCALE_FIELDS",
    "CentroidEncoder",
    "bits_of_bytes",
    "centroid_field",
    "power_of_two_above",
    "queries_for_products",
    "queries_for_sums",
    "scale_rows",
]

_FARTHEST = 1e100  # in units of the training rows; the square of a row further out could overflow
_FARTHEST_QUERY = 2.0**16  # in the same unit; further out, float32 distances to different codes become equal
_LARGEST_CENTROID = 2.0**20  # each number of a row is at most 1
SCALE_FIELDS: Fields = (Field("mean_", ("n_features",)), Field("scale_", positive=True))


class CentroidEncoder(HashEncoder):
    """A method whose codes are numbers of centroids, one a byte, and whose queries are tables of distances.

    A last byte of r < 8 bits has 2^r centroids. A subclass gives `_numbers` and `_tables_of`, which see centred
    rows, and declares `SCALE_FIELDS` and a `centroid_field` among its fields.
    """

    codes_are_bits: ClassVar[bool] = False

    mean_: NDArray[Any]
    scale_: float

    def default_reader(self) -> str:
        """See `HashEncoder.default_reader`."""
        return "tables"

    def queries_differ(self, n_bits: int | None = None) -> bool:
        """See `HashEncoder.queries_differ`: queries have no codes at all."""
        return True

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Numbers of the centroids (n, n_bytes) of centred rows (n, d)."""
        raise NotImplementedError

    def _tables_of(self, Z: NDArray[np.float64]) -> PreparedQueries:
        """Prepared queries of centred rows (q, d)."""
        raise NotImplementedError

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        bits: NDArray[np.bool_] = unpack(self._numbers(self._scaled(X)), self.n_bits_).astype(bool)
        return bits

    def _scaled(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Rows as they are learned from: centred, in units of a power of two."""
        with np.errstate(over="ignore"):
            scaled = (X - self.mean_.astype(np.float64)) / self.scale_
        return np.clip(scaled, -_FARTHEST, _FARTHEST)

    def _own_queries(self, Q: NDArray[Any]) -> PreparedQueries:
        Z = self._scaled(Q)
        reach = np.abs(Z).max(axis=1)
        if (far := np.flatnonzero(reach > _FARTHEST_QUERY)).size:
            raise ValueError(
                f"query {far[0]} is {reach[far[0]]:.2g} times as far out as the training rows, where distances "
                f"to codes of {type(self).__name__} are too large to differ; give queries in the unit of the "
                "training rows"
            )
        return self._tables_of(Z)

    def _check_prefix(self, n_bits: int | None) -> int:
        learned = super()._check_prefix(None)
        if n_bits not in (None, learned):
            name = type(self).__name__
            raise ValueError(f"n_bits={n_bits!r}: codes of {name} have no prefixes; give {learned}, or nothing")
        return learned


def centroid_field(*shape: str) -> Field:
    """The field of centroids: far larger ones than any fit gives are refused, so that no distance overflows."""
    return Field("centroids_", shape, least=-_LARGEST_CENTROID, most=_LARGEST_CENTROID)


def power_of_two_above(numbers: NDArray[Any]) -> float:
    """The smallest power of two above the magnitudes of all numbers; a division by it loses no digit.

    >>> power_of_two_above(np.array([0.3, -5.0]))
    8.0
    """
    return float(np.ldexp(1.0, int(np.frexp(np.abs(numbers).max())[1])))


def scale_rows(X: NDArray[Any], mean: NDArray[np.float64]) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Training rows (n, d) as they are learned from, and the attributes of `SCALE_FIELDS`."""
    mean = mean.astype(X.dtype)
    Z = X - mean.astype(np.float64)
    scale = power_of_two_above(Z)
    return (Z / scale).astype(np.float32), {"mean_": mean, "scale_": scale}


def bits_of_bytes(n_bits: int) -> list[int]:
    """Number of bits of each byte: 8, and what is left in the last.

    >>> bits_of_bytes(20)
    [8, 8, 4]
    """
    return [min(8, n_bits - first) for first in range(0, n_bits, 8)]


def queries_for_sums(Z: NDArray[np.float64], centroids: NDArray[np.float32], n_bits: int) -> PreparedQueries:
    """Queries whose distance to a code is the squared distance to the sum of its centroids.

    Parameters
    ----------
    Z : float array (q, d)
        Centred queries, in the unit of the centroids.
    centroids : float32 array (n_bytes, 256, d)
    n_bits : int
        Length of the codes.

    Returns
    -------
    PreparedQueries
        An index computes the lengths of the sums from the codes, so that no byte of a row is spent on them.
    """
    values: Any = -2 * np.tensordot(Z, centroids.astype(np.float64), (1, -1))
    decoder = Decoder(n_bits, np.zeros(Z.shape[1], np.float32), centroids)
    return PreparedQueries(n_bits, (Z**2).sum(axis=1), values, decoder)


def queries_for_products(
    vectors: NDArray[np.float64],
    most: float,
    centroids: NDArray[np.float32],
    scale: tuple[NDArray[Any], float],
    n_bits: int,
) -> PreparedQueries:
    """Queries whose distance to a code is `most` minus the inner product with the sum of its centroids.

    Parameters
    ----------
    vectors : float array (q, m)
        Queries.
    most : float
    centroids : float32 array (n_bytes, 256, m)
    scale : (ndarray (m,), float)
        The mean of the rows, and the unit of the centroids, which describe rows without the mean.
    n_bits : int
        Length of the codes.

    Returns
    -------
    PreparedQueries
    """
    mean, unit = scale
    values: Any = -unit * np.tensordot(vectors, centroids.astype(np.float64), (1, -1))
    return PreparedQueries(n_bits, most - vectors @ mean.astype(np.float64), values)
