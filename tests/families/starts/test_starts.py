import dataclasses

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence

import structhash.families.starts.spectral
from structhash.families.linear import Linear
from structhash.families.starts.base import Start
from structhash.families.starts.random_planes import RandomPlanes
from structhash.families.starts.several import Several
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import laplacian, pair_graph, score
from structhash.pieces import load, names


@pytest.fixture
def problem(make_rankings):
    """Correlated rows Z (60, d) with a clear best direction, and pair weights over them."""

    def make(d, dtype=np.float64):
        rng = np.random.default_rng(d)
        graph = pair_graph(make_rankings(rng, 60, 80), 60)
        Z = (rng.standard_normal((60, d)) @ rng.standard_normal((d, d))).astype(dtype)
        return Z, graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make


def matrices(Z, pairs, ridge):
    Z = Z.astype(np.float64)
    gram = Z.T @ Z
    L = np.diag(pairs.weights.toarray().sum(axis=1)) - pairs.weights.toarray()
    return Z.T @ L @ Z, gram + ridge * np.trace(gram) / len(gram) * np.eye(len(gram))


def quotient(v, A, B):
    return (v @ A @ v) / (v @ B @ v)


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


def test_random_planes_cut_the_points_in_two(problem):
    Z, pairs = problem(6)
    planes = RandomPlanes(count=40)(Z, pairs, np.random.default_rng(0))
    share = (Z @ planes["normal"] + planes["offset"] > 0).mean(axis=0)
    assert planes["normal"].shape == (6, 40)
    assert (share > 0).all()
    assert (share < 1).all()


@pytest.mark.parametrize("name", names("starts"))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 7, 70])
def test_every_start_gives_planes_in_the_dtype_of_its_features(problem, name, dtype, d):
    Z, pairs = problem(d, dtype)
    start = load("starts", name)
    assert isinstance(start, Start)
    planes = start(Z, pairs, np.random.default_rng(0))
    m = planes["normal"].shape[1]
    assert (planes["normal"].shape, planes["offset"].shape) == ((d, m), (m,))
    assert planes["normal"].dtype == planes["offset"].dtype == dtype
    assert all(np.isfinite(part).all() for part in planes.values())
    again = start(Z, pairs, np.random.default_rng(0))
    assert all(np.array_equal(planes[key], again[key]) for key in planes)


@pytest.mark.parametrize("name", names("starts"))
def test_every_start_is_a_frozen_dataclass(name):
    start = load("starts", name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        start.anything = 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectral(ridge=-1), "ridge=-1: give a finite number >= 0"),
        (lambda: Spectral(ridge=np.inf), "ridge=inf: give a finite number"),
        (lambda: Spectral(ridge=np.nan), "ridge=nan: give a finite number"),
        (lambda: RandomPlanes(count=0), "count=0: give an integer of at least 1"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_laplacian_of_the_tests_is_that_of_the_package(problem):
    Z, pairs = problem(4)
    np.testing.assert_allclose(matrices(Z, pairs, 0)[0], Z.T @ laplacian(pairs, Z), atol=1e-9)


def test_the_best_of_several_starts_wins(problem):
    Z, pairs = problem(6)
    parts = [Spectral(), load("starts", "best_stump")]
    planes = load("starts", "several:of=spectral+best_stump")(Z, pairs, np.random.default_rng(0))
    alone = [start(Z, pairs, np.random.default_rng(0)) for start in parts]
    assert planes["normal"].shape == (6, 2)
    for k, each in enumerate(alone):
        np.testing.assert_allclose(planes["normal"][:, k], each["normal"][:, 0])
        np.testing.assert_allclose(planes["offset"][k], each["offset"][0])
    learned = Linear(steps=0).learn(Z, pairs, np.random.default_rng(0), Several("spectral+best_stump"))
    best = max(score(pairs, Z @ each["normal"][:, 0] + each["offset"][0] > 0) for each in alone)
    assert score(pairs, Linear().decide(Z, learned)[:, 0] > 0) == pytest.approx(best)


def test_an_unknown_start_among_several_is_refused():
    with pytest.raises(ValueError, match="no piece of starts is called 'nosuch'"):
        Several("spectral+nosuch")
