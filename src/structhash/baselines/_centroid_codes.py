"""Quantisers that faiss learns; what product and residual quantisers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import check_count
from structhash.baselines.base import Baseline, TrainingRows, equal_bits
from structhash.estimators.centroids import SCALE_FIELDS, CentroidEncoder, scale_rows
from structhash.io.fields import Field, Fields

QUANTISER_FIELDS: Fields = (*SCALE_FIELDS, Field("n_iter_", kind="int", least=1))


class CentroidCodes(CentroidEncoder, Baseline):
    """A quantiser that faiss learns: a subclass gives `_learn_centroids`, and what `CentroidEncoder` lists."""

    n_iter_: int

    def __init__(self, n_bits: int = 64, *, max_iter: int = 25, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("max_iter", self.max_iter)

    def _check_rows(self, X: Any, y: Any) -> tuple[TrainingRows, dict[str, Any]]:
        faiss_of(self)  # loaded before linear algebra is limited to one thread, so that the limit holds for it
        return super()._check_rows(X, y)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        Z, scales = scale_rows(rows.X, rows.mean)
        learned = self._learn_centroids(faiss_of(self), Z, int(rng.integers(2**31)))
        return {**scales, "n_iter_": int(self.max_iter), **learned, **equal_bits(self.n_bits)}

    def _learn_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> dict[str, Any]:
        """Fitted attributes from centred rows (n, d)."""
        raise NotImplementedError


def repeated(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows (n, d), repeated where they are fewer than 256 or than d: faiss writes out of bounds with fewer."""
    needed = max(256, Z.shape[1])
    return np.ascontiguousarray(Z if len(Z) >= needed else np.tile(Z, (-(-needed // len(Z)), 1)))


def faiss_of(encoder: Any) -> Any:
    """Import faiss when it is needed, since it is optional."""
    try:
        import faiss
    except ImportError as error:
        raise not_installed("faiss", type(encoder).__name__, "faiss", error) from error
    return faiss
