"""What finished runs say."""

import numpy as np
import pytest

from structhash.reproduce.results import Results


@pytest.fixture
def results(finished):
    return Results(
        [
            finished("usps", "ITQ", 0.4, seed=0),
            finished("usps", "ITQ", 0.6, seed=1),
            finished("usps", "ITQ", 0.3, seed=0, n_bits=16, lengths=(16,)),
            finished("isolet", "StructH-N", 0.8, lengths=(16, 64), rounds=np.arange(64)),
            finished("usps", "StructH-N", 0.0, n_bits=32, lengths=(), seconds=0.5, n_train=1000),
            finished("usps", "StructH-N", 0.0, n_bits=32, lengths=(), seconds=0.25, n_train=500),
        ]
    )


def test_means_are_over_seeds(results):
    assert results.by_seed("usps", "ITQ", "map") == [0.4, 0.6]
    assert results.mean("usps", "ITQ", "map") == 0.5
    assert results.mean("usps", "ITQ", "map", 16) == 0.3
    assert results.mean("usps", "ITQ", "map", 32) is None
    assert results.mean("mnist", "ITQ", "map") is None


def test_the_distance_is_that_of_the_method_unless_one_is_named(results):
    assert results.by_seed("isolet", "StructH-N", "map") == [0.8]
    assert results.by_seed("isolet", "StructH-N", "map", distance="plain") == [0.8]
    assert results.by_seed("isolet", "StructH-N", "map", 16, "plain") == []


def test_queries_of_all_seeds_are_joined(results):
    values = results.per_query("usps", "ITQ", "map")
    assert values.shape == (80,)
    assert values[:40].mean() == pytest.approx(0.4)
    assert len(results.per_query("mnist", "ITQ", "map")) == 0


def test_what_was_run(results):
    assert results.sets == ["usps", "isolet"]
    assert results.methods("usps") == ["ITQ"]
    assert results.lengths("usps", "ITQ") == [16, 64]


def test_the_cost_of_training(results):
    assert np.array_equal(results.history("isolet", "StructH-N", "rounds"), np.arange(64))
    assert results.history("usps", "ITQ", "rounds") is None
    assert results.timed("StructH-N") == [(500, 8.0), (1000, 16.0)]
    assert results.timed_set() == ("usps", 32)
    assert Results([]).timed_set() is None
