"""The logistic loss: its values, its dual."""

import numpy as np
from scipy.special import xlogy

from structhash.objectives.losses.logistic import Logistic


def test_strong_duality(check_dual):
    check_dual(
        Logistic(), lambda mu, c: (xlogy(c, c) - xlogy(mu, mu) - xlogy(c - mu, c - mu)).sum(), capped=True
    )


def test_values_by_hand():
    np.testing.assert_allclose(Logistic().value(np.array([-800.0, 0.0, 800.0])), [800, np.log(2), 0])
    np.testing.assert_allclose(Logistic().slope(np.array([-800.0, 0.0, 800.0])), [-1, -0.5, 0])
    np.testing.assert_allclose(Logistic().conjugate(np.array([-1.0, -0.5, 0.0])), [0, -np.log(2), 0])
