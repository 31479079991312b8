"""Every loss with every regulariser: other solvers, certificates, listed and structured triplets."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from structhash.masters.hinge import HingeMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.masters.triplet import TripletMaster
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.objectives.regularizers.similar import Similar
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load, names
from structhash.supervision import Labels, Triplets

REGULARIZERS = {"l1": L1(), "linf": LInf(0.2), "similar": Similar([[0, 1], [2, 5], [7, 3]], weight=2.0)}
C = 30.0
every_loss = pytest.mark.parametrize("loss", names("losses"))
every_regularizer = pytest.mark.parametrize("regularizer", REGULARIZERS)
every_schedule = pytest.mark.parametrize("schedule", [TotallyCorrective(), Stagewise()], ids=repr)


@pytest.fixture
def make_master():
    def make(rankings, graph, loss, regularizer="l1", schedule=None, C=C, **settings):
        loss = load("losses", loss)
        kind = TripletMaster if loss.smooth else HingeMaster
        return kind(
            rankings, graph, loss, REGULARIZERS[regularizer], schedule or TotallyCorrective(), C, **settings
        )

    return make


@pytest.fixture
def problem(make_rankings, triplets_of):
    """Weighted rankings, their graph, 6 bits, and the listed triplets' columns (T, 6) and shares (T,)."""

    def make(seed):
        rng = np.random.default_rng(seed)
        rankings = make_rankings(rng, n_queries=6, weighted=True)
        bits = rng.integers(0, 2, (6, 12), dtype=np.uint8)
        q, i, j, k = triplets_of(rankings).T
        H, weights = bits.astype(int), rankings.weights[q]
        dh = (abs(H[:, i] - H[:, k]) - abs(H[:, i] - H[:, j])).T
        return rankings, pair_graph(rankings, 12), bits, dh, weights / weights.sum()

    return make


def other_solver(loss, dh, share, costs, upper, C=C):
    """min costs'w + C share'f(dh w) over 0 <= w <= upper: scipy's linprog for the hinge, else its L-BFGS-B."""
    n, bound = dh.shape[1], (0, None if upper == np.inf else upper)
    if not loss.smooth:
        return linprog(
            np.append(costs, C * share),
            A_ub=-np.hstack([dh, np.eye(len(dh))]),
            b_ub=-np.ones(len(dh)),
            bounds=[bound] * n + [(0, None)] * len(dh),
        ).fun

    def risk(w):
        return costs @ w + C * share @ loss.value(dh @ w), costs + C * (share * loss.slope(dh @ w)) @ dh

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000, "maxfun": 50000}
    found = [
        minimize(risk, np.full(n, w), jac=True, bounds=[bound] * n, method="L-BFGS-B", options=options)
        for w in (0.0, 0.1)
    ]
    return min(each.fun for each in found)


@pytest.mark.slow
@every_schedule
@every_regularizer
@every_loss
def test_the_optimum_is_that_of_another_solver(loss, regularizer, schedule, make_master, problem):
    used = 0
    for seed in range(4):
        rankings, graph, bits, dh, share = problem(seed)
        master = make_master(rankings, graph, loss, regularizer, schedule)
        costs = np.array([master.regularizer.cost(bit) for bit in bits])
        for t, bit in enumerate(bits, 1):
            solution, w = master.add(bit), master.regularizer.upper
            n_free = min(t, 2) if isinstance(schedule, Stagewise) else t
            E = np.column_stack([schedule.expand(e, t) for e in np.eye(n_free)])
            best = other_solver(load("losses", loss), dh[:, :t] @ E, share, costs[:t] @ E, w)
            assert solution.objective == pytest.approx(best, rel=1e-5)
            assert (solution.weights >= 0).all()
            assert (solution.weights <= w).all()
            value = load("losses", loss).value(dh[:, :t] @ solution.weights)
            assert solution.objective == pytest.approx(costs[:t] @ solution.weights + C * share @ value)
            assert -1e-9 <= solution.gap <= 1e-6
        used += solution.weights.any()
    assert used


@pytest.mark.slow
@every_regularizer
@every_loss
def test_bits_score_what_the_optimum_asks(loss, regularizer, make_master, digits_problem):
    """h'Lh is the cost of a bit within the bounds, no more at weight 0, no less at the upper bound."""
    rankings, graph, bits = digits_problem
    master = make_master(rankings, graph, loss, regularizer, C=300.0)
    for bit in bits:
        solution = master.add(bit)
    pairs, upper = graph.pair_weights(solution.entries), master.regularizer.upper
    rest = np.array([score(pairs, h) - master.regularizer.cost(h) for h in bits])
    w, near = solution.weights, 2e-2  # of a score: the gap bounds it only where the loss bends
    assert (rest[w < upper - 1e-6] <= near).all()
    assert (rest[w > 1e-2] >= -near).all()
    assert (w > 1e-2).sum() >= 3


@every_regularizer
@every_loss
def test_gap_is_that_of_a_dual_point_over_the_listed_triplets(loss, regularizer, make_master, problem):
    """KKT duals scaled until feasible for smooth losses; for the hinge the duals of the planes."""
    for seed in range(4):
        rankings, graph, bits, dh, share = problem(seed)
        master = make_master(rankings, graph, loss, regularizer)
        for bit in bits:
            solution = master.add(bit)
        costs, upper = np.array([master.regularizer.cost(bit) for bit in bits]), master.regularizer.upper
        f, c = load("losses", loss), C * share
        if f.smooth:
            mu = -c * f.slope(dh @ solution.weights)
            scale = 1.0 if upper < np.inf else 1 / max(1.0, (mu @ dh / costs).max())
            dual, reach = -(c * f.conjugate(-scale * mu / c)).sum(), scale * mu @ dh
        else:
            pairs = graph.pair_weights(solution.entries)
            reach = np.array([score(pairs, h) for h in bits])
            dual = solution.entries[len(rankings.near) :].sum()  # sum of mu
        excess = np.maximum(0, reach - costs)
        if upper < np.inf:
            dual -= upper * excess.sum()
        else:
            assert excess.max() <= 1e-9  # feasible for the bits at hand
        assert solution.gap == pytest.approx((solution.objective - dual) / solution.objective, abs=1e-8)


