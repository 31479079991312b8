"""The master of CGHash against explicit lists of triplets, another solver, and its own certificate."""

import numpy as np
import pytest
from scipy.optimize import minimize

from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.masters.triplet import TripletMaster
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load, names
from structhash.supervision import Labels, Triplets

SMOOTH = [name for name in names("losses") if load("losses", name).smooth]
SETTINGS = [(loss, box) for loss in SMOOTH for box in (False, True)]


BOX = LInf(0.2)


@pytest.fixture
def make_master():
    def make(comparisons, graph, loss="squared_hinge", schedule=None, regularizer=None, **settings):
        return TripletMaster(
            comparisons, graph, load("losses", loss), regularizer or L1(), schedule or TotallyCorrective(),
            **{"C": 30.0, **settings},
        )  # fmt: skip

    return make


@pytest.fixture
def problem(make_rankings, triplets_of):
    """Weighted comparisons, their graph, 6 bits, and the explicit triplets' columns (T, 6) and weights (T,)."""

    def make(seed, n_queries=6):
        rng = np.random.default_rng(seed)
        comparisons = make_rankings(rng, n_queries=n_queries, weighted=True)
        bits = rng.integers(0, 2, (6, 12), dtype=np.uint8)
        return (
            comparisons,
            pair_graph(comparisons, 12),
            bits,
            *listed(comparisons, triplets_of(comparisons), bits),
        )

    return make


def listed(comparisons, triplets, bits):
    """Columns |h_i - h_k| - |h_i - h_j| (T, n_bits) of the triplets and their share (T,) of the mean."""
    q, i, j, k = triplets.T
    H = bits.astype(int)
    weights = np.ones(len(q)) if comparisons.weights is None else comparisons.weights[q]
    return (abs(H[:, i] - H[:, k]) - abs(H[:, i] - H[:, j])).T, weights / weights.sum()


def dual_objective(master, dh, share, weights, costs):
    """(scale needed, objective) of the scaled KKT duals, triplet by triplet (eq. cgh-general-l1-dual)."""
    C, upper = master.C, master.regularizer.upper
    mu = -C * share * master.loss.slope(dh @ weights)
    reach = mu @ dh
    bounded = np.isfinite(upper)
    scale = 1.0 if bounded else 1 / max(1.0, (reach / costs).max())
    mu, reach = scale * mu, scale * reach
    if not bounded:
        assert (reach <= costs * (1 + 1e-12)).all()  # feasible for every bit at hand
    paid = upper * np.maximum(0, reach - costs).sum() if bounded else 0.0
    return scale, -(C * share * master.loss.conjugate(-mu / (C * share))).sum() - paid


def other_solver(master, dh, share, costs):
    """The same problem over the explicit list, by sequential quadratic programming."""

    def risk(w):
        margins = dh @ w
        slope = costs + master.C * (share * master.loss.slope(margins)) @ dh
        return costs @ w + master.C * share @ master.loss.value(margins), slope

    upper = master.regularizer.upper
    bounds = [(0, upper if np.isfinite(upper) else None)] * dh.shape[1]
    found = [
        minimize(
            risk, np.full(dh.shape[1], first), jac=True, bounds=bounds, method="SLSQP", options={"ftol": 1e-15}
        )
        for first in (0.0, 0.1)
    ]
    return min(each.fun for each in found)


