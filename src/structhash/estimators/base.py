"""The base class of every method: checked input, codes, a score, one file on disk."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from copy import copy
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from structhash._numerics.validation import check_list, describe
from structhash.codes import PreparedQueries, code_distances, prepared_distances, unpack
from structhash.codes.encoding import encode_by_bits, encode_by_planes
from structhash.estimators._fitted import check_attributes
from structhash.estimators._input import CheckedInput, check_input, open_in_unit
from structhash.estimators._model_file import checksum, write_model
from structhash.estimators._reader_choice import reader_recalls
from structhash.estimators._reading import prepare
from structhash.estimators._score import label_retrieval
from structhash.estimators.contract import EncoderContract

__all__ = ["HashEncoder"]


class HashEncoder(EncoderContract, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A method that turns feature vectors into binary codes: the base class of every method here.

    `EncoderContract` lists what a subclass gives, and the fitted attributes. `fit` computes first and stores
    once, at the end: a fit that fails leaves the estimator as it was. Fitted attributes end in an underscore
    and are arrays, dicts of arrays or plain values, so that `save` can write them.
    """

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Bits of rows X (n, d) as uint8 0/1 (n, n_bits), for pipelines. X is read as by `encode`."""
        return unpack(self.encode(X), self.n_bits_)

    def encode(self, X: Any, n_bits: int | None = None) -> NDArray[np.uint8]:
        """Packed codes of rows X (n, d).

        The code of a row depends on its numbers alone, not on their type or order in memory, nor on the rows
        it comes with.

        Parameters
        ----------
        X : array (n, d)
            Numbers of any type, in the unit of the training rows. Codes of rows in another unit mean nothing:
            there is a warning where most rows are over twice as long as the longest training row, or under half
            as long as the shortest. A numpy array or a memory map is read in blocks and never copied whole.
        n_bits : int, optional
            Give only the first bits; all by default.

        Returns
        -------
        ndarray uint8 (n, ceil(n_bits / 8))
            Little bit order; pad bits are zero.

        Raises
        ------
        ValueError
            If n_bits is not between 1 and the number learned, or X has another width or numbers not finite.
        """
        n_bits = self._check_prefix(n_bits)
        return self._encode_opened(open_in_unit(self, X), n_bits)

    def encode_queries(self, X: Any, n_bits: int | None = None) -> NDArray[np.uint8]:
        """Packed codes of queries X (q, d), for search among the codes that `encode` gives.

        Most methods code queries as they code rows. `DistilHash` with the embedding ``"posterior"`` or
        ``"mixture"`` may sharpen queries: an ambiguous query then retrieves confident rows of its likeliest
        class. Use `encode` for queries of classes without labels, to find near duplicates of a row, and where
        the vectors reorder the first hundred hits. Parameters, returns and errors are those of `encode`.
        """
        n_bits = self._check_prefix(n_bits)
        if not self.codes_are_bits:
            raise ValueError(
                f"codes of {type(self).__name__} are numbers, not bits that a query could share: search with "
                "prepare_queries(Q), on the command line with --reader auto"
            )
        return self._encode_opened(open_in_unit(self, X), n_bits, queries=self.queries_differ(n_bits))

    def prepare_queries(self, Q: Any, n_bits: int | None = None, reader: str = "auto") -> PreparedQueries:
        """Prepare queries for an index, which takes them in place of packed codes.

        The reader ``"real"`` compares the real values z of a query with codes. A bit counts as much as its
        value says, so the same stored codes usually find more: d(q, b) = sum_j w_j |z_j| / mean|z| over the
        bits j in which b differs from the sign of z_j. Where all |z_j| are equal this is the Hamming distance.

        Parameters
        ----------
        Q : array (q, d)
            As `encode_queries` takes them.
        n_bits : int, optional
            Length of the codes in the index; all bits by default.
        reader : {"auto", "bits", "real", "near"}
            ``"real"`` reads by real values, ``"bits"`` by the bits of `encode_queries`. ``"auto"`` is what
            `default_reader` says: ``"bits"`` for models learned with labels. For others, it is the one of the
            two that found more of the nearest vectors when some training rows searched the others. Where codes
            are no bits, there is ``"auto"``. `AdditiveHash` also has ``"near"``, for the rows that are most
            like the query itself: the vectors then count 16 times as much beside the labels. The same codes
            serve both.

        Returns
        -------
        PreparedQueries
            With the weights of the bits where `search_weights_` has some.

        Raises
        ------
        ValueError
            If the method has no such reader, or an argument is not allowed.
        """
        n_bits = self._check_prefix(n_bits)
        return prepare(self, open_in_unit(self, Q), n_bits, reader)

    def weights_at(self, n_bits: int) -> NDArray[np.float64]:
        """Weights (n_bits,) of the prefix code of n_bits bits: those the master had at that step."""
        n_bits, prefixes = self._check_prefix(n_bits), self.prefix_weights_
        return self.weights_[:n_bits] if prefixes is None else prefixes[n_bits - 1, :n_bits]

    @property
    def search_weights_(self) -> NDArray[np.float64] | None:
        """Weights that search uses by default: None for plain Hamming distance, else `weights_`."""
        return self.weights_ if self.weighted_ and self.weights_.any() else None

    def score(self, X: Any, y: Any) -> float:
        """Mean average precision when each row of X retrieves the others of its label.

        A row never retrieves itself. Queries are coded by `encode_queries`. Average precision covers the whole
        ranking and takes ties in expectation. Rows that share no label with another row do not count.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,), (n, 1) or (n, L)
            Labels as `fit` takes them, or 0/1 indicators of L labels; rows that share a label are relevant to
            each other.

        Returns
        -------
        float

        Raises
        ------
        ValueError, TypeError
            If labels and rows differ in number, a label is missing or of another type than `fit` takes, or no
            two rows share a label.
        """
        codes = self.encode(X)
        if not self.codes_are_bits:
            prepared = self.prepare_queries(X)
            return label_retrieval(lambda rows: prepared_distances(prepared[rows], codes), len(codes), y)
        queries = self.encode_queries(X) if self.queries_differ() else codes
        weights = self.search_weights_
        return label_retrieval(lambda rows: code_distances(queries[rows], codes, weights), len(codes), y)

    def save(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the fitted model to one file (safetensors with a JSON header); `load_model` reads it.

        A file that holds a model is replaced, and an empty one; any other file only with `force`.

        Raises
        ------
        ValueError
            If no one could load it again, for instance because a setting is a piece without a name.
        FileExistsError
            If `path` is a file of another kind, such as an index or data, unless `force`.
        """
        check_is_fitted(self)
        write_model(self, path, force)

    def fingerprint(self) -> str:
        """A short text that identifies the model: a checksum of its class, its settings and what it learned.

        Settings that no code depends on do not count: `random_state` and `n_jobs`.
        """
        check_is_fitted(self)
        return checksum(self)

    def name_columns(self, names: list[str]) -> None:
        """Remember the names of the columns of a table that holds numbers only, such as a .csv file."""
        check_is_fitted(self)
        given, width = check_list("names", names), self.n_features_in_
        if len(given) != width or not all(isinstance(name, str) for name in given):
            raise ValueError(f"names={describe(names)}: give a text for each of the {width} columns")
        self.column_names_ = given

    def _store(self, columns: Mapping[str, Any], fitted: Mapping[str, Any]) -> None:
        """Become fitted: drop every attribute of an earlier fit and set these, arrays in C order as in files.

        The last digit of a product can depend on the order.
        """
        kept = {
            name: value for name, value in vars(self).items() if name.startswith("_") or not name.endswith("_")
        }
        # one step: an interrupt leaves the old state or the new one
        self.__dict__ = {**kept, **columns, **_in_order({**fitted})}

    def _store_with_reader(self, X: Any, columns: Mapping[str, Any], fitted: Mapping[str, Any]) -> None:
        """`_store` what a fit to rows X (n, d) found, and how queries are best read among them."""
        trial = copy(self)
        trial._store(columns, fitted)
        recalls = reader_recalls(trial, X)
        self._store(columns, fitted if recalls is None else {**fitted, "reader_recalls_": recalls})

    def _to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The fitted state as arrays by name, and as plain values. `_from_arrays` is the inverse."""
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

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]) -> dict[str, Any]:
        """Fitted attributes from what `_to_arrays` gave; ValueError if they are not those of the class."""
        check_attributes(cls, {**plain, **arrays})
        fitted = dict(plain)
        for name, array in arrays.items():
            name, _, key = name.partition("/")
            if key:
                fitted.setdefault(name, {})[key] = array
            else:
                fitted[name] = array
        if "feature_names_in_" in fitted:
            fitted["feature_names_in_"] = np.array(fitted["feature_names_in_"], dtype=object)
        return fitted

    def _check_input(self, X: Any, keep: bool = False) -> CheckedInput:
        """X checked for `fit`: see `structhash.estimators._input`. The estimator does not change."""
        return check_input(self, X, keep, self.magnitudes)

    def _encode_opened(self, rows: NDArray[Any], n_bits: int, queries: bool = False) -> NDArray[np.uint8]:
        """Packed codes of rows as `open_rows` gives them, read a block at a time."""
        planes = None if queries else self._planes()
        if planes is not None:
            return encode_by_planes(type(self).__name__, planes, rows, self.n_bits_, n_bits)
        bits = (lambda block: self._query_bits(block, n_bits)) if queries else self._bits
        return encode_by_bits(type(self).__name__, bits, rows, self.n_bits_, n_bits)

    def _try_row(self, row: NDArray[Any]) -> None:
        """Encode a row (1, d), so that a model from a file fails at once where a part is missing."""
        self._encode_opened(row, self.n_bits_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_bits_")

    @property
    def _n_features_out(self) -> int:
        """Number of output names, for scikit-learn; the attribute is missing before fit."""
        return self.n_bits_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_prefix(self, n_bits: int | None) -> int:
        check_is_fitted(self)
        if n_bits is None:
            return self.n_bits_
        whole = isinstance(n_bits, numbers.Integral) and not isinstance(n_bits, bool)
        if not whole or not 1 <= n_bits <= self.n_bits_:
            raise ValueError(
                f"n_bits={describe(n_bits)}: this model has {self.n_bits_} bits; give 1 to {self.n_bits_}"
            )
        return int(n_bits)


def _in_order(value: Any) -> Any:
    """Arrays, and the arrays of a dict, in C order; other values as they are."""
    if isinstance(value, dict):
        return {name: _in_order(each) for name, each in value.items()}
    return np.asarray(value, order="C") if isinstance(value, np.ndarray) else value
