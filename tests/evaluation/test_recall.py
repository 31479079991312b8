"""Recall before anything is built, against brute force."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances

from structhash import AdditiveHash, DistilHash, fit_reader
from structhash.evaluation import estimate_recall, seen_classes
from structhash.search import Exact, Rescored

X = np.unique(load_digits().data, axis=0)[::3].astype(np.float32)


def parts(rows, seed=0, n_queries=60):
    """Queries and database as the estimate draws them: repeated rows once, then at random."""
    rows = np.unique(rows, axis=0)
    split = seen_classes(rows[:, 0], seed, n_queries)
    return rows[split.queries], rows[split.database]


def share(order, nearest, n):
    """Share of the nearest rows among the first n of an order."""
    return np.mean([np.isin(near, found[:n]).mean() for found, near in zip(order, nearest)])


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 7])
def test_recall_by_bits_is_that_of_brute_force(k):
    found = estimate_recall(X, [16, 8, 16], k, 60, "bits", 3, random_state=5)
    queries, database = parts(X, 5)
    model = DistilHash(16, random_state=5).fit(database)
    nearest = euclidean_distances(queries, database).argsort(axis=1)[:, :k]
    assert (found.k, found.n_queries, found.n_database, found.n_repeated) == (k, 60, len(X) - 60, 0)
    assert found.vector_bytes == 256
    assert [(line.n_bits, line.n_bytes, line.reader, line.factor) for line in found.lines] == [
        (8, 1, "bits", 3),
        (16, 2, "bits", 3),
    ]
    for line in found.lines:
        asked, stored = (model.transform(rows)[:, : line.n_bits] for rows in (queries, database))
        order = (asked[:, None] != stored).sum(axis=2).argsort(axis=1, kind="stable")
        assert line.bits == line.read == pytest.approx(share(order, nearest, k))
        assert line.rescored == pytest.approx(share(order, nearest, 3 * k))


@pytest.mark.slow
def test_readers_are_fitted_to_the_database_and_vectors_order_what_they_find():
    (line,) = estimate_recall(X, [12], 5, 60, "tables", 4).lines
    queries, database = parts(X)
    model = DistilHash(12, random_state=0).fit(database)
    index = Exact(12)
    index.add(model.encode(database))
    asked = fit_reader(model, database, reader="tables", random_state=0).prepare(queries)
    nearest = euclidean_distances(queries, database).argsort(axis=1)[:, :5]
    assert line.read == pytest.approx(share(index.search(asked, 5)[1], nearest, 5))
    two_stages = Rescored(index, database, "euclidean", 4)
    assert line.rescored == pytest.approx(share(two_stages.search(asked, queries, 5)[1], nearest, 5))


@pytest.mark.slow
def test_sums_of_vectors_are_tried_beside_bits():
    long, short = estimate_recall(X, [264, 12], 5, 60, "bits").lines[::-1]
    queries, database = parts(X)
    model = AdditiveHash(12, random_state=0).fit(database)
    index = Exact(12)
    index.add(model.encode(database))
    apart = ((queries[:, None] - database) ** 2).sum(axis=2)  # whole numbers: ties come by row
    nearest = apart.argsort(axis=1, kind="stable")[:, :5]
    assert short.sums == pytest.approx(share(index.search(model.prepare_queries(queries), 5)[1], nearest, 5))
    assert short.sums > short.read
    assert long.sums is None


@pytest.mark.slow
def test_the_factor_is_the_least_that_gives_the_recall():
    chosen = estimate_recall(X, [8, 12], 5, 60, "real", recall=0.9).lines
    for line in chosen:
        assert line.rescored >= 0.9
        assert line.factor > 1
    for n_bits, factor, rescored in [(line.n_bits, line.factor, line.rescored) for line in chosen]:
        same, less = (estimate_recall(X, [8, 12], 5, 60, "real", f).lines for f in (factor, factor - 1))
        assert next(each for each in same if each.n_bits == n_bits).rescored == pytest.approx(rescored)
        assert next(each for each in less if each.n_bits == n_bits).rescored < 0.9


@pytest.mark.slow
def test_rows_that_repeat_count_once():
    once, often = estimate_recall(X, [8], 5, 60), estimate_recall(np.repeat(X, 30, axis=0), [8], 5, 60)
    assert often.n_repeated == 29 * len(X)
    assert often._replace(n_repeated=0) == once


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bits": []}, "bits is empty; give at least one length"),
        ({"bits": [0]}, "bits=0: give an integer of at least 1"),
        ({"bits": 8}, r"bits=8: give a list, such as \[8\]"),
        ({"k": 0}, "k=0: give an integer of at least 1"),
        ({"k": 400}, "different rows; give at least 800"),
        ({"n_queries": 0}, "n_queries=0"),
        ({"factor": 0}, "factor=0"),
        ({"recall": 1.5}, "recall=1.5: give a number above 0 and at most 1"),
        ({"reader": "magic"}, "reader='magic': give"),
        ({"X": np.zeros((500, 3))}, "X has 1 different row; give at least 100"),
        ({"X": np.full((200, 3), np.nan)}, "X holds NaN in row 0"),
    ],
)
def test_what_cannot_be_estimated_is_refused(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        estimate_recall(**({"X": X} | given))
