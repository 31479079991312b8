"""Rankings with ties, the mean of a plain metric over all orders inside the ties, and rankings without ties."""

from itertools import permutations

import numpy as np
import pytest

from structhash.metrics import tie_blocks


def draw_case(rng, top, n=None):
    """Distances and grades of one query with an irrelevant and a relevant document at least."""
    n = n or int(rng.integers(2, 7))
    grades = rng.integers(0, top + 1, n)
    grades[rng.permutation(n)[:2]] = 0, rng.integers(1, top + 1)
    return rng.integers(0, 3, n), grades


def all_orders(distances, grades):
    """Grades of every ranking that sorts the distances; each order inside the blocks is there once."""
    n = len(distances)
    return [grades[list(p)] for p in permutations(range(n)) if (np.diff(distances[list(p)]) >= 0).all()]


@pytest.fixture(scope="session")
def draw_tied():
    return draw_case


@pytest.fixture(scope="session")
def orders_of():
    return all_orders


@pytest.fixture(scope="session")
def tied_cases():
    """Small rankings as (tie blocks of one query, grades of each order); the last is one large block."""
    drawn = [draw_case(np.random.default_rng(seed), top) for top in (1, 3) for seed in range(12)]
    drawn.append((np.zeros(6, int), np.array([1, 1, 0, 1, 0, 0])))
    return [(tie_blocks(d[None], grades[None]), all_orders(d, grades)) for d, grades in drawn]


@pytest.fixture(scope="session")
def assert_mean_over_orders(tied_cases):
    """Check that a metric of blocks is the mean of a plain metric of grades over all orders."""

    def check(metric, plain, binary_only=False):
        for blocks, orders in tied_cases:
            if not binary_only or blocks.grades.shape[1] == 1:
                expected = np.mean([plain(order) for order in orders])
                np.testing.assert_allclose(metric(blocks), [expected], rtol=1e-12)

    return check


@pytest.fixture(scope="session")
def tie_free():
    """Distances (20, 50) without ties, and grades 0 to 3 with a relevant document in each row."""
    rng = np.random.default_rng(2)
    distances = np.argsort(rng.random((20, 50)), axis=1) / 7
    grades = rng.integers(0, 4, (20, 50)) * (rng.random((20, 50)) < 0.3)
    grades[:, 0] = 2
    return distances, grades