@pytest.mark.parametrize(("loss", "box"), SETTINGS)
@pytest.mark.parametrize("schedule", [TotallyCorrective(), Stagewise()], ids=repr)
def test_objective_equals_that_of_another_solver_on_the_listed_triplets(
    loss, box, schedule, make_master, problem
):
    used = 0
    for seed in range(5):
        comparisons, graph, bits, dh, share = problem(seed)
        master = make_master(comparisons, graph, loss, schedule, BOX if box else L1())
        for t in range(1, 7):
            solution = master.add(bits[t - 1])
            n_free = min(t, 2) if isinstance(schedule, Stagewise) else t
            E = np.column_stack([schedule.expand(e, t) for e in np.eye(n_free)])
            costs = np.full(t, 0.0 if box else 1.0) @ E
            best = other_solver(master, dh[:, :t] @ E, share, costs)
            assert solution.objective == pytest.approx(best, rel=1e-5)
            assert solution.objective == pytest.approx(
                (0 if box else solution.weights.sum())
                + 30 * share @ master.loss.value(dh[:, :t] @ solution.weights)
            )
            assert (solution.weights >= 0).all()
            assert (solution.weights <= master.regularizer.upper).all()
        used += (solution.weights > 0).sum()
    assert used


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
def test_gap_is_that_of_an_explicit_dual_point(loss, box, make_master, problem):
    for seed in range(10):
        comparisons, graph, bits, dh, share = problem(seed)
        master = make_master(comparisons, graph, loss, regularizer=BOX if box else L1())
        costs = np.full(6, 0.0 if box else 1.0)
        for bit in bits:
            solution = master.add(bit)
        _, dual = dual_objective(master, dh, share, solution.weights, costs)
        assert solution.gap == pytest.approx((solution.objective - dual) / solution.objective, abs=1e-9)
        assert -1e-9 <= solution.gap <= 1e-6
        # far from the optimum, too
        u = np.minimum(np.random.default_rng(seed).random(6) / 2, master.regularizer.upper)
        risk = master.risk(u)
        _, dual = dual_objective(master, dh, share, u, costs)
        assert master.gap(u, risk) == pytest.approx((risk.objective - dual) / risk.objective, abs=1e-9)
        assert dual <= solution.objective + 1e-9


@pytest.mark.parametrize("C", [30.0, 300.0, 1e4])
@pytest.mark.parametrize("loss", SMOOTH)
def test_duality_gap_on_digits(loss, C, make_master, digits_problem, triplets_of):
    comparisons, graph, bits = digits_problem
    dh, share = listed(comparisons, triplets_of(comparisons), bits)
    master = make_master(comparisons, graph, loss, C=C)
    solutions = [master.add(bit) for bit in bits]
    assert max(solution.gap for solution in solutions) <= 1e-6
    last = solutions[-1]
    scale, dual = dual_objective(master, dh, share, last.weights, np.ones(12))
    assert scale == pytest.approx(1, abs=1e-4)
    assert last.objective - dual <= 1e-6 * last.objective
    objectives = np.array([solution.objective for solution in solutions])
    assert (np.diff(objectives) <= 1e-6 * objectives[:-1]).all()
    assert objectives[-1] < 0.8 * objectives[0]


@pytest.mark.parametrize("seed", [4, 5])  # where Newton steps are thousands of times too long
def test_duality_gap_where_the_loss_outweighs_the_cost_by_far(seed, make_master, digits):
    y, rng = digits[1][:100], np.random.default_rng(seed)
    comparisons = Labels(y, 8, 12).comparisons(digits[0][:100], rng)
    bits = (y == np.array([*range(10), 3, 7])[:, None]) ^ (rng.random((12, 100)) < 0.03)
    master = make_master(comparisons, pair_graph(comparisons, 100), C=1e6)
    assert max(master.add(bit.astype(np.uint8)).gap for bit in bits) <= 1e-6


@pytest.mark.parametrize("loss", SMOOTH)
def test_real_features_of_many_columns(loss, make_master, data_folder):
    data = np.load(data_folder / "isolet.npz")
    rows = np.random.default_rng(0).permutation(len(data["X"]))[:200]
    X, rng = data["X"][rows], np.random.default_rng(0)
    comparisons = Labels(data["y"][rows], 5, 10).comparisons(X, rng)
    graph = pair_graph(comparisons, len(X))
    master = make_master(comparisons, graph, loss)
    bits = (((X - X.mean(axis=0)) @ rng.standard_normal((X.shape[1], 8))) > 0).astype(np.uint8).T
    assert max(master.add(bit).gap for bit in bits) <= 1e-6


@pytest.mark.parametrize("loss", SMOOTH)
def test_gradient_of_the_risk(loss, make_master, problem):
    for seed in range(5):
        comparisons, graph, bits, dh, share = problem(seed)
        master = make_master(comparisons, graph, loss)
        for bit in bits:
            master.add(bit)
        u, step = np.random.default_rng(seed).random(6), 1e-6
        risk = master.risk(u)
        numeric = [
            (master.risk(u + step * e).objective - master.risk(u - step * e).objective) / (2 * step)
            for e in np.eye(6)
        ]
        np.testing.assert_allclose(risk.gradient, numeric, rtol=1e-5, atol=1e-5)
        assert risk.objective == pytest.approx(u.sum() + 30 * share @ master.loss.value(dh @ u))


