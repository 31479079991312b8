"""What every method shares: codes, weights, score, one file on disk."""

from __future__ import annotations

import contextlib
import functools
import json
import numbers
import zlib
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from structhash._numerics.blocks import ROWS, as_floats, row_slices
from structhash._numerics.validation import describe
from structhash.codes import code_distances, pack, unpack
from structhash.codes.planes import Planes, make_product, write_codes
from structhash.io import container as files
from structhash.metrics import average_precision, tie_blocks, without_self
from structhash.pieces import KINDS, classes, load, spell
from structhash.supervision import is_indicator

KIND = "model"
MODERATE = 1e152  # beyond, and below its inverse, a square is no ordinary number


class HashEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A method that turns feature vectors into binary codes; base of every method here.

    A subclass sets its fitted state in ``fit``, as attributes whose names end in an underscore and that are
    arrays, dicts of arrays or plain values (so saving comes free), and gives ``_bits``, or ``_planes`` where
    the bits are sides of planes.

    Attributes
    ----------
    n_bits_ : int
        Number of bits learned.
    weights_ : ndarray (n_bits,) float64
        Weight of each bit in the weighted Hamming distance.
    history_ : list of dict
        One record a bit; empty for methods that do not learn bit by bit.
    weighted_ : bool
        Whether search and evaluation use the weights unless told otherwise.
    own_distance_ : str or None
        Where there is a distance besides the (weighted) Hamming one: a word for it, in tables.
    reach_ : (float, float)
        Between what the largest number of the training rows has to be, for a method that squares them, or that
        divides by them twice.
    """

    weighted_ = False
    own_distance_: str | None = None
    reach_: tuple[float, float] = (0.0, np.inf)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Bits (n, n_bits) of a block of rows, float32 or float64; not called where there are `_planes`."""
        raise NotImplementedError

    def _query_power(self, n_bits: int) -> float | None:
        """How `_query_bits` codes queries for codes of n_bits bits; None where they are coded as rows are."""
        return None

    def _query_bits(self, X: NDArray[Any], power: float) -> NDArray[np.bool_]:
        """As `_bits`, of queries, where they have codes of their own."""
        raise NotImplementedError

    def _planes(self) -> Planes | None:
        """The planes that decide all bits; None where the bits are others."""
        return None

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """Distances of the method's own to rows (n, d), such as from queries that are not encoded.

        Returns a function of query rows (q, d) that gives float64 (q, n); only the order in each row counts.
        """
        raise NotImplementedError(f"{type(self).__name__} has plain and weighted Hamming distances only")

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Bits of rows X (n, d) as uint8 0/1 (n, n_bits), for pipelines; X is read as by `encode`."""
        return unpack(self.encode(X), self.n_bits_)

    def encode(self, X: Any, n_bits: int | None = None) -> NDArray[np.uint8]:
        """Packed codes of rows X (n, d), uint8 (n, ceil(n_bits / 8)).

        Bit order is little, pad bits are zero. The code of a row does not depend on the rows it comes with.

        Parameters
        ----------
        X : array (n, d)
            Numbers of any type. A numpy array, or a memory map, is read some rows at a time and never copied.
        n_bits : int, optional
            Give only the first bits; all by default.

        Raises
        ------
        ValueError
            If n_bits is not between 1 and the number learned, or X has another width or a number that is not
            finite.
        """
        n_bits = self._prefix(n_bits)
        return self._codes(self._open(X), n_bits)

    def encode_queries(self, X: Any, n_bits: int | None = None) -> NDArray[np.uint8]:
        """Packed codes of queries X (q, d), with which to search the codes that `encode` gives.

        The same as `encode` but for the embedding ``"posterior"`` of `StructHash`, which is learned from labels
        of the classes that are searched: there a query that is not sure of its class finds what is surely of
        the likeliest, not what is as unsure as itself, as far as left-out training rows find more so. Much of
        that is of one class: take `encode` for queries of classes without labels, or that look for their like,
        and where vectors order the first hundred anew. Parameters and errors are those of `encode`.
        """
        n_bits = self._prefix(n_bits)
        return self._codes(self._open(X), n_bits, self._query_power(n_bits))

    def weights_at(self, n_bits: int) -> NDArray[np.float64]:
        """Weights (n_bits,) of the prefix code of n_bits bits: those the master had at that step."""
        n_bits, steps = self._prefix(n_bits), getattr(self, "step_weights_", None)
        return self.weights_[:n_bits] if steps is None else steps[n_bits - 1, :n_bits]

    @property
    def search_weights_(self) -> NDArray[np.float64] | None:
        """What search uses unless told otherwise: None for plain Hamming, else `weights_`."""
        return self.weights_ if self.weighted_ and self.weights_.any() else None

    def score(self, X: Any, y: Any) -> float:
        """Mean average precision of label retrieval among the rows of X, each row being left out of its own.

        Queries are coded by `encode_queries`. Average precision over the whole ranking, ties in expectation;
        rows that are the only ones of their class are left out of the mean. y is a label a row, or (n, L) of
        0/1 where rows are relevant to each other that have a label in common.

        Raises
        ------
        ValueError
            If labels and rows differ in number, or no two rows have the same label.
        """
        codes, y = self.encode(X), np.asarray(y)
        asked = self.encode_queries(X) if self._query_power(self.n_bits_) else codes
        several = is_indicator(y)
        if len(y.shape) == 0 or len(y) != len(codes) or not (several or y.ndim == 1):
            raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(codes)} rows")
        if not several and len(np.unique(y)) == len(y):
            raise ValueError(
                f"each of the {len(y)} rows has a label of its own; at least one class needs 2 rows"
            )
        weights, found = self.search_weights_, []
        for first in range(0, len(codes), 256):
            apart = code_distances(asked[first : first + 256], codes, weights)
            if several:
                together = y[first : first + 256].astype(np.float32) @ y.T.astype(np.float32) > 0
            else:
                together = y[first : first + 256, None] == y[None]
            found.append(average_precision(tie_blocks(*without_self(apart, together, first))))
        precision = np.concatenate(found)
        if np.isnan(precision).all():
            raise ValueError(f"no two of the {len(y)} rows have a label in common; give labels that repeat")
        return float(np.nanmean(precision))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file (safetensors with a JSON header); `load_model` reads it.

        Raises
        ------
        ValueError
            If a setting is a piece that has no name, so that no one could load it again.
        """
        check_is_fitted(self)
        arrays, plain = self._fitted()
        params = self.get_params(deep=False)
        if "random_state" in params and not isinstance(params["random_state"], numbers.Integral):
            params["random_state"] = None  # a generator's state is not a setting
        params = {key: _setting(key, value) for key, value in params.items()}
        header = {"class": type(self).__name__, "params": params, "fitted": plain, "arrays": sorted(arrays)}
        files.save(path, arrays, json.loads(json.dumps(header, default=_plain)), KIND)

    def fingerprint(self) -> str:
        """A short text that tells models apart: checksum of the fitted arrays."""
        check_is_fitted(self)
        total = 0
        for name, array in sorted(self._fitted()[0].items()):
            total = zlib.crc32(np.ascontiguousarray(array).tobytes(), zlib.crc32(name.encode(), total))
        return f"{total:08x}"

    def _fitted(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The fitted state: arrays by name, and plain values."""
        arrays: dict[str, NDArray[Any]] = {}
        plain: dict[str, Any] = {}
        for name, value in vars(self).items():
            if not name.endswith("_") or name.startswith("_"):
                continue
            if isinstance(value, dict):
                arrays |= {f"{name}/{key}": np.asarray(array) for key, array in value.items()}
            elif isinstance(value, np.ndarray) and value.dtype != object:
                arrays[name] = value
            else:
                plain[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return arrays, plain

    def __sklearn_is_fitted__(self) -> bool:
        """False after a `fit` that failed or was left half-way, too."""
        return hasattr(self, "n_bits_")

    @property
    def _n_features_out(self) -> int:
        """What scikit-learn counts the output names by; no attribute before fit."""
        return self.n_bits_

    def _codes(self, rows: NDArray[Any], n_bits: int, power: float | None = None) -> NDArray[np.uint8]:
        """The first bits, packed, of rows of the right width, a block at a time."""
        codes = np.empty((len(rows), -(-n_bits // 8)), np.uint8)
        planes = self._planes()
        if planes is not None:
            if len(planes.normals) != self.n_bits_:
                raise ValueError(f"there are {len(planes.normals)} planes for {self.n_bits_} bits")
            first = Planes(planes.center, planes.normals[:n_bits], planes.thresholds[:n_bits])
            product = make_product(first, rows[:: 1 + len(rows) // 64].astype(np.float64))
            scores = np.empty((min(ROWS, len(rows)), n_bits), np.float32)
        for run in row_slices(len(rows), ROWS):
            block = as_floats(rows[run])
            if planes is None:
                assert_all_finite(block, estimator_name=type(self).__name__, input_name="X")
                bits = self._query_bits(block, power) if power else self._bits(block)
                if bits.shape[1] != self.n_bits_:
                    raise ValueError(f"there are {bits.shape[1]} columns for {self.n_bits_} bits")
                codes[run] = pack(bits[:, :n_bits])
            elif not write_codes(product, block, codes[run], scores):
                assert_all_finite(block, estimator_name=type(self).__name__, input_name="X")
        return codes

    def _check(self, X: Any, y: Any = "no_validation", keep: bool = False) -> Any:
        """Validated X (and y) to fit: float32 or float64 as given, float16 and small integers as float32.

        With `keep` a numpy array stays as it is, to be turned into floats some rows at a time.
        """
        checked = self._validated(X, y, keep, reset=True, ensure_min_samples=2)
        rows = checked[0] if isinstance(checked, tuple) else checked
        reach = 0.0
        for run in row_slices(len(rows)):
            block = as_floats(rows[run])
            assert_all_finite(block, estimator_name=type(self).__name__, input_name="X")
            largest = max(block.max(), -block.min())
            if largest > np.finfo(block.dtype).max / 1e8:
                raise ValueError(f"X reaches {largest:.3g}, near the end of {block.dtype}; divide it by that")
            reach = max(reach, float(largest))
        if reach and not self.reach_[0] <= reach <= self.reach_[1]:
            raise ValueError(
                f"X reaches {reach:.3g}, whose square {type(self).__name__} cannot hold; divide X by that"
            )
        return checked

    def _open(self, X: Any) -> NDArray[Any]:
        """Rows to encode: a matrix of the right width, not looked into yet."""
        return self._validated(X, "no_validation", True, reset=False, ensure_min_samples=1)

    def _validated(self, X: Any, y: Any, keep: bool, **settings: Any) -> Any:
        """X (and y) with its names, shape and type checked, but not whether its numbers are finite."""
        dtype: Any = getattr(X, "dtype", None)
        if np.ma.isMaskedArray(X):
            raise TypeError("X is a masked array; fill or drop what is masked and give a plain array")
        if isinstance(dtype, np.dtype) and dtype.kind in "mM":
            raise TypeError(f"X is {dtype}; give numbers, such as days since a date")
        number = isinstance(dtype, np.dtype) and dtype.kind in "fiub"
        allowed: Any = [np.float64, np.float32]
        if number and isinstance(X, np.ndarray) and keep:
            allowed = None
        elif number and dtype.itemsize <= 2:
            allowed = np.float32
        return validate_data(self, X, y, dtype=allowed, ensure_all_finite=False, **settings)

    def _prefix(self, n_bits: int | None) -> int:
        check_is_fitted(self)
        if n_bits is None:
            return self.n_bits_
        whole = isinstance(n_bits, numbers.Integral) and not isinstance(n_bits, bool)
        if not whole or not 1 <= n_bits <= self.n_bits_:
            raise ValueError(
                f"n_bits={describe(n_bits)}: this model has {self.n_bits_} bits; give 1 to {self.n_bits_}"
            )
        return int(n_bits)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def load_model(path: str | PathLike[str]) -> Any:
    """Open what `HashEncoder.save` wrote: a fitted `HashEncoder` of the class that was saved.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, damaged, or no model.
    """
    from structhash.estimators.both import CGHash, StructHash

    arrays, header = files.load(path, KIND)
    known = {found.__name__: found for found in (CGHash, StructHash, *classes("baselines").values())}
    try:
        model = known[header["class"]](**header["params"])
        if sorted(arrays) != header["arrays"]:
            raise ValueError(f"it holds the arrays {sorted(arrays)}, not {header['arrays']}")
        fitted = dict(header["fitted"])
        for name, array in arrays.items():
            name, _, key = name.partition("/")
            if key:
                fitted.setdefault(name, {})[key] = array
            else:
                fitted[name] = array
        for kind, name in (("families", "family_"), ("embeddings", "embedding_")):
            if fitted.get(name) is not None:
                fitted[name] = load(kind, fitted[name])
        if "feature_names_in_" in fitted:
            fitted["feature_names_in_"] = np.array(fitted["feature_names_in_"], dtype=object)
        vars(model).update(fitted)
        model._codes(np.zeros((1, model.n_features_in_), np.float32), model.n_bits_)
        if model.weights_.shape != (model.n_bits_,):
            raise ValueError(f"it holds weights of shape {model.weights_.shape} for {model.n_bits_} bits")
    except (KeyError, TypeError, ValueError, AttributeError, MemoryError) as error:
        raise ValueError(f"{path}: not a whole structhash model ({error!r}); save it anew") from error
    return model


@contextlib.contextmanager
def whole_or_nothing(encoder: HashEncoder) -> Iterator[None]:
    """An encoder as it was before, where the fit inside fails or is left half-way."""
    state: dict[str, Any] = encoder.__dict__
    before = dict(state)
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


def whole(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a `fit` method: `whole_or_nothing`."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        with whole_or_nothing(self):
            return fit(self, *args, **kwargs)

    return wrapped


def _setting(name: str, value: Any) -> Any:
    """A parameter as the JSON that brings it back."""
    if type(value) in {piece for kind in KINDS for piece in classes(kind).values()}:
        return spell(value)
    try:
        return json.loads(json.dumps(value, default=_number))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={describe(value)} cannot be saved: no name of `structhash.pieces.names` stands for it; "
            "put its class into the folder of its kind"
        ) from None


def _number(value: Any) -> Any:
    """JSON for numpy scalars."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no number")


def _plain(value: Any) -> Any:
    """JSON for numpy scalars and for pieces."""
    return value.item() if isinstance(value, np.generic) else spell(value)
