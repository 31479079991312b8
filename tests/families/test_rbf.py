import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel

import structhash.families.rbf
from structhash import CGHash, DistilHash, StructHash, load_model
from structhash.families.linear import Linear
from structhash.families.rbf import RBF
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import pair_graph
from structhash.supervision import Labels
from structhash.training.column_generation import bit_key


@pytest.fixture
def rows(rng):
    return 3 + 2 * rng.standard_normal((80, 5))


def prepared(family, X, seed=0):
    """State, features, and the anchors in the space of the rows."""
    state = family.prepare(X, np.random.default_rng(seed))
    anchors = state["anchors"].astype(float) * float(state["unit"]) + state["center"]
    return state, family.features(X, state), anchors


def scaled(K):
    """Centred columns, root mean squared norm 1."""
    K = K - K.mean(axis=0)
    return K / np.sqrt((K**2).sum(axis=1).mean())


def whitened(X, anchors, sigma):
    """K^(-1/2) k(x) by the functions of scikit-learn and scipy."""
    K, k = (rbf_kernel(rows, anchors, 1 / (2 * sigma**2)) for rows in (anchors, X))
    return k @ np.linalg.inv(sqrtm(K).real)


@pytest.mark.parametrize("sampling", ["random", "kmeans"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bandwidth", ["auto", 1.5])
def test_features_are_the_kernel_of_scikit_learn_centred_and_scaled(bandwidth, dtype, sampling, rows):
    X = rows.astype(dtype)
    state, Z, anchors = prepared(RBF(n_anchors=12, sampling=sampling, bandwidth=bandwidth), X)
    apart = pairwise_distances(rows, anchors)
    sigma = np.sqrt((apart**2).mean()) if bandwidth == "auto" else bandwidth
    assert Z.dtype == dtype
    assert float(state["bandwidth"] * state["unit"]) == pytest.approx(sigma, rel=1e-5)
    tolerance = 1e-10 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(Z, scaled(whitened(rows, anchors, sigma)), atol=tolerance)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=tolerance)
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-5)


def test_new_rows_are_centred_as_the_training_rows_were(rows):
    state, _, anchors = prepared(RBF(n_anchors=9, bandwidth=2.0), rows[:60])
    K = whitened(rows, anchors, 2.0)
    old = K[:60] - K[:60].mean(axis=0)
    expected = (K[60:] - K[:60].mean(axis=0)) / np.sqrt((old**2).sum(axis=1).mean())
    np.testing.assert_allclose(RBF().features(rows[60:], state), expected, atol=1e-10)


