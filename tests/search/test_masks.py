"""The rows that a mask of codes keeps, against those of numpy."""

import numpy as np
import pytest

from structhash.codes import pack
from structhash.search import Exact
from structhash.search._masks import dense_mask, rows_kept


@pytest.mark.parametrize("n", [0, 1, 7, 8, 63, 64, 65, 128, 1000])
@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.5, 1])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_rows_are_those_of_numpy(n, share, step, rng):
    mask = (rng.random(3 * n) < share)[::step][:n]
    rows = rows_kept(mask)
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows, np.flatnonzero(mask))


@pytest.mark.parametrize("n", [1, 64, 130])
def test_each_single_row(n):
    for i in range(n):
        assert rows_kept(np.arange(n) == i).tolist() == [i]


def test_a_mask_that_is_read_only_or_holds_other_bytes_than_0_and_1():
    mask = np.array([0, 1, 2, 255, 0], np.uint8).view(np.bool_)
    mask.flags.writeable = False
    assert rows_kept(mask).tolist() == [1, 2, 3]


def test_rows_where_numba_compiles_nothing(interpreted):
    program = """
import numpy as np
from structhash.search._masks import rows_kept
mask = np.random.default_rng(0).random(1000) < 0.3
print((rows_kept(mask) == np.flatnonzero(mask)).all())
"""
    assert interpreted(program) == "True\n"


def test_a_mask_is_searched_in_place_only_where_it_keeps_many_of_many_codes(rng):
    codes, draw = np.zeros((20_000, 8), np.uint8), rng.random(20_000)
    mask = dense_mask(draw < 0.1, codes)
    np.testing.assert_array_equal(mask.kept, draw < 0.1)
    assert mask.n_kept == (draw < 0.1).sum()
    assert dense_mask((draw < 0.1)[::-1], codes).kept.flags.c_contiguous
    assert dense_mask(draw < 0.01, codes) is None
    assert dense_mask(draw < 0.1, np.zeros((20_000, 32), np.uint8)) is None  # picking out costs less a byte
    few = np.ones(100, bool)
    assert dense_mask(few, np.zeros((100, 8), np.uint8)) is None
    for other in (np.arange(20_000), few, (draw < 0.1).tolist(), np.ma.array(draw < 0.1), None):
        assert dense_mask(other, codes) is None  # `select` reads or refuses these


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_bits", [5, 64, 65, 128, 190, 256])
def test_one_query_finds_what_brute_force_finds_among_many_kept_codes(n_bits, n_jobs, rng):
    n = 70_000
    bits = rng.integers(0, 2, (n, n_bits), dtype=np.uint8)
    query, codes = bits[:1], pack(bits)
    index, ids = Exact(n_bits, n_jobs=n_jobs), np.sort(rng.permutation(5 * n)[:n])
    for part in np.array_split(rng.permutation(n), 3):
        index.add(codes[part], ids[part])
    distances = (bits != query).sum(axis=1)
    first_half, few_at_the_end = np.arange(n) < n // 2, np.arange(n) >= n - 5_000
    few_at_the_end[:3] = True  # a thread finds fewer than k
    other_bytes = (rng.integers(0, 4, n, dtype=np.uint8) * 5).view(np.bool_)
    for mask in (rng.random(n) < 0.6, first_half, few_at_the_end, np.ones(n, bool), other_bytes):
        rows = np.flatnonzero(mask)
        order = rows[np.argsort(distances[rows], kind="stable")]
        for k in (1, 100, len(rows) + 2):
            near, names = index.search(pack(query), k, among=mask)
            assert near.shape == (1, k)
            right = order[:k]
            np.testing.assert_array_equal(near[0, : len(right)], distances[right])
            np.testing.assert_array_equal(names[0, : len(right)], ids[right])
            assert (names[0, len(right) :] == -1).all()
            assert (near[0, len(right) :] == 2**31 - 1).all()


def test_ids_in_any_order_and_repeated_are_searched_once(rng):
    codes = rng.integers(0, 256, (500, 2), dtype=np.uint8)
    index = Exact(16)
    index.add(codes)
    distances = np.bitwise_count(codes[:1] ^ codes).sum(axis=1)
    even = np.arange(0, 500, 2)
    for among in (even, even[::-1], np.repeat(even, 2), [7], []):
        rows = np.unique(np.asarray(among, np.int64))
        order = rows[np.argsort(distances[rows], kind="stable")][:5]
        assert index.search(codes[:1], 5, among=among)[1][0, : len(order)].tolist() == order.tolist()
