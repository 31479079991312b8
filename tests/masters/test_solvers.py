import numpy as np
import pytest
from scipy.optimize import linprog

from structhash.masters.solvers import PlaneProgram


def reference(costs, C, upper, A, b):
    """The same programme, solved cold by scipy: objective and plane duals."""
    result = linprog(
        np.append(costs, C),
        A_ub=-np.column_stack([A, np.ones(len(A))]),
        b_ub=-b,
        bounds=[(0, upper)] * len(costs) + [(0, None)],
    )
    assert result.status == 0
    return result.fun, -result.ineqlin.marginals


@pytest.mark.parametrize("upper", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_rows_added_one_by_one_give_the_optimum_of_all(seed, upper):
    rng = np.random.default_rng(seed)
    costs, C = rng.random(4), 10.0
    A, b = rng.standard_normal((20, 4)), rng.random(20)
    program = PlaneProgram(costs, C, upper)
    for r in range(20):
        program.add(A[r : r + 1], b[r : r + 1])
        u, slack, duals = program.solve()
        assert (u >= 0).all()
        assert (u <= upper).all()
        assert slack == pytest.approx(max(0.0, (b[: r + 1] - A[: r + 1] @ u).max()), abs=1e-9)
        assert costs @ u + C * slack == pytest.approx(reference(costs, C, upper, A[: r + 1], b[: r + 1])[0])
        assert len(duals) == r + 1
    together = PlaneProgram(costs, C, upper)
    together.add(A, b)
    again, slack_again, _ = together.solve()
    assert costs @ u + C * slack == pytest.approx(costs @ again + C * slack_again)


@pytest.mark.parametrize("upper", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_plane_duals_prove_the_optimum(seed, upper):
    rng = np.random.default_rng(seed)
    costs, C = rng.random(4), 10.0
    A, b = rng.standard_normal((20, 4)), rng.random(20)
    program = PlaneProgram(costs, C, upper)
    program.add(A, b)
    u, slack, duals = program.solve()
    assert (duals >= 0).all()
    assert duals.sum() <= C + 1e-9
    excess = np.maximum(A.T @ duals - costs, 0)  # paid for where a bound is met
    bound = duals @ b - (upper * excess.sum() if np.isfinite(upper) else 0)
    assert costs @ u + C * slack == pytest.approx(bound)
    if np.isinf(upper):
        assert excess.max() <= 1e-9
    np.testing.assert_allclose(duals * (A @ u + slack - b), 0, atol=1e-8)
    np.testing.assert_allclose(duals, reference(costs, C, upper, A, b)[1], atol=1e-7)


def test_without_planes_nothing_is_paid():
    u, slack, duals = PlaneProgram(np.ones(3), 5.0, np.inf).solve()
    assert not u.any()
    assert slack == 0
    assert duals.shape == (0,)


def test_no_rows_may_be_added():
    program = PlaneProgram(np.ones(2), 5.0, np.inf)
    program.add(np.zeros((0, 2)), np.zeros(0))
    program.add(np.array([[1.0, 0.0]]), np.array([1.0]))
    u, slack, duals = program.solve()
    np.testing.assert_allclose([*u, slack, *duals], [1, 0, 0, 1])


def test_an_unbounded_programme_is_an_error():
    program = PlaneProgram(np.array([-1.0]), 5.0, np.inf)
    with pytest.raises(RuntimeError, match="linear programme of the master failed"):
        program.solve()


def test_the_solver_prints_nothing(capfd):
    program = PlaneProgram(np.ones(2), 5.0, np.inf)
    program.add(np.eye(2), np.ones(2))
    program.solve()
    assert capfd.readouterr() == ("", "")