@pytest.mark.parametrize("loss", SMOOTH)
def test_pair_weights_score_any_bit_as_the_duals_of_the_triplets_do(loss, make_master, problem, triplets_of):
    comparisons, graph, bits, dh, share = problem(1)
    master = make_master(comparisons, graph, loss)
    for t, bit in enumerate(bits):
        solution = master.add(bit)
        mu = -30 * share * master.loss.slope(dh[:, : t + 1] @ solution.weights)
        pairs = graph.pair_weights(solution.entries)
        others = np.random.default_rng(0).integers(0, 2, (5, 12), dtype=np.uint8)
        columns, _ = listed(comparisons, triplets_of(comparisons), others)
        for h, column in zip([*bits, *others], [*dh.T, *columns.T]):
            assert score(pairs, h) == pytest.approx(mu @ column, abs=1e-9)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_used_bit_scores_its_cost_and_no_bit_more(loss, make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph, loss)
    for t, bit in enumerate(bits):
        solution = master.add(bit)
        pairs = graph.pair_weights(solution.entries)
        scores = np.array([score(pairs, h) for h in bits[: t + 1]])
        assert (scores <= 1 + 1e-3).all()
        np.testing.assert_allclose(scores[solution.weights > 1e-2], 1, atol=1e-3)
    assert (solution.weights > 1e-2).sum() >= 3


@pytest.mark.parametrize("loss", SMOOTH)
def test_listed_triplets_equal_structured_ones(loss, make_master, make_rankings, triplets_of):
    rng = np.random.default_rng(4)
    comparisons = make_rankings(rng, weighted=True)
    triplets = triplets_of(comparisons)
    triplets_alone = Triplets(triplets[:, 1:], comparisons.weights[triplets[:, 0]]).comparisons(
        np.zeros((12, 1)), rng
    )
    graphs = [pair_graph(comparisons, 12), pair_graph(triplets_alone, 12)]
    masters = [make_master(each, graph, loss) for each, graph in zip((comparisons, triplets_alone), graphs)]
    W, V = (
        graph.pair_weights(master.first_entries()).weights.toarray() for graph, master in zip(graphs, masters)
    )
    np.testing.assert_allclose(W, V, atol=1e-12)
    for bit in rng.integers(0, 2, (5, 12), dtype=np.uint8):
        structured, explicit = (master.add(bit) for master in masters)
        assert structured.objective == pytest.approx(explicit.objective, rel=1e-6)
        np.testing.assert_allclose(structured.weights, explicit.weights, atol=1e-3)
        W, V = (
            graph.pair_weights(each.entries).weights.toarray()
            for graph, each in zip(graphs, (structured, explicit))
        )
        np.testing.assert_allclose(W, V, atol=1e-2)


def test_the_first_bit_is_asked_for_by_all_triplets_alike(make_master, problem):
    comparisons, graph, bits, dh, share = problem(2)
    pairs = graph.pair_weights(make_master(comparisons, graph).first_entries())
    for h, column in zip(bits, dh.T):
        assert score(pairs, h) == pytest.approx(30 * share @ column)


@pytest.mark.parametrize("schedule", [TotallyCorrective(), Stagewise()], ids=repr)
def test_without_polish_the_gap_still_holds_the_optimum(schedule, make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    exact, rough = (make_master(comparisons, graph, schedule=schedule, max_rounds=n) for n in (50, 0))
    for bit in bits[:5]:
        best, solution = exact.add(bit).objective, rough.add(bit)
        assert solution.objective * (1 - solution.gap) <= best * (1 + 1e-9)
        assert best <= solution.objective * (1 + 1e-6)


def test_the_same_bit_twice_is_harmless(make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph)
    once = master.add(bits[0])
    for bit in (bits[0], 1 - bits[0], np.zeros(100, np.uint8)):
        again = master.add(bit)
        assert again.objective == pytest.approx(once.objective, rel=1e-6)
        assert again.gap <= 1e-6


def test_a_triplet_of_no_weight_counts_for_nothing(make_master):
    X, rng = np.zeros((4, 1)), np.random.default_rng(0)
    two = Triplets(np.array([[0, 1, 2], [0, 2, 3]]), np.array([1.0, 0.0])).comparisons(X, rng)
    one = Triplets(np.array([[0, 1, 2]])).comparisons(X, rng)
    solutions = [
        make_master(each, pair_graph(each, 4)).add(np.array([0, 0, 1, 0], np.uint8)) for each in (two, one)
    ]
    assert solutions[0].objective == pytest.approx(solutions[1].objective)
    assert solutions[0].weights == pytest.approx(solutions[1].weights)
