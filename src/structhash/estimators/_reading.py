"""Queries read by their bits or by their real values: what `HashEncoder.prepare_queries` does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import BLOCK_ROWS, row_slices
from structhash._numerics.matrices import check_finite_rows
from structhash._numerics.validation import check_choice, describe
from structhash.codes import PreparedQueries, prepare_values, unpack
from structhash.estimators.contract import NEAR_READER, OWN_READERS, EncoderContract

READERS = ("auto", *OWN_READERS)  # of bits


def prepare(encoder: Any, rows: NDArray[Any], n_bits: int, reader: str) -> PreparedQueries:
    """Queries as `HashEncoder.prepare_queries` gives them.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    rows : ndarray (q, d)
        Queries, as `open_rows` gives them.
    n_bits : int
    reader : str
        One of `READERS`; where codes are no bits, ``"auto"`` or, where `reads_near`, ``"near"``.

    Returns
    -------
    PreparedQueries

    Raises
    ------
    ValueError
        If there is no such reader, or the bits of the method have no real values and it needs them.
    """
    if not encoder.codes_are_bits:
        return _prepare_own(encoder, rows, reader)
    check_choice("reader", reader, READERS)
    weights = None if encoder.search_weights_ is None else encoder.weights_at(n_bits)
    asked = encoder.default_reader() if reader == "auto" else reader
    values = values_of(encoder, rows, n_bits, queries=True) if asked == "real" else None
    if values is not None:
        return prepare_values(values, weights)
    if reader == "real":
        raise ValueError(
            f"reader='real': the bits of {type(encoder).__name__} are no signs of real values; "
            "give reader='bits'"
        )
    codes = encoder._encode_opened(rows, n_bits, queries=encoder.queries_differ(n_bits))
    return prepare_values(2.0 * unpack(codes, n_bits) - 1, weights)


def _prepare_own(encoder: Any, rows: NDArray[Any], reader: str) -> PreparedQueries:
    """Queries of a method whose codes are no bits; ValueError for a reader that it has not."""
    allowed = ("auto", NEAR_READER) if encoder.reads_near else ("auto",)
    if not isinstance(reader, str) or reader not in allowed:
        whose, others = f"codes of {type(encoder).__name__}", " or 'near'" * encoder.reads_near
        raise ValueError(
            f"reader={describe(reader)}: {whose} are numbers, not bits; give reader='auto'{others}"
        )
    X = rows.astype(np.float64, order="C", copy=False)
    check_finite_rows(X, f"{type(encoder).__name__}: X")
    queries: PreparedQueries = encoder._own_queries(X) if reader == "auto" else encoder._near_queries(X)
    return queries


def values_of(
    encoder: EncoderContract, rows: NDArray[Any], n_bits: int, queries: bool = False
) -> NDArray[np.float64] | None:
    """Real values (n, n_bits) of the bits of rows, or of queries; None where the bits have none."""
    found = np.empty((len(rows), n_bits))
    for block in row_slices(len(rows), BLOCK_ROWS):
        X = rows[block].astype(np.float64, order="C", copy=False)
        check_finite_rows(X, f"{type(encoder).__name__}: X", block.start)
        values = encoder._query_values(X, n_bits) if queries else encoder._values(X)
        if values is None:
            return None
        found[block] = values[:, :n_bits]
    return found
