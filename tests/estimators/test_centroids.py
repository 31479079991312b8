"""What methods whose bytes are numbers of centroids share."""

import numpy as np
import pytest

from structhash.codes import prepared_distances
from structhash.estimators.centroids import bits_of_bytes, power_of_two_above, queries_for_sums


@pytest.mark.parametrize(
    ("numbers", "scale"), [([0.3, -5], 8), ([4], 8), ([-0.25], 0.5), ([1e-300], 2.0**-996)]
)
def test_a_power_of_two_above_all_magnitudes(numbers, scale):
    assert power_of_two_above(np.array(numbers)) == scale


def test_bits_of_bytes_add_up():
    assert [bits_of_bytes(n) for n in (1, 8, 9, 64)] == [[1], [8], [8, 1], [8] * 8]


def test_the_distance_of_a_query_is_that_to_the_sum_of_the_centroids():
    rng = np.random.default_rng(0)
    centroids, Z = rng.normal(size=(3, 256, 5)).astype(np.float32), rng.normal(size=(4, 5))
    codes = rng.integers(0, 256, size=(20, 3), dtype=np.uint8)
    sums = sum(centroids[m][codes[:, m]].astype(float) for m in range(3))
    expected = ((Z[:, None] - sums) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        prepared_distances(queries_for_sums(Z, centroids, 24), codes), expected, rtol=1e-5
    )
