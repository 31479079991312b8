import numpy as np
import pytest

from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.metrics import ndcg, tie_blocks
from structhash.objectives.rankings.ndcg import NDCG
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import pair_graph
from structhash.supervision import Qrels


def discount(place, k):
    return 0.0 if place > k else 1.0 if place == 1 else 1 / np.log2(place)


def normaliser(k, normalizer, n_near):
    return sum(discount(i, k) for i in range(1, 1 + (min(k, n_near) if normalizer == "ideal" else k)))


@pytest.mark.slow
@pytest.mark.parametrize("normalizer", ["ideal", "paper"])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 100, 1000])
def test_equals_the_programme(k, normalizer, distances, reference):
    rng = np.random.default_rng(k)
    ranking, n_near, n_far = NDCG(k, normalizer), 50, 100
    table = np.array([[discount(1 + i + g, k) for g in range(n_far + 1)] for i in range(n_near)])
    table /= normaliser(k, normalizer, n_near)
    for draw in range(200):
        near, far = distances(rng, ("integers", "halves", "equal", "large", "random")[draw % 5], n_near, n_far)
        if draw % 3 == 1:  # few values that are not sums of powers of 2, as in stage-wise training
            near, far = 0.1 * near, 0.1 * far
        elif draw % 3 == 2:  # margins near those at which the solution moves
            far = far + rng.random() * n_far / 20
        value, chain = reference.programme(near, far, -table)
        loss, above, below = reference.oracle(ranking, near, far)
        scale = max(1.0, near.max(), far.max())
        assert loss - reference.margin(near, far, above, below) == pytest.approx(1 + value, abs=1e-10 * scale)
        np.testing.assert_array_equal(np.sort(above), chain)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 20, 60, 149])
@pytest.mark.parametrize("shape", [(50, 100), (100, 50), (2, 100)])
def test_equals_the_programme_in_stagewise_training(k, shape, reference):
    """Many ties, sorted or not, at margins so narrow or so wide that all or none of the points fall."""
    rng = np.random.default_rng(k)
    table = np.array([[discount(1 + i + g, k) for g in range(shape[1] + 1)] for i in range(shape[0])])
    table /= normaliser(k, "ideal", shape[0])
    for turn in range(100):
        old, new = rng.uniform(0.05, 0.5, 2) * 10 ** (turn % 4 / 2)
        near = old * rng.binomial(20, 0.1, shape[0]) + new * (rng.random(shape[0]) < 0.1)
        far = old * rng.binomial(20, rng.uniform(0.1, 0.5), shape[1]) + new * (rng.random(shape[1]) < 0.5)
        if turn % 2:
            near, far = np.sort(near), np.sort(far)
        value, chain = reference.programme(near, far, -table)
        loss, above, below = reference.oracle(NDCG(k), near, far)
        assert loss - reference.margin(near, far, above, below) == pytest.approx(1 + value, abs=1e-10)
        np.testing.assert_array_equal(np.sort(above), chain)


@pytest.mark.parametrize("shape", [(9, 40), (40, 9), (25, 25)])
def test_equals_the_programme_where_the_cut_lies_elsewhere(shape, distances, reference):
    rng = np.random.default_rng(7)
    for k in range(1, sum(shape) + 2, 3):
        table = np.array([[discount(1 + i + g, k) for g in range(shape[1] + 1)] for i in range(shape[0])])
        for kind in ("halves", "random"):
            near, far = distances(rng, kind, *shape)
            value, chain = reference.programme(near, far, -table / normaliser(k, "ideal", shape[0]))
            loss, above, below = reference.oracle(NDCG(k), near, far)
            assert loss - reference.margin(near, far, above, below) == pytest.approx(1 + value, abs=1e-10)
            np.testing.assert_array_equal(np.sort(above), chain)


@pytest.mark.parametrize("normalizer", ["ideal", "paper"])
@pytest.mark.parametrize("k", [1, 2, 5, 100])
def test_score_by_the_formula(k, normalizer):
    flags = np.random.default_rng(8).random(30) < 0.4
    gain = sum(discount(i, k) for i in range(1, 31) if flags[i - 1])
    expected = gain / normaliser(k, normalizer, flags.sum())
    assert NDCG(k, normalizer).score(flags) == pytest.approx(expected, rel=1e-12)


def test_first_two_places_count_the_same():
    assert NDCG().score([True, False, False]) == NDCG().score([False, True, False]) == 1


def test_paper_normaliser_leaves_a_loss_at_the_truth():
    """Design, section 4: 0.37 when 50 relevant points meet K = 100."""
    loss = NDCG(100, "paper").most_violated(np.zeros(50), np.full(100, 1e3), [0, 50], [0, 100])[0][0]
    assert loss == pytest.approx(0.37, abs=0.005)


