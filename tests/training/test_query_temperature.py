"""Left-out training rows choose the temperature of queries for codes of 1, 2, 4, ... bits."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash import DistilHash
from structhash.codes import hamming, pack
from structhash.embeddings.metric import Metric
from structhash.embeddings.posterior import Posterior
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.metrics import average_precision, tie_blocks
from structhash.training import query_temperature
from structhash.training.column_generation import finish, learn
from structhash.training.distillation import embed_points, problem_from_embedding
from structhash.training.problem import Plan
from structhash.training.query_temperature import with_query_temperatures

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)


def learned(embedding, unlabeled=None, n_bits=20):
    """A function without temperatures of queries, and the points that it was learned from."""
    rng = np.random.default_rng(0)
    points = embed_points(embedding, X[:300], Y[:300], unlabeled, rng)
    problem = problem_from_embedding(points, Linear(), n_bits, rng)
    return finish(learn(problem, Plan(Spectral(), n_bits), rng))[1].function, points


def mean_average_precision(queries, rows, relevant):
    found = average_precision(tie_blocks(hamming(pack(queries), pack(rows)), relevant))
    return float(np.nanmean(found))


@pytest.mark.slow
@pytest.mark.parametrize("unlabeled", [None, X[300:]], ids=["alone", "unlabeled"])
def test_the_first_candidate_about_as_good_as_the_best_is_taken_at_each_length(unlabeled):
    function, points = learned(Posterior(), unlabeled)
    found = with_query_temperatures(function, points, Y[:300])
    assert len(found.query_temperatures) == 5  # 1, 2, 4, 8 and 16 bits
    vectors, rows = points.embedded.left_out.vectors, points.embedded.left_out.rows
    relevant = Y[rows][:, None] == Y[rows]
    others = ~np.eye(300, dtype=bool)
    candidates = [function.row_temperature, 11.3, 8.0, 5.66, 4.0, 2.83, 2.0, 1.41, 1.0]
    candidates = [each for each in candidates if each <= function.row_temperature]

    def bits_at(temperature):
        at = points.embedding.at_temperature(vectors, temperature, {})
        return function.family.decide(function.family.features(at, function.family_state), function.bits) > 0

    stored = bits_at(function.row_temperature)
    for k, chosen in enumerate(found.query_temperatures):
        precision = []
        for temperature in candidates:
            asked, n_bits = bits_at(temperature), 2**k
            apart = hamming(pack(asked[:, :n_bits]), pack(stored[:, :n_bits]))
            values = [
                average_precision(tie_blocks(apart[[i]][:, others[i]], relevant[[i]][:, others[i]]))[0]
                for i in range(300)
            ]
            precision.append(np.mean(values))
        best = max(precision)
        enough = best - min(0.003, (1 - best) / 5)
        assert chosen == next(t for t, value in zip(candidates, precision) if value >= enough)
    assert found.bits is function.bits


def test_no_more_than_so_many_left_out_rows_choose(monkeypatch):
    function, points = learned(Posterior())
    monkeypatch.setattr(query_temperature, "MAX_ROWS", 40)
    seen = []
    monkeypatch.setattr(query_temperature, "hamming", lambda a, b: seen.append(len(a)) or hamming(a, b))
    with_query_temperatures(function, points, Y[:300])
    assert set(seen) == {40}


@pytest.mark.parametrize("embedding", [Metric(), Posterior(query_candidates=())], ids=repr)
def test_without_candidates_or_left_out_rows_the_function_stays(embedding):
    function, points = learned(embedding, n_bits=4)
    assert with_query_temperatures(function, points, Y[:300]) is function


def ordered(n_classes, seed=0):
    """Rows along a line, classes in its order: no corner of the class probabilities is near any row."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes).repeat(10), rng.integers(0, n_classes, 600)]
    return np.c_[6.0 * y + rng.normal(size=len(y)), rng.normal(size=len(y))], y


@pytest.mark.slow
def test_where_sharpened_queries_find_less_they_are_coded_as_rows():
    rows, y = ordered(50)
    model = DistilHash(32, embedding="posterior", random_state=0).fit(rows[:500], y[:500])
    function = model.hash_function_
    assert function.query_temperatures[-1] == function.row_temperature
    np.testing.assert_array_equal(model.encode_queries(rows), model.encode(rows))
    sharp = replace(function, row_temperature=1.0).bits_of(rows[500:700])
    relevant = y[500:700, None] == y[700:]
    stored = function.bits_of(rows[700:])
    at_rows = mean_average_precision(function.query_bits_of(rows[500:700], 32), stored, relevant)
    assert at_rows > mean_average_precision(sharp, stored, relevant) + 0.05


@pytest.mark.slow
def test_sharpened_queries_find_more(monkeypatch):
    monkeypatch.setattr(query_temperature, "TOLERANCE", 0)
    model = DistilHash(32, embedding="posterior", random_state=0).fit(X[:600], Y[:600])
    rows, queries = X[900:], X[600:900]
    relevant = Y[600:900, None] == Y[900:]
    stored = model.encode(rows)
    found = [
        np.mean(
            [flags[np.argsort(apart, kind="stable")[:10]].mean() for apart, flags in zip(distances, relevant)]
        )
        for distances in (
            hamming(model.encode(queries), stored),
            hamming(model.encode_queries(queries), stored),
        )
    ]
    assert found[1] > found[0]


@pytest.mark.slow
def test_a_sharpened_query_is_nearer_to_confident_rows_of_its_likeliest_class(monkeypatch):
    monkeypatch.setattr(query_temperature, "TOLERANCE", 0)
    model = DistilHash(32, embedding="posterior", random_state=0).fit(X[:600], Y[:600])
    function = model.hash_function_
    likeliest = function.embedding.embed(X[600:], function.embedding_state).argmax(axis=1)
    corners = np.full((10, 10), 1e-30) + np.eye(10)
    features = function.family.features(corners, function.family_state)
    bits = function.family.decide(features, function.bits) > 0
    asked = (function.query_bits_of(X[600:], 32) != bits[likeliest]).sum(axis=1)
    stored = (function.bits_of(X[600:]) != bits[likeliest]).sum(axis=1)
    assert asked.mean() < 0.7 * stored.mean()
