"""The picture of the choice of a radius."""

import numpy as np
import pytest
from scipy.stats import beta

from structhash.plots import radius_calibration
from structhash.search import choose_radius


def test_the_curves_are_counts_and_clopper_pearson_bounds(ax, rng):
    distances = rng.integers(8, size=3000)
    duplicates = rng.random(3000) > np.where(distances < 5, 0.002, 0.5)
    radius_calibration(distances, duplicates, 0.05, 0.9, ax=ax)
    rate, bound, recall, allowed, chosen = ax.lines
    for place, radius in enumerate(np.unique(distances)):
        within = distances <= radius
        false, merged = int((~duplicates[within]).sum()), int(within.sum())
        assert rate.get_xdata()[place] == radius
        assert rate.get_ydata()[place] == pytest.approx(false / merged)
        assert bound.get_ydata()[place] == pytest.approx(beta.ppf(1 - 0.1 / 8, false + 1, merged - false))
        assert recall.get_ydata()[place] == pytest.approx(duplicates[within].sum() / duplicates.sum())
    assert set(allowed.get_ydata()) == {0.05}
    assert set(chosen.get_xdata()) == {choose_radius(distances, duplicates, 0.05, 0.9).radius}


def test_a_sample_without_a_radius_is_refused(ax):
    with pytest.raises(ValueError, match="the lowest bound is"):
        radius_calibration([1, 2], [False, True], ax=ax)
    assert not ax.lines
