"""Product quantisation: centroids, codes and rankings of faiss, and what cannot be compared by bits."""

import json
import sys

import faiss
import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import fit_reader
from structhash.baselines import OPQ, PQ, RQ
from structhash.codes import prepared_distances
from structhash.estimators.loading import load_model
from structhash.evaluation import compare, every_distance, same_label

X, Y = load_digits(return_X_y=True)
X, Q = X[:1500].astype(np.float32), X[1500:1550].astype(np.float32)
Y = Y[:1500]
EACH = [PQ, OPQ, RQ]


def of_faiss(encoder):
    """faiss's index of product quantisation with the centroids of an encoder; it is empty."""
    n_bytes, d = encoder.n_bits_ // 8, encoder.centroids_.shape[1]
    index = faiss.IndexPQ(d, n_bytes, 8)
    by_part = encoder.centroids_.reshape(256, n_bytes, -1).transpose(1, 0, 2)
    faiss.copy_array_to_vector(np.ascontiguousarray(by_part).ravel(), index.pq.centroids)
    index.is_trained = True
    return index


@pytest.mark.parametrize("n_bits", [8, 32, 64])
def test_codes_and_rankings_are_those_of_faiss(n_bits, assert_same_ranking):
    encoder = PQ(n_bits, random_state=0).fit(X)
    assert_same_ranking(encoder, of_faiss(encoder), X, Q, lambda rows: encoder._scaled(rows).astype(np.float32))


def test_centroids_are_those_that_faiss_learns():
    encoder = PQ(32, max_iter=7, random_state=3).fit(X)
    learner = faiss.ProductQuantizer(64, 4, 8)
    learner.cp.niter, learner.cp.min_points_per_centroid = 7, 1
    learner.cp.seed = int(np.random.default_rng(3).integers(2**31))
    learner.train(((X - encoder.mean_.astype(float)) / encoder.scale_).astype(np.float32))
    expected = faiss.vector_to_array(learner.centroids).reshape(4, 256, 16)
    np.testing.assert_array_equal(encoder.centroids_.reshape(256, 4, 16).transpose(1, 0, 2), expected)


