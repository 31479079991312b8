"""Trees against walks in plain loops, and what trees share with stumps."""

from functools import partial

import numpy as np
import pytest

from structhash import CGHash, StructHash, load_model
from structhash.families.starts.best_stump import BestStump
from structhash.families.starts.random_planes import RandomPlanes
from structhash.families.starts.spectral import Spectral
from structhash.families.stump import Stump, searched_features
from structhash.families.tree import Tree
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.objectives.rankings.auc import AUC
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import pair_graph, score
from structhash.supervision import Labels
from structhash.training.column_generation import bit_key, column_generation
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Problem

FAMILIES = [Stump(), Tree(depth=1), Tree(depth=3)]


@pytest.fixture
def problem(digits, make_rankings):
    """Rows of 60 digits, whose values tie often, and random pair weights."""

    def make(seed, dtype=np.float64):
        rng = np.random.default_rng(seed)
        graph = pair_graph(make_rankings(rng, 60, 120), 60)
        return digits[0][:60].astype(dtype), graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make


def bit_of(family, Z, params):
    return family.decide(Z, params)[:, 0] > 0


def score_of(family, Z, pairs, rng=None):
    rng = rng or np.random.default_rng(0)
    return score(pairs, bit_of(family, Z, family.learn(Z, pairs, rng, Spectral())))


def walk(row, params, tree=0):
    """The leaf of one row by the words of `Tree.learn`."""
    k, feature, threshold = 0, params["feature"][tree], params["threshold"][tree]
    while k < len(feature):
        k = 2 * k + 2 if row[feature[k]] > threshold[k] else 2 * k + 1
    return params["leaf"][tree][k - len(feature)]


def test_a_tree_of_depth_1_is_the_stump(problem):
    for seed in range(20):
        Z, pairs = problem(seed)
        one = Stump().learn(Z, pairs, np.random.default_rng(0))
        tree = Tree(depth=1).learn(Z, pairs, np.random.default_rng(0))
        np.testing.assert_array_equal(bit_of(Tree(depth=1), Z, tree), bit_of(Stump(), Z, one))


def test_a_deeper_tree_never_scores_below_a_shallower_one(problem):
    higher = 0
    for seed in range(20):
        Z, pairs = problem(seed)
        scores = [score_of(Stump(), Z, pairs), *(score_of(Tree(depth=d), Z, pairs) for d in (1, 2, 3, 5))]
        assert np.diff(scores).min() > -1e-9
        higher += scores[3] > scores[0]
    assert higher == 20


