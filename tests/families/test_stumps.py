"""The best cut against brute force over every feature, threshold and side."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from structhash.families._stumps import FEATURES_AT_ONCE, best_cut, cut_gains, midway
from structhash.pair_weights import score

KINDS = ["distinct", "tied", "binary", "signed zeros"]


def every_bit(Z):
    """(feature, bit) for each way a threshold on one feature parts the rows."""
    for j in range(Z.shape[1]):
        for low in np.unique(Z[:, j])[:-1]:
            yield j, Z[:, j] > low


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_best_cut_is_that_of_brute_force(kind, dtype, cut_problem):
    for seed in range(60):
        Z, pairs = cut_problem(seed, kind, dtype)
        best = max(score(pairs, bit) for _, bit in every_bit(Z))
        cut = best_cut(Z, pairs.weights)
        bit = Z[:, cut.feature] > cut.threshold
        tolerance = 1e-9 if dtype == np.float64 else 1e-4
        assert cut.gain == pytest.approx(best, abs=tolerance)
        assert score(pairs, bit) == pytest.approx(best, abs=tolerance)
        assert 0 < bit.sum() < len(Z)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_inside_a_leaf_is_that_of_brute_force(kind, cut_problem):
    """Rows inside share a bit; one side of the cut takes the other one while the rest stands still."""
    for seed in range(60):
        Z, pairs = cut_problem(seed, kind)
        rng = np.random.default_rng(seed)
        bit = rng.integers(0, 2, len(Z))
        inside = np.flatnonzero(rng.random(len(Z)) < 0.6)
        if len(inside) < 2 or not np.ptp(Z[inside], axis=0).any():
            continue
        bit[inside] = seed % 2
        W, others = pairs.weights, 2.0 * bit - 1
        others[inside] = 0
        cut = best_cut(Z[inside], W[inside][:, inside], (2 * (seed % 2) - 1) * (W[inside] @ others))
        gains = {}
        for j, above in every_bit(Z[inside]):
            for part in (above, ~above):
                new = bit.copy()
                new[inside[part]] ^= 1
                gains[j, part.tobytes()] = score(pairs, new) - score(pairs, bit)
        part = (Z[inside, cut.feature] > cut.threshold) == cut.above
        assert cut.gain == pytest.approx(max(gains.values()), abs=1e-9)
        assert gains[cut.feature, part.tobytes()] == pytest.approx(cut.gain, abs=1e-9)


def test_pulls_are_their_formula(cut_problem):
    for seed, kind in enumerate(KINDS):
        Z, pairs = cut_problem(seed, kind)
        W = pairs.weights
        signs = np.sign(Z[None] - Z[:, None])
        np.testing.assert_allclose(
            cut_gains(Z, W.indptr, W.indices, W.data), np.einsum("ik,ikj->ij", W.toarray(), signs), atol=1e-12
        )


def test_weights_of_a_point_with_itself_do_not_count(cut_problem):
    Z, pairs = cut_problem(1)
    W = csr_array(pairs.weights + csr_array(np.diag(np.arange(1.0, len(Z) + 1))))
    assert best_cut(Z, W) == best_cut(Z, pairs.weights)


def test_features_are_searched_beyond_one_block(cut_problem):
    for d in (FEATURES_AT_ONCE, FEATURES_AT_ONCE + 1, 3 * FEATURES_AT_ONCE - 1):
        Z, pairs = cut_problem(d, d=d)
        for j in (0, d - 1):
            one = np.zeros_like(Z)
            one[:, j] = Z[:, 1]
            assert best_cut(one, pairs.weights) == best_cut(Z[:, 1:2], pairs.weights)._replace(feature=j)


def test_scaling_a_feature_by_a_power_of_two_scales_the_threshold(cut_problem):
    Z, pairs = cut_problem(3)
    cut = best_cut(Z, pairs.weights)
    assert best_cut(Z * 2.0**-20, pairs.weights) == cut._replace(threshold=cut.threshold * 2.0**-20)


def test_any_memory_layout_gives_the_same_cut(cut_problem):
    Z, pairs = cut_problem(4)
    assert best_cut(np.asfortranarray(Z), pairs.weights) == best_cut(Z, pairs.weights)
    assert best_cut(np.repeat(Z, 2, axis=1)[:, ::2], pairs.weights) == best_cut(Z, pairs.weights)


@pytest.mark.parametrize("n", [1, 5])
def test_without_a_feature_that_varies_no_cut_is_found(n):
    cut = best_cut(np.full((n, 3), 2.5), csr_array((n, n)))
    assert cut.gain == -np.inf
    assert cut.threshold >= 2.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_midway_always_parts_its_two_numbers(dtype):
    info = np.finfo(dtype)
    numbers = [0, 1, -1, 3.7, 1e-30, info.tiny, info.smallest_subnormal, info.max, info.max / 2]
    for number in np.array([*numbers, *(-x for x in numbers)], dtype):
        above = np.nextafter(number, dtype(info.max))
        for low, high in [(number, above), (number, dtype(info.max)), (dtype(-info.max), number)]:
            if low < high:
                middle = midway(low, high)
                assert low <= dtype(middle) < high
                assert dtype(middle) == middle
    assert midway(dtype(1), dtype(3)) == 2
