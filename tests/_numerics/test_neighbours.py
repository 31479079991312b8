"""The nearest rows by cosine, against a sort of all cosines."""

import numpy as np
import pytest

from structhash._numerics.neighbours import nearest_by_cosine


@pytest.mark.parametrize("own", [True, False])
def test_the_nearest_are_those_of_largest_cosine(own):
    U = np.random.default_rng(1).normal(size=(700, 4))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    near, apart = nearest_by_cosine(U, U, 5, own)
    cosines = U @ U.T
    if not own:
        np.fill_diagonal(cosines, -np.inf)
    np.testing.assert_array_equal(np.sort(near), np.sort(np.argsort(-cosines, axis=1)[:, :5]))
    expected = np.maximum(1 - np.take_along_axis(cosines, near, axis=1), 0)
    np.testing.assert_allclose(apart, expected, atol=1e-9)
