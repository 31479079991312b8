"""A radius from a labelled sample, and the bound of its false-merge rate."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from structhash.search import choose_radius
from structhash.search.radius_choice import radius_curve


def test_the_chosen_radius_is_the_largest_with_a_low_bound():
    distances = np.repeat([0, 2, 5, 9], [400, 300, 300, 200])
    duplicates = np.ones(1200, bool)
    duplicates[[500, 990]] = False  # at distances 2 and 5
    duplicates[1000:] = np.arange(200) % 2 == 0
    chosen = choose_radius(distances, duplicates, 0.02)
    assert (chosen.radius, chosen.n_merged, chosen.n_false) == (5, 1000, 2)
    assert chosen.false_merge_rate == 0.002
    assert chosen.recall == 998 / 1098
    # one-sided, at 5 percent shared by four radii; by another library
    bound = binomtest(2, 1000, alternative="less").proportion_ci(1 - 0.05 / 4, "exact").high
    assert chosen.upper_bound == pytest.approx(bound, rel=1e-9)
    assert choose_radius(distances, duplicates, 0.2).radius == 9


def test_the_bound_is_where_so_few_false_pairs_become_unlikely():
    for n, x in ((700, 0), (900, 3)):
        duplicates = np.arange(n) >= x
        chosen = choose_radius(np.ones(n), duplicates, 0.05, confidence=0.9)
        assert binom.cdf(x, n, chosen.upper_bound) == pytest.approx(0.1)


def test_the_true_rate_is_above_the_bound_as_rarely_as_said():
    """The chance of a pair to be false grows with its distance; 1,000 samples, confidence 0.8."""
    rng = np.random.default_rng(0)
    chances = np.array([0.002, 0.01, 0.03, 0.1, 0.3])  # by distance
    true_rates = np.cumsum(chances) / np.arange(1, 6)
    above, n_chosen = 0, 0
    for _ in range(1000):
        distances = rng.integers(0, 5, 1000)
        duplicates = rng.random(1000) >= chances[distances]
        try:
            chosen = choose_radius(distances, duplicates, 0.02, confidence=0.8)
        except ValueError:
            continue
        n_chosen += 1
        above += true_rates[int(chosen.radius)] > 0.02
    assert n_chosen > 500
    assert above / 1000 < 0.2


@pytest.mark.parametrize("n_false", [1, 5])
def test_a_rate_that_the_sample_cannot_show_is_refused(n_false):
    duplicates = np.arange(50) >= n_false
    message = (
        rf"0.01: with 50 pairs the lowest bound is 0\.\d+, at radius 3 \({n_false} of 50 false\); label more"
    )
    with pytest.raises(ValueError, match=message):
        choose_radius(np.full(50, 3), duplicates)
    with pytest.raises(ValueError, match="the lowest bound is 1, at radius 3"):
        choose_radius([3, 3], [False, False])


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (([1, 2], [1, 0]), TypeError, r"duplicates int64; give numbers, and bool \(values.astype\(bool\)\)"),
        ((["a"], [True]), TypeError, "distances are <U1"),
        (([1, 2], [True]), ValueError, r"distances have shape \(2,\), duplicates \(1,\); give \(n,\)"),
        (([], np.empty(0, bool)), ValueError, "n at least 1"),
        (([np.nan], [True]), ValueError, "give finite numbers of at least 0"),
        (([-1], [True]), ValueError, "give finite numbers of at least 0"),
        (([1], [True], 0), ValueError, "false_merge_rate=0: give a number above 0 and below 1"),
        (([1], [True], "1%"), ValueError, "false_merge_rate='1%': give a number above 0 and below 1"),
        (([1], [True], 0.1, 1), ValueError, "confidence=1: give a number above 0 and below 1"),
    ],
)
def test_arguments_are_checked(words, error, message):
    with pytest.raises(error, match=message):
        choose_radius(*words)


def test_the_curve_has_what_is_chosen_from(rng):
    distances = rng.integers(6, size=2000)
    duplicates = rng.random(2000) > np.where(distances < 4, 0.001, 0.4)
    curve, chosen = radius_curve(distances, duplicates, 0.9), choose_radius(distances, duplicates, 0.02, 0.9)
    place = int(np.flatnonzero(curve.radii == chosen.radius)[0])
    assert chosen[1:] == (
        curve.merged[place],
        curve.false[place],
        curve.false[place] / curve.merged[place],
        curve.bounds[place],
        curve.recall[place],
    )
    assert (curve.bounds[place + 1 :] > 0.02).all()
    assert radius_curve([1.0, 2.0], np.array([False, False])).recall.tolist() == [0, 0]
    with pytest.raises(ValueError, match="confidence=1: give a number above 0 and below 1"):
        radius_curve(distances, duplicates, 1)
