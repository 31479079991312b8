"""Centred rows: the mean is that of the rows that are searched."""

import numpy as np

from structhash.embeddings.centered import Centered


def test_vectors_are_centred_rows_in_one_unit(rng):
    X = 3 + 2 * rng.normal(size=(50, 4))
    state, vectors, left_out = Centered().fit(X, None, None, np.arange(50), rng)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(vectors, centred / np.sqrt((centred**2).sum(axis=1).mean()))
    assert left_out is None
    np.testing.assert_array_equal(Centered().embed(X[7:9], state), vectors[7:9])


def test_unlabeled_rows_give_the_mean_and_the_points_and_training_rows_the_unit(rng):
    X, others = rng.normal(size=(50, 4)), 5 + rng.normal(size=(30, 4))
    state, vectors, _ = Centered().fit(X, None, others, np.array([3, 4]), rng)
    centred = X - X.mean(axis=0)
    unit = np.sqrt((centred**2).sum(axis=1).mean())
    np.testing.assert_allclose(vectors, (others[3:5] - others.mean(axis=0)) / unit)
    np.testing.assert_allclose(state["mean"], others.mean(axis=0))


def test_labels_change_nothing(rng):
    X, points = rng.normal(size=(20, 3)), np.arange(20)
    one, two = (Centered().fit(X, index, None, points, rng).vectors for index in (None, np.arange(20) % 2))
    np.testing.assert_array_equal(one, two)
