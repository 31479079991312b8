"""Exhaustive search against brute force."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import structhash.search._scan as scan
from structhash.codes import pack
from structhash.io import container as files
from structhash.search import Exact, load_index

NO_CODE = 2**31 - 1


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make blocks so small that every test crosses their borders."""
    monkeypatch.setattr(scan, "_QUERIES_A_BLOCK", 3)
    monkeypatch.setattr(scan, "_CODES_A_BLOCK", 7)


def random_bits(n, n_bits, seed):
    return np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8)


def brute_force(queries, bits, ids, weights):
    """Return the (distance, id) pairs of each query in order, computed bit by bit."""
    distances = (queries[:, None] != bits[None]) @ weights
    return [sorted(zip(row.tolist(), ids.tolist())) for row in distances]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_bits", [3, 8, 13, 64, 100])
@pytest.mark.parametrize("k", [1, 5, 40, 50])
def test_against_brute_force(n_bits, weighted, ids_of, k):
    bits, queries = random_bits(40, n_bits, 0), random_bits(10, n_bits, 1)
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 8, n_bits) / 4 if weighted else None
    given = ids_of(40)
    ids, empty = np.arange(40) if given is None else given, -1
    if ids.dtype == object:
        empty = ""
    index = Exact(n_bits, weights)
    for part in np.array_split(np.arange(40), 3):
        index.add(pack(bits[part]), None if given is None else ids[part])
    expected = brute_force(queries, bits, ids, np.ones(n_bits) if weights is None else weights)
    dtype, far = (np.float32, np.inf) if weighted else (np.int32, NO_CODE)

    distances, found = index.search(pack(queries), k)
    assert (distances.dtype, found.dtype) == (dtype, ids.dtype)
    for i, pairs in enumerate(expected):
        padded = pairs[:k] + [(far, empty)] * (k - len(pairs))
        assert list(zip(distances[i].tolist(), found[i].tolist())) == padded

    r = expected[0][9][0]  # a distance that occurs: it is included
    lims, distances, found = index.radius(pack(queries), r)
    assert (lims.dtype, distances.dtype, found.dtype) == (np.int64, dtype, ids.dtype)
    assert lims[0] == 0
    assert lims[-1] == len(found)
    for i, pairs in enumerate(expected):
        mine = slice(lims[i], lims[i + 1])
        within = [pair for pair in pairs if pair[0] <= r]
        assert list(zip(distances[mine].tolist(), found[mine].tolist())) == within


def test_blocks_of_the_real_size(monkeypatch):
    monkeypatch.undo()
    codes = pack(random_bits(70_000, 8, 0))
    index = Exact(8)
    index.add(codes)
    distances, ids = index.search(codes[:2], k=1000)
    for i in range(2):
        expected = np.bitwise_count(codes[:, 0] ^ codes[i, 0])
        order = np.argsort(expected, kind="stable")[:1000]
        np.testing.assert_array_equal(ids[i], order)
        np.testing.assert_array_equal(distances[i], expected[order])


@pytest.mark.parametrize("weights", [None, np.ones(12)])
def test_empty_index_and_no_queries(weights):
    index, queries = Exact(12, weights), np.zeros((2, 2), dtype=np.uint8)
    far = NO_CODE if weights is None else np.inf
    distances, ids = index.search(queries, 3)
    np.testing.assert_array_equal(distances, np.full((2, 3), far))
    np.testing.assert_array_equal(ids, np.full((2, 3), -1))
    lims, distances, ids = index.radius(queries, 12)
    assert lims.tolist() == [0, 0, 0]
    assert distances.shape == ids.shape == (0,)
    index.add(queries)
    assert index.search(queries[:0], 3)[0].shape == (0, 3)
    lims, distances, ids = index.radius(queries[:0], 1)
    assert lims.tolist() == [0]
    assert distances.shape == ids.shape == (0,)


@pytest.mark.parametrize("ids", [None, [7, 3]])
@pytest.mark.parametrize(("weights", "far"), [(None, NO_CODE), (np.ones(12), np.inf)])
def test_empty_places_come_last(weights, far, ids):
    index = Exact(12, weights)
    index.add(np.array([[1, 0], [0, 0]], dtype=np.uint8), ids)
    distances, found = index.search(np.zeros((1, 2), dtype=np.uint8), 4)
    assert distances.tolist() == [[0, 1, far, far]]
    assert found.tolist() == [[*(ids or [0, 1])[::-1], -1, -1]]


