"""Nearness along a graph: its inner products against a dense inverse, and the data that it suits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash._numerics.neighbours import nearest_by_cosine
from structhash.embeddings import _graph
from structhash.embeddings.manifold import Manifold

ALPHA = 0.9


def unit(Z):
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def graph(m, k=4, seed=0):
    U = unit(np.random.default_rng(seed).normal(size=(m, 3)))
    near, apart = nearest_by_cosine(U, U, k, own=False)
    scale = _graph.local_scale(apart)
    return near, np.exp(-_graph.scaled_distances(apart, scale, scale[near]))


def dense(near, w):
    W = np.zeros((len(near),) * 2)
    np.put_along_axis(W, near, w, axis=1)
    return np.maximum(W, W.T)


def test_a_points_unit_is_the_root_of_its_seventh_neighbours():
    apart = np.random.default_rng(0).random((6, 10))
    np.testing.assert_allclose(_graph.local_scale(apart), np.sqrt(np.sort(apart, axis=1)[:, 6]))
    np.testing.assert_allclose(_graph.local_scale(apart[:, :3]), np.sqrt(apart[:, :3].max(axis=1)))


def test_inner_products_are_those_of_the_walk(monkeypatch):
    monkeypatch.setattr(_graph, "MIN_GRAPH_EIGENVALUE", 1e-9)
    near, w = graph(40)
    near, w = np.column_stack([near, np.arange(40)]), np.column_stack([w, np.full(40, 20.0)])
    W = dense(near, w)  # of positive eigenvalues, for the diagonal
    d = W.sum(axis=1)
    vectors = _graph.diffusion(near, w, ALPHA, 39, np.random.default_rng(0))
    V = W / d[:, None] @ vectors  # the mean over neighbours
    walk = (1 - ALPHA) * np.linalg.inv(np.eye(40) - ALPHA * W / np.sqrt(np.outer(d, d)))
    np.testing.assert_allclose(V @ V.T, walk / np.sqrt(np.outer(d, d)) - 1 / d.sum(), atol=1e-10)


@pytest.mark.parametrize("count", [3, 20])
def test_few_eigenvectors_are_the_leading_ones_however_found(count, monkeypatch):
    near, w = graph(120)
    W = dense(near, w)
    d = W.sum(axis=1)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(d, d)))[::-1][1 : count + 1]
    kept = values[values > _graph.MIN_GRAPH_EIGENVALUE]
    found = []
    for small in (1000, 10):
        monkeypatch.setattr(_graph, "DENSE_GRAPH_NODES", small)
        V = _graph.diffusion(near, w, ALPHA, count, np.random.default_rng(0))
        assert V.shape == (120, len(kept))
        lengths = (V**2 * d[:, None]).sum(axis=0)
        np.testing.assert_allclose(np.sort(lengths), np.sort((1 - ALPHA) / (1 - ALPHA * kept) / kept**2))
        found.append(V @ V.T)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_a_value_many_times_over_is_found_as_often():
    m = 600
    M = np.kron(np.eye(m // 2), [[0.5, 0.5], [0.5, 0.5]])  # 300 pieces: 1 and 0, 300 times each
    values, vectors = _graph.leading(lambda x: M @ x.ravel(), m, 50, np.random.default_rng(0))
    np.testing.assert_allclose(values, 1)
    np.testing.assert_allclose(M @ vectors, vectors, atol=1e-8)


@pytest.mark.slow
def test_digits_are_found_along_their_neighbours_without_labels():
    X, y = load_digits(return_X_y=True)
    plain, along = (
        DistilHash(16, embedding=name, random_state=0).fit(X).score(X, y) for name in ("centered", "manifold")
    )
    assert along > plain + 0.12


def test_labels_bring_the_metric_and_unlabeled_rows_the_graph():
    rng = np.random.default_rng(2)
    rows, others = rng.normal(size=(400, 8)), rng.normal(size=(300, 8)) + 1
    points = np.arange(300)
    state, Z, _ = Manifold().fit(rows, np.arange(400) // 40, others, points, np.random.default_rng(0))
    assert state["matrix"].shape == (8, 8)
    np.testing.assert_allclose(state["mean"], others.mean(axis=0))
    assert len(state["nodes"]) == 300
    np.testing.assert_allclose(Z, Manifold().embed(others, state))
    assert "matrix" not in Manifold().fit(rows, None, None, points, np.random.default_rng(0)).state


def test_nodes_are_sampled_and_counted_once():
    X = np.random.default_rng(0).normal(size=(500, 3))
    state, Z, _ = Manifold(n_nodes=60).fit(X, None, None, np.arange(500), np.random.default_rng(0))
    assert state["nodes"].shape == (60, 3)
    assert Z.shape[0] == 500
    twice = np.repeat(X[:8], 20, axis=0)
    state, Z, _ = Manifold().fit(twice, None, None, np.arange(160), np.random.default_rng(0))
    assert len(state["nodes"]) == 8
    assert np.isfinite(Z).all()


def test_a_row_far_from_all_nodes_still_has_its_nearest():
    X = np.random.default_rng(0).normal(size=(200, 3)) * 1e-3 + [1.0, 0, 0]
    X[100:] -= [1.0, -1.0, 0]
    state, _, _ = Manifold().fit(X, None, None, np.arange(200), np.random.default_rng(0))
    (far,) = Manifold().embed(np.array([[0.0, 0, -9.0]]), state)
    assert np.isfinite(far).all()
    np.testing.assert_allclose((far**2).sum(), 1.5)


@pytest.mark.parametrize(
    "X",
    [
        *(np.random.default_rng(n).normal(size=(n, 4)) for n in (2, 3, 5, 11)),
        np.random.default_rng(0).normal(size=(30, 1)),
        np.eye(40),
        np.outer(np.arange(20.0), np.ones(3)),
        np.vstack([np.zeros((30, 3)), np.ones((1, 3))]),
    ],
)
def test_few_directions_will_do(X):
    state, Z, _ = Manifold().fit(X, None, None, np.arange(len(X)), np.random.default_rng(0))
    assert np.isfinite(Z).all()
    alone = np.concatenate([Manifold().embed(row[None], state) for row in X])
    np.testing.assert_allclose(Manifold().embed(X, state), alone, atol=1e-6)
    assert DistilHash(4, embedding="manifold", random_state=0).fit(X).encode(X).shape == (len(X), 1)


def test_near_copies_do_not_lose_who_is_near_them():
    rng = np.random.default_rng(0)
    X, center = unit(rng.normal(size=(600, 16))), unit(rng.normal(size=(1, 16)))[0]
    for copies in (8, 9):
        rows = np.vstack([X, center + rng.normal(size=(copies, 16)) * 1e-4])
        state, Z, _ = Manifold().fit(rows, None, None, np.arange(len(rows)), np.random.default_rng(0))
        (near,) = Manifold().embed(center[None] + 0.03 * rng.normal(size=16), state)
        part = Z.shape[1] - 16
        assert near[:part] @ Z[-1, :part] > 0.8


@pytest.mark.parametrize("value", [1, 2.5, True])
def test_a_bad_number_of_nodes_is_refused(value):
    with pytest.raises(ValueError, match=r"n_nodes=.*: give an integer of at least 2"):
        Manifold(n_nodes=value)
