"""The contract of every ranking in the folder; a new file there is found and must keep it."""

import itertools

import numpy as np
import pytest

from structhash import StructHash
from structhash.objectives.rankings.base import Ranking
from structhash.pieces import names

KINDS = ["integers", "halves", "equal", "large", "random"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_rankings(ranking, kind, distances, reference, rng):
    for n_near, n_far in [*itertools.product(range(1, 5), repeat=2)] * 5:
        near, far = distances(rng, kind, n_near, n_far)
        loss, above, below = reference.oracle(ranking, near, far)
        values, losses, inverted = reference.enumerate_values(ranking, near, far)
        value = loss - reference.margin(near, far, above, below)
        tolerance = 1e-11 * max(1.0, near.max(), far.max())
        assert value == pytest.approx(values.max(), abs=tolerance, rel=0)
        # an irrelevant point moves ahead only for a strict gain
        fewest = inverted[values > values.max() - tolerance].min()
        assert above.sum() == below.sum() == fewest
        if kind == "equal":
            assert loss == pytest.approx(losses.max())


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_ranking(ranking, kind, distances, reference, rng):
    for shape in [(1, 1), (1, 9), (9, 1), (7, 12), (300, 30), (30, 300)]:
        near, far = distances(rng, kind, *shape)
        loss, above, below = reference.oracle(ranking, near, far)
        assert (loss.dtype, above.dtype, below.dtype) == (np.float64, np.int32, np.int32)
        flags = reference.rebuild(above, len(far))
        assert loss == pytest.approx(1 - ranking.score(flags), abs=1e-12)
        assert 0 <= loss <= 1
        after = np.cumsum(flags[::-1])[::-1]
        np.testing.assert_array_equal(np.sort(below)[::-1], after[~flags])
        for counts, values in ((above, near), (-below, far)):  # each class is in order, ties by position
            assert (np.diff(counts[np.argsort(values, kind="stable")]) >= 0).all()


def test_order_of_the_input_does_not_matter(ranking, distances, reference, rng):
    near, far = distances(rng, "random", 20, 33)
    p, q = rng.permutation(20), rng.permutation(33)
    loss, above, below = reference.oracle(ranking, near, far)
    again, above_p, below_q = reference.oracle(ranking, near[p], far[q])
    assert again == loss
    np.testing.assert_array_equal(above_p, above[p])
    np.testing.assert_array_equal(below_q, below[q])
    near, far = distances(rng, "integers", 20, 33)
    assert reference.oracle(ranking, near, far)[0] == reference.oracle(ranking, near[p], far[q])[0]


def test_queries_in_one_call_or_one_by_one(ranking, distances, reference, rng):
    sizes = [(3, 5), (0, 4), (1, 1), (6, 0), (0, 0), (12, 40), (40, 12)]
    parts = [distances(rng, KINDS[i % 5], *size) for i, size in enumerate(sizes)]
    near, far = (np.concatenate(side) for side in zip(*parts))
    near_ptr, far_ptr = np.cumsum([(0, 0), *sizes], axis=0).T
    loss, above, below = ranking.most_violated(near, far, near_ptr, far_ptr)
    assert (above.shape, below.shape) == (near.shape, far.shape)
    for i, (ours, theirs) in enumerate(parts):
        expected = reference.oracle(ranking, ours, theirs)
        assert loss[i] == expected[0]
        np.testing.assert_array_equal(above[near_ptr[i] : near_ptr[i + 1]], expected[1])
        np.testing.assert_array_equal(below[far_ptr[i] : far_ptr[i + 1]], expected[2])
        if not min(sizes[i]):
            assert loss[i] == 0
            assert not expected[1].any()
            assert not expected[2].any()
    assert ranking.most_violated([], [], [0], [0])[0].shape == (0,)


def test_wide_margin_leaves_the_truth(ranking, reference, rng):
    near, far = rng.random(4), 11 + rng.random(4)
    loss, above, below = reference.oracle(ranking, near, far)
    assert loss == pytest.approx(1 - ranking.score(np.arange(8) < 4), abs=1e-15)
    assert not above.any()
    assert not below.any()


def test_wide_margin_costs_nothing(default_ranking, rng):
    """At the default settings, and with as many relevant points as the measure may need."""
    near, far = rng.random(12), 1000 + rng.random(15)
    assert default_ranking.score(np.arange(27) < 12) == 1
    assert default_ranking.most_violated(near, far, [0, 12], [0, 15])[0][0] == 0


@pytest.mark.parametrize("shape", [(5, 9), (50, 100)])
def test_without_weights_the_loss_is_the_largest(ranking, shape, reference):
    loss, _, _ = reference.oracle(ranking, np.zeros(shape[0]), np.zeros(shape[1]))
    assert loss == pytest.approx(1 - ranking.score(np.arange(sum(shape)) >= shape[1]), abs=1e-12)


def test_settings_only(ranking):
    assert hash(ranking) == hash(type(ranking)(**vars(ranking)))
    assert eval(repr(ranking), {type(ranking).__name__: type(ranking)}) == ranking
    assert isinstance(ranking.score([True, False]), float)


@pytest.mark.parametrize("relevant", [[[True, False]], [0, 1, 2], [0.0, 1.0]])
def test_score_refuses(default_ranking, relevant):
    with pytest.raises(ValueError, match="relevant must be one dimension of bool"):
        default_ranking.score(relevant)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan, 1], [1, 2], [0, 2], [0, 2]), "near must be flat, finite distances"),
        (([0, 1], [[1, 2]], [0, 2], [0, 2]), "far must be flat, finite distances"),
        (([0, 1], [1, 2], [0, 3], [0, 2]), r"near_ptr must rise from 0 to len\(near\) = 2"),
        (([0, 1], [1, 2], [0, 2], [0, 2, 1, 2]), r"far_ptr must rise from 0 to len\(far\) = 2"),
        (([0, 1], [1, 2], [0, 2], [0, 1, 2]), "near_ptr and far_ptr must have one length; got 2 and 3"),
    ],
)
def test_most_violated_refuses(default_ranking, arguments, message):
    with pytest.raises(ValueError, match=message):
        default_ranking.most_violated(*arguments)


