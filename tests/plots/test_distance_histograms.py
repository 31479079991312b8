"""The picture of distances of relevant and of other pairs."""

from collections import Counter

import numpy as np
import pytest

from structhash.codes import hamming, pack
from structhash.plots import distance_histograms


def bars(container):
    """{(left, right): height} of the bars that have one."""
    return {(b.get_x(), b.get_x() + b.get_width()): b.get_height() for b in container if b.get_height()}


def test_a_bar_is_the_share_of_a_distance(ax, rng):
    codes, y = pack(rng.integers(2, size=(40, 12)) > 0), rng.integers(3, size=40)
    distances, relevant = hamming(codes[:9], codes), y[:9, None] == y[None]
    distance_histograms(distances, relevant, ax=ax)
    for container, kept in zip(ax.containers, (relevant, ~relevant), strict=True):
        counts = Counter(distances[kept].tolist())
        expected = {(d - 0.5, d + 0.5): count / kept.sum() for d, count in counts.items()}
        assert bars(container) == pytest.approx(expected)


def test_real_distances_have_bins(ax, rng):
    distances, grades = rng.normal(size=1000), rng.integers(3, size=1000)
    distance_histograms(distances, grades, ax=ax)
    for container, kept in zip(ax.containers, (grades > 0, grades == 0), strict=True):
        assert len(container) == 60
        for (left, right), height in bars(container).items():
            inside = (distances[kept] >= left) & (distances[kept] < right + 1e-12)
            assert height == pytest.approx(inside.mean())
        assert sum(bars(container).values()) == pytest.approx(1)


def test_what_cannot_be_drawn_is_refused(ax):
    with pytest.raises(ValueError, match="give one shape, with relevant and other pairs"):
        distance_histograms([1, 2], [True], ax=ax)
    with pytest.raises(ValueError, match="with 2 relevant pairs"):
        distance_histograms([1, 2], [True, True], ax=ax)
    with pytest.raises(ValueError, match="not finite"):
        distance_histograms([1, np.inf], [True, False], ax=ax)
