"""AdditiveHash where rows have several labels, or none."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.utils import shuffle

from structhash import AdditiveHash, DistilHash, load_model
from structhash.embeddings.multilabel import Multilabel
from structhash.estimators import _sum_points
from structhash.io import container
from structhash.search import Exact

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
SETS = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6, Y == 1]).astype(int)  # 5 has none
LEARN, QUERIES, ROWS = slice(0, 300), slice(300, 400), slice(400, 1000)


@pytest.fixture(scope="module")
def model():
    return AdditiveHash(32, random_state=0).fit(X[LEARN], SETS[LEARN])


def test_queries_cannot_ask_for_near_rows(model):
    with pytest.raises(ValueError, match="reader='near': codes learned from several labels a row hold labels"):
        model.prepare_queries(X[QUERIES], reader="near")


def distances_of(model, queries, rows):
    """All distances (q, n) as an index gives them."""
    index = Exact(n_bits=model.n_bits_)
    index.add(model.encode(rows))
    distances, ids = index.search(model.prepare_queries(queries), k=len(rows))
    ordered = np.empty(distances.shape)
    np.put_along_axis(ordered, ids, distances, axis=1)
    return ordered


def test_a_distance_says_how_many_labels_the_sums_are_expected_to_share(model):
    codes, state = model.encode(X[ROWS]), model.embedding_state_
    sums = sum(model.centroids_[m][codes[:, m]].astype(float) for m in range(4))
    of_rows = sums * model.scale_ + model.mean_
    of_queries = Multilabel().embed(X[QUERIES].astype(float), state)
    found = distances_of(model, X[QUERIES], X[ROWS])
    np.testing.assert_allclose(found, SETS.shape[1] + 1 - of_queries @ of_rows.T, atol=1e-4)
    assert found.min() > 0
    assert np.abs(of_rows - Multilabel().embed(X[ROWS].astype(float), state)).mean() < 0.02


def mean_average_precision(distances):
    together = SETS[QUERIES] @ SETS[ROWS].T > 0
    kept = SETS[QUERIES].any(axis=1)
    scores = zip(together[kept], distances[kept], strict=True)
    return np.mean([average_precision_score(relevant, -apart) for relevant, apart in scores])


def test_it_finds_more_than_bits_of_the_same_length(model):
    bits = DistilHash(32, random_state=0).fit(X[LEARN], SETS[LEARN])
    codes, asked = bits.transform(X[ROWS]).astype(int), bits.transform(X[QUERIES]).astype(int)
    noise = np.random.default_rng(0).random(len(codes)) / 2
    plain = np.abs(asked[:, None] - codes).sum(axis=2) + noise
    found = mean_average_precision(distances_of(model, X[QUERIES], X[ROWS]))
    assert found > mean_average_precision(plain) + 0.01
    assert found > 0.93


def test_the_rows_that_are_searched_may_be_given(model):
    given = AdditiveHash(32, random_state=0).fit(X[LEARN], SETS[LEARN], unlabeled=X[ROWS])
    for name, array in model.embedding_state_.items():  # the labels are the same
        np.testing.assert_allclose(given.embedding_state_[name], array, atol=1e-3)
    assert (given.encode(X[ROWS]) != model.encode(X[ROWS])).any()
    assert mean_average_precision(distances_of(given, X[QUERIES], X[ROWS])) > 0.93


@pytest.mark.parametrize(("n_unlabeled", "expected"), [(300, 100), (50, 50 + 100)])
def test_rows_of_x_are_learned_from_where_unlabeled_has_fewer(monkeypatch, n_unlabeled, expected):
    monkeypatch.setattr(_sum_points, "_MAX_POINTS", 100)
    learned = _sum_points.SumPoints.from_labels(X[:200], SETS[:200], X[:n_unlabeled], np.random.default_rng(0))
    assert len(learned.vectors) == expected


def test_a_model_comes_back_from_a_file(model, tmp_path):
    assert model.about()["embedding"] == "multilabel"
    assert not model.has_class_byte_
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.fingerprint() == model.fingerprint()
    np.testing.assert_array_equal(again.encode(X), model.encode(X))
    np.testing.assert_array_equal(again.prepare_queries(X).values, model.prepare_queries(X).values)
    again.fit(X[LEARN], Y[LEARN], unlabeled=X)
    assert again.about()["embedding"] == "mixture"
    assert again.has_class_byte_


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mixture", "less than its class stores"),
        ("centered", "'embedding_name_' is 'centered'; fit the model again"),
        (None, "'embedding_name_' is missing, as in models of earlier versions"),
    ],
)
def test_a_file_that_names_another_embedding_is_refused(model, tmp_path, name, message):
    model.save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    fitted = {**header["fitted"], "embedding_name_": name}
    fitted = {name: value for name, value in fitted.items() if value is not None}
    container.save(tmp_path / "m", arrays, {**header, "fitted": fitted}, "model", force=True)
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "m")


def test_rows_of_new_classes_are_not_told(model):
    assert model.new_class_share(X) == 0


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], "no two of the 3 rows share a label"),
        ([[1, 1, 0, 0]] * 3, "all 3 rows have the same 2 labels"),
    ],
)
def test_labels_that_say_nothing_are_refused(sets, message):
    with pytest.raises(ValueError, match=message):
        AdditiveHash(16, random_state=0).fit(X[:3], np.array(sets))
