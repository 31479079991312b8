"""The exponential loss: its values, its dual."""

import numpy as np
from scipy.special import xlogy

from structhash.objectives.losses.exponential import Exponential


def test_strong_duality(check_dual):
    check_dual(Exponential(), lambda mu, c: (mu - xlogy(mu, mu / c)).sum(), capped=False)


def test_values_by_hand():
    np.testing.assert_allclose(Exponential().value(np.array([-1.0, 0.0])), [np.e, 1])
    np.testing.assert_allclose(Exponential().slope(np.array([-1.0, 0.0])), [-np.e, -1])
    np.testing.assert_allclose(Exponential().conjugate(np.array([-np.e, -1.0, 0.0])), [0, -1, 0], atol=1e-15)
