"""The 1-slack master against the n-slack programme (eq. sh) over all rankings, and against its own dual."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import structhash.masters.ranking
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load, names
from structhash.supervision import Labels

FEW = {"precision": "precision:k=2"}  # no list of fewer than k points scores more than another
RANKINGS = sorted(
    {*(FEW.get(name, name) for name in names("rankings")), "ndcg:k=2", "ndcg:k=2,normalizer=paper"}
)
C = 20.0
TOLERANCE = 1e-3


BOX = LInf(0.2)


@pytest.fixture
def make_master():
    def make(comparisons, graph, ranking="auc", schedule=None, regularizer=None, **settings):
        return RankingMaster(
            comparisons, graph, load("rankings", ranking), regularizer or L1(), schedule or TotallyCorrective(),
            **{"C": C, "tolerance": TOLERANCE, **settings},
        )  # fmt: skip

    return make


@pytest.fixture
def tiny(make_rankings):
    """Comparisons with at most two near and two far points, their graph, and four bits of which some help."""

    def make(seed, weighted=False):
        rng = np.random.default_rng(seed)
        comparisons = make_rankings(rng, n_points=8, n_queries=3, sizes=(3, 3), weighted=weighted)
        return comparisons, pair_graph(comparisons, 8), rng.integers(0, 2, (4, 8), dtype=np.uint8)

    return make


def pushes(comparisons, bits):
    """For each query the array (P, N, n_bits) of |h_i - h_k| - |h_i - h_j|."""
    H = bits.astype(int)
    for q, i in enumerate(comparisons.queries):
        near = comparisons.near[comparisons.near_ptr[q] : comparisons.near_ptr[q + 1]]
        far = comparisons.far[comparisons.far_ptr[q] : comparisons.far_ptr[q + 1]]
        apart = abs(H - H[:, [i]]).T
        yield apart[far][None] - apart[near][:, None]


def query_weights(comparisons):
    weights = np.ones(len(comparisons.queries)) if comparisons.weights is None else comparisons.weights
    return weights / weights.sum()


def optimum(comparisons, bits, ranking, regularizer, schedule):
    """min cost'w + C mean xi_i over every permutation of every query's points, by scipy."""
    n_bits, n_queries = len(bits), len(comparisons.queries)
    n_free = min(n_bits, 2) if isinstance(schedule, Stagewise) else n_bits
    E = np.column_stack([schedule.expand(e, n_bits) for e in np.eye(n_free)])
    rows, losses = [], []
    for q, dh in enumerate(pushes(comparisons, bits)):
        P, N = dh.shape[:2]
        for order in itertools.permutations(range(P + N)):
            place = np.argsort(order)
            inverted = place[:P, None] > place[None, P:]
            rows.append(np.append(2 / (P * N) * dh[inverted].sum(axis=0) @ E, np.eye(n_queries)[q]))
            losses.append(1 - ranking.score(np.array(order) < P))
    costs = np.array([regularizer.cost(bit) for bit in bits]) @ E
    result = linprog(
        np.append(costs, C * query_weights(comparisons)),
        A_ub=-np.array(rows),
        b_ub=-np.array(losses),
        bounds=[(0, regularizer.upper)] * n_free + [(0, None)] * n_queries,
    )
    assert result.status == 0
    return result.fun


@pytest.mark.slow
@pytest.mark.parametrize("schedule", [TotallyCorrective(), Stagewise()], ids=repr)
@pytest.mark.parametrize("regularizer", [L1(), BOX], ids=["l1", "box"])
@pytest.mark.parametrize("ranking", RANKINGS)
def test_objective_is_the_optimum_over_all_rankings(ranking, regularizer, schedule, make_master, tiny):
    helped = 0
    for seed in range(4):
        comparisons, graph, bits = tiny(seed, weighted=seed % 2 == 1)
        master = make_master(comparisons, graph, ranking, schedule, regularizer)
        for t, bit in enumerate(bits):
            solution = master.add(bit)
            best = optimum(comparisons, bits[: t + 1], master.ranking, regularizer, schedule)
            assert 0 <= solution.gap <= C * TOLERANCE + 1e-9
            assert solution.objective - solution.gap - 1e-8 <= best <= solution.objective + 1e-8
            assert (solution.weights >= 0).all()
            assert (solution.weights <= regularizer.upper).all()
        helped += solution.weights.any()
    assert helped


@pytest.mark.parametrize("ranking", RANKINGS)
def test_objective_is_cost_plus_risk_of_the_weights(ranking, make_master, tiny):
    comparisons, graph, bits = tiny(0, weighted=True)
    master = make_master(comparisons, graph, ranking)
    for bit in bits:
        solution = master.add(bit)
    risk = 0.0
    for weight, dh in zip(query_weights(comparisons), pushes(comparisons, bits)):
        P, N = dh.shape[:2]
        violations = []
        for order in itertools.permutations(range(P + N)):
            place = np.argsort(order)
            inverted = place[:P, None] > place[None, P:]
            margin = 2 / (P * N) * (dh[inverted] @ solution.weights).sum()
            violations.append(1 - master.ranking.score(np.array(order) < P) - margin)
        risk += weight * max(violations)
    assert solution.weights.any()
    assert solution.objective == pytest.approx(solution.weights.sum() + C * risk)


def test_risk_of_auc_is_the_mean_triplet_hinge(make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph, "auc")
    for bit in bits:
        solution = master.add(bit)
        hinge = [
            np.maximum(0, 1 - 2 * dh @ solution.weights).mean()
            for dh in pushes(comparisons, bits[: master.columns.n_bits])
        ]
        assert solution.objective == pytest.approx(solution.weights.sum() + C * np.mean(hinge))
    assert solution.weights.any()


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("schedule", [TotallyCorrective(), Stagewise()], ids=repr)
def test_pair_weights_give_the_column_of_the_programme(
    ranking, schedule, make_master, make_rankings, monkeypatch
):
    rng = np.random.default_rng(3)
    comparisons = make_rankings(rng, weighted=True)
    graph = pair_graph(comparisons, 12)
    bits = rng.integers(0, 2, (5, 12), dtype=np.uint8)
    master = make_master(comparisons, graph, ranking, schedule)
    used = []  # duals of the planes that are active at the end
    combine = master.combine
    monkeypatch.setattr(master, "combine", lambda duals: used.append(duals) or combine(duals))
    for bit in bits:
        solution = master.add(bit)
        active = [
            (p, losses) for p, losses, idle in zip(master.planes, master.losses, master.idle) if idle == 0
        ]
        assert len(active) == len(used[-1])
        paid = sum(dual @ losses for dual, (_, losses) in zip(used[-1], active))
        assert paid == pytest.approx(solution.objective - solution.gap)  # strong duality
        pairs = graph.pair_weights(solution.entries)
        digits = 1e-10 if solution.entries.dtype == np.float64 else 1e-5
        for h in [*bits, *rng.integers(0, 2, (5, 12), dtype=np.uint8)]:
            columns = [dual @ coefficients(comparisons, p, h, master) for dual, (p, _) in zip(used[-1], active)]
            assert score(pairs, h) == pytest.approx(sum(columns), abs=digits)
    assert used[-1].any()


def coefficients(comparisons, plane, bit, master):
    """Each group's part of the mean over queries of dPsi of one bit, from the counts, by plain loops."""
    h, n = bit.astype(int), len(comparisons.near)
    parts = np.zeros(len(master.first))
    for q, i in enumerate(comparisons.queries):
        near = range(comparisons.near_ptr[q], comparisons.near_ptr[q + 1])
        far = range(comparisons.far_ptr[q], comparisons.far_ptr[q + 1])
        moved = sum(int(plane[n + e]) * abs(h[i] - h[comparisons.far[e]]) for e in far)
        moved -= sum(int(plane[e]) * abs(h[i] - h[comparisons.near[e]]) for e in near)
        group = np.searchsorted(master.first, q, side="right") - 1
        parts[group] += master.query_weights[q] * 2 / (len(near) * len(far)) * moved
    return parts


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_used_bit_scores_its_cost_and_no_bit_more(ranking, make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph, ranking, C=1000)
    for t, bit in enumerate(bits[:8]):
        solution = master.add(bit)
        pairs = graph.pair_weights(solution.entries)
        scores = np.array([score(pairs, h) for h in bits[: t + 1]])
        assert (scores <= 1 + 1e-6).all()
        np.testing.assert_allclose(scores[solution.weights > 1e-9], 1, atol=1e-6)
    assert (solution.weights > 1e-9).sum() >= 3


