"""AdditiveHash: bytes that say which vectors add up to a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structhash._numerics.randomness import check_random_state, generator
from structhash._numerics.threads import n_threads, one_blas_thread
from structhash._numerics.validation import check_count
from structhash.codes import PreparedQueries
from structhash.codes.sums import FirstByteCoder, SumCoder
from structhash.estimators._input import open_rows, refuse_supervision
from structhash.estimators._new_classes import warn_of_new_classes
from structhash.estimators._sum_points import STATE, SUM_EMBEDDINGS, SumPoints, find_embedding
from structhash.estimators._unlabeled import check_unlabeled
from structhash.estimators.centroids import (
    SCALE_FIELDS,
    CentroidEncoder,
    bits_of_bytes,
    centroid_field,
    queries_for_products,
    queries_for_sums,
    scale_rows,
)
from structhash.io.fields import Field, Fields
from structhash.pieces import Params
from structhash.supervision import check_labels
from structhash.training.additive import learn_tables
from structhash.training.first_byte import learn_with_first_byte

__all__ = ["MAX_SUM_BITS", "AdditiveHash"]

MAX_SUM_BITS = 256  # the coder keeps products of all pairs of vectors: 130 MB for 32 bytes
_MAX_BEAM = 1024
_LEAST_BITS = 16  # to keep a byte for the class: one byte must say more
_LARGEST_MEAN = 1.01  # of a factor; those of rows are from -1 to 1, up to rounding
_LARGEST_SCALE = 32.0  # of factors, those of random rows included
_NEAR_WEIGHT = 16.0  # of the rows themselves, by the reader "near", in units of their usual weight


_STATE_FIELDS = {
    each.name: each for kind in SUM_EMBEDDINGS.values() for each in kind.state_fields or ()
}.values()


class AdditiveHash(CentroidEncoder):
    """Codes that say which vectors add up to a row, one of 256 a byte.

    Byte after byte, k-means finds 256 vectors for what the bytes so far leave over. All vectors are then fitted
    again by least squares, and all rows coded again by beam search: column generation with a totally corrective
    master, whose columns are bytes. A query is not coded. Its distance to a code is the squared distance to
    the sum of the vectors.

    With one label a row, the distance says how unlike a query and a row are. If you search for classes that y
    lacks, give the rows to be searched as `unlabeled`. The vectors are then factors of
    `structhash.embeddings.mixture`: the distance goes first by classes, known or new, then by what the rows
    themselves say. So one code serves known classes, new classes, and the order inside a class. Where 256
    values say nearly all of the class probabilities, as with up to about 150 classes, the first byte of codes
    of at least 16 bits is for them alone (`structhash.training.first_byte`). A row need not be its own nearest:
    the class of another row may be surer.

    Without `unlabeled`, the distance compares how much rows are like each of the known classes
    (`structhash.embeddings.class_directions`). That also says much of rows of new classes. The vectors are
    also learned from random rows (`structhash.training.normal_rows`). Known classes are found less
    well than by `DistilHash`, above all where they are seldom sure.

    Where rows have several labels, the vectors are label probabilities (`structhash.embeddings.multilabel`),
    and the distance says how many labels a query and a row are expected to share.

    Without labels, such codes find more of the nearest rows than bits do at the same bytes. They have no
    Hamming distance and no prefixes, and coding a row takes more time. A model that has coded rows keeps
    products of its vectors: 7 MB for 8 bytes, 130 MB for 32. `DistilHash` has bits, for Hamming distance.

    Parameters
    ----------
    n_bits : int
        Length of the code, at most 256.
    beam : int
        Codes of the first bytes that are kept while a row is coded, at most 1,024; more are slower and nearer.
    random_state : int, RandomState, Generator or None
        Draws the first centroids, and the rows to learn from where there are more than 50,000 (with labels,
        10,000). Draws random rows to learn from, too.
    n_jobs : int or None
        Threads that code rows, in `fit` and `encode`, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    embedding_name_, embedding_state_ : str, dict of arrays or None
        Those of the embedding that labels gave; "" and None without labels.
    mean_, scale_ : ndarray (m,), float
        Mean and unit, a power of two, by which rows (with labels, their factors) are centred and scaled.
    centroids_ : ndarray (n_bytes, 256, m) float32
        The vectors; zeros follow those of a last byte with fewer than 8 bits.
    errors_ : ndarray (n_bytes,)
        Share of the squared length that the first bytes left over, of what the vectors were learned from.
    beam_ : int
    has_class_byte_ : bool
        Whether the first byte alone codes the first numbers of a row: its class probabilities, and the chance
        of a new class. Otherwise all bytes code all numbers.

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

    takes_unlabeled: ClassVar[bool] = True
    reads_near: ClassVar[bool] = True
    fitted_fields: ClassVar[Fields | None] = (
        *(replace(each, name=f"{STATE}/{each.name}", optional=True) for each in _STATE_FIELDS),
        *(replace(each, shape=("n_numbers",)) if each.name == "mean_" else each for each in SCALE_FIELDS),
        centroid_field("n_bytes", "n_values", "n_numbers"),
        Field("errors_", ("n_bytes",), least=0),
        Field("beam_", kind="int", least=1, most=_MAX_BEAM),
        Field("has_class_byte_", kind="bool", optional=True),
        Field("embedding_name_", kind="text", optional=True),
        Field("n_bits_", kind="int", least=1, most=MAX_SUM_BITS),
    )

    embedding_state_: Params | None = None
    centroids_: NDArray[np.float32]
    errors_: NDArray[np.float64]
    beam_: int
    has_class_byte_: bool = False
    embedding_name_: str = ""

    def __init__(
        self, n_bits: int = 64, *, beam: int = 16, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.n_bits = n_bits
        self.beam = beam
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        check_count("n_bits", self.n_bits, most=MAX_SUM_BITS)
        check_count("beam", self.beam, most=_MAX_BEAM)
        check_random_state(self.random_state)
        n_threads(self.n_jobs)

    def fit(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Self:
        """Learn from labels, or from rows alone.

        Parameters
        ----------
        X : array (n, d)
            At least two rows, not all the same.
        y : array (n,), (n, L) or None
            A label a row, or 0/1 indicators of L labels, as `DistilHash` takes them.
        unlabeled : array (m, d), optional
            Rows like those to be searched, such as the database itself, maybe of classes that y lacks; in the
            unit of X. Vectors are learned from them, and from X where they have fewer rows of known classes.

        Returns
        -------
        self
            Fitted. A fit that fails leaves the estimator as it was.

        Raises
        ------
        ValueError, TypeError
            If a setting, X, y or unlabeled is not allowed.
        """
        self.check_settings()
        refuse_supervision(self, y, "labels of rows or from rows alone")
        checked = self._check_input(X, keep=y is not None or unlabeled is not None)
        labels = None if y is None else check_labels(y, len(checked.X), unlabeled is not None)
        others = None if unlabeled is None else check_unlabeled(self, checked, unlabeled)
        rng = generator(self.random_state)
        with one_blas_thread():  # codes do not depend on the number of threads
            if labels is None:
                learned = SumPoints.from_rows(checked.X if others is None else others, rng)
            else:
                learned = SumPoints.from_labels(checked.X, labels, others, rng)
            fitted = self._learn(learned, rng)
        self._store(checked.columns, fitted)  # sums have one reader
        return self

    def steps(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Iterator[Any]:
        """`fit` as a generator that yields nothing; see `EncoderContract.steps`.

        Parameters
        ----------
        X, y, unlabeled
            As in `fit`.

        Yields
        ------
        Step
            None: bytes are not learned one step each.
        """
        self.fit(X, y, unlabeled=unlabeled)
        yield from ()

    def about(self) -> dict[str, Any]:
        """The embedding, and the share of the learned squared length that codes leave over."""
        embedding = {"embedding": self.embedding_name_} if self.embedding_name_ else {}
        left = f"{100 * self.errors_[-1]:.1f} percent of the squared length that was learned"
        return {**embedding, "left over": left}

    def learned_from_labels(self) -> bool:
        """See `EncoderContract.learned_from_labels`."""
        return self.embedding_state_ is not None

    def _learn(self, rows: SumPoints, rng: np.random.Generator) -> dict[str, Any]:
        """Fitted attributes."""
        Z, scales = scale_rows(rows.vectors, rows.vectors.mean(axis=0, dtype=np.float64))
        if not Z.any():
            raise ValueError("all rows of X are the same; give rows that differ")
        sizes = 2 ** np.array(bits_of_bytes(self.n_bits))
        how = sizes, int(self.beam), rng, n_threads(self.n_jobs)
        own, n_first = None, rows.n_class_numbers()
        if n_first and self.n_bits >= _LEAST_BITS:
            own = learn_with_first_byte(Z, n_first, *how)
        tables, errors = own or learn_tables(Z, *how)
        facts = {"n_bits_": int(self.n_bits), "weights_": np.ones(self.n_bits), "history_": []}
        learned = {"centroids_": tables, "errors_": errors, "beam_": int(self.beam)}
        return {**scales, **facts, **learned, **rows.fitted(own is not None)}

    def new_class_share(self, X: Any) -> float:
        """See `DistilHash.new_class_share`, which says what 0 means."""
        check_is_fitted(self)
        return self._new_class_share(open_rows(self, X))

    def _new_class_share(self, rows: NDArray[Any]) -> float:
        state = self.embedding_state_
        return 0.0 if state is None else find_embedding(self.embedding_name_).new_class_share(rows, state)

    def _encode_opened(self, rows: NDArray[Any], n_bits: int, queries: bool = False) -> NDArray[np.uint8]:
        codes = super()._encode_opened(rows, n_bits, queries)
        warn_of_new_classes(rows, self._new_class_share)
        return codes

    def _scaled(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return super()._scaled(X if self.embedding_state_ is None else self._factors(X, self.embedding_state_))

    def _factors(self, X: NDArray[Any], state: Params, queries: bool = False) -> NDArray[np.float64]:
        """Rows or queries (n, d) as factors (n, m)."""
        embedding = find_embedding(self.embedding_name_)
        return embedding.factors(embedding.embed(X, state), state, queries)

    def _own_queries(self, Q: NDArray[Any], near: bool = False) -> PreparedQueries:
        state = self.embedding_state_
        if state is None:
            return super()._own_queries(Q)
        factors, embedding = self._factors(Q, state, queries=True), find_embedding(self.embedding_name_)
        most = embedding.most_alike(state)
        if near:
            factors[:, -embedding.n_row_numbers(state) :] *= _NEAR_WEIGHT
            most += _NEAR_WEIGHT
        return queries_for_products(factors, most, self.centroids_, (self.mean_, self.scale_), self.n_bits_)

    def _near_queries(self, Q: NDArray[Any]) -> PreparedQueries:
        state = self.embedding_state_
        if state is not None and not find_embedding(self.embedding_name_).n_row_numbers(state):
            raise ValueError(
                "reader='near': codes learned from several labels a row hold labels alone; give reader='auto'"
            )
        return self._own_queries(Q, near=True)

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]) -> dict[str, Any]:
        fitted = super()._from_arrays(arrays, plain)
        row = np.zeros((1, fitted["n_features_in_"]), np.float32)
        if STATE in fitted:
            embedding = find_embedding(fitted.get("embedding_name_", ""))
            with np.errstate(all="ignore"):
                vectors = embedding.check_state(fitted[STATE], row)
            row = embedding.factors(vectors, fitted[STATE])
            _refuse_far(fitted["mean_"], fitted["scale_"])
        if len(fitted["mean_"]) != row.shape[1]:
            raise ValueError(f"'mean_' has {len(fitted['mean_'])} numbers, and a row {row.shape[1]}")
        if STATE in fitted and fitted.get("has_class_byte_"):
            _refuse_class_numbers(fitted["centroids_"][1:, :, : embedding.n_class_numbers(fitted[STATE])])
        return fitted

    def _numbers(self, Z: NDArray[np.float64]) -> NDArray[np.uint8]:
        return _coder_of(self).code(Z, n_threads(self.n_jobs))

    def _tables_of(self, Z: NDArray[np.float64]) -> PreparedQueries:
        return queries_for_sums(Z, self.centroids_, self.n_bits_)


def _coder_of(model: AdditiveHash) -> SumCoder | FirstByteCoder:
    """The coder of its vectors. It is made once and kept: that takes longer than to code a row."""
    coder = _CODERS.get(model)
    if coder is None or coder.tables is not model.centroids_ or coder.beam != model.beam_:
        sizes, state = 2 ** np.array(bits_of_bytes(model.n_bits_)), model.embedding_state_
        how = model.centroids_, sizes, model.beam_
        if state is not None and model.has_class_byte_:
            coder = FirstByteCoder(*how, find_embedding(model.embedding_name_).n_class_numbers(state))
        else:
            coder = SumCoder(*how)
        _CODERS[model] = coder
    return coder


def _refuse_class_numbers(of_later_bytes: NDArray[np.float32]) -> None:
    """ValueError unless the class numbers of all bytes but the first are 0; `FirstByteCoder` relies on it."""
    if of_later_bytes.any() or not of_later_bytes.size:
        raise ValueError(
            "'has_class_byte_' is true, but not only the first byte of 'centroids_' is for classes"
        )


def _refuse_far(mean: NDArray[Any], scale: float) -> None:
    """ValueError unless factors of rows can have this mean and unit."""
    if not (np.abs(mean).max(initial=0) <= _LARGEST_MEAN and scale <= _LARGEST_SCALE):
        raise ValueError(
            f"'mean_' holds numbers from {mean.min():g} to {mean.max():g}, and 'scale_' is {scale:g}; factors "
            f"of rows are from -1 to 1, and the unit is at most {_LARGEST_SCALE:g}"
        )


# not pickled with the model
_CODERS: WeakKeyDictionary[AdditiveHash, SumCoder | FirstByteCoder] = WeakKeyDictionary()
