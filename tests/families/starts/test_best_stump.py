"""The best stump as a plane gives the bit of the best cut."""

import numpy as np
import pytest

from structhash.families._stumps import best_cut
from structhash.families.starts.best_stump import BestStump
from structhash.pair_weights import score

KINDS = ["distinct", "tied", "binary", "signed zeros"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_best_stump_as_a_plane_gives_the_best_bit(kind, dtype, cut_problem, rng):
    for seed in range(20):
        Z, pairs = cut_problem(seed, kind, dtype)
        plane = BestStump()(Z, pairs, rng)
        bit = (Z @ plane["normal"] + plane["offset"])[:, 0] > 0
        assert score(pairs, bit) == pytest.approx(best_cut(Z, pairs.weights).gain, abs=1e-4)
        assert np.count_nonzero(plane["normal"]) == 1
