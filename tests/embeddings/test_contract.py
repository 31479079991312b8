"""What every embedding promises."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import StructHash, load_model
from structhash.embeddings._targets import by_cosine
from structhash.embeddings.base import Embedding
from structhash.pieces import load, names

X, Y = (array[:240] for array in load_digits(return_X_y=True))
SOME = np.arange(0, 200, 2)
EMBEDDINGS = names("embeddings")


def fit(name, rows=X, seed=0):
    return load("embeddings", name).fit(rows[:200], Y[:200], None, SOME, np.random.default_rng(seed))


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_it_has_the_methods_of_the_protocol_and_a_state_of_arrays(name):
    piece = load("embeddings", name)
    assert isinstance(piece, Embedding)
    state, Z = fit(name)
    assert all(isinstance(array, np.ndarray) for array in state.values())
    assert len(Z) == len(SOME)
    assert piece.embed(X[200:], state).shape == (40, Z.shape[1])


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_row_has_one_vector_whatever_comes_with_it(name):
    state, _ = fit(name)
    piece = load("embeddings", name)
    together = piece.embed(X, state)
    alone = np.concatenate([piece.embed(X[[i]], state) for i in range(20)])
    np.testing.assert_allclose(together[:20], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_targets_are_chances_that_sum_to_1(name):
    _, Z = fit(name)
    partners = np.array([[1, 2, 3, 4], [0, 2, 50, 60]], np.uint16)
    targets = load("embeddings", name).targets(Z, np.array([0, 1]), partners, np.array([1, 1, 3, 3.0]))
    assert (targets >= 0).all()
    np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_points_of_a_class_are_likelier_than_others(name):
    _, Z = fit(name)
    n = len(SOME)
    partners = np.array([np.delete(np.arange(n), i) for i in range(n)])
    targets = load("embeddings", name).targets(Z, np.arange(n), partners, np.ones(n - 1))
    same = Y[SOME][partners] == Y[SOME][:, None]
    assert targets[same].sum() > 2 * same.mean() * n


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_rows_that_are_all_the_same_are_refused(name):
    with pytest.raises(ValueError, match="all 200 training rows are the same"):
        fit(name, np.ones_like(X))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_the_unit_of_the_rows_does_not_matter(name, scale):
    piece = load("embeddings", name)
    (state, Z), (scaled, W) = fit(name), fit(name, X * scale)
    np.testing.assert_allclose(W, Z, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(piece.embed(X * scale, scaled), piece.embed(X, state), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_model_saved_and_opened_gives_the_same_codes(name, tmp_path):
    model = StructHash(n_bits=8, embedding=name, random_state=0).fit(X[:200], Y[:200])
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.embedding_ == model.embedding_
    np.testing.assert_array_equal(again.encode(X), model.encode(X))


@pytest.mark.parametrize("name", [name for name in EMBEDDINGS if hasattr(load("embeddings", name), "linear")])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_planes_in_a_linear_embedding_are_planes_among_the_rows(name, scale):
    model = StructHash(n_bits=8, embedding=name, random_state=0).fit(X[:200] * scale, Y[:200])
    Z = model.embedding_.embed(X * scale, model.embedding_state_)
    scores = model.family_.decide(model.family_.features(Z, model.state_), model.bits_)
    assert model._planes() is not None
    np.testing.assert_array_equal(model.transform(X * scale), scores > 0)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_partner_that_stands_for_three_has_the_chance_of_three_like_it(name):
    _, Z = fit(name)
    single = np.array([[1, 2, 3, 3, 3, 4, 4, 4]], np.uint16)
    piece, first = load("embeddings", name), np.array([0])
    expected = piece.targets(Z, first, single, np.ones(8))[0]
    found = piece.targets(Z, first, np.array([[1, 2, 3, 4]], np.uint16), np.array([1, 1, 3, 3.0]))[0]
    sums = [expected[0], expected[1], expected[2:5].sum(), expected[5:].sum()]
    np.testing.assert_allclose(found, sums, rtol=1e-6)


def test_cosine_targets_have_the_perplexity_of_a_tenth_of_the_list():
    Z = np.random.default_rng(0).normal(size=(60, 5))
    partners = np.array([np.delete(np.arange(60), i)[:50] for i in range(60)])
    targets = by_cosine(Z, np.arange(60), partners, np.ones(50))
    perplexity = np.exp(-(targets * np.log(targets + 1e-300)).sum(axis=1))
    np.testing.assert_allclose(perplexity, 5, rtol=1e-3)
    U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    for i in range(60):  # the order is that of the cosines
        np.testing.assert_array_equal(np.argsort(targets[i]), np.argsort((U @ U[i])[partners[i]]))


def test_no_more_than_two_hundred_points_count_as_near():
    Z = np.random.default_rng(0).normal(size=(400, 5))
    partners = np.arange(1, 400)[None]
    counts = np.r_[np.ones(100), np.full(299, 20.0)]
    (targets,) = by_cosine(Z, np.array([0]), partners, counts)
    perplexity = np.exp(-(targets * np.log(targets / counts + 1e-300)).sum())
    assert perplexity == pytest.approx(200, rel=1e-3)
