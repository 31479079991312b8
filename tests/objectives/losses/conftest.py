"""Every loss, structured triplets, and the primal and dual of the master over listed ones."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from structhash.pieces import load, names


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


def dual(value, capped, dh, c, costs, upper):
    """max D(mu) - upper * sum beta over dh'mu <= costs + beta, beta >= 0, beta = 0 without an upper bound."""
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


BOUNDS = [([1, 1, 1], np.inf), ([1, 2.5, 1.7], np.inf), ([0, 0, 0], 0.4)]


@pytest.fixture(params=BOUNDS, ids=["l1", "weighted-l1", "linf"])
def check_dual(request):
    """Check strong duality with the dual that a docstring gives: its value at (mu, c), and whether mu <= c."""
    costs, upper = np.array(request.param[0], float), request.param[1]

    def check(loss, value, capped):
        used = 0.0
        for seed in range(3):
            rng = np.random.default_rng(seed)
            dh = rng.choice([-1.0, 0.0, 1.0], (8, 3), p=[0.2, 0.2, 0.6])
            c = rng.random(8) + 0.2
            least = primal(loss, dh, c, costs, upper)
            assert dual(value, capped, dh, c, costs, upper) == pytest.approx(least, rel=1e-4)
            used += loss.value(np.zeros(8)) @ c - least
        assert used > 0.1  # the optimum is not at w = 0

    return check
