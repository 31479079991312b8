"""DuckDB files: what SQL sees, what a killed export leaves, and files that are not right."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pytest

from structhash.codes import hamming, unpack
from structhash.stores import Duckdb


@pytest.fixture
def store(tmp_path):
    return Duckdb(str(tmp_path / "codes.db"))


def test_a_user_finds_bits_and_distances_in_sql(store, tied_codes):
    codes, queries = tied_codes(50, 100)
    store.export(codes, 100)
    digits = "".join(map(str, unpack(queries[:1], 100)[0]))
    with duckdb.connect(store.place, read_only=True) as connection:
        bits = connection.execute("SELECT CAST(code AS TEXT) FROM codes ORDER BY id").fetchall()
        found = connection.execute(
            "SELECT bit_count(xor(code, ?::BIT)) FROM codes ORDER BY id", [digits]
        ).fetchall()
    assert [row[0] for row in bits] == ["".join(map(str, row)) for row in unpack(codes, 100)]
    np.testing.assert_array_equal(np.ravel(found), hamming(queries[:1], codes)[0])


def test_a_table_of_another_program_stays(store, tied_codes):
    with duckdb.connect(store.place) as connection:
        connection.execute('CREATE TABLE Codes (a INTEGER); COMMENT ON TABLE Codes IS \'{"made_by": "me"}\'')
    with pytest.raises(ValueError, match="'codes' is of another program; give another table"):
        store.export(tied_codes(3, 8)[0], 8, replace=True)
    with pytest.raises(ValueError, match="'codes' was not made by export"):
        store.info()


def test_what_is_no_file_of_duckdb_is_refused(tmp_path, tied_codes):
    (tmp_path / "a.csv").write_text("a,b\n" * 9000)
    (tmp_path / "a.txt").write_text("no database " * 9000)
    codes = tied_codes(3, 8)[0]
    for place in (str(tmp_path / "a.csv"), "", ":memory:"):  # DuckDB would put the table into memory
        with pytest.raises(ValueError, match=r"it is no DuckDB file; give the path of one"):
            Duckdb(place).export(codes, 8)
    with pytest.raises(OSError, match=r"DuckDB cannot use .*a\.txt"):
        Duckdb(str(tmp_path / "a.txt")).export(codes, 8)
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.db; export codes first"):
        Duckdb(str(tmp_path / "none.db")).info()
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "a.txt"}


FULL = """
import resource, sys
import numpy as np
from structhash.stores import Duckdb

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # as a disk with room for a mebibyte
Duckdb(sys.argv[1]).export(np.random.default_rng(0).integers(0, 256, (300_000, 8), np.uint8), 64)
"""


@pytest.mark.slow
def test_a_first_export_that_fails_leaves_no_file(store, tmp_path):
    failed = subprocess.run(
        [sys.executable, "-c", FULL, store.place], check=False, capture_output=True, text=True
    )
    assert "OSError: DuckDB cannot use" in failed.stderr
    assert not list(tmp_path.iterdir())


def test_what_changes_no_table_makes_no_file(store, tmp_path):
    for change in (lambda: store.remove([1]), lambda: store.append(np.zeros((1, 1), np.uint8), 8, [1])):
        with pytest.raises(ValueError, match="no table 'codes'; export codes first"):
            change()
    assert not list(tmp_path.iterdir())


def test_an_export_that_fails_keeps_a_file_that_was_there(store, tied_codes):
    with duckdb.connect(store.place) as connection:
        connection.execute("CREATE VIEW codes AS SELECT 1 AS a")
    with pytest.raises(OSError, match="DuckDB cannot use"):
        store.export(tied_codes(3, 8)[0], 8)
    with duckdb.connect(store.place) as connection:
        assert connection.execute("FROM codes").fetchall() == [(1,)]


def test_threads_wait_for_each_other(store, tied_codes):
    codes, queries = tied_codes(3000, 24)
    store.export(codes, 24)
    expected = store.search(queries, 5)
    with ThreadPoolExecutor(4) as pool:
        exports = [pool.submit(store.export, codes, 24, replace=True) for _ in range(4)]
        searches = [pool.submit(store.search, queries, 5) for _ in range(8)]
        assert [each.result() for each in exports] == [None] * 4
        for each in searches:
            np.testing.assert_array_equal(each.result(), expected)
