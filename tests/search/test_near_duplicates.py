"""Near pairs and groups, against a comparison of all pairs."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structhash.search._chunks as chunks_module
import structhash.search.near_duplicates as module
from structhash.codes import hamming, pack
from structhash.search import group_pairs, near_groups, near_pairs


def clustered_codes(n, n_bits, seed, n_centres=20):
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 2, (n_centres, n_bits))
    return pack((centres[rng.integers(0, n_centres, n)] ^ (rng.random((n, n_bits)) < 0.05)).astype(np.uint8))


def joined(found):
    parts = list(found)
    if not parts:
        return [], [], []
    return tuple(np.concatenate(each).tolist() for each in zip(*parts))


def groups_by_search(n, pairs):
    """The lowest row that each row reaches along pairs."""
    near = {row: set() for row in range(n)}
    for i, j in pairs:
        near[i].add(j)
        near[j].add(i)
    lowest = [-1] * n
    for row in range(n):
        waiting = [row] if lowest[row] < 0 else []
        while waiting:
            each = waiting.pop()
            if lowest[each] < 0:
                lowest[each] = row
                waiting += near[each]
    return lowest


@settings(deadline=None, max_examples=60)
@given(
    n_bits=st.sampled_from([1, 8, 20, 64, 70]),
    n=st.integers(0, 150),
    radius=st.integers(0, 12),
    n_centres=st.sampled_from([1, 5, 100]),
    rows_at_once=st.sampled_from([1, 40, 1000]),
    pairs_at_once=st.sampled_from([1, 10**6]),
    seed=st.integers(0, 1000),
)
def test_all_pairs_and_groups(n_bits, n, radius, n_centres, rows_at_once, pairs_at_once, seed):
    names = (module, "_ROWS_AT_ONCE"), (module, "_PAIRS_AT_ONCE"), (chunks_module, "_PAIRS_AT_ONCE")
    before = [getattr(*name) for name in names]
    for (owner, name), value in zip(names, (rows_at_once, pairs_at_once, pairs_at_once)):
        setattr(owner, name, value)
    try:
        codes = clustered_codes(n, n_bits, seed, n_centres)
        i, j, distances = joined(near_pairs(codes, n_bits, radius))
        apart = hamming(codes, codes)
        expected = [(a, b) for a in range(n) for b in range(a + 1, n) if apart[a, b] <= radius]
        assert sorted(zip(i, j)) == expected
        assert [apart[pair] for pair in zip(i, j)] == distances
        assert list(zip(i, distances, j)) == sorted(zip(i, distances, j))
        lowest = groups_by_search(n, expected)
        assert group_pairs(near_pairs(codes, n_bits, radius), n).tolist() == lowest
        assert near_groups(codes, n_bits, radius).tolist() == lowest
    finally:
        for (owner, name), value in zip(names, before):
            setattr(owner, name, value)


@pytest.mark.parametrize("radius", [0, 2, 5])
def test_1500_codes(radius):
    codes = clustered_codes(1500, 64, 0)
    i, j, distances = joined(near_pairs(codes, 64, radius))
    apart = np.triu(hamming(codes, codes) + 1)
    np.fill_diagonal(apart, 0)
    expected = np.argwhere((apart > 0) & (apart <= radius + 1))
    assert sorted(zip(i, j)) == list(map(tuple, expected.tolist()))
    assert max(distances, default=0) <= radius


def test_too_many_pairs_end_with_an_error_that_says_what_to_do():
    codes = np.zeros((3000, 1), np.uint8)
    message = (
        r"more than 10,000 pairs of the first \d+ of 3,000 codes are within radius 2: give a smaller radius"
    )
    with pytest.raises(ValueError, match=message):
        list(near_pairs(codes, 8, 2, max_pairs=10_000))
    assert near_groups(codes, 8, 2, max_pairs=0).tolist() == [0] * 3000  # equal codes are taken once
    assert len(joined(near_pairs(codes[:10], 8, 2, max_pairs=45))[0]) == 45
    with pytest.raises(ValueError, match="more than 44 pairs of the first"):
        list(near_pairs(codes[:10], 8, 2, max_pairs=44))


def test_memory_does_not_grow_with_the_number_of_pairs():
    """4.5 million pairs take 90 MB."""
    codes = np.zeros((3000, 8), np.uint8)
    chunks_module._PAIRS_AT_ONCE, before = 10_000, chunks_module._PAIRS_AT_ONCE
    try:
        sum(len(i) for i, _, _ in near_pairs(codes[:10], 64, 1))  # compiles
        tracemalloc.start()
        n_found = sum(len(i) for i, _, _ in near_pairs(codes, 64, 1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        chunks_module._PAIRS_AT_ONCE = before
    assert n_found == 3000 * 2999 // 2
    assert peak < 5e6


def test_arguments_are_checked_at_once(monkeypatch):
    codes = np.zeros((3, 1), np.uint8)
    with pytest.raises(ValueError, match="the radius must be at least 0"):
        near_pairs(codes, 8, -1)
    with pytest.raises(ValueError, match="must have 2 bytes"):
        near_pairs(codes, 9, 1)
    with pytest.raises(TypeError, match="max_pairs"):
        near_pairs(codes, 8, 1, max_pairs=1.5)
    with pytest.raises(ValueError, match=r"pairs=.*: give rows from 0 to 2"):
        group_pairs([(np.array([0]), np.array([3]))], 3)
    for i, j in (([0.0], [1.0]), ([True], [False]), ([0, 1], [2])):
        with pytest.raises(ValueError, match=r"pairs=.*: give two arrays of row numbers, of equal length"):
            group_pairs([(np.array(i), np.array(j))], 3)
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    with pytest.raises(ValueError, match="3 codes: give at most 2; look at parts of them"):
        near_pairs(codes, 8, 1)
    assert group_pairs([], 3).tolist() == [0, 1, 2]
    assert near_groups(codes[:0], 8, 1).tolist() == []
