"""Points between rows, against what their definition says of each of them."""

import numpy as np
import pytest

from structhash.training.between import points_between


def test_each_lies_between_two_rows_away_from_both():
    X = np.array([[0.0, 10.0], [1.0, 20.0]])
    found = points_between(X, 400, np.random.default_rng(0))
    share = found[:, 0]
    np.testing.assert_allclose(found[:, 1], 10 + 10 * share)  # on the line through both rows
    mixed = (share > 0) & (share < 1)
    assert 0.4 < mixed.mean() < 0.6  # half of the pairs are of two rows
    assert 0.3 <= share[mixed].min() < 0.35 < 0.65 < share[mixed].max() <= 0.7


def test_all_rows_take_part():
    found = points_between(np.eye(5), 1000, np.random.default_rng(0))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.mean(axis=0) > 0.15).all()


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", "float32"), ("float64", "float64"), ("int64", "float64")]
)
def test_they_are_floating_point_numbers(dtype, expected):
    assert (
        points_between(np.arange(6).reshape(3, 2).astype(dtype), 2, np.random.default_rng(0)).dtype == expected
    )
