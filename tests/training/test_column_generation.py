"""Column generation: new bits, what steps report, warm starts, and the end at the optimum."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.masters.triplet import TripletMaster
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load
from structhash.supervision import Labels, Triplets
from structhash.training.column_generation import MAX_REDRAWS, bit_key, column_generation, finish, learn
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Plan, Problem

MASTERS = ["squared_hinge", "auc", "ndcg", "sndcg"]
SCHEDULES = [TotallyCorrective(), Stagewise()]


class Diary:
    """A master that keeps its solutions."""

    def __init__(self, master):
        self.master, self.solutions = master, []

    def __getattr__(self, name):
        return getattr(self.master, name)

    def add(self, bit):
        self.solutions.append(self.master.add(bit))
        return self.solutions[-1]


@pytest.fixture
def setting():
    """The problem of these rows and labels, whose master keeps its solutions."""

    def make(X, y, name="auc", schedule=None, C=30.0, n_jobs=1):
        rng = np.random.default_rng(0)
        comparisons = Labels(y, 5, 10).comparisons(X, rng)
        graph = pair_graph(comparisons, len(X))
        schedule = schedule or TotallyCorrective()
        if name == "squared_hinge":
            master = TripletMaster(comparisons, graph, load("losses", "squared_hinge"), L1(), schedule, C)
        else:
            master = RankingMaster(comparisons, graph, load("rankings", name), L1(), schedule, C, n_jobs=n_jobs)
        state = Linear().prepare(X, rng)
        return Problem(Linear().features(X, state), graph, Diary(master), HashFunction(Linear(), state))

    return make


def steps_of(problem, n_bits, seed=0):
    return list(column_generation(problem, Spectral(), n_bits, np.random.default_rng(seed)))


@pytest.fixture
def small_digits(digits):
    return digits[0][:100], digits[1][:100]


@pytest.fixture
def clusters():
    """Two clouds that one plane separates easily."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 3)) + 30 * y[:, None], y


