"""The contract of a method that turns vectors into codes, with defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from structhash._numerics.program import Program
from structhash.codes import PreparedQueries
from structhash.codes.planes import Planes, express_planes, plane_distances
from structhash.io.fields import Fields

__all__ = ["NEAR_READER", "OWN_READERS", "EncoderContract"]

OWN_READERS = ("bits", "real")  # that need no fit, in the order of `reader_recalls_`
NEAR_READER = "near"  # of codes that are no bits and hold both labels and vectors


class EncoderContract:
    """The contract of `HashEncoder`: a subclass gives `check_settings`, `fit` and a way to bits.

    The way to bits is `_bits`, `_values` or `_planes`. Everything else has a default, so that generic code need
    not test for classes.

    Attributes
    ----------
    n_bits_ : int
        Number of bits learned.
    weights_ : ndarray (n_bits,) float64
        Weight of each bit in the weighted Hamming distance.
    history_ : list of dict
        One record a bit; empty for methods that do not learn bit by bit.
    weighted_ : bool
        Whether search and evaluation use the weights by default.
    judged_ : bool
        Whether the codes were learned from judgements. `fit` may take judgements and yet not use them.
    own_distance_ : str or None
        The name of the method's own distance, where it has one besides the Hamming distances.
    own_distance_reads_floats : bool
        Whether the own distance compares floats of both rows, such as class probabilities, and not codes.
    prefix_weights_ : ndarray (n_bits, n_bits) or None
        Row t - 1 holds the weights of the first t bits, where a method learns bit by bit.
    takes_supervision : bool
        Whether `fit` takes any `Supervision` as y, not labels only.
    takes_unlabeled : bool
        Whether `fit` takes rows like those to be searched as `unlabeled`.
    codes_are_bits : bool
        Whether codes are compared bit by bit. Otherwise a byte is a number, such as that of a centroid, and
        only queries of `HashEncoder.prepare_queries` find rows.
    reads_near : bool
        Whether `HashEncoder.prepare_queries` takes the reader ``"near"``.
    codes_are_one_hot : bool
        Whether the place of the last bit that is set says all of a code. A row then stores this number.
    own_length : bool
        Whether ``n_bits=None`` is allowed and means a length that the method derives from the rows.
    column_names_ : list of str or None
        Names of the columns as text, of a frame or as `name_columns` set them. A .csv file is read by them, and
        a frame with others is refused. None for rows without names; a frame whose columns are numbered then has
        them in the order 0, 1, 2, ...
    fitted_fields : tuple of Field or None
        What the class stores when it is fitted, besides what all have. Files are held to it. A class without a
        declaration stores any arrays without NaN; one with compiled kernels needs it.
    reader_recalls_ : float64 (2,) or None
        Share of the ten nearest rows, by the vectors, that training rows find among the others by all bits and
        by real values; 0 where the bits have none. `default_reader` follows it. None with labels or
        judgements, where codes are no bits, and where fewer than 500 rows were given.
    row_lengths_ : float64 (2,) or None
        Euclidean lengths of the shortest and the longest training row that is not 0; 0 and 0 if there is none.
        `encode` warns of rows far outside. None for models of earlier versions.
    magnitudes : (float, float)
        The smallest and the largest magnitude that the largest number of the training rows may have.
    """

    n_bits: Any
    n_bits_: int
    weights_: NDArray[np.float64]
    history_: list[dict[str, Any]]
    weighted_ = False
    prefix_weights_: NDArray[np.float64] | None = None
    column_names_: list[str] | None = None
    reader_recalls_: NDArray[np.float64] | None = None
    row_lengths_: NDArray[np.float64] | None = None
    judged_ = False
    own_distance_: str | None = None
    own_distance_reads_floats: ClassVar[bool] = False
    takes_supervision: ClassVar[bool] = False
    takes_unlabeled: ClassVar[bool] = False
    codes_are_bits: ClassVar[bool] = True
    reads_near: ClassVar[bool] = False
    codes_are_one_hot: ClassVar[bool] = False
    own_length: ClassVar[bool] = False
    fitted_fields: ClassVar[Fields | None] = None
    magnitudes: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def check_settings(self) -> None:
        """Refuse settings that are not allowed. `fit` calls it first; it needs no data.

        Raises
        ------
        ValueError, TypeError
            Naming the setting, its value and what is allowed.
        """

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Bits (n, n_bits) of a block of rows, float32 or float64. Not called where there are `_planes`."""
        values = self._values(X)
        if values is None:
            raise NotImplementedError
        bits: NDArray[np.bool_] = values > 0
        return bits

    def _values(self, X: NDArray[Any]) -> NDArray[Any] | None:
        """Real values (n, n_bits_) of a block of rows whose bits are 1 where the value is above 0.

        None where the bits of a method are no signs of real values. By default: distances to the planes.
        """
        planes = self._planes()
        return None if planes is None else plane_distances(planes, X)

    def _query_values(self, X: NDArray[Any], n_bits: int) -> NDArray[Any] | None:
        """`_values` of a block of queries that search codes of n_bits bits."""
        return self._values(X)

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """Real values of all bits, of a value X, as steps of a program (`structhash.export`).

        Parameters
        ----------
        program : Program
        X : str
            Name of the rows, or of the queries.
        n_query_bits : int, optional
            X are queries that search codes of so many bits.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the bits of the method cannot be expressed so.
        """
        planes = self._planes() if self.codes_are_bits else None
        if planes is None:
            raise ValueError(f"the bits of {type(self).__name__} cannot be exported; encode with structhash")
        return express_planes(program, planes, X)

    def default_reader(self) -> str:
        """What ``reader="auto"`` is in `HashEncoder.prepare_queries`.

        ``"bits"`` with labels or judgements. Without, what found more when the encoder was fitted; ``"real"``
        where nothing was tried. Bits are read where they have no real values.
        """
        if recalls := self.recalls_by_reader():
            return max(recalls, key=lambda name: recalls[name])
        return "bits" if self.learned_from_labels() else "real"

    def recalls_by_reader(self) -> dict[str, float]:
        """The `reader_recalls_` by the names of the readers; empty where nothing was tried."""
        recalls = () if self.reader_recalls_ is None else self.reader_recalls_.tolist()
        return dict(zip(OWN_READERS, recalls))

    def learned_from_labels(self) -> bool:
        """Whether the codes of a fitted encoder say which class a row is of."""
        return self.needs_y()

    def _own_queries(self, Q: NDArray[Any]) -> PreparedQueries:
        """Prepared queries (q, d), finite floats. Called only where not `codes_are_bits`."""
        raise NotImplementedError

    def _near_queries(self, Q: NDArray[Any]) -> PreparedQueries:
        """Prepared queries (q, d) that order by the vectors. Called only where `reads_near`."""
        raise NotImplementedError

    def _planes(self) -> Planes | None:
        """The planes that decide all bits; None where no planes decide them."""
        return None

    def queries_differ(self, n_bits: int | None = None) -> bool:
        """Whether `encode_queries` gives other codes than `encode` at this length (all bits by default)."""
        return False

    def _query_bits(self, X: NDArray[Any], n_bits: int) -> NDArray[np.bool_]:
        """Bits (n, n_bits_) of a block of queries, to be cut to n_bits. Called only where `queries_differ`."""
        raise NotImplementedError

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """The method's own distances to rows (n, d), for instance from queries that are not encoded.

        Returns a function of query rows (q, d) that gives float64 (q, n). Only the order within a row counts.
        """
        raise NotImplementedError(f"{type(self).__name__} has plain and weighted Hamming distances only")

    def fit(self, X: Any, y: Any, /) -> Any:
        """Learn from rows X, and from y where the method uses it."""
        raise NotImplementedError

    def steps(self, X: Any, y: Any, /) -> Iterator[Any]:
        """`fit` as a generator of one `Step` a bit; a method that does not learn bit by bit yields none."""
        self.fit(X, y)
        yield from ()

    def needs_y(self) -> bool:
        """Whether `fit` needs y with these settings; without it, a method learns from X alone."""
        return bool(get_tags(self).target_tags.required)

    def alternatives(self) -> list[tuple[str, Any]]:
        """Unfitted variants to try on held-out rows, each with its settings in words; this encoder is first."""
        return [("as set", clone(self))]

    def learns_from_judgements(self) -> bool:
        """Whether `fit` takes `Qrels` with these settings."""
        return self.takes_supervision

    def new_class_share(self, X: Any) -> float:
        """See `DistilHash.new_class_share`, which says what 0 means; 0 by default."""
        return 0.0

    def about(self) -> dict[str, Any]:
        """Facts about what a fitted encoder learned, by name; ``structhash info`` prints them."""
        return {}
