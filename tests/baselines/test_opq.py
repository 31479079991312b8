"""Optimised product quantisation: the rotation, codes and rankings of faiss."""

import copy

import faiss
import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import OPQ, PQ
from structhash.codes import prepared_distances

X, _ = load_digits(return_X_y=True)
X, Q = X[:1500].astype(np.float32), X[1500:1550].astype(np.float32)


@pytest.fixture(scope="module")
def of_two_bytes():
    return OPQ(16, random_state=0).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("n_bits", [16, 64])
def test_codes_and_rankings_are_those_of_faiss(n_bits, of_two_bytes, assert_same_ranking):
    encoder = of_two_bytes if n_bits == 16 else OPQ(n_bits, random_state=0).fit(X)
    n_parts = n_bits // 8
    index = faiss.IndexPQ(64, n_parts, 8)
    by_part = encoder.centroids_.reshape(256, n_parts, -1).transpose(1, 0, 2)
    faiss.copy_array_to_vector(np.ascontiguousarray(by_part).ravel(), index.pq.centroids)
    index.is_trained = True

    def rotated(rows):
        return encoder._scaled(rows).astype(np.float32) @ encoder.rotation_.T

    assert_same_ranking(encoder, index, X, Q, rotated)


@pytest.mark.slow
def test_the_rotation_is_that_of_faiss():
    encoder = OPQ(32, random_state=0).fit(X)
    learner = faiss.OPQMatrix(64, 4, 64)
    quantiser = faiss.ProductQuantizer(64, 4, 8)
    quantiser.cp.min_points_per_centroid = 1
    learner.pq = quantiser
    learner.train(((X - encoder.mean_.astype(float)) / encoder.scale_).astype(np.float32))
    expected = faiss.vector_to_array(learner.A).reshape(64, 64)
    np.testing.assert_allclose(encoder.rotation_, expected, atol=1e-5)
    np.testing.assert_allclose(encoder.rotation_ @ encoder.rotation_.T, np.eye(64), atol=1e-5)


@pytest.mark.slow
def test_rows_are_padded_to_a_multiple_of_the_parts():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((700, 9)) @ rng.standard_normal((9, 50)) + rng.standard_normal((700, 50)) / 4
    encoder = OPQ(64, random_state=0).fit(rows)
    assert encoder.rotation_.shape == (56, 50)
    np.testing.assert_allclose(encoder.rotation_.T @ encoder.rotation_, np.eye(50), atol=1e-5)
    itself = np.diag(prepared_distances(encoder.prepare_queries(rows), encoder.encode(rows)))
    plain = PQ(64, random_state=0).fit(rows)
    theirs = np.diag(prepared_distances(plain.prepare_queries(rows), plain.encode(rows)))
    assert itself.mean() < theirs.mean()


@pytest.mark.slow
def test_a_rotation_brings_related_features_together():
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((2000, 4)) @ rng.standard_normal((4, 64))).astype(np.float32)
    errors = []
    for cls in (OPQ, PQ):
        encoder = cls(32, random_state=0).fit(rows)
        errors.append(np.diag(prepared_distances(encoder.prepare_queries(rows), encoder.encode(rows))).mean())
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("number", [1e35, -2.0])
def test_a_file_whose_rotation_is_none_is_refused(of_two_bytes, tmp_path, number):
    """And not at the first search."""
    encoder = copy.copy(of_two_bytes)
    encoder.rotation_ = encoder.rotation_.copy()
    encoder.rotation_[3, 5] = number
    with pytest.raises(ValueError, match=r"'rotation_' holds numbers from .*; -1.01 to 1.01 are allowed"):
        encoder.save(tmp_path / "m")
