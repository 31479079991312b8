"""Problems from an embedding: points, partners, targets, temperatures."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash._numerics.neighbours import nearest_by_cosine
from structhash.embeddings.centered import Centered
from structhash.embeddings.metric import Metric
from structhash.embeddings.posterior import Posterior
from structhash.families.linear import Linear
from structhash.pieces import load
from structhash.training.distillation import (
    draw_partners,
    embed_points,
    partner_multiplicities,
    problem_from_embedding,
)

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("n", "length"), [(5, 3), (5, 4), (5, 99), (4, 7), (300, 50)])
def test_partners_are_others_each_once_and_begin_with_the_nearest(n, length, count):
    Z = np.random.default_rng(1).normal(size=(n, 4))
    U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    first, _ = nearest_by_cosine(U, U, count, own=False)
    found = draw_partners(n, length, np.random.default_rng(0), first)
    for i in range(n):
        order = [j for j in np.argsort(-U @ U[i]) if j != i]
        assert set(first[i].tolist()) == set(order[:count])
    np.testing.assert_array_equal(found[:, :count], first)
    assert found.shape == (n, min(length, n - 1))
    assert found.max() < n
    for i, row in enumerate(found.tolist()):
        assert i not in row
        assert len(set(row)) == len(row)


def test_all_points_are_drawn_equally_often():
    found = draw_partners(20, 5, np.random.default_rng(0))
    counts = sum(
        np.bincount(draw_partners(20, 5, np.random.default_rng(s)).ravel(), minlength=20) for s in range(200)
    )
    assert found.dtype == np.uint16
    assert abs(counts / counts.mean() - 1).max() < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "points", "partners"),
    [
        ("metric", 4500, 4000, 512),
        ("metric", 300, 300, 299),
        ("centered", 10_500, 10_000, 256),
        ("centered", 2000, 2000, 1280),
    ],
)
def test_many_rows_are_learned_from_by_a_sample(name, n, points, partners):
    rows = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    rng = np.random.default_rng(0)
    embedded = embed_points(load("embeddings", name), rows, np.arange(n) % 3, None, rng)
    assert embedded.embedded.vectors.shape == (points, 3)
    found = problem_from_embedding(embedded, Linear(), 4, rng)
    assert found.Z.shape == (points, 3)
    assert len(found.master.targets) == points * partners


def test_partners_represent_all_points_but_the_query():
    for n, length, n_near in ((100, 20, 5), (100, 99, 5), (100, 20, 20)):
        multiplicities = partner_multiplicities(n, length, n_near)
        assert len(multiplicities) == length
        assert (multiplicities[:n_near] == 1).all()
        assert multiplicities.sum() == pytest.approx(n - 1 if n_near < length else length)
    assert (partner_multiplicities(100, 20, 0) == 1).all()


def test_settings_of_the_embedding_decide_points_and_partners():
    rng = np.random.default_rng(0)
    points = embed_points(Centered(n_points=50, n_partners=9, n_nearest=4), X, None, None, rng)
    problem = problem_from_embedding(points, Linear(), 4, rng)
    assert problem.Z.shape == (50, 64)
    assert problem.graph.indptr.tolist() == list(range(0, 451, 9))
    U = points.embedded.vectors / np.linalg.norm(points.embedded.vectors, axis=1, keepdims=True)
    cosines = U @ U.T
    np.fill_diagonal(cosines, -np.inf)
    partners = problem.graph.indices.reshape(50, 9)
    np.testing.assert_array_equal(np.sort(partners[:, :4]), np.sort(np.argsort(-cosines)[:, :4]))


def test_targets_and_self_weight_are_those_of_the_embedding():
    rng, embedding = np.random.default_rng(0), Metric(n_points=60, n_partners=20, self_weight=3.0)
    points = embed_points(embedding, X[:300], Y[:300], None, rng)
    problem = problem_from_embedding(points, Linear(), 4, rng)
    partners, queries = problem.graph.indices.reshape(60, 20), np.arange(60)
    expected = embedding.targets(points.embedded.vectors, queries, partners, np.ones(20), points.embedded.state)
    np.testing.assert_allclose(problem.master.targets.reshape(60, 20), expected, rtol=1e-6)
    assert problem.master.self_weight == 3
    assert problem.function.embedding is embedding
    assert problem.function.row_temperature == 1
    assert not problem.weighted


def test_bits_are_learned_at_the_temperature_of_points_and_rows_have_their_own():
    rng, embedding = np.random.default_rng(0), Posterior(temperature=2.0, max_row_temperature=5.0)
    points = embed_points(embedding, X[:300], np.repeat([0, 1], 150), None, rng)
    assert (points.temperatures.points, points.temperatures.rows) == (2, 5)
    problem = problem_from_embedding(points, Linear(), 4, rng)
    vectors = embedding.at_temperature(points.embedded.vectors, 2.0, points.embedded.state)
    np.testing.assert_array_equal(problem.Z, Linear().features(vectors, problem.function.family_state))
    assert problem.function.row_temperature == 5
    assert problem.function.query_temperatures == ()  # chosen once there are bits


def test_points_are_unlabeled_rows_where_there_are_any():
    rng = np.random.default_rng(0)
    points = embed_points(Centered(), X[:100], None, X[100:140], rng)
    assert len(points.embedded.vectors) == 40
