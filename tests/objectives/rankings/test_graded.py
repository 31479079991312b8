"""The graded NDCG loss and its surrogate, the weighted losses of the binary queries of each grade step."""

import numpy as np
import pytest

from structhash.masters.ranking import shares
from structhash.metrics import ndcg, tie_blocks
from structhash.objectives.rankings.ndcg import NDCG
from structhash.supervision import Qrels


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


def loss(ranking, grades, distances):
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
    assert shares(rankings, ranking) @ parts == pytest.approx(loss(ranking, grades, distances))


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
    assert bound >= loss(ranking, grades, distances) - 1e-9
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
