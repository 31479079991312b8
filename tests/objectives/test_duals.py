"""The dual problems that the losses' docstrings give, each solved by itself: strong duality with the primal."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import xlogy

from structhash.pieces import load, names

DUALS = {  # value of the dual at mu, and whether mu <= c
    "squared_hinge": (lambda mu, c: (mu - mu**2 / (4 * c)).sum(), False),
    "logistic": (lambda mu, c: (xlogy(c, c) - xlogy(mu, mu) - xlogy(c - mu, c - mu)).sum(), True),
    "exponential": (lambda mu, c: (mu - xlogy(mu, mu / c)).sum(), False),
    "hinge": (lambda mu, c: mu.sum(), True),
}


def test_every_loss_has_its_dual_here():
    assert sorted(DUALS) == names("losses")


def primal(loss, dh, c, costs, upper):
    """min costs'w + sum c f(dh w)."""
    n, end = dh.shape[1], None if upper == np.inf else upper
    if not loss.smooth:  # hinge: a linear programme over w and slacks
        found = linprog(
            np.append(costs, c),
            A_ub=-np.hstack([dh, np.eye(len(c))]),
            b_ub=-np.ones(len(c)),
            bounds=[(0, end)] * n + [(0, None)] * len(c),
        )
        return found.fun
    return minimize(
        lambda w: (costs @ w + c @ loss.value(dh @ w), costs + (c * loss.slope(dh @ w)) @ dh),
        np.full(n, 0.1), jac=True, bounds=[(0, end)] * n, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    ).fun  # fmt: skip


def dual(name, dh, c, costs, upper):
    """max D(mu) - upper * sum beta over dh'mu <= costs + beta, beta >= 0, beta = 0 without an upper bound."""
    value, capped = DUALS[name]
    T, n = dh.shape
    pay = upper if upper < np.inf else 0.0
    found = minimize(
        lambda x: -value(np.clip(x[:T], 0, c if capped else None), c) + pay * x[T:].sum(),
        np.append(c * 0.1, np.full(n, 1.0 if pay else 0.0)),
        bounds=[(1e-12, top if capped else None) for top in c] + [(0, None if pay else 0)] * n,
        constraints={"type": "ineq", "fun": lambda x: costs + x[T:] - dh.T @ x[:T]},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return -found.fun


@pytest.mark.parametrize(("costs", "upper"), [([1, 1, 1], np.inf), ([1, 2.5, 1.7], np.inf), ([0, 0, 0], 0.4)])
@pytest.mark.parametrize("name", names("losses"))
def test_strong_duality(name, costs, upper):
    loss, used = load("losses", name), 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        dh = rng.choice([-1.0, 0.0, 1.0], (8, 3), p=[0.2, 0.2, 0.6])
        c = rng.random(8) + 0.2
        least = primal(loss, dh, c, np.array(costs, float), upper)
        assert dual(name, dh, c, np.array(costs, float), upper) == pytest.approx(least, rel=1e-4)
        used += loss.value(np.zeros(8)) @ c - least
    assert used > 0.1  # the optimum is not at w = 0


@pytest.mark.parametrize("name", names("losses"))
def test_value_is_the_conjugate_of_the_conjugate(name):
    loss, slopes = load("losses", name), np.linspace(-12, 0, 240_001)
    for margin in (-2.0, 0.0, 0.7, 3.0):
        bound = slopes * margin - loss.conjugate(slopes)
        assert bound[np.isfinite(bound)].max() == pytest.approx(loss.value(np.array(margin)), abs=1e-6)


@pytest.mark.parametrize("name", names("losses"))
def test_far_apart_points_give_finite_sums(name, recwarn):
    loss, one = load("losses", name), np.array([0, 2])
    for far in (np.array([900.0, 2000.0]), np.array([-900.0, -2000.0])):
        value, pull, push = loss.sums(np.zeros(2), far, one, one)
        for each in (value, pull, push, loss.scaled_conjugate(np.zeros(2), far, one, one, 0.9)):
            assert np.isfinite(each).all()
        assert (value < 1e-100).all() == (far > 0).all()
    assert not recwarn.list


def test_the_plane_of_the_hinge_is_its_subgradient(rng):
    loss, ptr = load("losses", "hinge"), (np.array([0, 3, 5]), np.array([0, 4, 9]))
    near, far = rng.integers(0, 6, 5) / 2, rng.integers(0, 6, 9) / 2  # with margins on the kink
    value, pull, push = loss.sums(near, far, *ptr)
    twice, above, below = loss.most_violated(near, far, *ptr)
    np.testing.assert_array_equal(above, pull)
    np.testing.assert_array_equal(below, push)
    for q, (P, N) in enumerate([(3, 4), (2, 5)]):
        ours, theirs = slice(*ptr[0][q : q + 2]), slice(*ptr[1][q : q + 2])
        moved = 2 / (P * N) * (below[theirs] @ far[theirs] - above[ours] @ near[ours])
        assert twice[q] - moved == pytest.approx(2 * value[q] / (P * N))
