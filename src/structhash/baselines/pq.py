"""Product quantisation: a centroid for each part of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._centroid_codes import QUANTISER_FIELDS, CentroidCodes
from structhash.codes import PreparedQueries
from structhash.estimators.centroids import bits_of_bytes, centroid_field

__all__ = ["PQ"]


class PQ(CentroidCodes):
    """Product quantisation: the features are cut in one part a byte, each coded by its nearest centroid of 256.

    The distance of a query to a code is sum_m ||q_m - c_m(b_m)||^2, the squared distance to the row that the
    code decodes to. The query is not coded. Centroids are those of k-means, by faiss. With fewer rows than
    centroids, each row is one.

    Parameters
    ----------
    n_bits : int
        Length of the code, 8 a part; there must be a feature for each part.
    max_iter : int
        Rounds of k-means; 25 is the default of faiss.
    random_state : int, RandomState, Generator or None
        Draws the first centroids.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_, scale_ : ndarray (d,), float
        Rows are taken from this mean, in this unit, a power of two.
    n_iter_ : int
        max_iter.
    centroids_ : ndarray (256, d) float32
        The columns of a part hold the centroids of this part.

    Notes
    -----
    Where d is no multiple of the number of parts, the first parts have one feature more. Codes are numbers, so
    there is no Hamming distance and no prefix: `encode_queries` refuses, `prepare_queries` gives the tables.

    References
    ----------
    Jegou, Douze, Schmid (2011), Product quantization for nearest neighbor search,
    https://doi.org/10.1109/TPAMI.2010.57

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash.search import Exact
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = PQ(n_bits=32, random_state=0).fit(X)
    >>> index = Exact(n_bits=32)
    >>> index.add(encoder.encode(X))
    >>> index.search(encoder.prepare_queries(X[:1]), k=1)[1]
    array([[0]])
    """

    source = "Jegou et al. 2011"
    settings_from = "those of faiss: 25 rounds of k-means, at most 256 rows a centroid"
    fitted_fields = (*QUANTISER_FIELDS, centroid_field("n_values", "n_features"))

    centroids_: NDArray[np.float32]

    def _learn_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> dict[str, Any]:
        return {"centroids_": self._parts_centroids(faiss, Z, seed)}

    def _parts_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
        """Centroids (256, d) of each part; those of a part that has fewer come again."""
        found = np.empty((256, Z.shape[1]), np.float32)
        for part, n_bits in self._parts(Z.shape[1], self.n_bits):
            k, rows = min(2**n_bits, len(Z)), np.ascontiguousarray(Z[:, part])
            means = faiss.Kmeans(
                rows.shape[1], k, niter=int(self.max_iter), seed=seed, min_points_per_centroid=1
            )
            means.train(rows)
            found[:, part] = means.centroids[np.arange(256) % k]
        return found

    def _parts(self, d: int, n_bits: int) -> list[tuple[slice, int]]:
        """Columns of each part of d features, and its number of bits."""
        widths = bits_of_bytes(n_bits)
        if len(widths) > d:
            name = type(self).__name__
            raise ValueError(
                f"n_bits={n_bits}: {name} cuts the features in {len(widths)} parts, and X has {d}; give n_bits "
                f"of at most {8 * d}"
            )
        ends = np.cumsum([len(part) for part in np.array_split(np.arange(d), len(widths))]).tolist()
        return [(slice(*each), width) for *each, width in zip([0, *ends[:-1]], ends, widths)]

    def _rotated(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Centred rows as they are cut in parts."""
        return Z

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        tables = self._tables(Z)
        numbers = np.empty(tables.shape[:2], np.uint8)
        for m, (_, n_bits) in enumerate(self._parts(self.centroids_.shape[1], self.n_bits_)):
            numbers[:, m] = tables[:, m, : 2**n_bits].argmin(axis=1)
        return numbers

    def _tables(self, Z: NDArray[np.float64]) -> NDArray[Any]:
        """Squared distances (n, n_bytes, 256) of the parts of centred rows (n, d) to all centroids."""
        V, C = self._rotated(Z), self.centroids_.astype(np.float64)
        parts = [part for part, _ in self._parts(C.shape[1], self.n_bits_)]
        tables = np.empty((len(V), len(parts), 256))
        for m, part in enumerate(parts):
            apart = -2 * V[:, part] @ C[:, part].T
            tables[:, m] = apart + (C[:, part] ** 2).sum(axis=1) + (V[:, part] ** 2).sum(axis=1, keepdims=True)
        return np.maximum(tables, 0, out=tables)

    def _tables_of(self, Z: NDArray[np.float64]) -> PreparedQueries:
        return PreparedQueries(self.n_bits_, np.zeros(len(Z)), self._tables(Z))