def test_products_of_features_of_anchors_are_their_similarities(rows):
    """The purpose of the root of K; centring and scale undone."""
    state, Z, _ = prepared(RBF(n_anchors=80, bandwidth=1.0), rows)
    phi = Z * state["scale"] + state["mean"]
    np.testing.assert_allclose(phi @ phi.T, rbf_kernel(rows, rows, 0.5), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_of_a_row_do_not_depend_on_the_rows_it_comes_with(dtype, digits, monkeypatch):
    X = digits[0].astype(dtype)
    state, Z, _ = prepared(RBF(n_anchors=150), X)
    tolerance = 1e-11 if dtype == np.float64 else 2e-6
    alone = np.concatenate([RBF().features(row[None], state) for row in X])
    np.testing.assert_allclose(alone, Z, atol=tolerance)
    monkeypatch.setattr(structhash.families.rbf, "FEATURE_BLOCK_ROWS", 7)
    np.testing.assert_allclose(RBF().features(X, state), Z, atol=tolerance)


def test_random_anchors_are_different_training_rows(rows):
    *_, anchors = prepared(RBF(n_anchors=30), rows)
    nearest = pairwise_distances(anchors, rows)
    assert nearest.min(axis=1).max() < 1e-12
    assert len(set(nearest.argmin(axis=1))) == 30


def test_centres_of_kmeans_lie_in_the_clusters(rng):
    means = 50.0 * np.eye(4)
    X = np.repeat(means, 25, axis=0) + rng.standard_normal((100, 4))
    *_, anchors = prepared(RBF(n_anchors=4, sampling="kmeans"), X)
    assert sorted(pairwise_distances(anchors, means).argmin(axis=1)) == [0, 1, 2, 3]
    assert pairwise_distances(anchors, means).min(axis=1).max() < 2


@pytest.mark.parametrize("sampling", ["random", "kmeans"])
def test_fewer_rows_than_anchors_give_fewer_anchors(sampling, rows):
    assert prepared(RBF(sampling=sampling), rows)[1].shape == (80, 80)


def test_kmeans_finds_no_more_centres_than_different_rows(rows):
    X = np.repeat(rows[:6], 10, axis=0)
    assert prepared(RBF(n_anchors=20, sampling="kmeans"), X)[1].shape == (60, 6)


@pytest.mark.parametrize("sampling", ["random", "kmeans"])
def test_anchors_depend_on_the_generator_only(sampling, rows):
    family = RBF(n_anchors=7, sampling=sampling)
    one, two, other = (prepared(family, rows, seed)[0] for seed in (0, 0, 1))
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not np.array_equal(one["anchors"], other["anchors"])


@pytest.mark.parametrize(("shift", "scale"), [(1e3, 1.0), (0.0, 1e-6), (-50.0, 1e6)])
def test_features_do_not_depend_on_shift_and_scale(shift, scale, rows):
    for sampling in ("random", "kmeans"):
        family = RBF(n_anchors=10, sampling=sampling)
        np.testing.assert_allclose(
            prepared(family, scale * rows + shift)[1], prepared(family, rows)[1], atol=1e-8
        )


@pytest.mark.parametrize("bandwidth", [1e-300, 1e300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bandwidths_far_off_give_finite_features_or_an_error(bandwidth, dtype, rows):
    family = RBF(n_anchors=10, bandwidth=bandwidth)
    if bandwidth > 1:
        with pytest.raises(
            ValueError, match=r"bandwidth=1e\+300: all rows are equally similar to the 10 anchors"
        ):
            family.prepare(rows.astype(dtype), np.random.default_rng(0))
    else:
        assert np.isfinite(prepared(family, rows.astype(dtype))[1]).all()


def test_learning_and_deciding_are_those_of_linear(rows, rng):
    family = RBF(n_anchors=20, max_iter=7, sharpness=1.5)
    _, Z, _ = prepared(family, rows)
    graph = pair_graph(Labels(np.arange(80) % 4, 3, 5).comparisons(rows, rng), 80)
    pairs = graph.pair_weights(rng.standard_normal(len(graph.indices)))
    linear = Linear(max_iter=7, sharpness=1.5)
    one, two = (each.learn(Z, pairs, np.random.default_rng(1), Spectral()) for each in (family, linear))
    assert all(np.array_equal(one[name], two[name]) for name in two)
    np.testing.assert_array_equal(family.decide(Z, one), linear.decide(Z, two))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_all_the_same_are_refused(dtype, rng):
    with pytest.raises(ValueError, match="all 7 training rows are the same; give rows that differ"):
        RBF().prepare(np.full((7, 3), 0.1, dtype), rng)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_anchors": 0}, "n_anchors=0: give an integer of at least 1"),
        ({"n_anchors": 2.5}, "n_anchors=2.5: give an integer of at least 1"),
        ({"sampling": "all"}, "sampling='all': give one of random, kmeans"),
        ({"bandwidth": 0}, "bandwidth=0: give 'auto' or a finite number > 0"),
        ({"bandwidth": "wide"}, "bandwidth='wide': give 'auto' or a finite number > 0"),
        ({"bandwidth": np.inf}, "bandwidth=inf: give 'auto' or a finite number > 0"),
        ({"bandwidth": True}, "bandwidth=True: give 'auto' or a finite number > 0"),
        ({"max_iter": -1}, "max_iter=-1: give an integer of at least 0"),
        ({"sharpness": 0}, "sharpness=0: give a finite number above 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        RBF(**settings)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["rbf:n_anchors=100", "rbf:n_anchors=30,sampling=kmeans"])
@pytest.mark.parametrize("method", [StructHash, CGHash])
def test_from_fit_to_file_and_back(family, method, digits, tmp_path):
    X, y = digits
    fits = [method(12, family=family, n_near=5, n_far=10, random_state=0).fit(X[:150], y[:150]) for _ in "ab"]
    codes = fits[0].encode(X)
    np.testing.assert_array_equal(fits[1].encode(X), codes)
    assert len({bit_key(column) for column in fits[0].transform(X[:150]).T}) == 12
    np.testing.assert_array_equal(np.concatenate([fits[0].encode(row[None]) for row in X]), codes)
    fits[0].save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(X), codes)
    assert fits[0].score(X[150:], y[150:]) > 0.4  # chance is 0.1


@pytest.mark.parametrize("shape", ["random", "circle"])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_codes_of_few_distinct_rows_depend_on_the_row_alone(n, shape):
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    rows = np.random.default_rng(n).standard_normal((n, 2)) if shape == "random" else circle
    X, y = np.repeat(rows, 4, axis=0), np.repeat(np.arange(n), 4)
    for model in (StructHash(12, family="rbf"), DistilHash(12, family="rbf", embedding="centered")):
        codes = model.set_params(random_state=0).fit(X, y).encode(rows)
        assert len(np.unique(codes, axis=0)) == n
        for copies in (1, 7, 100):
            for row, code in zip(rows, codes, strict=True):
                found = model.encode(np.tile(row, (copies, 1)))
                np.testing.assert_array_equal(found, np.tile(code, (copies, 1)))