def test_weights_of_zero_and_minus_zero():
    index = Exact(8, weights=[-0.0, 1, 0, 0, 0, 0, 0, -0.0])
    index.add(np.array([[2], [129], [0]], dtype=np.uint8))
    distances, ids = index.search(np.zeros((1, 1), dtype=np.uint8), 3)
    assert distances.tolist() == [[0, 0, 1]]
    assert ids.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("r", [1e300, float("inf"), 8])
@pytest.mark.parametrize("weights", [None, np.ones(8)])
def test_radius_of_everything(r, weights):
    index = Exact(8, weights)
    index.add(np.array([[0], [255]], dtype=np.uint8))
    assert index.radius(np.zeros((1, 1), dtype=np.uint8), r)[0].tolist() == [0, 2]


def test_add_copies():
    codes = np.zeros((2, 1), dtype=np.uint8)
    index = Exact(8)
    index.add(codes)
    codes[:] = 255
    assert index.search(codes[:1], 1)[0].tolist() == [[8]]
    assert len(index) == index.ntotal == 2
    assert repr(index) == "Exact(n_bits=8, ntotal=2)"
    assert repr(Exact(1, [2.0])) == "Exact(n_bits=1, weights=..., ntotal=0)"


@pytest.mark.parametrize(
    ("first", "codes", "ids", "error", "message"),
    [
        (None, np.zeros((2, 2), dtype=np.uint8), None, ValueError, "must have 1 bytes a row, got 2"),
        (None, np.zeros((2, 1)), None, TypeError, "must be packed bytes"),
        (None, np.full((2, 1), 255, dtype=np.uint8), None, ValueError, "zero pad bits"),
        (None, None, [5, 6], ValueError, "this index has row numbers; leave ids out"),
        ([7, 3], None, None, ValueError, "this index has ids of its own; give ids for these codes too"),
        ([7, 3], None, [1, 7], ValueError, "unique, but 7 is in the index already"),
        ([7, 3], None, [4, 4], ValueError, "unique, but 4 comes 2 times"),
        ([7, 3], None, [4, -1], ValueError, r"from 0 to 2\*\*63 - 1, got -1 to 4"),
        ([7, 3], None, np.array([4, 2**63], dtype=np.uint64), ValueError, r"from 0 to 2\*\*63"),
        ([7, 3], None, [4], ValueError, r"shape \(2,\), one for each code, got \(1,\)"),
        ([7, 3], None, [4.0, 5.0], TypeError, "ids must be whole numbers or text, got float64"),
    ],
)
def test_failed_add_changes_nothing(first, codes, ids, error, message):
    index = Exact(7)
    index.add(np.array([[1], [2]], dtype=np.uint8), first)
    codes = np.zeros((2, 1), dtype=np.uint8) if codes is None else codes
    with pytest.raises(error, match=message):
        index.add(codes, ids)
    assert index.ntotal == 2
    assert index.search(np.array([[1]], dtype=np.uint8), 3)[1].tolist() == [[*(first or [0, 1]), -1]]


def test_an_add_of_no_codes_does_not_decide_about_ids():
    index, none = Exact(8), np.empty((0, 1), dtype=np.uint8)
    index.add(none)
    index.add(none, [])
    index.add(np.zeros((1, 1), dtype=np.uint8), ids=[9])
    index.add(none)
    index.add(none, [])
    assert index.search(np.zeros((1, 1), dtype=np.uint8), 1)[1].tolist() == [[9]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"shape \(8,\), one for each bit, got \(1,\)"),
        ([np.nan] * 8, "finite and at least 0"),
        ([-1.0] * 8, "finite and at least 0, got -1.0 to -1.0"),
        ([1e38] * 8, "sum to less than"),
    ],
)
def test_weights_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        Exact(8, weights)


@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (0, ValueError, "k must be at least 1, got 0"),
        (1.5, TypeError, "k must be a whole number, got 1.5"),
        (np.ones((300, 2), int), TypeError, r"k must be a whole number, got ndarray of shape \(300, 2\)$"),
    ],
)
def test_k_refused(k, error, message):
    with pytest.raises(error, match=message):
        Exact(8).search(np.zeros((1, 1), dtype=np.uint8), k)


