"""Optimised product quantisation: a rotation first, then a centroid for each part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._centroid_codes import QUANTISER_FIELDS, repeated
from structhash.baselines.pq import PQ
from structhash.estimators.centroids import centroid_field
from structhash.io.fields import Field

__all__ = ["OPQ"]

_LARGEST_ENTRY = 1.01  # of a rotation; more than 1 by rounding


class OPQ(PQ):
    """Optimised product quantisation: product quantisation of rows that a rotation has prepared for it.

    The rotation R and the centroids minimise ||R x - c(R x)||^2 by turns; both are learned by faiss
    (`OPQMatrix`, then k-means). Distances are those of `PQ`, of R x.

    Parameters
    ----------
    n_bits : int
        Length of the code, 8 a part; there must be a feature for each part.
    max_iter : int
        Rounds of k-means after the rotation; 25 is the default of faiss.
    random_state : int, RandomState, Generator or None
        Draws the first centroids. The rotation begins at the one that faiss always takes.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_, scale_ : ndarray (d,), float
        Rows are taken from this mean, in this unit, a power of two.
    n_iter_ : int
        max_iter.
    rotation_ : ndarray (k, d) float32
        R; k is the multiple of the number of parts from d on. Rows are padded with zeros to that length.
    centroids_ : ndarray (256, k) float32
        The columns of a part hold the centroids of this part.

    Notes
    -----
    The rotation has the 50 rounds of faiss, on its first 65,536 rows. Fewer than 256 rows are repeated.

    References
    ----------
    Ge, He, Ke, Sun (2013), Optimized product quantization for approximate nearest neighbor search,
    https://doi.org/10.1109/CVPR.2013.379

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> OPQ(n_bits=16, random_state=0).fit(X).encode(X).shape
    (1797, 2)
    """

    source = "Ge et al. 2013"
    settings_from = "those of faiss: 50 rounds for the rotation, 25 of k-means"
    fitted_fields = (
        *QUANTISER_FIELDS,
        Field("rotation_", ("n_rotated", "n_features"), least=-_LARGEST_ENTRY, most=_LARGEST_ENTRY),
        centroid_field("n_values", "n_rotated"),
    )

    rotation_: NDArray[np.float32]

    def _learn_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> dict[str, Any]:
        n_parts, d = len(self._parts(Z.shape[1], self.n_bits)), Z.shape[1]
        k = -(-d // n_parts) * n_parts
        padded = np.zeros((len(Z), k), np.float32)
        padded[:, :d] = Z
        Rotation, Quantiser = faiss.OPQMatrix, faiss.ProductQuantizer
        learner = Rotation(k, n_parts, k)
        quantiser = Quantiser(k, n_parts, 8)
        quantiser.cp.min_points_per_centroid = 1
        learner.pq = quantiser
        learner.train(repeated(padded))
        rotation = faiss.vector_to_array(learner.A).reshape(k, k)[:, :d]
        return {"rotation_": rotation, "centroids_": self._parts_centroids(faiss, Z @ rotation.T, seed)}

    def _rotated(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        rotated: NDArray[np.float64] = Z @ self.rotation_.T.astype(np.float64)
        return rotated
