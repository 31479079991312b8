"""Indexes that join in a file."""

import copy
import tracemalloc

import numpy as np
import pytest

import structhash.search._index_file as index_file
from structhash.search import Exact, Flat, load_index, save_merged

N_BITS = 20


def random_codes(n, seed=0):
    codes = np.random.default_rng(seed).integers(0, 256, (n, 3), dtype=np.uint8)
    codes[:, 2] &= 15
    return codes


def index_of(codes, ids=None, source=None, piece=Exact):
    index = piece(N_BITS)
    index.add(codes, ids)
    index.source = source
    return index


@pytest.mark.parametrize("rows_at_once", [1, 2, 7, 1000])
@pytest.mark.parametrize("sizes", [(40,), (0, 0), (1, 30, 2, 7), (13, 0, 27)])
def test_the_file_holds_the_codes_of_all_indexes(ids_of, sizes, rows_at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(index_file, "_ROWS_AT_ONCE", rows_at_once)
    n = sum(sizes)
    codes, ids, indexes, first = random_codes(n), ids_of(n), [], 0
    for number, size in enumerate(sizes):
        part, first = slice(first, first + size), first + size
        index = index_of(codes[part], None if ids is None else ids[part], "a model", (Flat, Exact)[number % 2])
        index.save(tmp_path / str(number))
        indexes.append(load_index(tmp_path / str(number), mmap=True))
    save_merged(indexes, tmp_path / "0")
    merged, whole = load_index(tmp_path / "0"), index_of(codes, ids)
    assert (type(merged), merged.source, merged.ntotal) == (Flat, "a model", n)
    np.testing.assert_array_equal(merged.table()[0], whole.table()[0])
    assert (merged.table()[1] is None) == (ids is None or n == 0)
    np.testing.assert_array_equal(merged.ids, whole.ids)
    assert [each.ntotal for each in indexes] == list(sizes)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (([3, 7], [7, 9]), ValueError, "ids must be unique, but 7 comes 2 times"),
        ((["a", "b"], ["b", "c"]), ValueError, "ids must be unique, but 'b' comes 2 times"),
        ((["3", "7"], [1, 2]), TypeError, "this index has ids that are text, got whole numbers such as 1"),
        ((None, [1, 2]), ValueError, "one index has row numbers, another ids of its own; index all codes"),
        (([1, 2], None), ValueError, "one index has row numbers, another ids of its own; index all codes"),
    ],
)
def test_ids_that_do_not_fit_are_refused(ids, error, message, tmp_path):
    indexes = [index_of(random_codes(2), each) for each in ids]
    indexes[0].save(tmp_path / "index")
    before = (tmp_path / "index").read_bytes()
    with pytest.raises(error, match=message):
        save_merged(indexes, tmp_path / "index")
    assert [each.name for each in tmp_path.iterdir()] == ["index"]
    assert (tmp_path / "index").read_bytes() == before


TWICE = Exact(8)


@pytest.mark.parametrize(
    ("indexes", "error", "message"),
    [
        ([], ValueError, "indexes is empty; give at least one"),
        (Exact(8), TypeError, r"indexes=Exact\(n_bits=8, ntotal=0\): give a list of indexes"),
        ([Exact(8), np.zeros((1, 1), np.uint8)], TypeError, "is no index"),
        (
            [TWICE, Exact(8), TWICE],
            ValueError,
            "an index is given twice, so each of its codes would be there twice",
        ),
        ([Exact(8), Exact(9)], ValueError, "another length or other weights"),
        ([Exact(8), Exact(8, np.ones(8))], ValueError, "another length or other weights"),
        (
            [index_of(random_codes(1), None, "a"), index_of(random_codes(1), None, "b")],
            ValueError,
            "codes of different models",
        ),
    ],
)
def test_indexes_that_do_not_fit_are_refused(indexes, error, message, tmp_path):
    with pytest.raises(error, match=message):
        save_merged(indexes, tmp_path / "index")
    assert not list(tmp_path.iterdir())


def test_a_file_names_a_model_only_if_all_codes_are_of_it(tmp_path):
    named, unnamed = index_of(random_codes(1), None, "a"), index_of(random_codes(1))
    for indexes, source in (
        ([named, copy.copy(named)], "a"),
        ([named, unnamed], None),
        ([unnamed, named], None),
        ([Exact(N_BITS), named], "a"),
        ([named, Exact(N_BITS)], "a"),
        ([Exact(N_BITS), unnamed], None),
    ):
        save_merged(indexes, tmp_path / "index")
        assert load_index(tmp_path / "index").source == source


def test_weights_stay(tmp_path):
    index = Exact(8, np.arange(8))
    index.add(np.array([[1]], np.uint8))
    save_merged([index, copy.copy(index)], tmp_path / "index")
    np.testing.assert_array_equal(load_index(tmp_path / "index").weights, np.arange(8))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["running", "numbers", "text"])
def test_memory_does_not_grow_with_the_codes(kind, tmp_path):
    peaks = []
    for n in (100_000, 400_000):
        for number in range(2):
            ids = np.arange(number, 2 * n, 2)
            given = {"running": None, "numbers": ids, "text": np.char.mod("%08d", ids)}[kind]
            index_of(random_codes(n, number), given).save(tmp_path / str(number))
        indexes = [load_index(tmp_path / str(number), mmap=True) for number in range(2)]
        tracemalloc.start()
        save_merged(indexes, tmp_path / "merged")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert load_index(tmp_path / "merged", mmap=True).ntotal == 2 * n
    assert max(peaks) < 6e6
    assert peaks[1] < peaks[0] + 1e6
