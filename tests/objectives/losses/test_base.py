"""The contract of every triplet loss, and its defaults for a loss that gives three methods."""

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy

from structhash import CGHash
from structhash.objectives.losses.base import Loss
from structhash.pieces import names

MARGINS = np.array([-30.0, -3.1, -1.0, -0.4, 0.0, 0.3, 0.99, 1.01, 1.7, 4.0, 25.0])  # none on a kink at 1
TIES = ["none", "halves", "all"]


def blocks(near, far, near_ptr, far_ptr):
    """Slices of every query."""
    for q in range(len(near_ptr) - 1):
        yield slice(near_ptr[q], near_ptr[q + 1]), slice(far_ptr[q], far_ptr[q + 1])


def test_every_loss_is_one_and_says_whether_it_is_smooth(loss):
    assert isinstance(loss, Loss)
    assert isinstance(loss.smooth, bool)


def test_slope_is_the_derivative_of_the_value(loss):
    step = 1e-6
    numeric = (loss.value(MARGINS + step) - loss.value(MARGINS - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(MARGINS), numeric, rtol=1e-6, atol=1e-8)


def test_loss_is_convex_nonnegative_and_never_rises(loss):
    margins = np.linspace(-6, 6, 241)
    value = loss.value(margins)
    assert (value >= 0).all()
    assert (loss.slope(margins) <= 0).all()
    assert (np.diff(value, 2) >= -1e-9).all()
    assert value[-1] < value[0]


def test_conjugate_is_the_largest_of_the_linear_bounds(loss):
    grid = np.linspace(-40, 40, 800_001)
    value = loss.value(grid)
    for u in loss.slope(np.array([-3.0, -1.0, 0.0, 0.5, 0.9])):
        assert loss.conjugate(np.array([u]))[0] == pytest.approx((u * grid - value).max(), abs=1e-6)
    assert (loss.conjugate(np.array([1e-9, 1.0])) == np.inf).all()


def test_value_and_conjugate_meet_at_the_slope(loss):
    slope = loss.slope(MARGINS)
    np.testing.assert_allclose(
        loss.conjugate(slope), slope * MARGINS - loss.value(MARGINS), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("ties", TIES)
def test_structured_sums_equal_those_over_all_triplets(loss, ties, queries):
    for seed in range(10):
        given, _ = queries(ties, seed)
        near, far = given[:2]
        value, pull, push = loss.sums(*given)
        for q, (ours, theirs) in enumerate(blocks(*given)):
            margins = far[None, theirs] - near[ours, None]
            assert value[q] == pytest.approx(loss.value(margins).sum(), rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(pull[ours], -loss.slope(margins).sum(axis=1), rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(push[theirs], -loss.slope(margins).sum(axis=0), rtol=1e-12, atol=1e-12)


def test_order_of_the_points_does_not_matter(loss, rng):
    near, far = rng.random(9), rng.random(14)
    p, n = rng.permutation(9), rng.permutation(14)
    ptr = np.array([0, 9]), np.array([0, 14])
    value, pull, push = loss.sums(near, far, *ptr)
    again, pull_p, push_n = loss.sums(near[p], far[n], *ptr)
    assert value == pytest.approx(again)
    np.testing.assert_allclose(pull_p, pull[p])
    np.testing.assert_allclose(push_n, push[n])


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_scaled_conjugate_equals_the_sum_over_all_triplets(loss, scale, queries):
    given, _ = queries("none")
    near, far = given[:2]
    expected = [
        loss.conjugate(scale * loss.slope(far[None, theirs] - near[ours, None])).sum()
        for ours, theirs in blocks(*given)
    ]
    np.testing.assert_allclose(loss.scaled_conjugate(*given, scale), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("ties", TIES)
def test_curvature_is_the_weighted_sum_of_outer_products(loss, ties, queries):
    if not loss.smooth:
        pytest.skip("a loss that is not smooth has no Newton step")
    for seed in range(10):
        given, (near_columns, far_columns) = queries(ties, seed)
        near, far = given[:2]
        weights = np.random.default_rng(seed).random(5)
        expected = np.zeros((3, 3))
        for weight, (ours, theirs) in zip(weights, blocks(*given)):
            for a, g in zip(near[ours], near_columns[ours].astype(float)):
                for b, f in zip(far[theirs], far_columns[theirs].astype(float)):
                    # on a kink, the side of larger margins
                    bend = (loss.slope(np.array(b - a + 1e-6)) - loss.slope(np.array(b - a))) / 1e-6
                    expected += weight * bend * np.outer(f - g, f - g)
        np.testing.assert_allclose(
            loss.curvature(*given, near_columns, far_columns, weights), expected, rtol=1e-4, atol=1e-4
        )


def test_value_is_the_conjugate_of_the_conjugate(loss):
    slopes = np.linspace(-12, 0, 240_001)
    for margin in (-2.0, 0.0, 0.7, 3.0):
        bound = slopes * margin - loss.conjugate(slopes)
        assert bound[np.isfinite(bound)].max() == pytest.approx(loss.value(np.array(margin)), abs=1e-6)


def test_far_apart_points_give_finite_sums(loss, recwarn):
    one = np.array([0, 2])
    for far in (np.array([900.0, 2000.0]), np.array([-900.0, -2000.0])):
        value, pull, push = loss.sums(np.zeros(2), far, one, one)
        for each in (value, pull, push, loss.scaled_conjugate(np.zeros(2), far, one, one, 0.9)):
            assert np.isfinite(each).all()
        assert (value < 1e-100).all() == (far > 0).all()
    assert not recwarn.list


# what the contract does


@pytest.mark.parametrize("ties", TIES)
def test_the_fast_sums_equal_the_general_ones(loss, ties, queries):
    for seed in range(10):
        given, _ = queries(ties, seed)
        for fast, general in zip(loss.sums(*given), Loss.sums(loss, *given), strict=True):
            np.testing.assert_allclose(fast, general, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_the_fast_scaled_conjugate_equals_the_general_one(loss, scale, queries):
    for seed in range(10):
        given, _ = queries("none", seed)
        general = Loss.scaled_conjugate(loss, *given, scale)
        np.testing.assert_allclose(loss.scaled_conjugate(*given, scale), general, rtol=1e-10, atol=1e-10)


def test_the_fast_curvature_equals_the_general_one(loss, queries):
    """To single precision, where no margin is on a kink."""
    if not loss.smooth:
        pytest.skip("a loss that is not smooth has no Newton step")
    for seed in range(10):
        given, columns = queries("none", seed)
        weights = np.random.default_rng(seed).random(5)
        general = Loss.curvature(loss, *given, *columns, weights)
        np.testing.assert_allclose(loss.curvature(*given, *columns, weights), general, rtol=1e-5, atol=1e-5)


def test_a_loss_that_gives_nothing_says_so():
    for method in (Loss().value, Loss().slope, Loss().conjugate):
        with pytest.raises(NotImplementedError):
            method(MARGINS)
    assert Loss.smooth
    with pytest.raises(NotImplementedError):
        Loss().most_violated(MARGINS, MARGINS, np.array([0, 11]), np.array([0, 11]))


class SteepLogistic(Loss):
    """f(rho) = log(1 + exp(-2 rho)) / 2, by three methods."""

    def value(self, margins):
        return np.logaddexp(0.0, -2 * margins) / 2

    def slope(self, margins):
        return -1 / (1 + np.exp(2 * margins))

    def conjugate(self, u):
        v = np.clip(-u, 0.0, 1.0)
        return np.where((u <= 0) & (u >= -1), (xlogy(v, v) + xlog1py(1 - v, -v)) / 2, np.inf)


class SmoothedHinge(Loss):
    """The hinge with a parabola of width 1 at its kink, by three methods."""

    def value(self, margins):
        return np.where(margins < 0, 0.5 - margins, np.maximum(0.0, 1 - margins) ** 2 / 2)

    def slope(self, margins):
        return -np.clip(1 - margins, 0.0, 1.0)

    def conjugate(self, u):
        return np.where((u <= 0) & (u >= -1), u + u * u / 2, np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("toy", [SteepLogistic(), SmoothedHinge()], ids=["logistic", "hinge"])
@pytest.mark.parametrize("settings", [{}, {"schedule": "totally_corrective"}, {"regularizer": "linf"}], ids=str)
def test_a_loss_of_three_methods_trains_to_a_small_duality_gap(toy, settings, digits):
    X, y = digits[0][:80], digits[1][:80]
    model = CGHash(n_bits=8, loss=toy, n_near=5, n_far=10, random_state=0, **settings).fit(X, y)
    assert model.weights_.any()
    assert max(each["gap"] for each in model.history_) <= 1e-6
    assert min(each["gap"] for each in model.history_) >= -1e-9


TOY = '''
"""The squared hinge by three methods."""

from dataclasses import dataclass

from structhash.objectives.losses.base import Loss
from structhash.objectives.losses.squared_hinge import SquaredHinge


@dataclass(frozen=True)
class ToyLoss(Loss):
    def value(self, margins):
        return SquaredHinge().value(margins)

    def slope(self, margins):
        return SquaredHinge().slope(margins)

    def conjugate(self, u):
        return SquaredHinge().conjugate(u)
'''


def test_a_new_file_is_a_new_loss_that_trains(drop_piece, digits):
    """It ends where the fast squared hinge ends, by other sums."""
    drop_piece("losses", TOY)
    assert "toy_loss" in names("losses")
    X, y = digits[0][:60], digits[1][:60]
    settings = {"n_bits": 4, "n_near": 5, "n_far": 10, "random_state": 0}
    toy, fast = (CGHash(loss=name, **settings).fit(X, y) for name in ("toy_loss", "squared_hinge"))
    np.testing.assert_allclose(toy.weights_, fast.weights_, rtol=1e-2)
    assert toy.history_[-1]["objective"] == pytest.approx(fast.history_[-1]["objective"], rel=1e-5)
