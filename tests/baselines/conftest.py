"""What tests of quantisers share."""

import numpy as np
import pytest

from structhash.codes import prepared_distances
from structhash.search import Exact


@pytest.fixture
def assert_same_ranking():
    """A check that an index of ours ranks as one of faiss; rows at almost one distance may change places."""

    def check(encoder, index, X, Q, scaled):
        codes = encoder.encode(X)
        np.testing.assert_array_equal(index.sa_encode(scaled(X)), codes)
        index.add_sa_codes(codes)
        theirs, rows = index.search(scaled(Q), 40)
        ours = Exact(encoder.n_bits_)
        ours.add(codes)
        distances, ids = ours.search(encoder.prepare_queries(Q), 40)
        np.testing.assert_allclose(distances, theirs, rtol=1e-4, atol=1e-5)
        every = prepared_distances(encoder.prepare_queries(Q), codes)
        np.testing.assert_allclose(np.take_along_axis(every, rows, axis=1), distances, rtol=1e-4, atol=1e-5)
        assert (ids == rows).mean() > 0.9

    return check