@pytest.mark.parametrize(
    ("r", "error", "message"),
    [
        (-1, ValueError, "the radius must be at least 0, got -1"),
        (float("nan"), ValueError, "the radius must be at least 0, got nan"),
        ("x", TypeError, "the radius must be a number, got 'x'"),
        (np.ones(300), TypeError, r"the radius must be a number, got ndarray of shape \(300,\)"),
    ],
)
def test_radius_refused(r, error, message):
    with pytest.raises(error, match=message):
        Exact(8).radius(np.zeros((1, 1), dtype=np.uint8), r)


def test_queries_refused():
    with pytest.raises(ValueError, match="queries of 8 bits must have 1 bytes a row, got 2"):
        Exact(8).search(np.zeros((1, 2), dtype=np.uint8), 1)
    with pytest.raises(TypeError, match="queries must be packed bytes"):
        Exact(8).radius(np.zeros((1, 1)), 1)


@pytest.mark.parametrize("weights", [None, np.arange(12) / 7])
@pytest.mark.parametrize("ids", [None, [9, 4, 6], ["b", "é", "long name"]])
@pytest.mark.parametrize("n", [0, 3])
def test_save_and_load(tmp_path, weights, ids, n):
    codes = pack(random_bits(3, 12, 0))
    index = Exact(12, weights)
    index.add(codes[:n], ids if ids is None else ids[:n])
    index.save(tmp_path / "index")
    for loaded in (Exact.load(tmp_path / "index"), load_index(tmp_path / "index")):
        assert (type(loaded), loaded.n_bits, loaded.ntotal) == (Exact, 12, n)
        for mine, theirs in zip(index.search(codes, 4), loaded.search(codes, 4)):
            np.testing.assert_array_equal(mine, theirs)


CODES = np.array([[1], [2]], dtype=np.uint8)


@pytest.mark.parametrize(
    ("arrays", "header", "message"),
    [
        ({}, {"n_bits": 8}, "it holds .*, not an index"),
        ({"codes": CODES, "more": CODES}, {"n_bits": 8}, "it holds .*, not an index"),
        ({"codes": CODES}, {"n_bits": 8, "source": 3}, "it holds .* of the model 3, not an index"),
        ({"codes": CODES}, {"n_bits": 10**30}, "must have .* bytes a row"),
        ({"codes": CODES[0]}, {"n_bits": 8}, r"codes must have shape \(n, 1\)"),
        ({"codes": CODES, "weights": np.full(8, np.nan)}, {"n_bits": 8}, "weights must be finite"),
        ({"codes": CODES, "weights": np.full(8, -1.0)}, {"n_bits": 8}, "weights must be finite and at least 0"),
        ({"codes": CODES}, {}, "n_bits must be a whole number, got None"),
        ({"codes": CODES}, {"n_bits": 16}, "must have 2 bytes a row"),
        ({"codes": CODES}, {"n_bits": 1}, "zero pad bits"),
        ({"codes": CODES.astype(int)}, {"n_bits": 8}, "must be packed bytes"),
        ({"codes": CODES, "ids": np.array([1])}, {"n_bits": 8}, r"ids are int64 of shape \(1,\)"),
        ({"codes": CODES, "ids": np.array([1.0, 2])}, {"n_bits": 8}, "ids are float64"),
        ({"codes": CODES, "ids": np.array([2, 1])}, {"n_bits": 8}, "ids do not ascend"),
        ({"codes": CODES, "ids": np.array([-2, 1])}, {"n_bits": 8}, "ids do not ascend"),
        ({"codes": CODES, "ids": np.array([2**63 - 1, -(2**63)])}, {"n_bits": 8}, "ids do not ascend"),
        *(
            ({"codes": CODES, "ids": np.array(ids, dtype=np.uint8)}, {"n_bits": 8}, message)
            for ids, message in [
                ([[97]], r"ids are uint8 of shape \(1, 1\)"),
                ([[], []], r"ids are uint8 of shape \(2, 0\)"),
                ([97, 98], r"ids are uint8 of shape \(2,\)"),
                ([[98], [97]], "ids do not ascend"),
                ([[97], [97]], "ids do not ascend"),
                ([[97, 0], [0, 0]], "ids are no text"),
                ([[97, 0, 97], [98, 97, 97]], "ids are no text"),
                ([[97], [255]], "ids are no text"),
                ([[0xC3], [0xA9]], "ids are no text"),  # one character in two ids
            ]
        ),
        ({"codes": CODES, "weights": np.ones(3)}, {"n_bits": 8}, r"weights must have shape \(8,\)"),
    ],
)
def test_load_refuses_what_does_not_fit(tmp_path, arrays, header, message):
    files.save(tmp_path / "index", arrays, header, kind="index.exact")
    with pytest.raises(ValueError, match=f"cannot read .*index: .*{message}"):
        load_index(tmp_path / "index")


