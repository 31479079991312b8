"""The hinge by cutting planes against the linear programme over the listed triplets."""

import numpy as np
import pytest
from scipy.optimize import linprog

from structhash.masters.hinge import HingeMaster
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.masters.triplet import MIN_OBJECTIVE
from structhash.objectives.losses.hinge import Hinge
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.pair_weights import Comparisons, pair_graph, score

C = 20.0


def make_master(comparisons, graph, regularizer=None, **settings):
    return HingeMaster(comparisons, graph, Hinge(), regularizer or L1(), TotallyCorrective(), C, **settings)


@pytest.fixture
def problem(make_rankings, triplets_of):
    """Weighted comparisons, their graph, 5 bits, the columns (T, 5) and shares (T,) of the triplets."""

    def make(seed):
        rng = np.random.default_rng(seed)
        comparisons = make_rankings(rng, n_queries=6, weighted=True)
        bits = rng.integers(0, 2, (5, 12), dtype=np.uint8)
        q, i, j, k = triplets_of(comparisons).T
        H, weights = bits.astype(int), comparisons.weights[q]
        columns = (abs(H[:, i] - H[:, k]) - abs(H[:, i] - H[:, j])).T
        return comparisons, pair_graph(comparisons, 12), bits, columns, weights / weights.sum()

    return make


@pytest.mark.parametrize("regularizer", [L1(), LInf(0.2)], ids=repr)
def test_a_query_weighs_as_much_as_it_has_of_triplets(regularizer, problem):
    used = 0
    for seed in range(6):
        comparisons, graph, bits, columns, share = problem(seed)
        master = make_master(comparisons, graph, regularizer)
        for t, bit in enumerate(bits, 1):
            solution = master.add(bit)
            costs = [regularizer.cost(each) for each in bits[:t]]
            upper = None if regularizer.upper == np.inf else regularizer.upper
            best = linprog(
                [*costs, *(C * share)],
                A_ub=-np.hstack([columns[:, :t], np.eye(len(share))]),
                b_ub=-np.ones(len(share)),
                bounds=[(0, upper)] * t + [(0, None)] * len(share),
            )
            assert solution.objective == pytest.approx(best.fun, rel=1e-6)
            hinge = np.maximum(0, 1 - columns[:, :t] @ solution.weights)
            assert solution.objective == pytest.approx(costs @ solution.weights + C * share @ hinge)
        used += solution.weights.any()
    assert used


def test_entries_are_duals_of_triplets_within_their_bounds(problem):
    for seed in range(6):
        comparisons, graph, bits, _, share = problem(seed)
        master = make_master(comparisons, graph)
        for bit in bits:
            solution = master.add(bit)
        n = len(comparisons.near)
        assert (solution.entries[:n] <= 1e-12).all()
        assert (solution.entries[n:] >= -1e-12).all()
        assert solution.entries[n:].sum() == pytest.approx(-solution.entries[:n].sum())
        assert solution.entries[n:].sum() <= C * share.sum() + 1e-9
        pairs = graph.pair_weights(solution.entries)
        assert max(score(pairs, bit) for bit in bits) <= 1 + 1e-6


def test_the_gap_is_relative_to_the_objective(problem):
    comparisons, graph, bits, *_ = problem(1)
    master, rough = (make_master(comparisons, graph, max_rounds=n) for n in (1000, 2))
    for bit in bits:
        exact, early = master.add(bit), rough.add(bit)
        assert 0 <= exact.gap <= 1e-6
        assert early.objective * (1 - early.gap) <= exact.objective * (1 + 1e-9)
    assert early.gap > 1e-6


def test_an_objective_of_zero_has_no_gap():
    one = np.array([0, 1])
    comparisons = Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one)
    master = make_master(comparisons, pair_graph(comparisons, 3), LInf(5.0))
    solution = master.add(np.array([0, 0, 1], np.uint8))  # the bit costs nothing and meets the margin
    assert solution.objective <= MIN_OBJECTIVE * C
    assert np.isfinite(solution.gap)
    assert abs(solution.gap) <= 1e-6
