"""Differing bits of a query and of eight codes at once."""

import numpy as np
import pytest
from numba import njit

from structhash.search import _counts as counts


def compiled(count_bits, count_levels):
    """Both intrinsics inside a kernel."""

    @njit
    def bits(found, i, words, at, queries, q, j, more):
        count_bits(found, i, words, at, queries, q, j, more)

    @njit
    def levels(found, i, words, at, queries, q, j, more, planes):
        count_levels(found, i, words, at, queries, q, j, more, planes)

    return bits, levels


WAYS = {
    1: (counts.bits_of_words, counts.levels_of_words),
    2: (counts.bits_of_two_words, counts.levels_of_two_words),
    4: (counts.bits_of_four_words, counts.levels_of_four_words),
}
EVERY = pytest.mark.parametrize(
    ("width", "bits", "levels"),
    [(width, *compiled(*way)) for width, way in WAYS.items()]
    + [(width, *counts._interpreted(width)) for width in WAYS],
    ids=[f"{width} {kind}" for kind in ("compiled", "interpreted") for width in WAYS],
)


def words_of(rng, *shape):
    return rng.integers(0, 2**64, shape, dtype=np.uint64)


def bits_of(words):
    """The bits (..., 64 w) of words (..., w)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little")


@EVERY
@pytest.mark.parametrize("more", [0, 1])
def test_numbers_of_differing_bits_and_of_their_levels(width, bits, levels, more, rng):
    n_queries, first = 3, 5
    codes = words_of(rng, 20, width)
    queries, planes = words_of(rng, n_queries, width + 1), words_of(rng, n_queries, 4, width + 1)
    before = rng.integers(0, 1000, 12).astype(np.uint32)
    for q in range(n_queries):
        for j in (0, 1):
            differing = bits_of(codes[first : first + 8]) != bits_of(queries[q, j : j + width])
            weights = (bits_of(planes[q, :, j : j + width]).astype(int) * [[1], [2], [4], [8]]).sum(axis=0)
            for count, given, right in (
                (bits, (), differing.sum(axis=1)),
                (levels, (planes,), differing @ weights),
            ):
                found = before.copy()
                count(found, 2, codes, width * first, queries, q, j, more, *given)
                np.testing.assert_array_equal(found[2:10], more * before[2:10] + right)
                np.testing.assert_array_equal(found[[0, 1, 10, 11]], before[[0, 1, 10, 11]])  # nothing else


INTERPRETED = """
import numpy as np
import structhash.search._scan as scan
from structhash.search import Exact
scan._MOST_SUMMED = 0
rng = np.random.default_rng(0)
codes, weights = rng.integers(0, 256, (600, 16), dtype=np.uint8), rng.random(128)
differing = np.unpackbits(codes[:3, None] ^ codes, axis=2, bitorder="little")
for given, distances in ((None, differing.sum(axis=2)), (weights, np.float32(differing @ weights))):
    index = Exact(128, given)
    index.add(codes)
    for part in (slice(0, 1), slice(0, 3)):
        found = index.search(codes[part], 5)[1]
        print((found == np.argsort(distances[part], axis=1, kind="stable")[:, :5]).all())
"""


def test_a_search_where_numba_compiles_nothing(interpreted):
    assert interpreted(INTERPRETED) == 4 * "True\n"