@pytest.mark.parametrize("ids", [[3, 7], ["é", "b"]])
def test_every_flipped_bit_of_an_index_is_refused(tmp_path, ids, assert_every_flipped_bit_is_refused):
    path, index = tmp_path / "index", Exact(8, np.ones(8))
    index.add(CODES, ids)
    index.save(path)
    assert_every_flipped_bit_is_refused(path, load_index)


def test_load_names_the_kind_that_it_found(tmp_path):
    files.save(tmp_path / "file", {}, {}, kind="model")
    with pytest.raises(ValueError, match=r"it holds 'model', not 'index\.exact'"):
        Exact.load(tmp_path / "file")


def test_ids_and_table_ascend_over_several_adds():
    codes = pack(random_bits(4, 12, 0))
    index = Exact(12)
    index.add(codes[:2], [9, 4])
    index.add(codes[2:], [6, 1])
    assert index.ids.tolist() == [1, 4, 6, 9]
    np.testing.assert_array_equal(index.table()[0], codes[[3, 1, 2, 0]])
    index = Exact(12)
    index.add(codes)
    assert index.table()[1] is None
    assert index.ids.tolist() == [0, 1, 2, 3]


def test_a_pickled_index_searches_and_grows():
    codes = pack(random_bits(4, 12, 0))
    index = Exact(12, np.arange(12))
    index.add(codes)
    copy = pickle.loads(pickle.dumps(index))
    for mine, theirs in zip(index.search(codes, 3), copy.search(codes, 3)):
        np.testing.assert_array_equal(mine, theirs)
    copy.add(codes)
    assert (index.ntotal, copy.ntotal) == (4, 8)


@pytest.mark.parametrize("n_queries", [1, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
def test_any_number_of_threads_finds_the_same(n_queries, weighted, n_jobs, monkeypatch):
    monkeypatch.setattr(scan, "_LEAST_CODES_A_THREAD", 1000)
    codes, queries = pack(random_bits(100_001, 16, 0)), pack(random_bits(n_queries, 16, 1))  # with many ties
    weights = np.random.default_rng(2).integers(0, 3, 16) if weighted else None
    one, several = Exact(16, weights), Exact(16, weights, n_jobs=n_jobs)
    for index in (one, several):
        index.add(codes)
    for among in (None, np.random.default_rng(3).random(len(codes)) < 0.7, np.arange(5)):
        for right, found in zip(one.search(queries, 1200, among), several.search(queries, 1200, among)):
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("weights", [None, np.ones(16)])
def test_each_thread_takes_a_part(weights, monkeypatch):
    started = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, n):
            started.append(n)
            super().__init__(n)

    monkeypatch.setattr(scan, "ThreadPoolExecutor", Pool)
    index, n = Exact(16, weights, n_jobs=3), 3 * scan._LEAST_CODES_A_THREAD
    index.add(pack(random_bits(n, 16, 0)))
    index.search(pack(random_bits(2, 16, 1)), 5)
    index.n_jobs = 2
    index.search(pack(random_bits(2, 16, 1)), 5)
    index.n_jobs = 1
    index.search(pack(random_bits(2, 16, 1)), 5)
    assert started == [3, 2]


def test_a_file_does_not_keep_the_number_of_threads(tmp_path):
    index = Exact(8, n_jobs=2)
    index.add(np.array([[1]], np.uint8))
    index.save(tmp_path / "i")
    assert load_index(tmp_path / "i").n_jobs == 1
    assert pickle.loads(pickle.dumps(index)).n_jobs == 2


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
def test_a_number_of_threads_that_is_none_is_refused(n_jobs):
    with pytest.raises(ValueError, match="give None for one thread, a number of threads, or -1 for all cores"):
        Exact(8, n_jobs=n_jobs)
    index = Exact(8)
    index.add(np.array([[1]], np.uint8))
    index.n_jobs = n_jobs
    with pytest.raises(ValueError, match="n_jobs="):
        index.search(np.array([[1]], np.uint8), 1)
