"""Statistics and features block by block: equal numbers, any type of input, no second matrix."""

import tracemalloc

import numpy as np
import pytest

import structhash._numerics.scaling
import structhash.families.linear
import structhash.families.rbf
from structhash._numerics.scaling import check_rows_differ, column_statistics, mean_and_scale
from structhash.families.linear import Linear
from structhash.families.rbf import RBF
from structhash.pieces import load, names

KINDS = ("float16", "uint8", "int16", "int32", "bool", ">f8")


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (structhash._numerics.scaling, structhash.families.linear, structhash.families.rbf):
        monkeypatch.setattr(module, "FEATURE_BLOCK_ROWS", 7)


def pieces(X):
    return lambda: (X[i : i + 7] for i in range(0, len(X), 7))


def test_statistics_of_blocks_are_those_of_all_rows(rng):
    X = 50 + rng.standard_normal((40, 5))
    mean, low, high = column_statistics(pieces(X)())
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_array_equal([low, high], [X.min(axis=0), X.max(axis=0)])
    mean, scale = mean_and_scale(pieces(X))
    np.testing.assert_allclose(mean, X.mean(axis=0))
    assert scale == pytest.approx(np.sqrt(X.var(axis=0).sum()))
    for power in (-200, 200):
        assert mean_and_scale(pieces(X * 10.0**power))[1] == pytest.approx(scale * 10.0**power)


def test_equal_rows_have_scale_zero():
    assert mean_and_scale(pieces(np.full((20, 3), 0.1)))[1] == 0
    assert mean_and_scale(pieces(np.repeat([[0.1], [0.2]], 7, axis=0)))[1] > 0


@pytest.mark.parametrize("row", [0, 1, 6, 7, 39])
@pytest.mark.usefixtures("small_blocks")
def test_rows_differ_if_one_number_differs(row):
    X = np.full((40, 3), 0.1)
    with pytest.raises(ValueError, match="all 40 training rows are the same; give rows that differ"):
        check_rows_differ(X)
    X[row, 2] = 0.2
    check_rows_differ(X)


@pytest.mark.parametrize("family", [Linear(), RBF(n_anchors=9), RBF(n_anchors=9, sampling="kmeans")], ids=repr)
@pytest.mark.usefixtures("small_blocks")
def test_the_size_of_a_block_does_not_matter(family, rng, monkeypatch):
    X = 3 + rng.standard_normal((60, 5))
    state = family.prepare(X, np.random.default_rng(0))
    Z = family.features(X, state)
    monkeypatch.undo()
    whole = family.prepare(X, np.random.default_rng(0))
    for name in whole:
        np.testing.assert_allclose(state[name], whole[name], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Z, family.features(X, whole), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", names("families"))
def test_rows_of_any_type_have_the_features_of_their_copy_in_floats(name, kind, digits):
    family = load("families", name)
    X = (digits[0] > 7 if kind == "bool" else digits[0]).astype(kind)
    copy = X.astype(np.float64 if kind in ("int32", ">f8") else np.float32)
    state, expected = (family.prepare(rows, np.random.default_rng(0)) for rows in (X, copy))
    for key in expected:
        assert state[key].dtype == copy.dtype
        np.testing.assert_array_equal(state[key], expected[key])
    Z = family.features(X, state)
    assert Z.dtype == copy.dtype
    np.testing.assert_array_equal(Z, family.features(copy, expected))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("family", [Linear(), RBF(n_anchors=16)], ids=repr)
@pytest.mark.usefixtures("small_blocks")
def test_no_second_matrix_is_made(family, kind, rng):
    X = rng.standard_normal((20_000, 32)).astype(kind)
    X[0, 0] = 5
    family.features(X[:9], family.prepare(X[:99], rng))  # what is imported or compiled at first
    tracemalloc.start()
    state = family.prepare(X, rng)
    prepared = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    Z = family.features(X, state)
    made = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert prepared < 0.4 * 4 * X.size  # of a copy in float32
    assert made < 1.2 * Z.nbytes


def test_kmeans_clusters_no_more_rows_than_it_must(rng, monkeypatch):
    monkeypatch.setattr(structhash.families.rbf, "MAX_CLUSTERED_ROWS", 50)
    X = rng.standard_normal((300, 4))
    seen = []
    monkeypatch.setattr(np, "unique", lambda Z, axis: seen.append(Z.shape) or Z)
    RBF(n_anchors=5, sampling="kmeans").prepare(X, rng)
    assert seen[0] == (50, 4)
