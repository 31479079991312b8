"""Readers: how the queries of a fitted model are compared with stored codes, chosen and fitted on rows."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash._numerics.matrices import check_finite_rows
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_choice, counted, describe
from structhash.codes import Decoder, PreparedQueries, unpack
from structhash.codes.decoding import LARGEST_DISTANCE
from structhash.estimators._decoders import fit_linear, fit_tables
from structhash.estimators._input import open_in_unit, open_rows
from structhash.estimators._reader_choice import LEAST_ROWS, finite_values, hold_out
from structhash.estimators._reading import READERS, prepare, values_of
from structhash.estimators.base import HashEncoder
from structhash.io import container
from structhash.io.fields import Field, check_fields

__all__ = ["EVERY_READER", "READERS", "Reader", "fit_reader", "load_reader"]

EVERY_READER = ("auto", "bits", "real", "cells", "linear", "tables")  # READERS need no fit

_KIND = "reader"  # of container
_NAMES = EVERY_READER[1:]
_MAX_ROWS = 50_000  # that a reader is fitted to
_FIELDS = {
    "bits": (),
    "real": (),
    "cells": (Field("cells", ("two", "n_bits")),),
    "linear": (
        Field("mean", ("n_features",)),
        Field("scale", positive=True),
        Field("offset", ("n_features",)),
        Field("vectors", ("n_bits", "n_features")),
    ),
}
_FIELDS["tables"] = (*_FIELDS["linear"][:3], Field("vectors", ("n_bytes", "n_values", "n_features")))


@dataclass(frozen=True, eq=False)
class Reader:
    """A way to read queries against codes of one length.

    `prepare` gives queries that every index takes in place of packed codes. The readers, in order of size:

    - ``"bits"``: the Hamming distance of the bits of the query; ``"real"``: its real values. These two are
      those of `HashEncoder.prepare_queries`, and hold no arrays.
    - ``"cells"``: sum_j (z_j - m_j(b_j))^2, with m_j(b) the mean value of bit j over the rows in which it is b.
    - ``"linear"``, ``"tables"``: the squared distance of the query to the row that the code decodes to, in
      units of the mean squared distance of rows to their mean. The decoder adds a vector for each set bit, or
      one of 256 vectors for each byte, fitted by least squares.

    Make one with `fit_reader`.

    Attributes
    ----------
    encoder : HashEncoder
        The model as it was when the reader was made. A later fit of the model given does not reach the reader.
    name : str
    n_bits : int
    arrays : dict of str to array
        What was fitted.
    recalls : dict of str to float
        Share of the ten nearest rows, by the vectors, that each reader found for held-out rows; empty where
        the reader was named.
    """

    encoder: HashEncoder
    name: str
    n_bits: int
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    recalls: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoder", copy(self.encoder))  # a fit replaces what an encoder holds

    @cached_property
    def decoder(self) -> Decoder | None:
        """The decoder of ``"linear"`` and ``"tables"``; its vectors are centred and scaled rows."""
        if self.name not in ("linear", "tables"):
            return None
        return Decoder(self.n_bits, self.arrays["offset"], self.arrays["vectors"])

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    def prepare(self, Q: Any) -> PreparedQueries:
        """Prepare queries Q (q, d), read as by `HashEncoder.encode_queries`, for an index of these codes."""
        return self._prepare_opened(open_in_unit(self.encoder, Q))

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the reader to one file, without its model; `load_reader` reads it.

        A file that holds a reader is replaced, and an empty one; any other file only with `force`.
        """
        facts = {"reader": self.name, "n_bits": self.n_bits, "recalls": self.recalls}
        container.save(path, self.arrays, {**facts, "source": self.encoder.fingerprint()}, _KIND, force)

    def _prepare_opened(self, rows: NDArray[Any]) -> PreparedQueries:
        """`prepare` of queries (q, d) as `open_rows` gives them."""
        if self.name in ("bits", "real"):
            return prepare(self.encoder, rows, self.n_bits, self.name)
        if self.name == "cells":
            z, (low, high) = values_of(self.encoder, rows, self.n_bits, queries=True), self.arrays["cells"]
            assert z is not None  # `fit_reader` refuses methods without real values
            to_low, to_high = (z - low) ** 2, (z - high) ** 2
            return PreparedQueries(self.n_bits, to_low.sum(axis=1), to_high - to_low)
        check_finite_rows(rows, "Q")
        assert self.decoder is not None
        q = (rows - self.arrays["mean"].astype(np.float64)) / self.arrays["scale"]
        base = (q**2).sum(axis=1) - 2 * q @ self.decoder.offset
        values = -2 * np.tensordot(q, self.decoder.vectors, (1, -1))
        return PreparedQueries(self.n_bits, base, values, self.decoder)


