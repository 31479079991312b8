"""A real PostgreSQL: what SQL sees, what a killed export leaves, and what a server refuses."""

import numpy as np
import psycopg
import pytest

from structhash.codes import hamming, unpack
from structhash.stores import Postgres

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
