"""Normal rows, against the mean and the covariance of the rows that they stand in for."""

import numpy as np
from scipy.stats import kstest

from structhash.training.normal_rows import normal_rows

ROWS = np.array([[0.0, 10.0, 5.0], [1.0, 30.0, 5.0], [0.0, 10.0, 5.0], [3.0, 20.0, 5.0]])


def test_mean_and_covariance_are_those_of_the_rows():
    found = normal_rows(ROWS, 100_000, np.random.default_rng(0))
    spread = ROWS.std(axis=0)
    np.testing.assert_allclose(found.mean(axis=0), ROWS.mean(axis=0), atol=4 * spread.max() / 300)
    np.testing.assert_allclose(
        np.cov(found.T), np.cov(ROWS.T, bias=True), atol=0.02 * np.outer(spread, spread).max()
    )


def test_each_number_is_normal():
    found = normal_rows(ROWS, 2000, np.random.default_rng(0))
    for column in (0, 1):
        wanted = "norm", (ROWS[:, column].mean(), ROWS[:, column].std())
        assert kstest(found[:, column], *wanted).pvalue > 0.01
    np.testing.assert_allclose(found[:, 2], 5)


def test_one_row_is_all_there_is():
    np.testing.assert_array_equal(normal_rows(ROWS[:1], 2, np.random.default_rng(0)), ROWS[[0, 0]])
