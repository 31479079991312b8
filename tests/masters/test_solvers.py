import numpy as np
import pytest
from scipy.optimize import linprog

from structhash.masters.solvers import PlaneProgram


def reference(costs, C, upper, A, b):
    """The same programme, solved cold by scipy: objective and plane duals (planes, groups)."""
    groups = b.shape[1]
    slacks = np.broadcast_to(np.eye(groups), (len(b), groups, groups))
    result = linprog(
        np.append(costs, np.full(groups, C)),
        A_ub=-np.concatenate([A, slacks], axis=-1).reshape(b.size, -1),
        b_ub=-b.ravel(),
        bounds=[(0, upper)] * len(costs) + [(0, None)] * groups,
    )
    assert result.status == 0
    return result.fun, -result.ineqlin.marginals.reshape(b.shape)


@pytest.fixture(params=[1, 3])
def planes(request):
    def make(seed):
        rng = np.random.default_rng(seed)
        return rng.random(4), rng.standard_normal((20, request.param, 4)), rng.random((20, request.param))

    return make


@pytest.mark.parametrize("upper", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_rows_added_one_by_one_give_the_optimum_of_all(planes, seed, upper):
    (costs, A, b), C = planes(seed), 10.0
    program = PlaneProgram(costs, C, upper, b.shape[1])
    for r in range(20):
        program.add(A[r : r + 1], b[r : r + 1])
        u, slack, duals = program.solve()
        assert (u >= 0).all()
        assert (u <= upper).all()
        met = (b[: r + 1] - A[: r + 1] @ u).max(axis=0)
        np.testing.assert_allclose(slack, np.maximum(0.0, met), atol=1e-9)
        best, _ = reference(costs, C, upper, A[: r + 1], b[: r + 1])
        assert costs @ u + C * slack.sum() == pytest.approx(best)
        assert duals.shape == b[: r + 1].shape
    together = PlaneProgram(costs, C, upper, b.shape[1])
    together.add(A, b)
    again, slack_again, _ = together.solve()
    assert costs @ u + C * slack.sum() == pytest.approx(costs @ again + C * slack_again.sum())


@pytest.mark.parametrize("upper", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_plane_duals_prove_the_optimum(planes, seed, upper):
    (costs, A, b), C = planes(seed), 10.0
    program = PlaneProgram(costs, C, upper, b.shape[1])
    program.add(A, b)
    u, slack, duals = program.solve()
    assert (duals >= 0).all()
    assert (duals.sum(axis=0) <= C + 1e-9).all()
    excess = np.maximum(np.einsum("rg,rgi->i", duals, A) - costs, 0)  # paid for where a bound is met
    bound = (duals * b).sum() - (upper * excess.sum() if np.isfinite(upper) else 0)
    assert costs @ u + C * slack.sum() == pytest.approx(bound)
    if np.isinf(upper):
        assert excess.max() <= 1e-9
    np.testing.assert_allclose(duals * (A @ u + slack - b), 0, atol=1e-8)
    np.testing.assert_allclose(duals, reference(costs, C, upper, A, b)[1], atol=1e-7)


def test_planes_taken_away_count_no_more(planes):
    (costs, A, b), C = planes(0), 10.0
    program, rest = (PlaneProgram(costs, C, np.inf, b.shape[1]) for _ in range(2))
    program.add(A, b)
    program.solve()
    program.remove(np.array([0, 3, 19]))
    others = np.delete(np.arange(20), [0, 3, 19])
    rest.add(A[others], b[others])
    for found, expected in zip(program.solve(), rest.solve()):
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_without_planes_nothing_is_paid():
    u, slack, duals = PlaneProgram(np.ones(3), 5.0, np.inf, 2).solve()
    assert not u.any()
    assert not slack.any()
    assert duals.shape == (0, 2)


def test_no_rows_may_be_added():
    program = PlaneProgram(np.ones(2), 5.0, np.inf)
    program.add(np.zeros((0, 1, 2)), np.zeros((0, 1)))
    program.add(np.array([[[1.0, 0.0]]]), np.array([[1.0]]))
    u, slack, duals = program.solve()
    np.testing.assert_allclose([*u, *slack, *duals[0]], [1, 0, 0, 1])


def test_an_unbounded_programme_is_an_error():
    program = PlaneProgram(np.array([-1.0]), 5.0, np.inf)
    with pytest.raises(RuntimeError, match="linear programme of the master failed"):
        program.solve()


def test_the_solver_prints_nothing(capfd):
    program = PlaneProgram(np.ones(2), 5.0, np.inf)
    program.add(np.eye(2)[:, None], np.ones((2, 1)))
    program.solve()
    assert capfd.readouterr() == ("", "")
