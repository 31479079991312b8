"""The metric from classes: its matrix against the definition, and the data that it suits."""

import numpy as np
import pytest

from structhash import DistilHash
from structhash.embeddings._metric import neighbour_precision, ridge_matrices
from structhash.embeddings.metric import Metric

RNG = np.random.default_rng(0)


def classes(n_classes, each, d=6, noise=5.0, first=0):
    """Classes that differ in the first three features; the others are noise of a larger scale."""
    rng = np.random.default_rng(first)
    centers = np.zeros((n_classes, d))
    centers[:, :3] = rng.normal(size=(n_classes, 3)) * 2
    index = np.repeat(np.arange(n_classes), each)
    X = centers[index] + rng.normal(size=(len(index), d)) * np.r_[[0.5] * 3, [noise] * (d - 3)]
    return X, index


def test_within_classes_rows_are_white_but_for_the_ridge():
    Z, index = classes(5, 30)
    Z = Z - Z.mean(axis=0)
    (M,) = ridge_matrices(Z, index, [2.0], assumed=1e9)
    within = Z - np.stack([Z[index == c].mean(axis=0) for c in range(5)])[index]
    S = within.T @ within / len(Z)
    np.testing.assert_allclose(M @ (S + 2 * S.trace() / 6 * np.eye(6)) @ M, np.eye(6), atol=1e-6)


def test_directions_are_scaled_by_how_far_classes_are_apart_in_them():
    Z, index = classes(5, 30)
    Z = Z - Z.mean(axis=0)
    (white,), (M,) = ridge_matrices(Z, index, [1.0], assumed=1e12), ridge_matrices(Z, index, [1.0], assumed=0.2)
    means = np.stack([Z[index == c].mean(axis=0) for c in range(5)]) @ white
    values, directions = np.linalg.eigh(means.T @ means / 5)
    scaled = directions * np.sqrt((values + 0.2) / (values + 1.2)) @ directions.T
    np.testing.assert_allclose(M, white @ scaled, atol=1e-6)


@pytest.mark.slow
def test_new_classes_are_found_by_what_parts_the_old_ones():
    X, y = classes(12, 30)
    new, labels = classes(12, 30, first=1)
    state, _, _ = Metric().fit(X, y, None, np.arange(len(X)), np.random.default_rng(0))
    assert (
        neighbour_precision(Metric().embed(new, state), labels)
        > neighbour_precision(new - X.mean(axis=0), labels) + 0.1
    )
    plain, learned = (
        DistilHash(32, embedding=name, random_state=0).fit(X, y).score(new, labels)
        for name in ("centered", "metric")
    )
    assert learned > plain + 0.04


@pytest.mark.slow
@pytest.mark.parametrize("d", [300, 1100])
def test_few_rows_of_many_features_do_not_hide_what_others_vary_in(d):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(25, d))
    old, new = np.repeat(np.arange(5), 12), np.repeat(np.arange(5, 25), 20)
    X, others = (centers[index] * 0.4 + rng.normal(size=(len(index), d)) for index in (old, new))
    for points in (np.arange(len(others)), np.arange(1)):
        state, _, _ = Metric().fit(X, old, others, points, rng)
        assert (
            neighbour_precision(Metric().embed(others, state), new)
            > neighbour_precision(others, new) - 0.02
            > 0.5
        )


def test_rows_stay_as_they_are_where_classes_teach_nothing():
    X = RNG.normal(size=(120, 4))
    state, Z, _ = Metric().fit(
        X, np.arange(120) % 3, None, np.arange(120), np.random.default_rng(0)
    )  # too few to hold out
    np.testing.assert_array_equal(state["matrix"], np.eye(4))
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) / float(state["scale"]))


def test_neighbour_precision_is_that_of_the_ten_nearest_by_cosine():
    Z, index = RNG.normal(size=(30, 3)), np.arange(30) % 3
    U = Z - Z.mean(axis=0)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    orders = [[j for j in np.argsort(-U @ U[i]) if j != i][:10] for i in range(30)]
    found = [(index[order] == index[i]).mean() for i, order in enumerate(orders)]
    assert neighbour_precision(Z, index) == pytest.approx(np.mean(found))


def test_labels_are_needed():
    with pytest.raises(ValueError, match="the embedding 'metric' learns from labels; give labels"):
        Metric().fit(RNG.normal(size=(9, 2)), None, None, np.arange(9), RNG)
