"""The listwise cross entropy: its weight, its loss, its pair weights, against sums written out."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from structhash.masters.listwise import ListwiseMaster
from structhash.pair_weights import PairGraph, score
from structhash.training.distillation import draw_partners

RNG = np.random.default_rng(0)
N, LENGTH = 30, 12
PARTNERS = draw_partners(N, LENGTH, RNG)
TARGETS = RNG.dirichlet(np.ones(LENGTH), size=N)
MANY = np.r_[np.ones(4), np.full(LENGTH - 4, 7.0)]  # points that a partner represents


def graph():
    indptr = np.arange(N + 1, dtype=np.int64) * LENGTH
    return PairGraph(np.arange(N, dtype=np.int32), indptr, PARTNERS.ravel(), N)


def distances(bits, weights):
    """Weighted Hamming distances (N, LENGTH) of each query to its partners."""
    bits = np.array(bits, float).reshape(-1, N)
    return sum(w * (bit[:, None] != bit[PARTNERS]) for w, bit in zip(weights, bits, strict=True))


def loss(bits, weights, self_weight, multiplicities):
    d = distances(bits, weights)
    return ((TARGETS * d).sum(axis=1) + np.log(self_weight + (multiplicities * np.exp(-d)).sum(axis=1))).mean()


def learned(n_bits, self_weight, multiplicities):
    bits = RNG.integers(0, 2, (n_bits, N)).astype(np.uint8)
    bits[0] = TARGETS[:, 0] > np.median(TARGETS[:, 0])
    master = ListwiseMaster(graph(), TARGETS.ravel(), 8, self_weight, multiplicities)
    return bits, master, [master.add(bit) for bit in bits]


@pytest.mark.parametrize("multiplicities", [np.ones(LENGTH), MANY], ids=["alone", "for-many"])
@pytest.mark.parametrize("self_weight", [0.0, 1.0, 5.0])
def test_the_weight_is_the_best_one_for_all_bits(self_weight, multiplicities):
    bits, _, solutions = learned(4, self_weight, multiplicities)
    for t, solution in enumerate(solutions, 1):
        best = minimize_scalar(
            lambda w, t=t: loss(bits[:t], [w] * t, self_weight, multiplicities),
            bounds=(0, 50),
            method="bounded",
        )
        assert len(set(solution.weights.tolist())) == 1
        assert solution.objective == pytest.approx(
            loss(bits[:t], solution.weights, self_weight, multiplicities), abs=1e-6
        )
        assert solution.objective <= best.fun + 1e-6


@pytest.mark.parametrize("multiplicities", [np.ones(LENGTH), MANY], ids=["alone", "for-many"])
@pytest.mark.parametrize("self_weight", [0.0, 5.0])
def test_the_score_of_a_new_bit_is_what_the_loss_falls_by_its_weight(self_weight, multiplicities):
    bits, _, solutions = learned(4, self_weight, multiplicities)
    new = RNG.integers(0, 2, N).astype(np.uint8)
    step, weights = 1e-4, solutions[-1].weights
    up, down = (loss([*bits, new], [*weights, sign * step], self_weight, multiplicities) for sign in (1, -1))
    found = score(graph().pair_weights(solutions[-1].entries), new)
    assert found == pytest.approx(-(up - down) / (2 * step), abs=1e-5)


def test_before_the_first_bit_all_partners_have_the_same_chance():
    entries = ListwiseMaster(graph(), TARGETS.ravel(), 8).first_entries()
    np.testing.assert_allclose(entries, (1 / LENGTH - TARGETS.ravel()) / N, atol=1e-7)


def test_the_start_is_the_same_whatever_bits_there_are():
    master = ListwiseMaster(graph(), TARGETS.ravel(), 8)
    before = master.first_entries()
    for _ in range(8):
        master.add(RNG.integers(0, 2, N).astype(np.uint8))
    np.testing.assert_array_equal(master.first_entries(), before)


def test_no_chance_is_so_small_that_it_is_0():
    """Bits that follow the targets exactly drive the weight up; one list has no near partner at all."""
    side = (np.arange(N) < N // 2).astype(np.uint8)
    targets = (side[PARTNERS] == side[:, None]).astype(float)
    side[0] ^= 1
    targets[0] = 1
    targets /= targets.sum(axis=1, keepdims=True)
    master = ListwiseMaster(graph(), targets.ravel(), 300)
    for _ in range(300):
        solution = master.add(side)
        assert np.isfinite(solution.entries).all()
    assert np.isfinite(solution.objective)


def test_codes_longer_than_a_byte_can_count_are_learned():
    master = ListwiseMaster(graph(), TARGETS.ravel(), 300)
    bit = (np.arange(N) % 2).astype(np.uint8)
    for _ in range(299):
        master.add(bit)
    expected = distances([bit] * 300, [1.0] * 300)
    master.add(bit)
    np.testing.assert_array_equal(master.distances.reshape(N, LENGTH), expected)
