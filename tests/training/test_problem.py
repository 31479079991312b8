"""The result of a fit, collected from steps, with and without bits of an earlier fit."""

import numpy as np
import pytest

from structhash.families.stump import Stump
from structhash.masters.base import Master
from structhash.pair_weights import pair_graph
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Learned, Problem, Step


def step(t):
    params = {"feature": np.array([t], np.int32), "threshold": np.array([t / 2])}
    bit = np.array([0, 1], np.uint8)
    return Step(params, bit, np.arange(1.0, t + 2), 10.0 - t, 0.1, 3, 0.5, t, t != 1, 0.25)


@pytest.fixture
def problem(make_rankings, rng):
    graph = pair_graph(make_rankings(rng), 12)
    return Problem(np.zeros((12, 2)), graph, Master(), HashFunction(Stump(), {}), weighted=True, n_skipped=4)


def test_learned_holds_the_bits_weights_and_records_of_all_steps(problem):
    learned = Learned.from_steps(problem, [step(0), step(1), step(2)])
    assert learned.function.bits["feature"].tolist() == [0, 1, 2]
    assert learned.function.bits["threshold"].tolist() == [0, 0.5, 1]
    assert learned.weights.tolist() == [1, 2, 3]
    assert learned.prefix_weights.tolist() == [[1, 0, 0], [1, 2, 0], [1, 2, 3]]
    assert learned.history == [
        {
            "bit": t,
            "objective": 10.0 - t,
            "gap": 0.1,
            "rounds": 3,
            "violation": 0.5,
            "redraws": t,
            "distinct": t != 1,
            "seconds": 0.25,
        }
        for t in range(3)
    ]
    assert (learned.weighted, learned.n_skipped) == (True, 4)


def test_records_of_kept_bits_stay_and_the_others_are_counted_on(problem):
    kept = [{"bit": 0, "seconds": 9.0}, {"bit": 1, "seconds": 8.0}]
    learned = Learned.from_steps(problem, [step(0), step(1), step(2)], kept)
    assert learned.history[:2] == kept
    assert [record["bit"] for record in learned.history] == [0, 1, 2]
    assert learned.history[2]["seconds"] == 0.25
    assert learned.function.n_bits == 3


def test_attributes_are_those_of_an_estimator(problem):
    learned = Learned.from_steps(problem, [step(0), step(1)])
    found = learned.attributes()
    assert list(found) == [
        "n_bits_",
        "weights_",
        "prefix_weights_",
        "history_",
        "weighted_",
        "n_skipped_",
        "hash_function_",
    ]
    assert found["n_bits_"] == 2
    assert found["hash_function_"] is learned.function
    assert found["prefix_weights_"] is learned.prefix_weights
