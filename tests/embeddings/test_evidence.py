"""What `Mixture` says of rows: a searched row that is also a training row, and vectors of all parts."""

import numpy as np
import pytest

from structhash.embeddings._evidence import Evidence, Parts, _same_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, bool])
def test_rows_of_equal_numbers_are_the_same(dtype):
    rows = np.array([[1, 0], [0, 0], [1, 1], [1, 0]], dtype)
    copies, originals = _same_rows(rows, np.array([[-0.0, -0.0], [1, -0.0]]))
    assert (copies.tolist(), originals.tolist()) == ([0, 1, 3], [1, 0, 1])


def test_vectors_are_the_parts_side_by_side():
    near, walk, centred = np.eye(2), np.full((2, 3), 7.0), np.ones((2, 1))
    P = np.array([[0.25, 0.75], [1, 0]], np.float32)
    found = Evidence(Parts(near, walk, centred), P, np.array([0.5, 1])).vectors()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[0.25, 0.75, 0.5, 1, 0, 1], [1, 0, 1, 0, 1, 1]])