def certify(rankings, graph, loss, regularizer, bits, make_master):
    """Largest relative duality gap."""
    master = make_master(rankings, graph, loss, regularizer, C=100.0)
    solutions = [master.add(bit) for bit in bits]
    assert solutions[-1].weights.any()
    return max(solution.gap for solution in solutions)


@every_regularizer
@every_loss
def test_gap_on_digits(loss, regularizer, make_master, digits_problem):
    rankings, graph, bits = digits_problem
    assert certify(rankings, graph, loss, regularizer, bits, make_master) <= 1e-6


@pytest.mark.slow
@every_regularizer
@every_loss
def test_gap_on_usps(loss, regularizer, make_master, data_folder):
    data, rng = np.load(data_folder / "usps.npz"), np.random.default_rng(0)
    rows = rng.permutation(len(data["X"]))[:500]
    X = data["X"][rows].astype(float)
    rankings = Labels(data["y"][rows], 10, 20).comparisons(X, rng)
    bits = (((X - X.mean(axis=0)) @ rng.standard_normal((X.shape[1], 8))) > 0).astype(np.uint8).T
    assert certify(rankings, pair_graph(rankings, 500), loss, regularizer, bits, make_master) <= 1e-6


@every_regularizer
@every_loss
def test_listed_triplets_equal_structured_ones(loss, regularizer, make_master, make_rankings, triplets_of):
    rng = np.random.default_rng(4)
    rankings = make_rankings(rng, weighted=True)
    rows = triplets_of(rankings)
    X = rng.standard_normal((12, 3))
    listed = Triplets(rows[:, 1:], rankings.weights[rows[:, 0]]).comparisons(X, rng)
    stump, asked = load("families", "stump"), [[], []]
    graphs = [pair_graph(each, 12) for each in (rankings, listed)]
    masters = [
        make_master(each, graph, loss, regularizer, tolerance=1e-9)
        for each, graph in zip((rankings, listed), graphs)
    ]
    Z = stump.features(X, stump.prepare(X, rng))
    for bit in rng.integers(0, 2, (4, 12), dtype=np.uint8):
        solutions = [master.add(bit) for master in masters]
        one, two = solutions
        assert one.objective == pytest.approx(two.objective, rel=1e-7)
        if not load("losses", loss).smooth:
            continue  # weights and duals of a linear programme are not unique
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-4)
        for graph, solution, bits in zip(graphs, solutions, asked):
            params = stump.learn(Z, graph.pair_weights(solution.entries), rng, None)
            bits.append((stump.decide(Z, params)[:, 0] > 0).tolist())
    assert asked[0] == asked[1]


@every_loss
def test_the_first_dual_is_that_of_all_triplets_alike(loss, make_master, problem):
    rankings, graph, bits, dh, share = problem(2)
    pairs = graph.pair_weights(make_master(rankings, graph, loss).first_entries())
    for h, column in zip(bits, dh.T):
        assert score(pairs, h) == pytest.approx(C * share @ column)


@every_loss
def test_a_bound_that_nothing_reaches_is_no_bound(loss, make_master, digits_problem, monkeypatch):
    rankings, graph, bits = digits_problem
    monkeypatch.setitem(REGULARIZERS, "wide", LInf(1e3))
    monkeypatch.setitem(REGULARIZERS, "narrow", LInf(1e-3))
    wide, narrow = (make_master(rankings, graph, loss, name) for name in ("wide", "narrow"))
    for bit in bits[:6]:
        a, b = wide.add(bit), narrow.add(bit)
    assert a.weights.max() < 1e3
    assert b.weights.max() == 1e-3
    assert a.objective < b.objective


@pytest.mark.parametrize("bound", [0.75, 10.0, 1e3])
@every_loss
def test_an_objective_that_vanishes_has_no_gap(loss, bound, make_master, digits_problem, digits, monkeypatch):
    """Bits that are the classes part all triplets, and their weights cost nothing."""
    rankings, graph, _ = digits_problem
    monkeypatch.setitem(REGULARIZERS, "bound", LInf(bound))
    master = make_master(rankings, graph, loss, "bound")
    gaps = [master.add((digits[1][:100] == c).astype(np.uint8)).gap for c in range(10)]
    assert np.abs(gaps).max() <= 1e-6


def test_threads_change_nothing(make_master, digits_problem):
    rankings, graph, bits = digits_problem
    for loss in names("losses"):
        one, two = (make_master(rankings, graph, loss, n_jobs=n_jobs) for n_jobs in (1, 2))
        for bit in bits[:4]:
            a, b = one.add(bit), two.add(bit)
            np.testing.assert_array_equal(a.weights, b.weights)
            assert (a.objective, a.gap) == (b.objective, b.gap)


def test_hinge_that_may_not_look_again_says_what_is_missing(make_master, digits_problem):
    rankings, graph, bits = digits_problem
    exact, rough = (make_master(rankings, graph, "hinge", max_rounds=n) for n in (1000, 5))
    for bit in bits[:6]:
        best, solution = exact.add(bit), rough.add(bit)
        assert solution.rounds <= 5
        assert solution.objective * (1 - solution.gap) <= best.objective * (1 + 1e-9)
        assert best.objective <= solution.objective * (1 + 1e-6)
    assert solution.gap > 1e-6
