"""What queries find first."""

import numpy as np
import pytest

from structhash.evaluation import compare, compare_judged, compare_neighbours
from structhash.evaluation.found import N_FOUND, FirstFound, Found


def watch(blocks, seed=0):
    noted = FirstFound(seed)
    passed = list(noted.watch(blocks))
    return noted, passed


def test_the_nearest_documents_come_first_and_blocks_pass(rng):
    distances = rng.integers(6, size=(7, 40))
    relevance = rng.integers(4, size=(7, 40))
    noted, passed = watch([(distances[:3], relevance[:3]), (distances[3:], relevance[3:])])
    np.testing.assert_array_equal(np.vstack([each for each, _ in passed]), distances)
    np.testing.assert_array_equal(np.vstack([each for _, each in passed]), relevance)
    rows = rng.permutation(1000)[:40]
    found = noted.found(np.arange(100, 107), rows)
    assert found.queries == list(range(100, 107))
    for query in range(7):
        places = [int(np.flatnonzero(rows == row)[0]) for row in found.documents[query]]
        assert len(set(places)) == N_FOUND
        np.testing.assert_array_equal(distances[query, places], np.sort(distances[query])[:N_FOUND])
        assert found.grades[query] == relevance[query, places].tolist()


def test_ties_come_in_an_order_that_the_seed_draws():
    blocks = [(np.zeros((2, 500)), np.ones((2, 500), bool))]
    first, second = (watch(blocks, seed)[0].found(np.arange(2), np.arange(500)) for seed in (0, 1))
    assert first.documents[0] == first.documents[1] != second.documents[0]
    assert first == watch(blocks, 0)[0].found(np.arange(2), np.arange(500))
    assert max(first.documents[0]) > 100  # not the first rows
    drawn = [watch(blocks, seed)[0].found(np.arange(2), np.arange(500)).documents[0] for seed in range(100)]
    assert np.mean(drawn) == pytest.approx(249.5, abs=20)


def test_a_small_database_is_found_as_a_whole():
    noted, _ = watch([(np.array([[2.0, 1.0]]), np.array([[True, False]]))])
    assert noted.found(np.array([5]), np.array([8, 9])) == Found([5], [[9, 8]], [[0, 1]])
    assert noted.found(np.array([5]), None) == Found([5])


def nearest(X, query, rows):
    """The rows that are nearest to a vector, by brute force."""
    return rows[np.argsort(((X[rows] - query) ** 2).sum(axis=1))[:N_FOUND]].tolist()


def test_comparisons_say_what_vectors_find(rng):
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 3
    result = next(compare(["float"], X, y, seeds=[3], n_queries=9)).found
    assert len(result.queries) == 9
    others = np.setdiff1d(np.arange(120), result.queries)
    for query, documents, grades in zip(*result, strict=True):
        assert documents == nearest(X, X[query], others)
        assert grades == (y[documents] == y[query]).astype(int).tolist()
    drawn = next(compare_neighbours(["float"], X, seeds=[3], n_queries=9)).found
    assert drawn.documents[0] == nearest(X, X[drawn.queries[0]], np.setdiff1d(np.arange(120), drawn.queries))
    assert drawn.grades == [[1] * 10] * 9
    Q = rng.normal(size=(6, 3))
    own = next(compare_neighbours(["float"], X, Q, seeds=[3])).found
    assert own.queries == list(range(6))
    assert own.documents == [nearest(X, q, np.arange(120)) for q in Q]


def test_judged_queries_keep_their_numbers_and_grades(rng):
    X, Q = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    qrels = np.array([(q, d, 1 + (q + d) % 3) for q in range(1, 7) for d in range(0, 30, q)])
    found = next(compare_judged(["float"], X, Q, qrels, seeds=[0], folds=3)).found
    assert sorted(found.queries) == list(range(1, 7))
    table = {(q, d): grade for q, d, grade in qrels.tolist()}
    for query, documents, grades in zip(*found, strict=True):
        assert documents == nearest(X, Q[query], np.arange(30))
        assert grades == [table.get((query, document), 0) for document in documents]


def test_rankings_inside_a_class_name_no_documents(rng):
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 2
    found = next(compare(["float"], X, y, "instances", seeds=[0], n_queries=5)).found
    assert len(found.queries) == 5
    assert found.documents == ()
