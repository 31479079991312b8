import numpy as np
from sklearn.metrics import roc_auc_score

from structhash.metrics import auc, tie_blocks


def test_auc_is_the_mean_over_all_orders(assert_mean_over_orders):
    def plain(grades):
        near, far = np.flatnonzero(grades > 0), np.flatnonzero(grades == 0)
        return (near[:, None] < far).mean()

    assert_mean_over_orders(auc, plain)


def test_tied_auc_equals_sklearn():
    rng = np.random.default_rng(3)
    distances, grades = rng.integers(0, 6, (10, 60)), rng.integers(0, 3, (10, 60))
    expected = [roc_auc_score(g > 0, -d) for d, g in zip(distances, grades)]
    np.testing.assert_allclose(auc(tie_blocks(distances, grades)), expected)