@pytest.mark.parametrize("ranking", RANKINGS)
def test_one_more_bit_never_raises_the_objective_beyond_the_tolerance(ranking, make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph, ranking, C=100)
    solutions = [master.add(bit) for bit in bits[:8]]
    objectives = np.array([solution.objective for solution in solutions])
    assert (np.diff(objectives) <= 100 * TOLERANCE + 1e-9).all()
    assert objectives[-1] < objectives[0] - 100 * TOLERANCE
    assert max(solution.gap for solution in solutions) <= 100 * TOLERANCE + 1e-9


def test_real_features_of_many_columns(make_master, data_folder):
    data = np.load(data_folder / "isolet.npz")
    rows = np.random.default_rng(0).permutation(len(data["X"]))[:150]
    X, rng = data["X"][rows], np.random.default_rng(0)
    comparisons = Labels(data["y"][rows], 5, 10).comparisons(X, rng)
    graph = pair_graph(comparisons, len(X))
    master = make_master(comparisons, graph, "sndcg")
    bits = (((X - X.mean(axis=0)) @ rng.standard_normal((X.shape[1], 8))) > 0).astype(np.uint8).T
    solutions = [master.add(bit) for bit in bits]
    assert (np.diff([solution.objective for solution in solutions]) <= C * TOLERANCE + 1e-9).all()
    assert max(solution.gap for solution in solutions) <= C * TOLERANCE + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_number_of_threads_changes_nothing(ranking, make_master, make_rankings):
    rng = np.random.default_rng(1)
    comparisons = make_rankings(rng, n_points=30, n_queries=25, weighted=True)
    graph = pair_graph(comparisons, 30)
    bits = rng.integers(0, 2, (4, 30), dtype=np.uint8)
    masters = [make_master(comparisons, graph, ranking, n_jobs=n_jobs) for n_jobs in (1, 2, 40)]
    for bit in bits:
        first, *others = (master.add(bit) for master in masters)
        for other in others:
            assert first.objective == other.objective
            np.testing.assert_array_equal(first.weights, other.weights)
            np.testing.assert_array_equal(first.entries, other.entries)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_query_given_twice_equals_one_of_double_weight(ranking, make_master, tiny):
    comparisons, _, bits = tiny(0)
    doubled = comparisons._replace(weights=np.array([1.0, 1.0, 2.0]))
    near, far = (slice(ptr[2], ptr[3]) for ptr in (comparisons.near_ptr, comparisons.far_ptr))
    twice = comparisons._replace(
        queries=np.append(comparisons.queries, comparisons.queries[2]),
        near=np.append(comparisons.near, comparisons.near[near]),
        near_ptr=np.append(comparisons.near_ptr, comparisons.near_ptr[3] + near.stop - near.start),
        far=np.append(comparisons.far, comparisons.far[far]),
        far_ptr=np.append(comparisons.far_ptr, comparisons.far_ptr[3] + far.stop - far.start),
    )
    graphs = [pair_graph(each, 8) for each in (doubled, twice)]
    masters = [make_master(each, graph, ranking) for each, graph in zip((doubled, twice), graphs)]
    for bit in bits:
        one, two = (master.add(bit) for master in masters)
        assert one.objective == pytest.approx(two.objective)
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-9)
        W, V = (graph.pair_weights(each.entries).weights.toarray() for graph, each in zip(graphs, (one, two)))
        np.testing.assert_allclose(W, V, atol=1e-9)


