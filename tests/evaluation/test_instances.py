"""The order of the vectors inside a class: against brute force over all orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from structhash import StructHash
from structhash.evaluation import (
    code_blocks,
    compare,
    inside_class,
    instance_queries,
    nearest_in_class,
    retrieval,
    same_label,
    seen_classes,
)

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat(["a", "b", "c"], [90, 100, 110]))
X = RNG.standard_normal((300, 5)) + (Y == "a")[:, None]


def brute(distances, y_queries, y, queries, rows, k):
    """Share of the k nearest rows of the class in the first tenth of the class, over all orders of ties."""
    found = []
    for q, label in enumerate(y_queries):
        own = np.flatnonzero(y == label)
        apart = np.sqrt(((rows[own] - queries[q]) ** 2).sum(axis=1))
        nearest = set(own[np.argsort(apart, kind="stable")[:k]])
        values = []
        for order in permutations(own):
            far = [distances[q, row] for row in order]
            if far == sorted(far):
                inside = np.clip(len(order) / 10 - np.arange(len(order)), 0, 1)
                values.append(sum(inside[at] for at, row in enumerate(order) if row in nearest) / k)
        found.append(np.mean(values))
    return found


@pytest.mark.parametrize("pairs", [1, 30, 10**6])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_value_is_the_mean_over_all_orders_of_equal_codes(pairs, k, monkeypatch):
    monkeypatch.setattr("structhash.evaluation.scoring._MAX_DISTANCES", pairs)
    rng = np.random.default_rng(k)
    y, y_queries = rng.permutation(np.repeat([0, 1], [6, 7])), np.array([0, 1, 1, 0])
    rows, queries = rng.standard_normal((13, 3)), rng.standard_normal((4, 3))
    codes, query_codes = rng.integers(0, 4, (13, 1), np.uint8), rng.integers(0, 4, (4, 1), np.uint8)
    relevance = nearest_in_class(queries, rows, y_queries, y, k)
    blocks = inside_class(code_blocks(query_codes, codes, relevance), same_label(y_queries, y))
    found = retrieval(blocks, ["recall_tenth"]).per_query["recall_tenth"]
    distances = np.bitwise_count(query_codes ^ codes.T)
    np.testing.assert_allclose(found, brute(distances, y_queries, y, queries, rows, k), rtol=1e-12)


def test_the_nearest_rows_of_the_class_are_relevant_and_no_others():
    relevance = nearest_in_class(X[:40], X[40:], Y[:40], Y[40:])
    apart = euclidean_distances(X[:40], X[40:])
    apart[Y[:40, None] != Y[40:]] = np.inf
    expected = np.zeros(apart.shape, bool)
    np.put_along_axis(expected, apart.argsort(axis=1)[:, :10], True, axis=1)
    np.testing.assert_array_equal(relevance(slice(0, 40)), expected)
    np.testing.assert_array_equal(relevance(np.array([7, 3])), expected[[7, 3]])


def test_equal_vectors_are_near_in_the_order_of_their_rows():
    rows, y = np.ones((6, 2)), np.array([1, 0, 1, 1, 0, 1])
    found = nearest_in_class(np.zeros((1, 2)), rows, np.array([1]), y, k=2)(slice(0, 1))
    assert found.tolist() == [[True, False, True, False, False, False]]


def test_a_class_that_is_smaller_than_k_is_relevant_as_a_whole_and_a_class_without_rows_has_none():
    found = nearest_in_class(X[:2], X[:3], np.array([0, 5]), np.array([0, 1, 0]))(slice(0, 2))
    assert found.tolist() == [[True, False, True], [False, False, False]]


@pytest.mark.parametrize("seed", [0, 1])
def test_queries_are_those_of_seen_classes_whose_class_has_50_rows(seed):
    y = np.random.default_rng(5).permutation(np.repeat([f"c{i}" for i in range(5)], [30, 60, 70, 80, 200]))
    split, seen = instance_queries(y, seed, 110, 90), seen_classes(y, seed, 110, 90)
    np.testing.assert_array_equal(split.train, seen.train)
    np.testing.assert_array_equal(split.database, seen.database)
    large = [label for label in set(y.tolist()) if (y[seen.database] == label).sum() >= 50]
    assert 0 < len(large) < 5
    assert split.queries.tolist() == [row for row in seen.queries if y[row] in large]


def test_no_class_of_50_rows_is_refused():
    with pytest.raises(ValueError, match="no class of the 25 queries has 50 rows in the database; give more"):
        instance_queries(np.arange(100) % 3)


def test_the_protocol_ranks_the_class_by_codes_and_by_vectors():
    spec = "structhash:n_near=5,n_far=5"
    plain, vectors = compare([spec, "float"], X, Y, "instances", [6], [3], n_queries=30, n_train=90)
    split = instance_queries(Y, 3, 30, 90)
    model = StructHash(6, n_near=5, n_far=5, random_state=3).fit(X[split.train], Y[split.train])
    codes, expected, ideal = model.transform(X), [], []
    for query in split.queries:
        own = split.database[Y[split.database] == Y[query]]
        nearest = euclidean_distances(X[[query]], X[own])[0].argsort()[:10]
        apart = (codes[own] != codes[query]).sum(axis=1)
        closer = (apart[:, None] > apart).sum(axis=1)
        ties = (apart[:, None] == apart).sum(axis=1)
        expected.append(np.clip((len(own) / 10 - closer) / ties, 0, 1)[nearest].mean())
        ideal.append(min(1, len(own) / 100))
    assert list(plain.scores.mean) == list(vectors.scores.mean) == ["recall_tenth"]
    np.testing.assert_allclose(plain.scores.per_query["recall_tenth"], expected)
    np.testing.assert_allclose(vectors.scores.per_query["recall_tenth"], ideal)


def test_codes_that_say_nothing_find_a_tenth():
    y_queries, codes = Y[:20], np.zeros((280, 1), np.uint8)
    relevance = nearest_in_class(X[:20], X[20:], y_queries, Y[20:])
    blocks = inside_class(code_blocks(codes[:20], codes, relevance), same_label(y_queries, Y[20:]))
    np.testing.assert_allclose(retrieval(blocks, ["recall_tenth"]).per_query["recall_tenth"], 0.1)
