"""Codes whose bytes are numbers of centroids; what product and residual quantisers share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import check_count
from structhash.baselines.base import Baseline, TrainingRows, equal_bits
from structhash.codes import unpack
from structhash.io.fields import Field, Fields

_FARTHEST = 1e100  # in units of the training rows; the square of a row further out could overflow
SCALE_FIELDS: Fields = (
    Field("mean_", ("n_features",)),
    Field("scale_", positive=True),
    Field("n_iter_", kind="int", least=1),
)


class CentroidCodes(Baseline):
    """A method whose codes are numbers of centroids, one a byte, and whose queries are tables of distances.

    A last byte of r < 8 bits has 2^r centroids. A subclass gives `_learn_centroids`, `_numbers` and
    `_own_queries`; the first two see rows that `_scaled` has centred.
    """

    codes_are_bits: ClassVar[bool] = False

    mean_: NDArray[Any]
    scale_: float
    n_iter_: int

    def __init__(self, n_bits: int = 64, *, max_iter: int = 25, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("max_iter", self.max_iter)

    def default_reader(self) -> str:
        """See `HashEncoder.default_reader`."""
        return "tables"

    def queries_differ(self, n_bits: int | None = None) -> bool:
        """See `HashEncoder.queries_differ`: queries have no codes at all."""
        return True

    def _check_rows(self, X: Any, y: Any) -> tuple[TrainingRows, dict[str, Any]]:
        faiss_of(self)  # loaded before linear algebra is limited to one thread, so that the limit holds for it
        return super()._check_rows(X, y)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        mean = rows.mean.astype(rows.X.dtype)
        Z = rows.X - mean.astype(np.float64)
        scale = float(np.ldexp(1.0, int(np.frexp(np.abs(Z).max())[1])))  # a power of two: no digit is lost
        seed = int(rng.integers(2**31))
        learned = self._learn_centroids(faiss_of(self), (Z / scale).astype(np.float32), seed)
        facts = {"mean_": mean, "scale_": scale, "n_iter_": int(self.max_iter)}
        return {**facts, **learned, **equal_bits(self.n_bits)}

    def _learn_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> dict[str, Any]:
        """Fitted attributes from centred rows (n, d)."""
        raise NotImplementedError

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Numbers of the centroids (n, n_bytes) of centred rows (n, d)."""
        raise NotImplementedError

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        bits: NDArray[np.bool_] = unpack(self._numbers(self._scaled(X)), self.n_bits_).astype(bool)
        return bits

    def _scaled(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Rows as they are learned from: centred, in units of a power of two."""
        with np.errstate(over="ignore"):
            scaled = (X - self.mean_.astype(np.float64)) / self.scale_
        return np.clip(scaled, -_FARTHEST, _FARTHEST)

    def _check_prefix(self, n_bits: int | None) -> int:
        learned = super()._check_prefix(None)
        if n_bits not in (None, learned):
            name = type(self).__name__
            raise ValueError(f"n_bits={n_bits!r}: codes of {name} have no prefixes; give {learned}, or nothing")
        return learned


def repeated(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows (n, d), repeated where they are fewer than 256 or than d: faiss writes out of bounds with fewer."""
    needed = max(256, Z.shape[1])
    return np.ascontiguousarray(Z if len(Z) >= needed else np.tile(Z, (-(-needed // len(Z)), 1)))


def bits_of_bytes(n_bits: int) -> list[int]:
    """Number of bits of each byte: 8, and what is left in the last.

    >>> bits_of_bytes(20)
    [8, 8, 4]
    """
    return [min(8, n_bits - first) for first in range(0, n_bits, 8)]


def faiss_of(encoder: Any) -> Any:
    """Import faiss when it is needed, since it is optional."""
    try:
        import faiss
    except ImportError as error:
        raise not_installed("faiss", type(encoder).__name__, "faiss", error) from error
    return faiss
