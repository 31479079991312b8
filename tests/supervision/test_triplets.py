"""Explicit triplets of rows."""

import numpy as np
import pytest

from structhash import Triplets
from structhash.pair_weights import pair_graph


def rows(n):
    return np.zeros((n, 1))


def test_triplets_become_queries_of_one_near_and_one_far_point(rng, triplets_of):
    given = np.array([[3, 1, 2], [0, 2, 1], [3, 0, 1]], np.uint8)
    rankings = Triplets(given, [1, 0, 2]).comparisons(rows(4), rng)
    np.testing.assert_array_equal(triplets_of(rankings)[:, 1:], given)
    np.testing.assert_array_equal(rankings.weights, [1.0, 0.0, 2.0])
    assert [part.dtype for part in rankings[:5]] == ["i8", "i4", "i8", "i4", "i8"]
    assert rankings.weights.dtype == np.float64
    assert Triplets(given).comparisons(rows(4), rng).weights is None
    assert pair_graph(rankings, 4).n_points == 4


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (
            np.zeros((2, 2), int),
            r"triplets are int64 of shape \(2, 2\); give integers of shape \(T, 3\), T >= 1",
        ),
        (np.zeros(3, int), r"of shape \(3,\); give integers"),
        (np.zeros((0, 3), int), r"of shape \(0, 3\); give integers"),
        (np.array([[0.0, 1.0, 2.0]]), "triplets are float64 of shape"),
        (np.array([[True, False, True]]), "triplets are bool of shape"),
        (np.array([[0, 1, 4]]), "triplets name rows 0 to 4; the matrix has rows 0 to 3"),
        (np.array([[0, -1, 2]]), "triplets name rows -1 to 2; the matrix has rows 0 to 3"),
        (np.array([[0, 1, 2], [1, 1, 2]]), r"triplet 1 is \[1, 1, 2\]; its three rows must differ"),
        (np.array([[2, 1, 2]]), r"triplet 0 is \[2, 1, 2\]"),
        (np.array([[0, 1, 1]]), r"triplet 0 is \[0, 1, 1\]"),
    ],
)
def test_bad_triplets(indices, message, rng):
    with pytest.raises(ValueError, match=message):
        Triplets(indices).comparisons(rows(4), rng)


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, -0.1], [np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [[1.0, 1.0]]]
)
def test_bad_triplet_weights(weights, rng):
    triplets = Triplets(np.array([[0, 1, 2], [1, 0, 2]]), np.array(weights))
    with pytest.raises(
        ValueError, match="triplet weights must be 2 finite numbers >= 0, not all 0 and not huge; got shape"
    ):
        triplets.comparisons(rows(4), rng)


@pytest.mark.parametrize("weights", [["1", "1"], [1j, 1j]])
def test_triplet_weights_are_numbers(weights, rng):
    triplets = Triplets(np.array([[0, 1, 2], [1, 0, 2]]), np.array(weights))
    with pytest.raises(ValueError, match=r"triplet weights must be 2 finite numbers .* got shape \(2,\) of"):
        triplets.comparisons(np.zeros((3, 1)), rng)


def test_masked_triplets_and_weights_are_refused(rng):
    triplets = np.array([[0, 1, 2], [1, 0, 2]])
    for given in (Triplets(np.ma.array(triplets)), Triplets(triplets, np.ma.array([1.0, 2.0], mask=[0, 1]))):
        with pytest.raises(TypeError, match=r"triplet.* is a masked array"):
            given.comparisons(np.zeros((3, 1)), rng)
