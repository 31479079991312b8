"""Costs of bits, as masters charge them."""

import numpy as np
import pytest

from structhash.masters.base import Master, RegularizedMaster
from structhash.objectives.regularizers.linf import LInf
from structhash.objectives.regularizers.similar import Similar
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load, names


@pytest.mark.parametrize("name", names("regularizers"))
def test_a_family_is_given_the_score_less_the_cost(name, make_rankings):
    rng = np.random.default_rng(0)
    graph = pair_graph(make_rankings(rng), 12)
    pairs = graph.pair_weights(rng.standard_normal(len(graph.indices)))
    pieces = [load("regularizers", name)]
    if name == "similar":  # pairs that are compared and that are not, a pair given twice, a row with itself
        pieces.append(Similar([[0, 1], [1, 0], [3, 3], [graph.rows[0], graph.indices[0]]], weight=2.5))
    for regularizer in pieces:
        master = RegularizedMaster(regularizer)
        charged = master.charge_costs(pairs)
        least = master.cost(np.zeros(12, np.uint8))
        for bit in rng.integers(0, 2, (9, 12), dtype=np.uint8):
            expected = score(pairs, bit) - (master.cost(bit) - least)
            assert score(charged, bit) == pytest.approx(expected)


def test_a_master_without_costs_charges_nothing(make_rankings):
    rng = np.random.default_rng(0)
    graph = pair_graph(make_rankings(rng), 12)
    pairs = graph.pair_weights(rng.standard_normal(len(graph.indices)))
    assert Master().charge_costs(pairs) is pairs
    assert Master().cost(np.ones(12)) == 0
    assert Master().upper == np.inf


def test_the_bound_is_that_of_the_regulariser():
    assert RegularizedMaster(LInf(0.3)).upper == 0.3
