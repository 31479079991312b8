"""A problem for the tests of starts."""

import numpy as np
import pytest

from structhash.pair_weights import pair_graph


@pytest.fixture
def problem(make_rankings):
    """Correlated rows Z (60, d) with a clear best direction, and pair weights over them."""

    def make(d, dtype=np.float64):
        rng = np.random.default_rng(d)
        graph = pair_graph(make_rankings(rng, 60, 80), 60)
        Z = (rng.standard_normal((60, d)) @ rng.standard_normal((d, d))).astype(dtype)
        return Z, graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make
