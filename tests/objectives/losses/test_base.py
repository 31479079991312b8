"""What every triplet loss must do; a new one is found and held to the same."""

import numpy as np
import pytest

from structhash.pieces import load, names

MARGINS = np.array([-30.0, -3.1, -1.0, -0.4, 0.0, 0.3, 0.99, 1.01, 1.7, 4.0, 25.0])  # none on a kink at 1
TIES = ["none", "halves", "all"]


@pytest.fixture(params=names("losses"))
def loss(request):
    return load("losses", request.param)


@pytest.fixture
def queries():
    """Distances, pointers, and whole numbers from 0 to 1 as columns; ties put margins on the kink at 1."""

    def make(ties, seed=0, n_queries=5):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 8, (n_queries, 2))
        near_ptr, far_ptr = (np.cumsum([0, *size]) for size in sizes.T)
        total = near_ptr[-1] + far_ptr[-1]
        values = {
            "none": rng.random(total) * 3,
            "halves": rng.integers(0, 5, total) / 2,
            "all": np.full(total, 2.0),
        }
        apart = values[ties]
        columns = rng.integers(0, 2, (3, total), dtype=np.uint8).T
        n = near_ptr[-1]
        return (apart[:n], apart[n:], near_ptr, far_ptr), (columns[:n], columns[n:])

    return make


def blocks(near, far, near_ptr, far_ptr):
    """Slices of every query."""
    for q in range(len(near_ptr) - 1):
        yield slice(near_ptr[q], near_ptr[q + 1]), slice(far_ptr[q], far_ptr[q + 1])


def test_every_loss_says_whether_it_is_smooth(loss):
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


def test_squared_hinge_by_hand():
    loss = load("losses", "squared_hinge")
    np.testing.assert_array_equal(loss.value(np.array([-1.0, 0.0, 1.0, 2.0])), [4, 1, 0, 0])
    np.testing.assert_array_equal(loss.slope(np.array([-1.0, 0.0, 1.0, 2.0])), [-4, -2, 0, 0])
    np.testing.assert_array_equal(loss.conjugate(np.array([-2.0, 0.0, 1.0])), [-1, 0, np.inf])


def test_squared_hinge_of_separated_points_is_nothing(rng):
    near, far = rng.random(5), 2 + rng.random(7)
    value, pull, push = load("losses", "squared_hinge").sums(near, far, np.array([0, 5]), np.array([0, 7]))
    assert value == 0
    assert not pull.any()
    assert not push.any()
