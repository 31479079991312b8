"""A problem for the tests of cuts."""

import numpy as np
import pytest

from structhash.pair_weights import pair_graph


@pytest.fixture
def cut_problem(make_rankings):
    """Rows Z (n, d) and signed pair weights; "tied" rows take few values."""

    def make(seed, kind="distinct", dtype=np.float64, d=None):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(3, 61)), d or int(rng.integers(1, 8))
        Z = rng.standard_normal((n, d))
        Z = {
            "distinct": Z,
            "tied": np.round(Z),
            "binary": (Z > 0) + 0.0,
            "signed zeros": np.where(np.abs(Z) < 0.7, 0.0 * Z, np.sign(Z)),
        }[kind]
        Z[:2, 0] = 0, 1  # some feature varies
        graph = pair_graph(make_rankings(rng, n, 2 * n, (2, 3)), n)
        return Z.astype(dtype), graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make