def test_a_tree_learns_what_no_stump_can():
    """Exclusive or: every stump scores 0 in expectation, a tree of depth 2 parts all that should be parted."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    y = (X[:, 0] > 0.4) ^ (X[:, 1] > 0.6)
    graph = pair_graph(Labels(y.astype(int), 20, 40).comparisons(X, rng), 200)
    pairs = graph.pair_weights(np.repeat([-1.0, 0.5], [200 * 20, 200 * 40]))
    best = score(pairs, y)
    assert score_of(Stump(), X, pairs) < 0.5 * best
    assert score_of(Tree(depth=4), X, pairs) > 0.8 * best


def test_a_leaf_without_gain_is_not_cut(problem):
    """Only the first two points matter, and the root parts them."""
    X = np.arange(12.0).reshape(6, 2)
    graph = pair_graph(Labels(np.array([0, 0, 0, 1, 1, 1]), 2, 3).comparisons(X, np.random.default_rng(0)), 6)
    entries = np.where(graph.differ(np.array([1, 1, 1, 0, 0, 0], np.uint8)) == 1, 1.0, -1.0)
    params = Tree(depth=3).learn(X, graph.pair_weights(entries), np.random.default_rng(0))
    assert np.isfinite(params["threshold"][0]).tolist() == [True] + 6 * [False]
    assert bit_of(Tree(), X, params).tolist() in ([False] * 3 + [True] * 3, [True] * 3 + [False] * 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_trees_are_arrays_that_any_reader_can_walk(depth, dtype, problem, rng):
    family = Tree(depth=depth)
    learned = [family.learn(*problem(seed, dtype), rng) for seed in range(4)]
    params = {name: np.concatenate([each[name] for each in learned]) for name in learned[0]}
    assert params["feature"].shape == params["threshold"].shape == (4, 2**depth - 1)
    assert params["leaf"].shape == (4, 2**depth)
    assert (params["feature"].dtype, params["leaf"].dtype) == (np.int32, np.int8)
    assert params["threshold"].dtype == dtype
    X = rng.uniform(-1, 17, (50, 64)).astype(dtype)
    decided = family.decide(X, params)
    assert decided.dtype == dtype
    assert decided.tolist() == [[walk(row, params, tree) for tree in range(4)] for row in X]
    np.testing.assert_array_equal(family.decide(np.asfortranarray(X), params), decided)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_bits_do_not_depend_on_the_scale_of_a_feature(family, problem, rng):
    for seed in range(5):
        Z, pairs = problem(seed)
        scale, shift = 2.0 ** rng.integers(-8, 8, 64), rng.integers(-9, 9, 64)
        one, two = (family.learn(rows, pairs, rng) for rows in (Z, Z * scale + shift))
        np.testing.assert_array_equal(bit_of(family, Z, one), bit_of(family, Z * scale + shift, two))


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_a_start_has_no_effect_and_nothing_is_drawn(family, problem):
    Z, pairs = problem(0)
    rng = np.random.default_rng(0)
    learned = [
        family.learn(Z, pairs, rng),
        *(family.learn(Z, pairs, rng, each()) for each in (Spectral, BestStump, RandomPlanes)),
    ]
    for one in learned[1:]:
        assert all(np.array_equal(one[name], learned[0][name]) for name in one)
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_a_retry_searches_a_random_sample_of_the_features(family, problem):
    """Of digits 60 columns vary at most, 7 of which are searched."""
    Z, pairs = problem(0)
    seen = set()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        params = family.learn(Z, pairs, rng, RandomPlanes(), retry=True)
        columns = searched_features(Z, np.random.default_rng(seed), retry=True)
        assert len(columns) == len(set(columns)) == 7
        assert np.ptp(Z[:, columns], axis=0).min() > 0
        assert set(params["feature"][np.isfinite(params["threshold"])]) <= set(columns)
        expected = family.learn(Z[:, columns], pairs, rng)
        np.testing.assert_array_equal(bit_of(family, Z, params), bit_of(family, Z[:, columns], expected))
        seen.add(bit_key(bit_of(family, Z, params).astype(np.uint8)))
    assert len(seen) > 10


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_rows_are_their_own_features_and_state_is_their_range(family, digits, rng):
    state = family.prepare(digits[0], rng)
    assert family.features(digits[0], state) is digits[0]
    np.testing.assert_array_equal(state["low"], digits[0].min(axis=0))
    np.testing.assert_array_equal(state["high"], digits[0].max(axis=0))


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_all_the_same_are_refused(family, dtype, rng):
    with pytest.raises(ValueError, match="all 7 training rows are the same; give rows that differ"):
        family.prepare(np.full((7, 3), 0.1, dtype), rng)


@pytest.mark.parametrize("depth", [0, 11, 2.0, "deep"])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match=f"depth={depth!r}: give an integer from 1 to 10"):
        Tree(depth=depth)


# in column generation


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("C", [1e-6, 30.0])
def test_every_bit_of_column_generation_is_new(family, C, digits):
    """At C so small that all weights are 0 the dual stands still and only redrawn weights give other bits."""
    X, y = digits[0][:100], digits[1][:100]
    rng = np.random.default_rng(0)
    comparisons = Labels(y, 5, 10).comparisons(X, rng)
    graph = pair_graph(comparisons, 100)
    master = RankingMaster(comparisons, graph, AUC(), L1(), Stagewise(), C)
    problem = Problem(X, graph, master, HashFunction(family, family.prepare(X, rng)))
    steps = list(column_generation(problem, Spectral(), 64, rng))
    bits = {bit_key(step.bit) for step in steps}
    assert len(bits) == 64
    assert bit_key(np.zeros(100, np.uint8)) not in bits
    assert all(step.distinct for step in steps)
    assert sum(step.redraws for step in steps) > 0 or C > 1


@pytest.mark.slow
@pytest.mark.parametrize("family", ["stump", "tree:depth=3"])
@pytest.mark.parametrize("method", [StructHash, CGHash])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_from_fit_to_file_and_back(family, method, dtype, digits, tmp_path):
    X, y = digits[0].astype(dtype), digits[1]
    make = partial(method, 12, family=family, n_near=5, n_far=10, random_state=0)
    fits = [make().fit(X[:150], y[:150]) for _ in "ab"]
    codes = fits[0].encode(X)
    np.testing.assert_array_equal(fits[1].encode(X), codes)
    assert len({bit_key(column) for column in fits[0].transform(X[:150]).T}) == 12
    np.testing.assert_array_equal(np.concatenate([fits[0].encode(row[None]) for row in X]), codes)
    fits[0].save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(X), codes)
    assert fits[0].score(X[150:], y[150:]) > 0.25  # chance is 0.1
