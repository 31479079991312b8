import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score

from structhash.objectives.rankings.reciprocal_rank import ReciprocalRank


@pytest.mark.parametrize("shape", [(50, 100), (100, 50), (7, 300), (1, 60), (60, 1)])
def test_equals_the_programme(shape, many_distances, check_programme):
    cost = np.zeros((shape[0], shape[1] + 1))
    cost[0] = 1 - 1 / np.arange(1, shape[1] + 2)
    for near, far in many_distances(np.random.default_rng(1), *shape, 200):
        check_programme(ReciprocalRank(), cost, near, far)


def test_the_others_stay_behind_the_first():
    """The first falls behind both irrelevant points and takes the others with it."""
    near, far = [0.0, 0.1, 5.0], [0.2, 0.3, 4.0]
    loss, above, below = ReciprocalRank().most_violated(near, far, [0, 3], [0, 3])
    assert loss[0] == pytest.approx(2 / 3)
    np.testing.assert_array_equal(above, [2, 2, 3])
    np.testing.assert_array_equal(below, [3, 3, 1])


def test_score_of_one_relevant_point_equals_scikit_learn():
    for place in range(5):
        flags = np.arange(5) == place
        expected = label_ranking_average_precision_score([flags], [-np.arange(5)])
        assert ReciprocalRank().score(flags) == pytest.approx(expected)
