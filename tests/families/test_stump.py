"""The stump of the family is the best cut; a retry searches a sample of the features."""

import numpy as np
import pytest

from structhash.families._stumps import best_cut
from structhash.families.starts.spectral import Spectral
from structhash.families.stump import Stump, searched_features
from structhash.pair_weights import pair_graph, score


@pytest.fixture
def problem(digits, make_rankings):
    """Rows of 60 digits, whose values tie often, and random pair weights."""

    def make(seed, dtype=np.float64):
        rng = np.random.default_rng(seed)
        graph = pair_graph(make_rankings(rng, 60, 120), 60)
        return digits[0][:60].astype(dtype), graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_stump_is_the_best_cut(dtype, problem):
    for seed in range(10):
        Z, pairs = problem(seed, dtype)
        cut = best_cut(Z, pairs.weights)
        params = Stump().learn(Z, pairs, np.random.default_rng(0), Spectral())
        assert (params["feature"][0], params["threshold"][0]) == (cut.feature, cut.threshold)
        assert score(pairs, Stump().decide(Z, params)[:, 0] > 0) == pytest.approx(cut.gain, abs=1e-4)


def test_all_features_are_searched_in_order_at_first(rng):
    Z = np.column_stack([np.ones(9), np.arange(9.0), np.zeros(9)])
    assert searched_features(Z, rng, retry=False).tolist() == [0, 1, 2]
    assert rng.random() == np.random.default_rng(0).random()  # nothing was drawn


def test_where_one_feature_varies_a_retry_searches_it(rng):
    Z = np.column_stack([np.ones(9), np.arange(9.0), np.zeros(9)])
    assert searched_features(Z, rng, retry=True).tolist() == [1]