def fit_reader(
    encoder: HashEncoder, X: Any, n_bits: int | None = None, reader: str = "auto", random_state: Any = 0
) -> Reader:
    """Choose and fit how queries are read.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    X : array (n, d)
        Rows like those in the index, such as the training rows or the index itself. At most 50,000 are used.
    n_bits : int, optional
        Length of the codes in the index; all bits by default.
    reader : str
        One of those that `Reader` lists, or ``"auto"``: ``"bits"`` for models learned with labels; for others
        the reader that finds most of the ten nearest rows, by the vectors, of held-out rows.
    random_state : int, RandomState, Generator or None
        Draws rows.

    Returns
    -------
    Reader

    Raises
    ------
    ValueError, TypeError
        If there are too few rows or a setting is not allowed, or the bits of the method have no real values
        that the reader needs.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash import DistilHash
    >>> from structhash.search import Exact
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = DistilHash(n_bits=16, random_state=0).fit(X)
    >>> index = Exact(n_bits=16)
    >>> index.add(encoder.encode(X))
    >>> reader = fit_reader(encoder, X, reader="tables")
    >>> index.search(reader.prepare(X[:1]), k=1)[1]
    array([[0]])
    """
    n_bits = _check_encoder(encoder, n_bits)
    check_choice("reader", reader, EVERY_READER)
    rng = generator(random_state)
    rows = open_rows(encoder, X)
    rows = rows[sample_rows(len(rows), _MAX_ROWS, rng)].astype(np.float64)
    if not len(rows):
        raise ValueError("X has no rows; give at least 1")
    check_finite_rows(rows, "X")
    if reader != "auto":
        return Reader(encoder, reader, n_bits, _fit(encoder, rows, n_bits, reader))
    if encoder.learned_from_labels():
        return Reader(encoder, "bits", n_bits)
    recalls = _held_out_recalls(encoder, rows, n_bits, rng)
    best = max(recalls, key=lambda name: recalls[name])  # of equal ones, the first and smallest
    return Reader(encoder, best, n_bits, _fit(encoder, rows, n_bits, best), recalls)


def load_reader(path: str | os.PathLike[str], encoder: HashEncoder) -> Reader:
    """Open a file that `Reader.save` wrote, for the model that it was fitted to.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, damaged, or not a reader of this model.
    """
    arrays, header = container.load(path, _KIND)
    if header.get("source") != encoder.fingerprint():
        raise ValueError(f"{path} is a reader of another model; give that one, or fit a reader again")
    try:
        name, n_bits = header["reader"], encoder._check_prefix(header["n_bits"])
        sizes = {"n_bits": n_bits, "n_bytes": -(-n_bits // 8), "n_values": 256, "two": 2}
        check_fields(_FIELDS[name], arrays, {**sizes, "n_features": encoder.n_features_in_})
        reader = Reader(encoder, name, n_bits, arrays, dict(header["recalls"]))
        _check_distances(reader)
        return reader
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}: it is no whole reader ({error}); fit it again") from None


def _check_distances(reader: Reader) -> None:
    """ValueError where distances of a row of zeros, or to the longest vectors, leave their range."""
    with np.errstate(all="ignore"):
        reader._prepare_opened(np.zeros((1, reader.encoder.n_features_in_)))
    if reader.decoder is not None:
        sizes = np.abs(reader.decoder.vectors).astype(np.float64)
        farthest = np.abs(reader.decoder.offset) + (sizes if sizes.ndim == 2 else sizes.max(axis=1)).sum(axis=0)
        if (farthest**2).sum() > LARGEST_DISTANCE:
            raise ValueError(f"squared lengths of its vectors exceed {LARGEST_DISTANCE:g}")


def _check_encoder(encoder: HashEncoder, n_bits: int | None) -> int:
    """Number of bits to read; TypeError or ValueError unless the encoder has codes that a reader can read."""
    if not isinstance(encoder, HashEncoder):
        raise TypeError(f"encoder={describe(encoder)}: give a fitted model, then its rows")
    if not encoder.codes_are_bits:
        name = type(encoder).__name__
        raise ValueError(
            f"{name} reads its codes in its own way; call its prepare_queries(Q), with no reader; on the "
            "command line, search with --reader auto"
        )
    return encoder._check_prefix(n_bits)


def _fit(
    encoder: HashEncoder, rows: NDArray[Any], n_bits: int, name: str, codes: NDArray[np.uint8] | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays of a reader, fitted to rows; their codes are made here unless they are given."""
    if name == "bits":
        return {}
    if name == "real":
        _real_values(encoder, rows[:1], n_bits, name)
        return {}
    codes = encoder._encode_opened(rows, n_bits) if codes is None else codes
    if name == "cells":
        values, bits = _real_values(encoder, rows, n_bits, name), unpack(codes, n_bits).astype(np.float64)
        means = [(part * values).sum(axis=0) / np.maximum(part.sum(axis=0), 1) for part in (1 - bits, bits)]
        return {"cells": np.stack(means)}
    mean = rows.mean(axis=0)
    scale = np.sqrt(((rows - mean) ** 2).sum(axis=1).mean())
    scale = scale if scale > 0 else 1.0
    fit = fit_linear if name == "linear" else fit_tables
    fitted = fit(codes, n_bits, (rows - mean) / scale)
    vectors = {part: array.astype(np.float32) for part, array in fitted._asdict().items()}
    return {"mean": mean, "scale": np.asarray(scale), **vectors}


def _real_values(encoder: HashEncoder, rows: NDArray[Any], n_bits: int, name: str) -> NDArray[np.float64]:
    """Real values (n, n_bits) of the bits of rows; ValueError if the bits have none."""
    values = values_of(encoder, rows, n_bits)
    if values is None:
        raise ValueError(
            f"reader={name!r}: the bits of {type(encoder).__name__} are no signs of real values; give "
            "reader='bits', 'linear' or 'tables'"
        )
    return values


def _held_out_recalls(
    encoder: HashEncoder, rows: NDArray[Any], n_bits: int, rng: np.random.Generator
) -> dict[str, float]:
    """Share of the nearest rows that each possible reader finds, for held-out rows among the others."""
    if len(rows) < LEAST_ROWS:
        raise ValueError(f"X has {counted(len(rows), 'row')}; give at least {LEAST_ROWS}, or name a reader")
    trial, recalls = hold_out(encoder, rows, n_bits, rng), {}
    no_values = finite_values(encoder, trial.queries, n_bits) is None
    for name in ("bits", "linear", "tables") if no_values else _NAMES:
        fitted = Reader(encoder, name, n_bits, _fit(encoder, trial.others, n_bits, name, trial.codes))
        recalls[name] = trial.recall(fitted._prepare_opened(trial.queries))
    return recalls
