"""Residual quantisation: each byte codes what the bytes before it leave over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.validation import check_count
from structhash.baselines._centroid_codes import QUANTISER_FIELDS, CentroidCodes, repeated
from structhash.codes import PreparedQueries
from structhash.estimators.centroids import bits_of_bytes, centroid_field, queries_for_sums
from structhash.io.fields import Field

__all__ = ["RQ"]

_BEAM_ROWS = 1024  # rows whose candidate codes are held at a time


class RQ(CentroidCodes):
    """Residual quantisation: a code decodes to a sum of centroids, one of 256 a byte.

    Each byte has centroids of what the bytes before it leave over, learned by faiss (`ResidualQuantizer`). A
    row is coded by beam search: the best `beam` codes of the first m bytes are kept for the next. The distance
    of a query to a code is the squared distance to the row that the code decodes to. The query is not coded.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    max_iter : int
        Rounds of k-means; 10 is the default of faiss.
    beam : int
        Candidate codes of a row; 5 is the default of faiss.
    random_state : int, RandomState, Generator or None
        Draws the first centroids.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_, scale_ : ndarray (d,), float
        Rows are taken from this mean, in this unit, a power of two.
    n_iter_ : int
        max_iter.
    centroids_ : ndarray (n_bytes, 256, d) float32
        Those of a byte that has fewer are followed by zeros.
    sizes_ : ndarray (n_bytes,) int64
        Number of centroids of each byte.
    beam_ : int

    Notes
    -----
    Rows are repeated where they are fewer than 256 or than features.

    References
    ----------
    Chen, Guan, Wang (2010), Approximate nearest neighbor search by residual vector quantization,
    https://doi.org/10.3390/s101211259; the beam search is that of Babenko, Lempitsky (2014), Additive
    quantization for extreme vector compression, https://doi.org/10.1109/CVPR.2014.124

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> RQ(n_bits=16, random_state=0).fit(X).encode(X).shape
    (1797, 2)
    """

    source = "Chen et al. 2010"
    settings_from = "those of faiss: progressive k-means of 10 rounds, a beam of 5"
    fitted_fields = (
        *QUANTISER_FIELDS,
        centroid_field("n_bytes", "n_values", "n_features"),
        Field("sizes_", ("n_bytes",), "int", least=1, most=256),
        Field("beam_", kind="int", least=1),
    )

    centroids_: NDArray[np.float32]
    sizes_: NDArray[np.int64]
    beam_: int

    def __init__(
        self, n_bits: int = 64, *, max_iter: int = 10, beam: int = 5, random_state: Any = None
    ) -> None:
        super().__init__(n_bits, max_iter=max_iter, random_state=random_state)
        self.beam = beam

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("beam", self.beam)

    def _learn_centroids(self, faiss: Any, Z: NDArray[np.float32], seed: int) -> dict[str, Any]:
        widths = bits_of_bytes(self.n_bits)
        listed = faiss.UInt64Vector()
        for width in widths:
            listed.push_back(width)
        Quantiser = faiss.ResidualQuantizer
        learner = Quantiser(Z.shape[1], listed, faiss.AdditiveQuantizer.ST_decompress)
        learner.cp.min_points_per_centroid, learner.cp.niter = 1, int(self.max_iter)
        learner.cp.seed, learner.max_beam_size = seed, int(self.beam)
        learner.train(repeated(Z))
        sizes = 2 ** np.array(widths)
        each = np.split(faiss.vector_to_array(learner.codebooks).reshape(-1, Z.shape[1]), np.cumsum(sizes)[:-1])
        centroids = np.zeros((len(sizes), 256, Z.shape[1]), np.float32)
        for place, found in zip(centroids, each):
            place[: len(found)] = found
        return {"centroids_": centroids, "sizes_": sizes, "beam_": int(self.beam)}

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        numbers = np.empty((len(Z), len(self.sizes_)), np.uint8)
        books = [book[:size].astype(np.float64) for book, size in zip(self.centroids_, self.sizes_)]
        for rows in row_slices(len(Z), _BEAM_ROWS):
            numbers[rows] = _beam_search(Z[rows], books, self.beam_)
        return numbers

    def _tables_of(self, Z: NDArray[np.float64]) -> PreparedQueries:
        return queries_for_sums(Z, self.centroids_, self.n_bits_)


def _beam_search(Z: NDArray[np.float64], books: list[NDArray[np.float64]], beam: int) -> NDArray[np.uint8]:
    """Codes (n, n_bytes) of centred rows (n, d): the best of those that a beam keeps."""
    left, numbers = Z[:, None], np.empty((len(Z), 1, len(books)), np.uint8)  # of each candidate
    for m, book in enumerate(books):
        apart = (left**2).sum(axis=2)[:, :, None] + (book**2).sum(axis=1) - 2 * left @ book.T
        flat = apart.reshape(len(Z), -1)
        count = min(beam if m + 1 < len(books) else 1, flat.shape[1])
        kept = np.argpartition(flat, count - 1, axis=1)[:, :count]
        parent, number = np.divmod(kept, len(book))
        left = np.take_along_axis(left, parent[:, :, None], axis=1) - book[number]
        numbers = np.take_along_axis(numbers, parent[:, :, None], axis=1)
        numbers[:, :, m] = number
    return numbers[:, 0]
