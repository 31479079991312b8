"""Codes of record batches."""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from structhash.baselines.lsh import LSH
from structhash.estimators.batches import encode_batch
from structhash.io import load_codes, read

X = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
MODEL = LSH(20, random_state=0).fit(X)
VECTORS = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 6)
IDS = [f"r{i}" for i in range(50)]


def packed(batch):
    """Codes of a batch as an array, by Python's bytes."""
    return np.array([list(code.as_py()) for code in batch.column("code")], np.uint8)


@pytest.mark.parametrize("first", [0, 13])
def test_codes_are_those_of_the_model_and_ids_stay(first):
    batch = pa.record_batch({"id": pa.array(IDS), "v": VECTORS, "more": pa.array(X[:, 0])}).slice(first)
    found = encode_batch(MODEL, batch)
    np.testing.assert_array_equal(packed(found), MODEL.encode(X[first:]))
    assert found.column("id").to_pylist() == IDS[first:]
    assert found.schema.types == [pa.string(), pa.binary(3)]
    numbered = pa.record_batch({"id": pa.array(range(50)).dictionary_encode(), "v": VECTORS})
    assert encode_batch(MODEL, numbered).column("id").to_pylist() == list(range(50))
    assert encode_batch(MODEL, batch, id="none", n_bits=7).schema.types == [pa.binary(1)]
    np.testing.assert_array_equal(
        packed(encode_batch(MODEL, batch, queries=True)), MODEL.encode_queries(X[first:])
    )


def test_a_file_of_batches_is_a_file_of_codes(tmp_path):
    batches = pa.table({"id": np.arange(50), "v": VECTORS}).to_batches(max_chunksize=20)
    pq.write_table(
        pa.Table.from_batches([encode_batch(MODEL, each) for each in batches]), tmp_path / "c.parquet"
    )
    found = load_codes(tmp_path / "c.parquet")
    np.testing.assert_array_equal(found.table, MODEL.encode(X))
    assert (found.ids.tolist(), found.n_bits, found.source) == (list(range(50)), 20, MODEL.fingerprint())


def test_an_empty_batch_gives_the_same_schema():
    batch = pa.record_batch({"id": pa.array(IDS), "v": VECTORS})
    assert encode_batch(MODEL, batch.slice(50)).schema == encode_batch(MODEL, batch).schema


def test_a_model_of_named_columns_takes_them():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = LSH(20, random_state=0).fit(frame)
    batch = pa.RecordBatch.from_pandas(frame[list("fedcba")])
    np.testing.assert_array_equal(packed(encode_batch(model, batch)), model.encode(frame))


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"v": VECTORS, "w": VECTORS}, {}, "v, w of v, w may hold the vectors; give column="),
        ({"a": X[:, 0]}, {}, "no column of a may hold the vectors"),
        ({"v": VECTORS}, {"id": "doc"}, "the batch has no column 'doc'; it has v"),
        ({"v": VECTORS, "a": X[:, 0]}, {"column": "a"}, "column 'a' is float, not a list of numbers"),
        ({"v": [[1.0] * 6, None]}, {}, "column 'v' lacks the vector of row 1"),
        ({"v": [[1.0] * 5]}, {}, "column 'v' has 5 numbers in row 0, not 6"),
        ({"v": [[float("nan")] * 6]}, {}, "NaN"),
        ({"v": VECTORS, "a": X[:, 0]}, {"id": "a"}, "column 'a' is float; ids are whole numbers or text"),
        ({"v": VECTORS, "id": X[:, 0]}, {}, "column 'id' is float; ids are whole numbers or text"),
    ],
)
def test_what_has_no_answer_is_refused(columns, settings, message):
    with pytest.raises(ValueError, match=message):
        encode_batch(MODEL, pa.record_batch(columns), **settings)


def test_what_is_no_batch_is_refused():
    for given in (pa.table({"v": VECTORS}), X, None):
        with pytest.raises(TypeError, match=r"batch is .*; give a pyarrow\.RecordBatch"):
            encode_batch(MODEL, given)


@pytest.mark.parametrize("take", [lambda t: t, lambda t: t.column("v"), lambda t: t.to_batches()[0]])
def test_arrow_tables_of_vectors_are_rows(take):
    np.testing.assert_array_equal(MODEL.encode(take(pa.table({"v": VECTORS}))), MODEL.encode(X))


def test_polars_frames_of_vectors_are_rows():
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(pa.table({"v": VECTORS}))
    np.testing.assert_array_equal(MODEL.encode(frame), MODEL.encode(X))
    np.testing.assert_array_equal(MODEL.encode(frame["v"]), MODEL.encode(X))


def test_codes_without_ids_are_reported_where_a_column_may_hold_them():
    batch = pa.record_batch({"doc_id": pa.array(IDS), "v": VECTORS, "price": pa.array(X[:, 0])})
    with pytest.warns(UserWarning, match=r"no column of ids in the batch \(columns left out: doc_id\)"):
        assert encode_batch(MODEL, batch).schema.names == ["code"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode_batch(MODEL, batch, id="none").schema.names == ["code"]
        assert encode_batch(MODEL, batch, id="doc_id").schema.names == ["doc_id", "code"]
        encode_batch(MODEL, batch.select(["v", "price"]))


def test_a_batch_names_the_columns_that_a_parquet_file_names(tmp_path):
    numbers = pa.array(range(50))
    columns = {
        "title": pa.array(IDS),
        "label": numbers,
        "price": pa.array(X[:, 0]),
        "doc_id": numbers,
        "v": VECTORS,
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").id_candidates == ("doc_id", "title")
    said = (
        "no column of ids in the batch (columns left out: doc_id, title): codes come without ids; "
        "give id='NAME', or id='none' if there are none"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(said)}$"):
        encode_batch(MODEL, pa.record_batch(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_batch(MODEL, pa.record_batch({"label": numbers, "v": VECTORS}))  # labels are no ids
