import numpy as np
import pytest

from structhash.objectives.rankings.precision import Precision


def cost(k, n_near, n_far):
    places = np.add.outer(np.arange(1, n_near + 1), np.arange(n_far + 1))
    return 1 / n_near - (places <= k) / k


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 10, 50, 100, 149, 1000])
def test_equals_the_programme(k, many_distances, check_programme):
    for near, far in many_distances(np.random.default_rng(k), 50, 100, 200):
        check_programme(Precision(k), cost(k, 50, 100), near, far)


@pytest.mark.parametrize("shape", [(9, 40), (40, 9), (25, 25)])
def test_equals_the_programme_where_the_cut_lies_elsewhere(shape, many_distances, check_programme):
    for k in range(1, sum(shape) + 3, 3):
        for near, far in many_distances(np.random.default_rng(k), *shape, 15):
            check_programme(Precision(k), cost(k, *shape), near, far)


def test_the_divisor_is_k():
    flags = np.array([True, False, True, True, False])
    assert [Precision(k).score(flags) for k in (1, 2, 4, 5, 10)] == [1, 0.5, 0.75, 0.6, 0.3]


def test_few_relevant_points_leave_a_loss_at_the_truth():
    loss, above, _ = Precision(10).most_violated(np.zeros(4), np.full(100, 1e3), [0, 4], [0, 100])
    assert loss[0] == pytest.approx(0.6)
    assert not above.any()


@pytest.mark.parametrize("k", [0, -3, 2.5, "10", True])
def test_k_refused(k):
    with pytest.raises(ValueError, match=r"k is .*give a whole number of at least 1"):
        Precision(k=k)


def test_numpy_and_huge_k():
    flags = np.array([False, True, True])
    assert Precision(np.int64(2)).score(flags) == Precision(2).score(flags) == 0.5
    assert Precision(10**30).score(flags) == pytest.approx(0)
    assert Precision(10**30).most_violated([0.0], [1.0], [0, 1], [0, 1])[0] == pytest.approx(1)
