"""Set bits of words in compiled code."""

import numpy as np
from numba import njit

from structhash._numerics.popcount import popcount


@njit
def count(words):
    counts = np.empty(len(words), np.int64)
    for i in range(len(words)):
        counts[i] = popcount(words[i])
    return counts


def test_set_bits_of_words(rng):
    words = rng.integers(0, 2**64, 100, dtype=np.uint64)
    words[:3] = 0, 1, 2**64 - 1
    np.testing.assert_array_equal(count(words), [int(word).bit_count() for word in words])


def test_set_bits_where_numba_compiles_nothing(interpreted):
    code = """
import numpy as np
from structhash.codes import hamming
print(hamming(np.uint8([[7, 1]]), np.uint8([[0, 0], [1, 3]])).tolist())
"""
    assert interpreted(code) == "[[4, 3]]\n"
