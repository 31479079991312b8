import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from structhash.objectives.rankings.average_precision import AveragePrecision


@pytest.mark.parametrize("shape", [(50, 100), (100, 50), (7, 300), (1, 60), (60, 1)])
def test_equals_the_programme(shape, many_distances, check_programme):
    i, g = np.ogrid[1 : shape[0] + 1, : shape[1] + 1]
    cost = g / (i + g) / shape[0]
    for near, far in many_distances(np.random.default_rng(1), *shape, 200):
        check_programme(AveragePrecision(), cost, near, far)


def test_own_maximisers_are_no_ranking(check_programme):
    """Of equal distances the first has too little to lose and the last too much to fall for the same place."""
    near, far = np.zeros(8), np.full(20, 0.9)
    i, g = np.ogrid[1:9, :21]
    own = np.argmax(10 * g / (i + g) - 0.9 * g, axis=1)
    assert (np.diff(own) < 0).any()
    check_programme(AveragePrecision(), g / (i + g) / 8, near, far)


def test_score_equals_scikit_learn():
    rng = np.random.default_rng(2)
    for n in (1, 2, 10, 100):
        flags = rng.random(n) < 0.4
        flags[rng.integers(n)] = True
        expected = average_precision_score(flags, -np.arange(n))
        assert AveragePrecision().score(flags) == pytest.approx(expected, rel=1e-12)