@pytest.mark.parametrize("n_bits", [8, 20, 37, 64])
def test_a_distance_is_that_to_the_nearest_centroids_of_the_parts(n_bits):
    rows, asked = X[:300, :50] + 0.1, Q[:, :50]
    encoder = PQ(n_bits, random_state=0).fit(rows)
    widths = [min(8, n_bits - first) for first in range(0, n_bits, 8)]
    decoded = np.empty(rows.shape)
    for columns, width in zip(np.array_split(np.arange(50), len(widths)), widths, strict=True):
        centroids = encoder.centroids_[: 2**width, columns] * encoder.scale_ + encoder.mean_[columns]
        apart = ((rows[:, None, columns] - centroids) ** 2).sum(axis=2)
        decoded[:, columns] = centroids[apart.argmin(axis=1)]
    expected = ((asked[:, None] - decoded) ** 2).sum(axis=2)
    found = prepared_distances(encoder.prepare_queries(asked), encoder.encode(rows))
    np.testing.assert_allclose(found * encoder.scale_**2, expected, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("cls", EACH)
@pytest.mark.parametrize("n_rows", [2, 3, 100, 257])
def test_few_rows_are_coded_well(cls, n_rows, capfd):
    encoder = cls(20, random_state=0).fit(X[:n_rows])
    codes = encoder.encode(X[:n_rows])
    assert codes.shape == (n_rows, 3)
    itself = np.diag(prepared_distances(encoder.prepare_queries(X[:n_rows]), codes)) * encoder.scale_**2
    assert itself.mean() < 0.5 * ((X[:n_rows] - X[:n_rows].mean(axis=0)) ** 2).sum(axis=1).mean()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("cls", EACH)
def test_few_different_rows_are_told_apart(cls):
    rows = np.repeat(X[:3], 100, axis=0)
    codes = cls(8, random_state=0).fit(rows).encode(X[:3])
    assert len(np.unique(codes, axis=0)) == 3


@pytest.mark.parametrize("cls", [PQ, OPQ])
def test_a_part_needs_a_feature(cls):
    message = f"n_bits=64: {cls.__name__} cuts the features in 8 parts, and X has 7; give n_bits of at most 56"
    with pytest.raises(ValueError, match=message):
        cls(64).fit(X[:, :7])
    assert cls(50).fit(X[:300, 20:27]).encode(X[:2, 20:27]).shape == (2, 7)


@pytest.mark.parametrize("cls", EACH)
def test_codes_are_not_compared_by_bits(cls):
    encoder = cls(16, random_state=0).fit(X[:300])
    name = cls.__name__
    with pytest.raises(ValueError, match=rf"codes of {name} are numbers, not bits .* prepare_queries\(Q\)"):
        encoder.encode_queries(Q)
    for reader in ("bits", "real", "tables", "none"):
        with pytest.raises(ValueError, match=f"reader='{reader}': codes of {name} are numbers, not bits; give"):
            encoder.prepare_queries(Q, reader=reader)
    with pytest.raises(ValueError, match=f"{name} reads its codes in its own way"):
        fit_reader(encoder, X)
    with pytest.raises(ValueError, match=f"n_bits=8: codes of {name} have no prefixes; give 16"):
        encoder.encode(X, 8)
    with pytest.raises(ValueError, match=f"{name}: X"):
        encoder.prepare_queries(np.full((1, 64), np.nan))


@pytest.mark.parametrize("cls", EACH)
def test_scores_are_those_of_the_tables(cls):
    encoder = cls(16, random_state=0).fit(X[:300])
    ((name, blocks),) = every_distance(encoder, Q, X, same_label(Y[:50], Y))
    expected = prepared_distances(encoder.prepare_queries(Q), encoder.encode(X))
    assert name == "tables"
    np.testing.assert_array_equal(np.concatenate([distances for distances, _ in blocks]), expected)
    own = prepared_distances(encoder.prepare_queries(X[:90]), encoder.encode(X[:90])).astype(float)
    np.fill_diagonal(own, np.inf)
    precision = []
    for q in range(90):
        hits = (Y[:90] == Y[q])[np.argsort(own[q], kind="stable")[:-1]]
        precision.append((np.cumsum(hits) / np.arange(1, 90))[hits].mean())
    assert encoder.score(X[:90], Y[:90]) == pytest.approx(np.mean(precision), abs=0.01)  # ties


@pytest.mark.parametrize("cls", EACH)
def test_a_model_from_a_file_needs_no_faiss(cls, tmp_path, monkeypatch):
    encoder = cls(20, random_state=0).fit(X[:300])
    encoder.save(tmp_path / "m")
    codes, values = encoder.encode(X), encoder.prepare_queries(Q).values
    monkeypatch.setitem(sys.modules, "faiss", None)
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.encode(X), codes)
    np.testing.assert_array_equal(again.prepare_queries(Q).values, values)
    with pytest.raises(
        ImportError, match=rf"{cls.__name__} needs faiss, which.*pip install structhash\[faiss\]"
    ):
        cls(20).fit(X)


@pytest.mark.parametrize("cls", EACH)
def test_settings_after_a_fit_do_not_change_codes(cls):
    encoder = cls(20, random_state=0).fit(X[:300])
    codes = encoder.encode(X)
    changed = {"n_bits": 64, "max_iter": 1} | ({"beam": 1} if cls is RQ else {})
    np.testing.assert_array_equal(encoder.set_params(**changed).encode(X), codes)


@pytest.mark.parametrize("cls", EACH)
@pytest.mark.filterwarnings("error", "ignore:most rows of X")
def test_rows_that_are_too_far_to_search_with_are_refused(cls):
    encoder = cls(8, random_state=0).fit(1e-200 * X[:300].astype(float))
    far = np.full((1, 64), 1e300)
    assert encoder.encode(far).shape == (1, 1)
    with pytest.raises(ValueError, match=r"query 0 is 1e[+]100 times as far out as the training rows"):
        encoder.prepare_queries(far)


@pytest.mark.slow
@pytest.mark.parametrize("cls", EACH)
def test_the_first_centroids_are_drawn(cls):
    one, same, other = (cls(16, random_state=seed).fit(X[:600]).centroids_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_line_of_a_comparison():
    plain, auto = compare(["pq", "pq@auto"], X, Y, bits=[16], seeds=[0], measures=["map"])
    assert plain.distance == auto.distance == "tables"
    assert (plain.method, auto.method) == ("pq", "pq@auto")
    np.testing.assert_array_equal(plain.scores.per_query["map"], auto.scores.per_query["map"])
    assert json.dumps(plain.scores.mean)
