"""Starts that compete."""

import numpy as np
import pytest

from structhash.families.linear import Linear
from structhash.families.starts.several import Several
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import score
from structhash.pieces import load


def test_the_best_of_several_starts_wins(problem):
    Z, pairs = problem(6)
    parts = [Spectral(), load("starts", "best_stump")]
    planes = load("starts", "several:of=spectral+best_stump")(Z, pairs, np.random.default_rng(0))
    alone = [start(Z, pairs, np.random.default_rng(0)) for start in parts]
    assert planes["normal"].shape == (6, 2)
    for k, each in enumerate(alone):
        np.testing.assert_allclose(planes["normal"][:, k], each["normal"][:, 0])
        np.testing.assert_allclose(planes["offset"][k], each["offset"][0])
    learned = Linear(max_iter=0).learn(Z, pairs, np.random.default_rng(0), Several("spectral+best_stump"))
    best = max(score(pairs, Z @ each["normal"][:, 0] + each["offset"][0] > 0) for each in alone)
    assert score(pairs, Linear().decide(Z, learned)[:, 0] > 0) == pytest.approx(best)


def test_an_unknown_start_among_several_is_refused():
    with pytest.raises(ValueError, match="no piece of starts is called 'nosuch'"):
        Several("spectral+nosuch")
