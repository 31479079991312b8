"""AdditiveHash: bytes that say which vectors add up to a row."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import rows_within, sample_rows
from structhash._numerics.randomness import check_random_state, generator
from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import check_count
from structhash.codes import PreparedQueries
from structhash.codes.sums import SumCoder
from structhash.estimators.centroids import (
    SCALE_FIELDS,
    CentroidEncoder,
    bits_of_bytes,
    queries_for_sums,
    scale_rows,
)
from structhash.io.fields import Field, Fields
from structhash.training.additive import learn_tables

__all__ = ["MAX_SUM_BITS", "AdditiveHash"]

MAX_SUM_BITS = 256  # the coder keeps products of all pairs of vectors: 130 MB for 32 bytes
_MAX_BEAM = 1024
_MAX_ROWS = 50_000
_MAX_NUMBERS = 1 << 26  # of the rows that are learned from, unless these are very wide


class AdditiveHash(CentroidEncoder):
    """Codes that say which vectors add up to a row, one of 256 a byte. Most accurate without labels.

    Byte after byte, k-means finds 256 vectors for what the bytes so far leave over. All vectors are then fitted
    again by least squares, and all rows coded again by beam search: column generation with a totally corrective
    master, whose columns are bytes. A query is not coded. Its distance to a code is the squared distance to
    the sum of the vectors.

    Such codes find more of the nearest rows than bits do at the same bytes. They have no Hamming distance and
    no prefixes, and coding a row takes more time. A model that has coded rows keeps products of its vectors:
    7 MB for 8 bytes, 130 MB for 32. `DistilHash` has bits, and follows labels.

    Parameters
    ----------
    n_bits : int
        Length of the code, at most 256.
    beam : int
        Codes of the first bytes that are kept while a row is coded, at most 1,024. More take more time and are
        nearer.
    random_state : int, RandomState, Generator or None
        Draws rows, if there are more than 50,000, and the first centroids.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_, scale_ : ndarray (d,), float
        Rows are taken from this mean, in this unit, a power of two.
    centroids_ : ndarray (n_bytes, 256, d) float32
        The vectors; zeros follow those of a last byte with fewer than 8 bits.
    errors_ : ndarray (n_bytes,)
        Share of the squared length of the training rows that the first bytes left over.
    beam_ : int

    References
    ----------
    Codes as sums: Babenko, Lempitsky (2014), Additive quantization for extreme vector compression,
    https://doi.org/10.1109/CVPR.2014.124. Bytes one by one: Chen, Guan, Wang (2010), Approximate nearest
    neighbor search by residual vector quantization, https://doi.org/10.3390/s101211259

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash.search import Exact
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = AdditiveHash(n_bits=32, random_state=0).fit(X)
    >>> index = Exact(n_bits=32)
    >>> index.add(encoder.encode(X))
    >>> index.search(encoder.prepare_queries(X[:1]), k=1)[1]
    array([[0]])
    """

    fitted_fields: ClassVar[Fields | None] = (
        *SCALE_FIELDS,
        Field("centroids_", ("n_bytes", "n_values", "n_features")),
        Field("errors_", ("n_bytes",), least=0),
        Field("beam_", kind="int", least=1, most=_MAX_BEAM),
        Field("n_bits_", kind="int", least=1, most=MAX_SUM_BITS),
    )

    centroids_: NDArray[np.float32]
    errors_: NDArray[np.float64]
    beam_: int

    def __init__(self, n_bits: int = 64, *, beam: int = 16, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.beam = beam
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        check_count("n_bits", self.n_bits, most=MAX_SUM_BITS)
        check_count("beam", self.beam, most=_MAX_BEAM)
        check_random_state(self.random_state)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows alone.

        Parameters
        ----------
        X : array (n, d)
            At least two rows, not all the same.
        y : ignored

        Returns
        -------
        self
            Fitted. A fit that fails leaves the estimator as it was.

        Raises
        ------
        ValueError, TypeError
            If a setting is not allowed, X is not a finite matrix, or all rows of X are the same.
        """
        self.check_settings()
        checked = self._check_input(X)
        with one_blas_thread():  # codes do not depend on the number of threads
            fitted = self._learn(checked.X, generator(self.random_state))
        self._store(checked.columns, fitted)
        return self

    def about(self) -> dict[str, Any]:
        """The share of the squared length of the training rows that codes leave over."""
        return {"left over": f"{100 * self.errors_[-1]:.1f} percent of the squared length of training rows"}

    def _learn(self, X: NDArray[Any], rng: np.random.Generator) -> dict[str, Any]:
        """Fitted attributes from training rows (n, d)."""
        X = X[sample_rows(len(X), min(_MAX_ROWS, rows_within(X.shape[1], _MAX_NUMBERS)), rng)]
        Z, scales = scale_rows(X, X.mean(axis=0, dtype=np.float64))
        if not Z.any():
            raise ValueError("all rows of X are the same; give rows that differ")
        sizes = 2 ** np.array(bits_of_bytes(self.n_bits))
        tables, errors = learn_tables(Z, sizes, int(self.beam), rng)
        facts = {"n_bits_": int(self.n_bits), "weights_": np.ones(self.n_bits), "history_": []}
        learned = {"centroids_": tables, "errors_": errors, "beam_": int(self.beam)}
        return {**scales, **facts, **learned}

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        return self._coder().code(Z)

    def _coder(self) -> SumCoder:
        """The coder of these vectors. It is made once and kept: that takes longer than to code a row."""
        coder = _CODERS.get(self)
        if coder is None or coder.tables is not self.centroids_ or coder.beam != self.beam_:
            coder = SumCoder(self.centroids_, 2 ** np.array(bits_of_bytes(self.n_bits_)), self.beam_)
            _CODERS[self] = coder
        return coder

    def _tables_of(self, Z: NDArray[np.float64]) -> PreparedQueries:
        return queries_for_sums(Z, self.centroids_, self.n_bits_)


_CODERS: WeakKeyDictionary[AdditiveHash, SumCoder] = WeakKeyDictionary()  # not pickled with the model
