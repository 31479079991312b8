"""SQL under DuckDB and PostgreSQL."""

import numpy as np
import psycopg
import pyarrow as pa
import pytest

from structhash.codes import unpack
from structhash.export import export_model
from structhash.export.sql import duckdb_text, postgresql_text

LINEAR = ["centered", "metric", "linear", "itq", "lsh"]  # lsh has 70 bits: its last byte is not full


@pytest.fixture
def connection():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("name", LINEAR)
def test_duckdb_gives_the_codes_of_the_model(model_of, rows, connection, assert_same_codes, name):
    model, rows = model_of(name), rows[:300]
    connection.execute(duckdb_text(export_model(model)))
    connection.execute("CREATE TABLE t (i INTEGER, list FLOAT[], fixed FLOAT[64])")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [[i, r, r] for i, r in enumerate(rows.tolist())])
    for expression in ("structhash_code(list)", "structhash_code(fixed)", "structhash_query_code(fixed)"):
        found = connection.execute(f"SELECT {expression} FROM t ORDER BY i").fetchall()
        codes = np.array([np.frombuffer(code, np.uint8) for (code,) in found])
        assert_same_codes(model, codes, rows, queries="query" in expression)
    near = "SELECT bit_count(xor(structhash_code(a.list)::BIT, structhash_code(b.list)::BIT))"
    (found,) = connection.execute(f"{near} FROM t AS a, t AS b WHERE a.i = 0 AND b.i = 1").fetchone()
    assert found == np.bitwise_count(codes[0] ^ codes[1]).sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["banking77_minilm", "cifar10_gist512", "mnist"])
def test_ten_thousand_rows_of_real_data(real_model_of, connection, assert_same_codes, name):
    model, rows = real_model_of(name, labelled=False)
    connection.execute(duckdb_text(export_model(model)))
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    connection.register("t", pa.table({"i": np.arange(len(rows)), "x": vectors}))
    found = connection.execute("SELECT structhash_code(x) FROM t ORDER BY i").fetchall()
    codes = np.frombuffer(b"".join(code for (code,) in found), np.uint8).reshape(len(rows), -1)
    assert assert_same_codes(model, codes, rows) <= 1e-4


def test_a_prefix_has_the_first_bits(model_of, rows, connection, assert_same_codes):
    model = model_of("centered")
    connection.execute(duckdb_text(export_model(model, 11)))
    found = [connection.execute("SELECT structhash_code(?)", [row]).fetchone()[0] for row in rows[:9].tolist()]
    assert_same_codes(model, np.array([np.frombuffer(code, np.uint8) for code in found]), rows[:9], n_bits=11)


def test_duckdb_refuses_what_is_no_row(model_of, connection):
    connection.execute(duckdb_text(export_model(model_of("centered"))))
    assert connection.execute("SELECT structhash_code(NULL)").fetchone() == (None,)
    for bad in ([1.0, 2.0], [float("nan")] * 64, [float("inf")] * 64, [None] * 64):
        with pytest.raises(Exception, match="structhash_code: give a list of 64 finite numbers"):
            connection.execute("SELECT structhash_code(?)", [bad]).fetchone()


@pytest.mark.slow
def test_postgresql_gives_the_codes_of_the_model(model_of, rows, database):
    for name in ("centered", "lsh"):
        model, values = model_of(name), rows[:100].astype(float).tolist()
        with psycopg.connect(database) as connection:
            connection.execute(postgresql_text(export_model(model)))  # the second replaces the first
            for side, encode in (("bits", model.encode), ("query_bits", model.encode_queries)):
                statement = f"SELECT structhash_{side}(%s::float8[])::text"
                found = [connection.execute(statement, [row]).fetchone()[0] for row in values]
                expected = unpack(encode(rows[:100]), model.n_bits_)
                np.testing.assert_array_equal([[int(bit) for bit in line] for line in found], expected)
    for bad in ([1.0, 2.0], [float("nan")] * 64, [float("inf")] * 64, [None] * 64):
        with (
            psycopg.connect(database) as connection,
            pytest.raises(psycopg.Error, match="structhash_bits: give an array of 64 finite numbers"),
        ):
            connection.execute("SELECT structhash_bits(%s::float8[])", [bad])


@pytest.mark.parametrize("text", [duckdb_text, postgresql_text])
@pytest.mark.parametrize("name", ["posterior", "stump"])
def test_bits_that_are_not_planes_are_refused(model_of, text, name):
    with pytest.raises(ValueError, match=r"not planes among the rows.*; export to onnx, npz or json"):
        text(export_model(model_of(name)))
