"""A real PostgreSQL: what SQL sees, what a killed export leaves, and what a server refuses."""

import signal
import subprocess
import sys

import numpy as np
import psycopg
import pytest

from structhash.codes import hamming, unpack
from structhash.search import Exact
from structhash.stores import Postgres

KILLED = """
import os, signal, sys
import numpy as np
import psycopg
from structhash.stores import Postgres

write_row = psycopg.Copy.write_row

def write_row_or_die(self, row):
    write_row(self, row)
    if row[0] == 70_000:
        os.kill(os.getpid(), signal.SIGKILL)

psycopg.Copy.write_row = write_row_or_die
Postgres(sys.argv[1]).export(np.zeros((100_000, 8), np.uint8), 64, replace=True)
"""

pytestmark = pytest.mark.slow  # a server takes seconds to start


def test_a_user_finds_bits_and_distances_in_sql(database, tied_codes):
    codes, queries = tied_codes(50, 100)
    Postgres(database).export(codes, 100)
    digits = "".join(map(str, unpack(queries[:1], 100)[0]))
    with psycopg.connect(database) as connection:
        bits = connection.execute("SELECT code::text FROM codes ORDER BY id").fetchall()
        found = connection.execute(
            "SELECT bit_count(code # %s::bit(100)) FROM codes ORDER BY id", [digits]
        ).fetchall()
    assert [row[0] for row in bits] == ["".join(map(str, row)) for row in unpack(codes, 100)]
    np.testing.assert_array_equal(np.ravel(found), hamming(queries[:1], codes)[0])


@pytest.mark.parametrize("before", [False, True])
def test_an_export_that_is_killed_leaves_what_was_there(database, tied_codes, before):
    codes, queries = tied_codes(70, 64)
    store = Postgres(database)
    if before:
        store.export(codes, 64)
    done = subprocess.run([sys.executable, "-c", KILLED, database], check=False)
    assert done.returncode == -signal.SIGKILL
    if before:
        assert store.info().ntotal == 70
    else:
        with pytest.raises(ValueError, match="there is no table 'codes'; export codes first"):
            store.info()
    store.export(codes, 64, replace=True)
    index = Exact(64)
    index.add(codes)
    for found, expected in zip(store.search(queries, 9), index.search(queries, 9)):
        np.testing.assert_array_equal(found, expected)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'codes%'").fetchone() == (
            2,
        )


def test_text_ids_are_ordered_by_their_bytes_whatever_the_order_of_the_database_is(database):
    ids = np.array(["b", "B", "a", "ä", "Z", "_", "\U0001f600", "\uffff"], object)
    Postgres(database).export(np.zeros((8, 1), np.uint8), 8, ids)
    assert Postgres(database).search(np.zeros((1, 1), np.uint8), 8)[1][0].tolist() == sorted(ids)
    with psycopg.connect(database) as connection:
        statement = (
            "SELECT attcollation::regcollation::text FROM pg_attribute WHERE attrelid = 'codes'::regclass"
        )
        assert connection.execute(f"{statement} AND attname = 'id'").fetchone() == ('"C"',)


def test_a_table_of_another_program_stays(database, tied_codes):
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE codes (a integer)")
    with pytest.raises(ValueError, match="'codes' is of another program; give another table"):
        Postgres(database).export(tied_codes(3, 8)[0], 8, replace=True)
    with pytest.raises(ValueError, match="'codes' was not made by export"):
        Postgres(database).info()


def test_a_name_that_the_server_would_cut_off_is_refused():
    Postgres("", "a" * 63)
    with pytest.raises(ValueError, match="give a name of at most 63 bytes"):
        Postgres("", "ä" * 32)


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path):
    store = Postgres(f"postgresql://me:secret@/x?host={tmp_path}")
    with pytest.raises(OSError, match="PostgreSQL: connection") as caught:
        store.info()
    assert "secret" not in f"{caught.value} {store!r}"
