"""A bit a coordinate, by hand; rescoring against plain loops."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances

from structhash.baselines import LSH, BinaryQuantization
from structhash.baselines.binary_quantization import _nearest_rows
from structhash.evaluation.compare import compare

X, Y = (array[:500] for array in load_digits(return_X_y=True))
NOISY = X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)  # no two distances are equal


@pytest.mark.parametrize(("n_bits", "expected"), [(None, 64), (64, 64), (100, 64), (10, 10), (1, 1)])
def test_bits_are_coordinates_above_the_mean(n_bits, expected):
    encoder = BinaryQuantization(n_bits).fit(X[:300])
    assert (encoder.n_bits_, encoder.weights_.shape) == (expected, (expected,))
    np.testing.assert_array_equal(encoder.transform(X), (X[:300].mean(axis=0) < X)[:, :expected])


def test_the_origin_instead_of_the_mean():
    Z = X - 3
    np.testing.assert_array_equal(BinaryQuantization(center=False).fit(Z).transform(Z), Z > 0)


@pytest.mark.parametrize(("rescore", "top", "k"), [(4.0, 5, 20), (1.5, 3, 5), (0.1, 5, 1), (4, 1000, 400)])
def test_the_best_codes_are_sorted_by_the_vectors(rescore, top, k):
    queries, rows = NOISY[:6], NOISY[100:]
    encoder = BinaryQuantization(12, rescore=rescore, top=top).fit(rows)
    found = encoder.own_distances(rows)(queries)
    assert (found.shape, found.dtype) == (((6, 400)), np.float64)
    differ = (encoder.transform(queries)[:, None] != encoder.transform(rows)).sum(axis=2)
    exact = euclidean_distances(queries, rows)
    for own, plain, true in zip(found, differ, exact, strict=True):
        best = sorted(range(400), key=lambda i: (plain[i], i))[:k]
        assert np.argsort(own)[:k].tolist() == sorted(best, key=lambda i: true[i])
        others = np.setdiff1d(np.arange(400), best)
        np.testing.assert_array_equal(own[others], 1.0 + plain[others])
        assert own[best].max() <= 0.5


def test_queries_that_are_equal_to_all_rescored_rows():
    rows = np.repeat(np.eye(2, 3), 5, axis=0)
    found = BinaryQuantization(top=1).fit(rows).own_distances(rows)(rows[:1])[0]
    np.testing.assert_array_equal(found, [0, 0, 0, 0, 1, 3, 3, 3, 3, 3])  # four rescored, the fifth left out


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.uint8])
def test_other_dtypes(dtype):
    rows = X.astype(dtype)
    encoder = BinaryQuantization(top=3).fit(rows)
    expected = BinaryQuantization(top=3).fit(X).own_distances(X)(X[:5])
    np.testing.assert_allclose(encoder.own_distances(rows)(rows[:5]), expected)


def test_nearest_breaks_ties_by_row():
    rng = np.random.default_rng(0)
    for k in (1, 7, 40):
        distances = rng.integers(0, 5, 40)
        assert sorted(_nearest_rows(distances, k)) == sorted(np.argsort(distances, kind="stable")[:k])


def test_lines_of_a_comparison():
    """More bits and the vectors themselves tell more than as many random planes, and than fewer coordinates."""
    names = ["binary_quantization", "binary_quantization:n_bits=16", "lsh", "float"]
    found = {(r.method, r.distance): r.scores.mean["precision@100"]
             for r in compare(names, X, Y, bits=[16], seeds=[0], measures=["precision@100"])}  # fmt: skip
    full, rescored = (found[names[0], distance] for distance in ("plain", "rescored"))
    assert found["lsh", "plain"] < full
    assert found[names[1], "plain"] < full
    assert full < rescored
    assert rescored == pytest.approx(found["float", "L2"])  # 375 rows: all are rescored


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rescore": 0}, "rescore=0: give a finite number above 0"),
        ({"rescore": np.nan}, "rescore=nan: give a finite number above 0"),
        ({"top": 0}, "top=0: give an integer of at least 1"),
        ({"n_bits": 0}, "n_bits=0: give an integer of at least 1"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        BinaryQuantization(**settings).fit(X)


def test_others_have_no_distance_of_their_own():
    assert LSH.own_distance_ is None
    with pytest.raises(NotImplementedError, match="LSH has plain and weighted Hamming distances only"):
        LSH().fit(X).own_distances(X)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_rescored_distances_do_not_depend_on_the_unit(unit):
    rows = np.random.default_rng(0).standard_normal((40, 6))
    expected = BinaryQuantization().fit(rows).own_distances(rows)(rows[:3]).argsort()
    found = BinaryQuantization().fit(rows * unit).own_distances(rows * unit)(rows[:3] * unit).argsort()
    np.testing.assert_array_equal(found, expected)