def test_the_first_bit_is_asked_for_by_the_reversed_rankings(make_master, tiny):
    comparisons, graph, bits = tiny(2, weighted=True)
    pairs = graph.pair_weights(make_master(comparisons, graph).first_entries())
    reversed_lists = [2 * dh.mean(axis=(0, 1)) for dh in pushes(comparisons, bits)]
    for h, expected in zip(bits, query_weights(comparisons) @ reversed_lists):
        assert score(pairs, h) == pytest.approx(C * expected)


@pytest.mark.parametrize("max_rounds", [1, 2, 3])
def test_stopped_early_the_gap_still_holds_the_optimum(max_rounds, make_master, tiny):
    gaps = []
    for seed in range(6):
        comparisons, graph, bits = tiny(seed)
        master = make_master(comparisons, graph, "sndcg", max_rounds=max_rounds)
        solution = master.add(bits[0])
        best = optimum(comparisons, bits[:1], master.ranking, L1(), TotallyCorrective())
        assert solution.rounds <= max_rounds
        assert solution.objective - solution.gap - 1e-8 <= best <= solution.objective + 1e-8
        gaps.append(solution.gap)
        assert np.isfinite(master.add(bits[1]).entries).all()
    if max_rounds == 1:
        assert min(gaps) > C * TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS)
