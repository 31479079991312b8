"""Codes of Arrow record batches, for programs that hand over a batch at a time: Spark, Ray, DuckDB."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.arrow import (
    holds_ids,
    holds_text,
    holds_vectors,
    import_arrow,
    plain_ids,
    vectors,
)
from structhash._numerics.validation import describe, join_names
from structhash.estimators.base import HashEncoder
from structhash.io import id_candidates
from structhash.io.parquet_codes import CODE_COLUMN, code_column, code_schema

__all__ = ["encode_batch"]


def encode_batch(
    model: HashEncoder,
    batch: Any,
    *,
    column: str | None = None,
    id: str | None = None,
    n_bits: int | None = None,
    queries: bool = False,
    as_lists: bool = False,
) -> Any:
    """Encode a record batch into a record batch of ids and codes.

    The schema is that of a file of codes in Parquet, and `structhash index` takes a file of such batches. Codes
    are those of `HashEncoder.encode` for the same vectors.

    Parameters
    ----------
    model : HashEncoder
        A fitted model.
    batch : pyarrow.RecordBatch
    column : str, optional
        The column of vectors; by default the only one, or the named columns that the model was fitted to.
    id : str, optional
        The column of ids, whole numbers or text; by default `id`, or none with a warning. "none" for no ids.
    n_bits : int, optional
        Length of the codes; all bits of the model by default.
    queries, as_lists : bool
        Whether to encode queries; whether codes are lists of bytes.

    Returns
    -------
    pyarrow.RecordBatch
        The ids under their name, and `code`, fixed_size_binary or fixed_size_list of uint8.

    Raises
    ------
    TypeError, ValueError
        If `batch` is no record batch, a column is missing, several may hold the vectors, or a value is missing.

    Examples
    --------
    >>> import pyarrow
    >>> from structhash.baselines.lsh import LSH
    >>> model = LSH(16, random_state=0).fit([[1.0, 0, 0, 0], [0.0, 1, 0, 0]])
    >>> batch = pyarrow.record_batch({"id": ["a", "b"], "v": [[1.0, 0, 0, 0], [0.0, 1, 0, 0]]})
    >>> encode_batch(model, batch).schema.names
    ['id', 'code']
    """
    if not isinstance(batch, import_arrow("encode_batch").RecordBatch):
        raise TypeError(f"batch is {describe(batch)}; give a pyarrow.RecordBatch, as of to_batches()")
    kinds = dict(zip(batch.schema.names, batch.schema.types))
    taken = (column, *(model.column_names_ or []))
    ids_named = id if id is not None else _usual_ids(kinds, taken)
    if missing := [name for name in (column, ids_named) if name not in (None, "none", *kinds)]:
        raise ValueError(f"the batch has no column {describe(missing[0])}; it has {join_names(list(kinds))}")
    X = _rows(model, batch, kinds, column, ids_named)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were compared here
        codes = (model.encode_queries if queries else model.encode)(X, n_bits)
    return _as_batch(codes, batch, ids_named, _about(model, n_bits or model.n_bits_, queries), as_lists)


def _usual_ids(kinds: dict[str, Any], taken: tuple[str | None, ...]) -> str:
    """The column id, else "none", with a warning where a column that is not taken may hold ids."""
    if "id" in kinds and "id" not in taken:
        return "id"
    left_out = [name for name, kind in kinds.items() if name not in taken and holds_ids(kind)]
    if candidates := id_candidates(left_out):
        warnings.warn(
            f"no column of ids in the batch (columns left out: {join_names(candidates)}): codes come without "
            "ids; give id='NAME', or id='none' if there are none",
            stacklevel=3,
        )
    return "none"


def _as_batch(
    codes: NDArray[np.uint8], batch: Any, ids_named: str, about: dict[str, Any], as_lists: bool
) -> Any:
    """Codes and the ids of a batch as a batch."""
    named = None if ids_named == "none" else "id" if ids_named == CODE_COLUMN else ids_named
    text = named is not None and holds_text(batch.schema.field(ids_named).type)
    schema = code_schema(codes.shape[1], about, named, text, as_lists)
    columns = [code_column(codes, schema)]
    arrow = import_arrow("encode_batch")
    if named is not None:
        ids = plain_ids(batch.column(ids_named), f"column {describe(ids_named)}")
        columns.insert(0, arrow.array(ids.tolist(), schema.field(0).type))
    return arrow.RecordBatch.from_arrays(columns, schema=schema)


def _about(model: HashEncoder, n_bits: int, queries: bool) -> dict[str, Any]:
    """What a file of codes says of them."""
    about = {"n_bits": n_bits, "source": model.fingerprint(), "coded_as": "queries" if queries else "rows"}
    about |= {"queries_differ": model.queries_differ(n_bits), "weighted": model.search_weights_ is not None}
    return about if model.codes_are_bits else {**about, "codes_are_bits": False}


def _rows(model: HashEncoder, batch: Any, kinds: dict[str, Any], column: str | None, ids: str) -> Any:
    """The vectors of a batch, or the columns that the model was fitted on."""
    names = model.column_names_
    if column is None and names and kinds.keys() >= set(names):
        return batch.select(names)
    found = [name for name, kind in kinds.items() if holds_vectors(kind) and name != ids]
    if column is None and len(found) != 1:
        raise ValueError(
            f"{join_names(found) or 'no column'} of {join_names(list(kinds))} may hold the vectors; "
            "give column="
        )
    taken = column or found[0]
    if not holds_vectors(kinds[taken], "fiu"):
        raise ValueError(f"column {describe(taken)} is {kinds[taken]}, not a list of numbers; give another")
    width = int(model.n_features_in_)
    return vectors(batch.column(taken), f"column {describe(taken)}", width)