@pytest.mark.parametrize("k", [0, -3, 2.5, "10", True])
def test_k_refused(k):
    with pytest.raises(ValueError, match=r"k is .*give a whole number of at least 1"):
        NDCG(k=k)


def test_normalizer_refused():
    with pytest.raises(ValueError, match=r"normalizer is 'none'; give 'ideal' .* or 'paper'"):
        NDCG(normalizer="none")


def test_numpy_and_huge_k():
    flags = np.array([False, True, True])
    assert NDCG(np.int64(2)).score(flags) == NDCG(2).score(flags)
    assert NDCG(10**12).score(flags) == NDCG(3).score(flags)


# the graded NDCG loss and its surrogate: the weighted losses of the binary queries of each grade step


def shares(rankings, ranking):
    """Weight of each binary query in the master."""
    graph = pair_graph(rankings, 1 + max(rankings.queries.max(), rankings.near.max(), rankings.far.max()))
    return RankingMaster(rankings, graph, ranking, L1(), Stagewise(), 1.0).query_weights


@pytest.fixture(params=range(20))
def graded(request):
    """Grades and distances of one query, without ties, and its binary queries."""
    rng = np.random.default_rng(request.param)
    n = int(rng.integers(4, 30))
    grades = rng.integers(0, 4, n)
    grades[:2] = 0, rng.integers(1, 4)
    table = np.column_stack([np.zeros(n, int), np.arange(n), grades])
    rankings = Qrels(table, Q=np.ones((1, 2))).comparisons(np.zeros((n, 2)), rng)
    return rankings, grades, rng.random(n) * rng.choice([0.1, 1.0, 10.0])


def graded_loss(ranking, grades, distances):
    """1 - NDCG with gains 2^grade - 1, by the evaluation metric."""
    blocks = tie_blocks(distances[None], grades[None])
    return 1 - ndcg(blocks, ranking.k, "paper", ranking.normalizer)[0]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 100])
def test_shares_of_the_binary_losses_give_the_graded_loss(k, graded):
    rankings, grades, distances = graded
    ranking = NDCG(k=k)
    parts = []
    for near, far in parts_of(rankings, distances):
        order = np.argsort(np.append(near, far), kind="stable")
        parts.append(1 - ranking.score(order < len(near)))
    assert shares(rankings, ranking) @ parts == pytest.approx(graded_loss(ranking, grades, distances))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 100])
def test_surrogate_bounds_the_graded_loss(k, graded):
    rankings, grades, distances = graded
    ranking = NDCG(k=k)
    near, far = distances[rankings.near], distances[rankings.far]
    losses, above, below = ranking.most_violated(near, far, rankings.near_ptr, rankings.far_ptr)
    hinge = []
    for q in range(len(losses)):
        ours, theirs = (slice(*ptr[q : q + 2]) for ptr in (rankings.near_ptr, rankings.far_ptr))
        size = len(near[ours]) * len(far[theirs])
        margin = 2 / size * (below[theirs] @ far[theirs] - above[ours] @ near[ours])
        hinge.append(losses[q] - margin)
    bound = shares(rankings, ranking) @ hinge
    assert bound >= graded_loss(ranking, grades, distances) - 1e-9
    apart = 100.0 * (3 - grades)  # all grades far from each other: nothing is lost, and the bound is 0
    losses, *_ = ranking.most_violated(
        apart[rankings.near], apart[rankings.far], rankings.near_ptr, rankings.far_ptr
    )
    assert not losses.any()


def test_shares_keep_the_weight_of_a_graded_query():
    table = np.array([[0, 0, 3], [0, 1, 1], [0, 2, 0], [1, 0, 1], [1, 3, 0]])
    rankings = Qrels(table, Q=np.ones((2, 2))).comparisons(np.zeros((4, 2)), np.random.default_rng(0))
    found = shares(rankings, NDCG(k=10))
    np.testing.assert_allclose(np.bincount(rankings.queries - 4, found), [0.5, 0.5])
    np.testing.assert_allclose(found[:2], 0.5 * np.array([1 * 2, 6 * 1]) / 8)  # Z of 2 and of 1 points: 2, 1


def parts_of(rankings, distances):
    for q in range(len(rankings.queries)):
        near = rankings.near[rankings.near_ptr[q] : rankings.near_ptr[q + 1]]
        far = rankings.far[rankings.far_ptr[q] : rankings.far_ptr[q + 1]]
        yield distances[near], distances[far]
