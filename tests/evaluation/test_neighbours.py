"""Comparisons on vectors alone: the nearest rows by brute force, the split, and which methods are refused."""

import faiss
import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from structhash import DistilHash
from structhash.evaluation import compare_neighbours, nearest_rows, parse_method, seen_classes
from structhash.evaluation.neighbours import check_unlabelled_method
from structhash.pieces import load

RNG = np.random.default_rng(0)
X = (RNG.standard_normal((300, 12)) @ RNG.standard_normal((12, 12))).astype(np.float32)
Q = (X[:30] + 0.3 * RNG.standard_normal((30, 12))).astype(np.float32)


def found_by(distances, nearest, k):
    """Share of the nearest rows among the first k by distance, in expectation over orders of ties."""
    closer = (distances[:, :, None] > distances[:, None]).sum(axis=2)
    ties = (distances[:, :, None] == distances[:, None]).sum(axis=2)
    inside = np.clip((k - closer) / ties, 0, 1)
    return np.take_along_axis(inside, nearest, axis=1).mean(axis=1)


# the nearest rows


@pytest.mark.parametrize("pairs", [1, 700, 10**6])
@pytest.mark.parametrize("k", [1, 10, 300, 999])
def test_the_nearest_rows_are_those_of_faiss(k, pairs, monkeypatch):
    monkeypatch.setattr("structhash.evaluation.scoring._MAX_DISTANCES", pairs)
    relevance = nearest_rows(Q, X, k)
    _, ids = faiss.knn(Q, X, min(k, len(X)))
    expected = np.zeros((len(Q), len(X)), bool)
    np.put_along_axis(expected, ids, True, axis=1)
    np.testing.assert_array_equal(relevance(slice(0, 30)), expected)
    np.testing.assert_array_equal(relevance(np.array([7, 3])), expected[[7, 3]])


def test_of_equal_distances_the_lower_row_numbers_are_nearest():
    rows = np.array([[5.0], [2.0], [-2.0], [2.0], [0.0]])
    assert nearest_rows(np.zeros((1, 1)), rows, 3)(slice(0, 1)).tolist() == [[False, True, True, False, True]]


def test_rows_of_one_length_are_nearest_by_cosine():
    unit, asked = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (X, Q))
    best = np.argsort(-asked @ unit.T, axis=1)[:, :10]
    expected = np.zeros((len(Q), len(X)), bool)
    np.put_along_axis(expected, best, True, axis=1)
    np.testing.assert_array_equal(nearest_rows(asked, unit)(slice(0, 30)), expected)


# the comparison


@pytest.mark.parametrize("n_train", [None, 90])
def test_queries_are_held_out_and_the_other_rows_are_searched_and_learned_from(n_train):
    (plain,) = compare_neighbours(["itq"], X, bits=[8], seeds=[3], n_queries=40, n_train=n_train)
    _, queries, database = seen_classes(X[:, 0], 3, 40)
    itq = load("baselines", "itq:n_bits=8,random_state=3").fit(X[database][:n_train])
    bits = itq.transform(X)
    distances = (bits[queries][:, None] != bits[database]).sum(axis=2)
    nearest = euclidean_distances(X[queries], X[database]).argsort(axis=1)[:, :10]
    assert list(plain.scores.mean) == ["recall@10", "recall@100"]
    for k in (10, 100):
        expected = found_by(distances, nearest, k)
        np.testing.assert_allclose(plain.scores.per_query[f"recall@{k}"], expected)


def test_queries_of_its_own_are_all_asked():
    (plain,) = compare_neighbours(["itq"], X, Q, bits=[8], seeds=[0], measures=["recall@10"])
    itq = load("baselines", "itq:n_bits=8,random_state=0").fit(X)
    distances = (itq.transform(Q)[:, None] != itq.transform(X)).sum(axis=2)
    nearest = euclidean_distances(Q, X).argsort(axis=1)[:, :10]
    np.testing.assert_allclose(plain.scores.per_query["recall@10"], found_by(distances, nearest, 10))


def test_part_of_the_rows_trains_where_queries_are_given():
    one, same, other = (
        next(iter(compare_neighbours(["itq"], X, Q, [8], [seed], n_train=50))).scores.per_query["recall@100"]
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_vectors_themselves_find_all_and_lines_come_for_every_seed():
    results = list(
        compare_neighbours(["float", "distilhash@real"], X, bits=[8, 16], seeds=[0, 1], n_queries=20)
    )
    assert [(each.distance, each.n_bits, each.seed) for each in results] == [
        (distance, n_bits, seed)
        for seed in (0, 1)
        for distance, n_bits in [("L2", 0), ("real", 8), ("real", 16)]
    ]
    assert all(each.scores.mean["recall@10"] == 1 for each in results if each.distance == "L2")
    assert all(0.1 < each.scores.mean["recall@10"] < 1 for each in results if each.distance == "real")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("one_hot", "'one_hot' learns from labels, and there are none here; leave it out"),
        ("structhash", "'structhash' learns from labels"),
        ("itq@database", "all methods are fitted on database rows here; drop @database"),
        ("itq:max_iter=3|5", "alternatives are chosen by labels; name one setting here"),
    ],
)
def test_methods_that_cannot_be_fitted_are_refused_before_the_first_fit(spec, message):
    with pytest.raises(ValueError, match=message):
        compare_neighbours(["lsh", spec], X)
    with pytest.raises(ValueError, match=message):
        check_unlabelled_method(parse_method(spec))
    check_unlabelled_method("float")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"Q": Q[:, :5]}, "X has 12 columns and Q has 5; give vectors of one length"),
        ({"n_train": 0}, "n_train=0: give an integer of at least 1"),
        ({"n_queries": 0}, "n_queries=0: give an integer of at least 1"),
        ({"measures": ["recall"]}, "metric='recall'"),
    ],
)
def test_bad_input_is_refused(more, message):
    with pytest.raises(ValueError, match=message):
        compare_neighbours(["lsh"], X, **more)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="the data have 3 rows"):
        list(compare_neighbours([DistilHash.__name__.lower()], X[:3]))