def assert_all_new(steps):
    """No bit is constant, an earlier one or its complement."""
    bits = [step.bit.tolist() for step in steps]
    for t, bit in enumerate(bits):
        assert 0 < sum(bit) < len(bit)
        for other in bits[:t]:
            assert bit != other
            assert bit != [1 - value for value in other]
    assert all(step.distinct for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("C", [0.01, 30.0])
def test_every_bit_is_new(C, name, schedule, setting, small_digits):
    steps = steps_of(setting(*small_digits, name, schedule, C), 10)
    assert_all_new(steps)
    if C == 0.01:  # so small that all weights are 0 and the dual stands still
        assert not steps[-1].weights.any()
        assert sum(step.redraws for step in steps) > 0


@pytest.mark.parametrize("name", MASTERS)
def test_bits_are_new_where_nothing_is_left_to_gain(name, setting, clusters):
    problem = setting(*clusters, name, C=1e4)
    assert_all_new(steps_of(problem, 6))
    assert problem.master.solutions[0].weights[0] > 0


def test_a_dual_of_zeros_asks_for_every_comparison_again(setting, clusters):
    """Where the dual is 0 the family is given the pair weights of the master's start."""
    problem = setting(*clusters)
    graph, master, heard, retries = problem.graph, problem.master, [], []

    class Silent(Diary):
        def add(self, bit):
            return super().add(bit)._replace(entries=np.zeros(len(graph.indices)))

    class Listener(Linear):
        def learn(self, Z, pairs, rng, start, retry):
            heard.append(pairs.weights.toarray())
            retries.append(retry)
            return super().learn(Z, pairs, rng, start, retry)

    function = replace(problem.function, family=Listener())
    steps = steps_of(replace(problem, master=Silent(master.master), function=function), 4)
    assert_all_new(steps)
    first_tries = np.cumsum([0, *(step.redraws + 1 for step in steps[:-1])])
    expected = graph.pair_weights(master.first_entries()).weights.toarray()
    for attempt in first_tries:
        np.testing.assert_array_equal(heard[attempt], expected)
    assert [step.violation for step in steps[1:]] == [-1, -1, -1]
    assert [attempt for attempt, retry in enumerate(retries) if not retry] == first_tries.tolist()


@pytest.mark.parametrize("name", MASTERS)
def test_one_feature_gives_thresholds_that_differ(name, setting):
    x = np.random.default_rng(0).permutation(40)
    steps = steps_of(setting(x[:, None].astype(float), x // 10, name), 8)
    assert_all_new(steps)
    for step in steps:
        assert np.abs(np.diff(step.bit[np.argsort(x)].astype(int))).sum() == 1


@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("C", [0.01, 30.0])
def test_learning_ends_where_the_rows_allow_no_more_bits(C, name, setting):
    X = np.repeat([[0.0], [1.0], [3.0]], 4, axis=0)  # two thresholds and no more
    steps = steps_of(setting(X, np.repeat([0, 0, 1], 4), name, C=C), 4)
    assert [step.distinct for step in steps] == [True, True, False, False]
    assert [step.redraws for step in steps[2:]] == [MAX_REDRAWS] * 2
    assert_all_new(steps[:2])
    assert all(np.isfinite(step.objective) for step in steps)


def test_rows_of_two_kinds_allow_one_bit(setting):
    X = np.repeat([[0.0, 1.0], [2.0, 0.0]], 5, axis=0)
    steps = steps_of(setting(X, np.repeat([0, 1], 5)), 3)
    assert [step.distinct for step in steps] == [True, False, False]
    assert bit_key(steps[0].bit) == bit_key(np.repeat([0, 1], 5).astype(np.uint8))


@pytest.mark.parametrize("d", [3, 70])
def test_comparisons_that_contradict_each_other_still_give_bits(d, rng):
    X = rng.standard_normal((6, d))
    comparisons = Triplets(np.array([[0, 1, 2], [0, 2, 1]])).comparisons(X, rng)
    graph = pair_graph(comparisons, 6)
    master = TripletMaster(comparisons, graph, load("losses", "squared_hinge"), L1(), TotallyCorrective(), 30.0)
    steps = steps_of(Problem(X, graph, master, HashFunction(Linear(), {})), 3)
    assert_all_new(steps)
    assert not steps[-1].weights.any()


@pytest.mark.parametrize("name", MASTERS)
def test_violation_is_score_less_cost_under_the_last_dual(name, setting, small_digits):
    problem = setting(*small_digits, name)
    graph, master = problem.graph, problem.master
    steps = steps_of(problem, 6)
    entries = [master.first_entries(), *(solution.entries for solution in master.solutions)]
    for step, last in zip(steps, entries):
        differ = step.bit[np.repeat(graph.rows, np.diff(graph.indptr))] != step.bit[graph.indices]
        assert step.violation == pytest.approx(last[differ].sum() - 1)
        assert step.violation == pytest.approx(score(graph.pair_weights(last), step.bit) - 1)


@pytest.mark.parametrize("name", MASTERS)
def test_steps_report_what_the_master_says(name, setting, small_digits):
    problem = setting(*small_digits, name)
    steps = steps_of(problem, 6)
    for t, (step, solution) in enumerate(zip(steps, problem.master.solutions), start=1):
        np.testing.assert_array_equal(step.weights, solution.weights)
        assert step.weights.shape == (t,)
        assert (step.objective, step.gap, step.rounds) == (solution.objective, solution.gap, solution.rounds)
        np.testing.assert_array_equal(step.bit, Linear().decide(problem.Z, step.params)[:, 0] > 0)
    objectives = [step.objective for step in steps]
    assert np.diff(objectives).max() <= 30 * 1e-3 + 1e-9
    assert objectives[-1] < objectives[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("C", [0.01, 30.0])
def test_the_same_seed_gives_the_same_bits(C, name, setting, small_digits):
    runs = [steps_of(setting(*small_digits, name, C=C, n_jobs=n_jobs), 5, seed=7) for n_jobs in (1, 2)]
    for one, two in zip(*runs):
        np.testing.assert_array_equal(one.bit, two.bit)
        np.testing.assert_array_equal(one.weights, two.weights)
        assert (one.objective, one.gap, one.violation) == (two.objective, two.gap, two.violation)
        assert all(np.array_equal(one.params[name], two.params[name]) for name in one.params)


def test_a_bit_is_learned_only_when_asked_for(setting, small_digits):
    problem = setting(*small_digits)
    steps = column_generation(problem, Spectral(), 50, np.random.default_rng(0))
    assert len(list(itertools.islice(steps, 2))) == 2
    assert len(problem.master.solutions) == 2


@pytest.mark.parametrize("C", [0.01, 30.0])
def test_real_features_of_many_columns_give_new_bits(C, setting, data_folder):
    data = np.load(data_folder / "isolet.npz")
    rows = np.random.default_rng(0).permutation(len(data["X"]))[:150]
    steps = steps_of(setting(data["X"][rows], data["y"][rows], "sndcg", C=C), 6)
    assert_all_new(steps)
    assert all(step.params["normal"].dtype == np.float32 for step in steps)


def test_the_key_is_the_same_for_a_bit_and_its_complement_only(rng):
    bits = np.unique(rng.integers(0, 2, (50, 12), dtype=np.uint8) | np.eye(1, 12, dtype=np.uint8), axis=0)
    assert all(bit_key(bit) == bit_key(1 - bit) for bit in bits)
    assert len({bit_key(bit) for bit in bits}) == len(bits)


# learn and finish


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_what_was_learned_collects_the_steps(schedule, setting, small_digits):
    problem = replace(setting(*small_digits, "auc", schedule), weighted=schedule.weighted, n_skipped=3)
    steps, learned = finish(learn(problem, Plan(Spectral(), 5), np.random.default_rng(0)))
    expected = steps_of(setting(*small_digits, "auc", schedule), 5)
    for step, other in zip(steps, expected, strict=True):
        np.testing.assert_array_equal(step.bit, other.bit)
    assert learned.function.n_bits == 5
    assert learned.function.family_state is problem.function.family_state
    np.testing.assert_array_equal(learned.function.bits["normal"], [step.params["normal"][0] for step in steps])
    np.testing.assert_array_equal(learned.weights, steps[-1].weights)
    for t, step in enumerate(steps):
        np.testing.assert_array_equal(learned.prefix_weights[t, : t + 1], step.weights)
        record = learned.history[t]
        assert record["bit"] == t
        assert {key: getattr(step, key) for key in record if key != "bit"} == {
            key: value for key, value in record.items() if key != "bit"
        }
    assert not np.triu(learned.prefix_weights, 1).any()
    assert (learned.weighted, learned.n_skipped) == (schedule.weighted, 3)
    assert problem.function.n_bits == 0  # the problem did not change


@pytest.mark.slow
@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("C", [0.01, 30.0])
def test_kept_bits_are_taken_as_they_are_and_the_rest_is_that_of_one_run(C, name, setting, small_digits):
    plan, rng = Plan(Spectral(), 7), np.random.default_rng(0)
    whole, learned = finish(learn(setting(*small_digits, name, C=C), plan, rng))
    kept = learned.function.with_bits(learned.function.split_bits()[:4])
    history = [{"bit": t, "old": True} for t in range(4)]
    plan, rng = replace(plan, kept=kept, kept_history=history), np.random.default_rng(0)
    grown, again = finish(learn(setting(*small_digits, name, C=C), plan, rng))
    assert [step.redraws for step in grown[:4]] == [0] * 4
    for one, two in zip(whole, grown, strict=True):
        np.testing.assert_array_equal(one.bit, two.bit)
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-12)
    assert again.history[:4] == history
    assert [record["bit"] for record in again.history] == list(range(7))


def test_kept_bits_are_not_taken_away_where_the_optimum_is_met_before(setting, small_digits):
    problem = setting(*small_digits, C=1e-6)
    whole = finish(learn(problem, Plan(Spectral(), 3), np.random.default_rng(0)))[1]
    for kept in range(4):
        steps = column_generation(
            setting(*small_digits, C=1e-6), Spectral(), 9, np.random.default_rng(0), 1.0,
            whole.function.split_bits()[:kept],
        )  # fmt: skip
        assert len(list(steps)) == max(1, kept)


def test_bits_of_other_features_are_not_kept(setting, small_digits):
    problem = setting(*small_digits)
    learned = finish(learn(problem, Plan(Spectral(), 2), np.random.default_rng(0)))[1]
    moved = replace(learned.function, family_state={**learned.function.family_state, "mean": np.zeros(64)})
    with pytest.raises(ValueError, match="warm_start=True goes on with the same rows, family and random_state"):
        next(learn(problem, Plan(Spectral(), 3, kept=moved), np.random.default_rng(0)))
