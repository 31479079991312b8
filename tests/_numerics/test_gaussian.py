"""Gaussian similarities against scikit-learn."""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from structhash._numerics.gaussian import inverse_root, similarities, similarities_to, squared_distances


def test_squared_distances(rng):
    Z, anchors = rng.standard_normal((9, 4)), rng.standard_normal((5, 4))
    np.testing.assert_allclose(squared_distances(Z, anchors), euclidean_distances(Z, anchors, squared=True))


def test_distances_are_double_precision_and_not_negative(rng):
    Z = rng.standard_normal((50, 7)).astype(np.float32)
    D = squared_distances(Z, Z)
    assert D.dtype == np.float64
    assert (D >= 0).all()
    np.testing.assert_allclose(D.diagonal(), 0, atol=1e-12)


def test_similarities_overwrite_the_distances(rng):
    Z = rng.standard_normal((9, 4))
    D = squared_distances(Z, Z[:5])
    K = similarities(D, np.asarray(2.0))
    assert K is D
    np.testing.assert_allclose(K, rbf_kernel(Z, Z[:5], gamma=1 / 8))


def test_similarities_in_one_product(rng):
    Z, anchors = rng.standard_normal((9, 4)).astype(np.float32), rng.standard_normal((5, 4)).astype(np.float32)
    K = similarities_to(anchors, np.float32(2.0))(Z)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, rbf_kernel(Z.astype(float), anchors.astype(float), gamma=1 / 8), rtol=1e-12)


def test_no_similarity_exceeds_1_far_from_the_origin(rng):
    Z = 1e9 + rng.standard_normal((50, 7))
    K = similarities_to(Z, 1.0)(Z)
    assert np.isfinite(K).all()
    assert K.max() <= 1


def test_inverse_root(rng):
    A = rng.standard_normal((6, 6))
    K = A @ A.T + np.eye(6)
    root = inverse_root(K)
    np.testing.assert_allclose(root @ K @ root, np.eye(6), atol=1e-9)


def test_small_eigenvalues_are_raised():
    root = inverse_root(np.diag([4.0, 0.0, 1e-12]))
    np.testing.assert_allclose(np.sort(root.diagonal()), [0.5, 500, 500])
