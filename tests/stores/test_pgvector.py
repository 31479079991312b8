"""pgvector: what its graph finds, and that an exact search does not go through it."""

import numpy as np
import psycopg
import pytest

from structhash.codes import prepare_values, unpack
from structhash.search import Exact
from structhash.stores import PGVector, Postgres

pytestmark = pytest.mark.slow  # a server takes seconds to start


def plans(store, queries, k):
    """How the server finds the nearest, of each statement of a search."""
    found = []

    def explain(connection, statement, values=()):
        if statement.startswith(("SELECT CAST(code", "WITH")):
            plan = Postgres._run(store, connection, f"EXPLAIN {statement}", values)
            found.append("\n".join(row[0] for row in plan))
        return Postgres._run(store, connection, statement, values)

    object.__setattr__(store, "_run", explain)
    store.search(queries, k)
    return found


@pytest.fixture
def searched(database, tied_codes):
    """A table with a graph, its address, its queries, and Exact."""
    codes, queries = tied_codes(3000, 64)
    index = Exact(64)
    index.add(codes)
    PGVector(database, ef=1).export(codes, 64)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("ANALYZE codes")
    return database, queries, index


def test_an_exact_search_does_not_use_the_graph(searched):
    address, queries, index = searched
    for store in (PGVector(address), Postgres(address)):
        for found, expected in zip(store.search(queries, 50), index.search(queries, 50)):
            np.testing.assert_array_equal(found, expected)
    (plan, *_) = plans(PGVector(address), queries, 50)
    assert "Seq Scan on codes" in plan


def test_the_graph_finds_exact_distances_and_as_many_as_asked_for(searched):
    address, queries, index = searched
    (plan, *_) = plans(PGVector(address, ef=100), queries, 10)
    assert "Index Scan using codes_code_idx" in plan
    nearest = index.search(queries, 3000)
    known = [dict(zip(*row)) for row in zip(nearest[1].tolist(), nearest[0].tolist())]
    for ef, k in ((1, 10), (100, 10), (1000, 1000), (100, 1500)):
        distances, ids = PGVector(address, ef=ef).search(queries, k)
        order = np.lexsort([ids, distances])
        np.testing.assert_array_equal(order, np.tile(np.arange(k), (len(queries), 1)))
        assert [[each[i] for i in row] for each, row in zip(known, ids.tolist())] == distances.tolist()
    recall = (PGVector(address, ef=1000).search(queries, 10)[0] == nearest[0][:, :10]).mean()
    assert recall > 0.9


def test_real_queries_order_what_the_graph_finds_near_their_bits(searched):
    address, codes, index = searched
    signs = 2.0 * unpack(codes, 64) - 1
    values = signs * np.random.default_rng(0).uniform(0.2, 1, (len(codes), 64))
    queries = prepare_values(values)
    (plan, *_) = plans(PGVector(address, ef=100), queries, 10)
    assert "Index Scan using codes_code_idx" in plan
    nearest = index.search(queries, 3000)
    known = [dict(zip(*row)) for row in zip(nearest[1].tolist(), nearest[0].tolist())]
    distances, ids = PGVector(address, ef=1000).search(queries, 10)
    np.testing.assert_array_equal(np.lexsort([ids, distances]), np.tile(np.arange(10), (len(codes), 1)))
    assert [[each[i] for i in row] for each, row in zip(known, ids.tolist())] == distances.tolist()
    assert (distances == nearest[0][:, :10]).mean() > 0.9


def test_the_graph_finds_codes_that_are_appended(searched):
    address, queries, _ = searched
    store = PGVector(address, ef=100)
    store.append(queries[:4], 64, np.arange(5000, 5004))  # unlike all others
    (plan, *_) = plans(store, queries[:4], 10)
    assert "Index Scan using codes_code_idx" in plan
    distances, ids = PGVector(address, ef=100).search(queries[:4], 1)
    assert (distances.ravel().tolist(), ids.ravel().tolist()) == ([0] * 4, list(range(5000, 5004)))


@pytest.mark.parametrize("ef", [-1, 1001, 1.5, True])
def test_ef_is_what_pgvector_takes(ef):
    with pytest.raises(ValueError, match=r"ef=.*: give 0, or a whole number up to 1000"):
        PGVector("", ef=ef)


def test_the_extension_is_made_once_by_who_may(database):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector")
        connection.execute("CREATE ROLE plain")
        connection.execute("GRANT CREATE, USAGE ON SCHEMA public TO plain")
        try:
            store = PGVector(f"{database}&options=-c%20role%3Dplain", ef=10)
            codes = np.arange(9, dtype=np.uint8)[:, None]
            with pytest.raises(
                OSError, match=r"permission denied .*; let an administrator run CREATE EXTENSION vector once"
            ):
                store.export(codes, 8)
            with pytest.raises(ValueError, match="there is no table 'codes'"):
                store.info()
            connection.execute("CREATE EXTENSION vector")
            store.export(codes, 8)
            assert store.search(codes[3:4], 1)[1].tolist() == [[3]]
        finally:
            connection.execute("DROP OWNED BY plain")
            connection.execute("DROP ROLE plain")
