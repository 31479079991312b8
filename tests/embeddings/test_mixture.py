"""Known and new classes in one embedding: its formula, and codes for a database of both."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash import DistilHash
from structhash.codes import hamming
from structhash.embeddings._targets import targets_by_cosine
from structhash.embeddings.mixture import Mixture
from structhash.embeddings.posterior import Posterior
from structhash.metrics import average_precision, precision, tie_blocks

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
DATABASE, QUERIES = slice(0, 1500), slice(1500, None)
KNOWN = np.flatnonzero(Y[DATABASE] < 7)[:400]
POINTS = np.arange(0, 1500, 5)


@pytest.fixture(scope="module")
def fitted():
    return Mixture().fit(X[KNOWN], Y[KNOWN], X[DATABASE], POINTS, np.random.default_rng(0))


def test_the_chance_of_a_known_class_is_found(fitted):
    chance = fitted.vectors[:, 7]
    assert chance[Y[POINTS] < 7].mean() > 0.9
    assert chance[Y[POINTS] >= 7].mean() < 0.2
    share = Mixture().known_share(fitted.vectors, fitted.state)
    assert share == pytest.approx((Y[DATABASE] < 7).mean(), abs=0.08)


def test_points_that_are_training_rows_are_left_out_of_the_regression(fitted):
    state, vectors, left_out = fitted
    place = {row: i for i, row in enumerate(KNOWN[left_out.rows])}
    shared = [i for i, row in enumerate(POINTS) if row in place]
    assert len(shared) > 50
    others = [left_out.vectors[place[POINTS[i]]] for i in shared]
    np.testing.assert_array_equal(vectors[shared, :7], np.array(others)[:, :7])
    seen = Mixture().embed(X[POINTS], state)
    rest = np.setdiff1d(np.arange(len(POINTS)), shared)
    np.testing.assert_allclose(seen[rest, :7], vectors[rest, :7], rtol=1e-6)
    assert abs(seen[shared, :7] - vectors[shared, :7]).max() > 0.01


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_targets_are_the_mixture(fitted, share):
    state, vectors, _ = fitted
    n, m = len(vectors), np.ones(20)
    partners = np.array(
        [np.random.default_rng(i).permutation(np.delete(np.arange(n), i))[:20] for i in range(n)]
    )
    queries = np.arange(n)
    found = Mixture(instance_share=share).targets(vectors, queries, partners, m, state)
    P, k = vectors[:, :7].astype(float) ** 16, vectors[:, 7].astype(float)
    P /= P.sum(axis=1, keepdims=True)
    width, sizes = vectors.shape[1] - 64, np.bincount(Y[KNOWN])
    near = targets_by_cosine(vectors[:, 8:width], queries, partners, m)
    inside = targets_by_cosine(vectors[:, width:], queries, partners, m, 20.0)
    for i in (0, 7, 100):
        j = partners[i]
        of_class, of_known, of_new = k[j] * (P[j] @ P[i]), k[j] * near[i], (1 - k[j]) * near[i]
        of_class, of_known, of_new = (each / max(each.sum(), 1e-300) for each in (of_class, of_known, of_new))
        trust = P[i] @ (sizes / (sizes + 5))
        alike = k[i] * (trust * of_class + (1 - trust) * of_known) + (1 - k[i]) * of_new
        nearest = alike * inside[i] / (alike * inside[i]).sum()
        e = share * (k[i] * (P[i] ** 2).sum() + 1 - k[i])
        np.testing.assert_allclose(found[i], (1 - e) * alike + e * nearest, atol=1e-5)


def test_class_probabilities_say_nothing_of_new_classes(fitted):
    state, vectors, _ = fitted
    piece, temperature = Mixture(), Mixture().temperatures(Y[KNOWN]).points
    at = piece.at_temperature(vectors, temperature, state)
    assert at.shape[1] == vectors.shape[1] - 1
    lengths = np.linalg.norm(at[:, :7], axis=1)
    assert np.sqrt((lengths[vectors[:, 7] == 1] ** 2).mean()) == pytest.approx(0.3, rel=0.2)
    unknown = vectors.copy()
    unknown[:, 7] = 0
    np.testing.assert_array_equal(piece.at_temperature(unknown, temperature, state)[:, :7], 0)
    np.testing.assert_array_equal(at[:, 7:], vectors[:, 8:])


@pytest.mark.parametrize("chance", [0.3, 1.0])
def test_a_query_is_sharpened_as_far_as_its_class_is_known(fitted, chance):
    state, vectors, _ = fitted
    row = vectors[:1].copy()
    row[0, 7] = chance
    at = Mixture().at_temperature(row, 2.0, state)[0, :7]
    powers = row[0, :7].astype(np.float64) ** (8.0**chance)  # probabilities are kept at 16, and 16 / 2 = 8
    roots = np.sqrt(powers / powers.sum())
    np.testing.assert_allclose(
        at, 0.3 / state["profile_scale"] * chance * (roots - state["profile"]), rtol=1e-4
    )


def test_labels_alone_make_every_row_known():
    state, vectors, left_out = Mixture().fit(X[:200], Y[:200], None, np.arange(200), np.random.default_rng(0))
    np.testing.assert_array_equal(vectors[:, 10], 1)
    np.testing.assert_array_equal(Mixture().embed(X[200:300], state)[:, 10], 1)
    np.testing.assert_array_equal(left_out.vectors, vectors)
    P = Posterior().fit(X[:200], Y[:200], None, np.arange(200), np.random.default_rng(0)).vectors
    np.testing.assert_allclose(vectors[:, :10], P, rtol=1e-5)


def first_rows(sizes):
    """Row numbers of the first labelled rows of each class."""
    return np.concatenate([np.flatnonzero(Y[DATABASE] == c)[:n] for c, n in enumerate(sizes)])


@pytest.mark.parametrize("size", [1, 2, 5])
def test_few_labels_are_joined_with_the_walk_and_all_rows_are_known(size):
    rows, rng = first_rows([size] * 10), np.random.default_rng(0)
    state, vectors, left_out = Mixture().fit(X[rows], Y[rows], X[DATABASE], POINTS, rng)
    assert len(state["walk_nodes"])  # the walk does not follow a metric that has the few labels by heart
    assert Mixture().known_share(vectors, state) > 0.95
    assert Mixture().label_trust(vectors, state) == pytest.approx(size / (size + 5))
    alone = Posterior().fit(X[rows], Y[rows], None, np.arange(2), np.random.default_rng(0)).state
    right, without = (
        (P.argmax(axis=1) == Y[QUERIES]).mean()
        for P in (Mixture().embed(X[QUERIES], state)[:, :10], Posterior().embed(X[QUERIES], alone))
    )
    assert right > max(without, 0.75)
    assert left_out.vectors.shape == (len(rows), vectors.shape[1])


def test_rare_labels_of_a_frequent_class_are_known():
    rows = first_rows([100, 80, 60, 40, 20, 12, 8, 5, 3, 2])
    state, vectors, _ = Mixture().fit(X[rows], Y[rows], X[DATABASE], POINTS, np.random.default_rng(0))
    assert not len(state["walk_nodes"])
    assert Mixture().known_share(vectors, state) > 0.8
    found = Mixture().embed(X[QUERIES], state)[:, :10].argmax(axis=1)
    alone = Posterior().embed(X[QUERIES], state).argmax(axis=1)
    rare = Y[QUERIES] >= 7
    assert (found == Y[QUERIES])[rare].mean() > (alone == Y[QUERIES])[rare].mean() + 0.05


def test_one_row_a_class_codes_queries_as_rows():
    assert Mixture().temperatures(np.arange(5)).queries == ()
    assert Mixture().temperatures(np.array([0, 1, 1])) == (8, 8, (4, 2, 1, 8))


@pytest.mark.slow
def test_codes_of_few_labels_are_better_than_those_of_no_labels_and_of_labels_alone():
    found, none = {}, DistilHash(16, random_state=0).fit(X[DATABASE])
    for size in (1, 2, 5):
        rows = first_rows([size] * 10)
        model = DistilHash(16, random_state=0).fit(X[rows], Y[rows], unlabeled=X[DATABASE])
        assert isinstance(model.embedding_, Mixture)
        found[size] = model
    found["alone"] = DistilHash(16, random_state=0).fit(X[rows], Y[rows])
    found["none"] = none
    scores = {}
    for name, model in found.items():
        distances = hamming(model.encode_queries(X[QUERIES]), model.encode(X[DATABASE]))
        blocks = tie_blocks(distances, Y[QUERIES][:, None] == Y[DATABASE])
        scores[name] = average_precision(blocks).mean(), precision(blocks, 10).mean()
    assert scores["none"][0] < scores[1][0] < scores[2][0] + 0.02 < scores[5][0] + 0.04
    assert scores[5][0] > scores["alone"][0]
    assert scores["alone"][1] < scores[5][1]
    assert scores["none"][1] - 0.02 < min(scores[size][1] for size in (1, 2, 5))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:many of these rows are like no class")  # said of 'posterior', rightly
def test_codes_serve_known_and_new_classes_of_one_database():
    found = {}
    for name in ("mixture", "posterior", "manifold"):
        model = DistilHash(32, embedding=name, random_state=0).fit(X[KNOWN], Y[KNOWN], unlabeled=X[DATABASE])
        distances = hamming(model.encode_queries(X[QUERIES]), model.encode(X[DATABASE]))
        blocks = tie_blocks(distances, Y[QUERIES][:, None] == Y[DATABASE])
        new = Y[QUERIES] >= 7
        found[name] = [
            measure[part].mean()
            for measure in (average_precision(blocks), precision(blocks, 10))
            for part in (~new, new)
        ]
    map_known, map_new, _, p_new = found["mixture"]
    assert map_known > found["posterior"][0] - 0.02
    assert map_known > found["manifold"][0]
    assert map_new > found["posterior"][1] + 0.2
    assert p_new > found["posterior"][3] + 0.1
    assert p_new > found["manifold"][3] - 0.03


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": -1}, "class_weight=-1: give a finite number of at least 0"),
        ({"instance_share": -0.1}, "instance_share=-0.1: give a finite number of at least 0"),
        ({"instance_share": 1.5}, "instance_share=1.5: give a number of at most 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Mixture(**settings)


def test_it_needs_labels():
    with pytest.raises(ValueError, match="'mixture' learns from labels; give labels"):
        Mixture().fit(X[:100], None, X[100:200], np.arange(50), np.random.default_rng(0))


def test_the_soft_part_of_factors_is_the_direction_of_softened_probabilities_around_their_mean():
    fitted = Mixture().fit(X[KNOWN], Y[KNOWN], X[DATABASE], POINTS, np.random.default_rng(0))
    P, k = fitted.vectors[:, :7].astype(float), fitted.vectors[:, 7].astype(float)  # at temperature 16
    roots = P ** (2 ** k[:, None])  # at 8 where the class is known
    roots = np.sqrt(roots / roots.sum(axis=1, keepdims=True))
    soft = roots - roots.mean(axis=0)
    soft /= np.linalg.norm(soft, axis=1, keepdims=True)
    factors, queries = (Mixture().factors(fitted.vectors, fitted.state, queries=each) for each in (False, True))
    np.testing.assert_allclose(factors[:, 8:15], soft, atol=1e-5)
    trust = (P**16 / (P**16).sum(axis=1, keepdims=True)) @ fitted.state["trust"]
    np.testing.assert_allclose(queries[:, 8:15], 0.6 * trust[:, None] * soft, atol=1e-4)