def test_a_ranking_that_gives_nothing_says_so():
    with pytest.raises(NotImplementedError):
        Ranking().score(np.array([True]))
    with pytest.raises(NotImplementedError):
        Ranking().most_violated(*[np.zeros(1)] * 2, *[np.array([0, 1])] * 2)
    assert Ranking().ideal(np.array([1, 2])) is None


def test_every_ranking_is_one(ranking):
    assert isinstance(ranking, Ranking)
    ideal = ranking.ideal(np.array([[1, 2], [3, 0]]))
    assert ideal is None or (ideal.shape == (2, 2) and ideal[1, 0] >= ideal[0, 0] > 0)


TOY = '''
"""A ranking that is only in a test."""

from dataclasses import dataclass

import numpy as np

from structhash.objectives.rankings.auc import AUC
from structhash.objectives.rankings.base import Ranking


@dataclass(frozen=True)
class ToyRanking(Ranking):
    """AUC under another name."""

    def score(self, relevant):
        return AUC().score(relevant)

    def most_violated(self, near, far, near_ptr, far_ptr):
        return AUC().most_violated(near, far, near_ptr, far_ptr)
'''


def test_a_new_file_is_a_new_ranking_that_trains(drop_piece, digits):
    drop_piece("rankings", TOY)
    assert "toy_ranking" in names("rankings")
    X, y = digits[0][:60], digits[1][:60]
    toy, auc = (StructHash(n_bits=3, ranking=name, random_state=0).fit(X, y) for name in ("toy_ranking", "auc"))
    np.testing.assert_array_equal(toy.transform(X), auc.transform(X))
    np.testing.assert_array_equal(toy.weights_, auc.weights_)
