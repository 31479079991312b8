"""The contract of every embedding."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.embeddings.base import Embedding
from structhash.pieces import classes, load, names

X, Y = (array[:240] for array in load_digits(return_X_y=True))
POINTS = np.arange(0, 200, 2)
EMBEDDINGS = names("embeddings")


def fit(name, rows=X, seed=0):
    return load("embeddings", name).fit(rows[:200], Y[:200], None, POINTS, np.random.default_rng(seed))


AFFINE = [name for name in EMBEDDINGS if type(load("embeddings", name)).affine is not Embedding.affine]


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_it_is_an_embedding_whose_state_is_arrays(name):
    piece = load("embeddings", name)
    assert isinstance(piece, Embedding)
    state, Z, _ = fit(name)
    assert all(isinstance(array, np.ndarray) for array in state.values())
    assert len(Z) == len(POINTS)
    assert piece.embed(X[200:], state).shape == (40, Z.shape[1])


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_the_vector_of_a_row_does_not_depend_on_the_rows_beside_it(name):
    state, _, _ = fit(name)
    piece = load("embeddings", name)
    together = piece.embed(X, state)
    alone = np.concatenate([piece.embed(X[[i]], state) for i in range(20)])
    np.testing.assert_allclose(together[:20], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_targets_are_probabilities_that_sum_to_1(name):
    state, Z, _ = fit(name)
    partners = np.array([[1, 2, 3, 4], [0, 2, 50, 60]], np.uint16)
    targets = load("embeddings", name).targets(Z, np.array([0, 1]), partners, np.array([1, 1, 3, 3.0]), state)
    assert (targets >= 0).all()
    np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_points_of_a_class_are_likelier_than_others(name):
    state, Z, _ = fit(name)
    n = len(POINTS)
    partners = np.array([np.delete(np.arange(n), i) for i in range(n)])
    targets = load("embeddings", name).targets(Z, np.arange(n), partners, np.ones(n - 1), state)
    same = Y[POINTS][partners] == Y[POINTS][:, None]
    assert targets[same].sum() > 2 * same.mean() * n


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_rows_that_are_all_the_same_are_refused(name):
    with pytest.raises(ValueError, match="all 200 training rows are the same"):
        fit(name, np.ones_like(X))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_the_unit_of_the_rows_does_not_matter(name, scale):
    piece = load("embeddings", name)
    (state, Z, _), (scaled, W, _) = fit(name), fit(name, X * scale)
    np.testing.assert_allclose(W, Z, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(piece.embed(X * scale, scaled), piece.embed(X, state), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_model_saved_and_opened_gives_the_same_codes(name, tmp_path):
    model = DistilHash(n_bits=8, embedding=name, random_state=0).fit(X[:200], Y[:200])
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.embedding_ == model.embedding_
    np.testing.assert_array_equal(again.encode(X), model.encode(X))


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_planes_among_the_vectors_of_an_affine_embedding_are_planes_among_the_rows(name, scale):
    model = DistilHash(n_bits=8, embedding=name, random_state=0).fit(X[:200] * scale, Y[:200])
    assert model.hash_function_.planes() is not None
    np.testing.assert_array_equal(model.transform(X * scale), model.hash_function_.scores(X * scale) > 0)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_partner_that_represents_three_has_the_probability_of_three(name):
    state, Z, _ = fit(name)
    single = np.array([[1, 2, 3, 3, 3, 4, 4, 4]], np.uint16)
    piece, first = load("embeddings", name), np.array([0])
    expected = piece.targets(Z, first, single, np.ones(8), state)[0]
    found = piece.targets(Z, first, np.array([[1, 2, 3, 4]], np.uint16), np.array([1, 1, 3, 3.0]), state)[0]
    sums = [expected[0], expected[1], expected[2:5].sum(), expected[5:].sum()]
    np.testing.assert_allclose(found, sums, rtol=1e-6)


def test_centered_and_metric_are_affine():
    assert {"centered", "metric"} <= set(AFFINE)


@pytest.mark.parametrize("name", AFFINE)
def test_the_affine_form_gives_the_vectors(name):
    piece, (state, *_) = load("embeddings", name), fit(name)
    form = piece.affine(state)
    np.testing.assert_allclose((X - form.center) @ form.matrix / form.scale, piece.embed(X, state), atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(EMBEDDINGS) - set(AFFINE)))
def test_other_embeddings_give_no_planes(name):
    assert load("embeddings", name).affine(fit(name).state) is None
    model = DistilHash(n_bits=4, embedding=name, random_state=0).fit(X[:200], Y[:200])
    assert model.hash_function_.planes() is None


@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_points": 1}, "n_points=1: give an integer of at least 2"),
        ({"n_partners": 0}, "n_partners=0: give an integer of at least 1"),
        ({"n_nearest": -1}, "n_nearest=-1: give an integer of at least 0"),
        ({"self_weight": -0.5}, "self_weight=-0.5: give a finite number of at least 0"),
        ({"self_weight": np.inf}, "self_weight=inf: give a finite number of at least 0"),
        ({"self_weight": np.nan}, "self_weight=nan: give a finite number of at least 0"),
    ],
    ids=repr,
)
def test_bad_settings_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        classes("embeddings")[name](**settings)


def test_an_embedding_without_probabilities_has_one_temperature():
    vectors = np.ones((3, 2))
    assert Embedding().temperatures(None) == (1.0, 1.0, ())
    assert Embedding().at_temperature(vectors, 5.0, {}) is vectors


@pytest.mark.parametrize("name", names("embeddings"))
def test_more_points_than_their_numbers_can_name_are_refused(name):
    assert load("embeddings", f"{name}:n_points=65536").n_points == 65536
    with pytest.raises(ValueError, match="n_points=65537: give at most 65536"):
        load("embeddings", f"{name}:n_points=65537")


def test_a_self_weight_is_a_number_of_at_least_0():
    for given in ("-1", "True", "inf", "much"):
        with pytest.raises(ValueError, match=f"self_weight=.*{given}.*: give a finite number of at least 0"):
            load("embeddings", f"metric:self_weight={given}")