def test_dropped_planes_are_not_missed(ranking, make_master, digits_problem, monkeypatch):
    comparisons, graph, bits = digits_problem
    ends = []
    for patience in (10**6, 0):
        monkeypatch.setattr(structhash.masters.ranking, "PATIENCE", patience)
        master = make_master(comparisons, graph, ranking)
        ends.append(([master.add(bit).objective for bit in bits[:8]], len(master.planes)))
    (kept, n_kept), (dropped, n_dropped) = ends
    assert n_dropped <= n_kept
    np.testing.assert_allclose(dropped, kept, rtol=0, atol=C * TOLERANCE + 1e-9)


def test_planes_idle_for_long_are_dropped(make_master, digits_problem):
    comparisons, graph, bits = digits_problem
    master = make_master(comparisons, graph)
    for bit in bits[:5]:
        master.add(bit)
    unused = np.zeros(master.losses.shape)
    unused[-1] = 1
    for _ in range(structhash.masters.ranking.PATIENCE + 1):
        assert len(master.planes) > 1
        master._prune(unused[-len(master.planes) :], [])
    assert len(master.planes) == len(master.losses) == len(master.idle) == master.slopes.shape[1] == 1


@pytest.mark.parametrize("ranking", RANKINGS)
def test_planes_that_were_not_stored_are_found_again(ranking, make_master, digits_problem, monkeypatch):
    comparisons, graph, bits = digits_problem
    master, whole = (make_master(comparisons, graph, ranking, Stagewise()) for _ in range(2))

    def release_all(program, duals, n_found):
        master.planes[len(master.planes) - n_found :] = [None] * n_found
        return duals

    monkeypatch.setattr(master, "_release", release_all)
    monkeypatch.setattr(whole, "_release", lambda program, duals, n_found: duals)
    for bit in bits:
        solution, other = master.add(bit), whole.add(bit)
        np.testing.assert_array_equal(solution.entries, other.entries)
        assert len(master.planes) == len(whole.planes) > 0
        for plane, stored in zip(master.planes, whole.planes):
            np.testing.assert_array_equal(plane, stored)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_planes_dropped_at_once_are_not_missed(ranking, make_master, digits_problem, monkeypatch):
    comparisons, graph, bits = digits_problem
    master, whole = (make_master(comparisons, graph, ranking, Stagewise()) for _ in range(2))
    monkeypatch.setattr(whole, "_release", lambda program, duals, n_found: duals)
    dropped = [master.add(bit).objective for bit in bits]
    kept = [whole.add(bit).objective for bit in bits]
    np.testing.assert_allclose(dropped, kept, rtol=0, atol=C * TOLERANCE + 1e-9)


def test_bits_that_do_not_help_get_no_weight(make_master, tiny):
    comparisons, graph, bits = tiny(0)
    master = make_master(comparisons, graph)
    first = master.add(np.zeros(8, np.uint8))  # constant: a column of zeros
    assert not first.weights.any()
    one = master.add(bits[0])
    two = master.add(1 - bits[0])  # the complement changes no distance
    assert two.objective == pytest.approx(one.objective)
