"""The spectral start against dense eigenvectors."""

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence

import structhash.families.starts.spectral
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import laplacian


def matrices(Z, pairs, ridge):
    Z = Z.astype(np.float64)
    gram = Z.T @ Z
    L = np.diag(pairs.weights.toarray().sum(axis=1)) - pairs.weights.toarray()
    return Z.T @ L @ Z, gram + ridge * np.trace(gram) / len(gram) * np.eye(len(gram))


def quotient(v, A, B):
    return (v @ A @ v) / (v @ B @ v)


def test_laplacian_of_the_tests_is_that_of_the_package(problem):
    Z, pairs = problem(4)
    np.testing.assert_allclose(matrices(Z, pairs, 0)[0], Z.T @ laplacian(pairs, Z), atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 17, 64])
@pytest.mark.parametrize("ridge", [0.1, 1.0, 30.0])
def test_spectral_plane_is_the_top_generalised_eigenvector(problem, d, ridge):
    Z, pairs = problem(d)
    A, B = matrices(Z, pairs, ridge)
    values, vectors = scipy.linalg.eigh(A, B)
    v = Spectral(ridge)(Z, pairs, np.random.default_rng(0))["normal"][:, 0]
    assert quotient(v, A, B) == pytest.approx(values[-1], rel=1e-4)
    cosine = v @ B @ vectors[:, -1] / np.sqrt(v @ B @ v)
    assert abs(cosine) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_iterative_spectral_plane_reaches_the_top_eigenvalue(problem, ridge, dtype):
    Z, pairs = problem(90, dtype)
    A, B = matrices(Z, pairs, ridge)
    top = scipy.linalg.eigh(A, B, eigvals_only=True)[-1]
    v = Spectral(ridge)(Z, pairs, np.random.default_rng(0))["normal"][:, 0].astype(float)
    assert quotient(v, A, B) == pytest.approx(top, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [10, 100, 600])
@pytest.mark.parametrize("rank", [1, 5])
def test_no_ridge_is_needed_where_features_depend_on_each_other(problem, d, rank, dtype):
    Z, pairs = problem(rank, dtype)
    Z = Z @ np.random.default_rng(1).standard_normal((rank, d)).astype(dtype)
    plane = Spectral(ridge=0)(Z, pairs, np.random.default_rng(0))
    assert np.isfinite(plane["normal"]).all()
    assert np.ptp(Z @ plane["normal"]) > 0


def test_a_column_of_zeros_gets_no_part_in_the_plane(problem):
    Z, pairs = problem(5)
    for ridge in (0, 1):
        plane = Spectral(ridge)(np.column_stack([Z, np.zeros(60)]), pairs, np.random.default_rng(0))
        assert abs(plane["normal"][5, 0]) < 1e-6 * abs(plane["normal"]).max()


@pytest.mark.parametrize("d", [10, 100])
def test_pair_weights_that_cancel_still_give_a_plane(problem, d):
    Z, pairs = problem(d)
    pairs = pairs._replace(values=0 * pairs.values, degree=0 * pairs.degree)
    assert np.isfinite(Spectral()(Z, pairs, np.random.default_rng(0))["normal"]).all()


def test_no_convergence_gives_a_random_plane(problem, monkeypatch):
    def fail(*args, **kwargs):
        raise ArpackNoConvergence("none", np.zeros(0), np.zeros((0, 0)))

    monkeypatch.setattr(structhash.families.starts.spectral, "eigsh", fail)
    Z, pairs = problem(70)
    normal = Spectral()(Z, pairs, np.random.default_rng(0))["normal"]
    assert np.isfinite(normal).all()
    assert normal.any()


@pytest.mark.parametrize("d", [10, 100])
def test_largest_component_of_the_spectral_plane_is_positive(problem, d):
    Z, pairs = problem(d)
    for signs in np.random.default_rng(0).choice([-1.0, 1.0], (10, d)):  # of the columns, and so of the plane
        normal = Spectral()(Z * signs, pairs, np.random.default_rng(0))["normal"]
        assert normal[np.abs(normal).argmax()] > 0


@pytest.mark.parametrize("ridge", [-1, np.inf, np.nan])
def test_bad_settings(ridge):
    with pytest.raises(ValueError, match=f"ridge={ridge}: give a finite number"):
        Spectral(ridge=ridge)
