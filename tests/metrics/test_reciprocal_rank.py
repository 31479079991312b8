import numpy as np

from structhash.metrics import reciprocal_rank


def test_reciprocal_rank_is_the_mean_over_all_orders(assert_mean_over_orders):
    assert_mean_over_orders(reciprocal_rank, lambda grades: 1 / (1 + np.flatnonzero(grades > 0)[0]))
