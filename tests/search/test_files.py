"""Index files: mapped, checked, and written without the memory that their codes would take."""

import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from structhash.io import container as files
from structhash.pieces import classes
from structhash.search import Exact, load_index

EVERY = pytest.mark.parametrize("piece", [classes("indexes")[name] for name in ("exact", "flat")])
MANY = 1_000_000
MEBIBYTE = 1 << 20


def random_codes(n, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, 8), dtype=np.uint8)


def peak_of(work):
    """The most memory that numpy and Python hold during a call, beyond what they hold before, in MiB."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1] / MEBIBYTE, result
    finally:
        tracemalloc.stop()


# mapped files


@EVERY
def test_a_mapped_index_answers_and_changes_as_any(piece, ids_of, tmp_path):
    codes, queries, ids = random_codes(300), random_codes(5, 1), ids_of(300)
    index = piece(64)
    index.add(codes, ids)
    index.source = "a model"
    index.save(tmp_path / "index")
    before = (tmp_path / "index").read_bytes()
    new = ["x", "y", "z", "v", "w"] if index.ids.dtype == object else range(997, 1002)
    for mapped in (piece.load(tmp_path / "index", mmap=True), load_index(tmp_path / "index", True, False)):
        assert (type(mapped), mapped.ntotal, mapped.source) == (piece, 300, "a model")
        plain = load_index(tmp_path / "index")
        for change in (
            lambda each: None,
            lambda each: each.replace(each.ids[:2], queries[:2]),
            lambda each: each.remove(each.ids[5:9]),
            lambda each: each.add(queries, new),
        ):
            change(mapped)
            change(plain)
            among = mapped.ids[::3]
            for limit in (None, among):
                for mine, theirs in zip(
                    (*mapped.search(queries, 310, limit), *mapped.radius(queries, 30, limit)),
                    (*plain.search(queries, 310, limit), *plain.radius(queries, 30, limit)),
                ):
                    np.testing.assert_array_equal(mine, theirs)
        assert mapped.ntotal == 301
    assert (tmp_path / "index").read_bytes() == before


SEARCH_MAPPED = """
import sys
import numpy as np
from structhash.search import load_index
index = load_index(sys.argv[1], mmap=True)
index.search(np.zeros((2, 8), np.uint8), 3)
with open("/proc/self/smaps") as file:
    print(file.read().partition(sys.argv[1])[2].partition("VmFlags")[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="this system does not list maps")
@EVERY
def test_processes_share_the_codes_of_a_mapped_index(piece, tmp_path):
    index = piece(64)
    index.add(random_codes(100_000))
    index.save(tmp_path / "index")
    words = [sys.executable, "-c", SEARCH_MAPPED, str(tmp_path / "index")]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    sizes = {name: int(size) for name, size in re.findall(r"(\w+): +(\d+) kB", printed)}
    assert sizes["Rss"] > 700
    assert sizes["Private_Dirty"] == sizes["Anonymous"] == 0


def test_a_mapped_index_is_not_held_in_memory(tmp_path):
    index = Exact(63)
    codes = random_codes(MANY)
    codes[:, -1] >>= 1
    for ids in (None, np.arange(MANY)):
        index = Exact(63)
        index.add(codes, ids)
        index.save(tmp_path / "index")
        for verify in (True, False):
            peak, mapped = peak_of(lambda verify=verify: load_index(tmp_path / "index", True, verify))
            assert peak < 2
            assert mapped.ntotal == MANY


@pytest.mark.parametrize("ids", [None, [3, 7], ["é", "b"]])
def test_a_file_that_is_replaced_does_not_change_a_mapped_index(ids, tmp_path):
    codes = random_codes(2)
    index = Exact(64)
    index.add(codes, ids)
    index.save(tmp_path / "index")
    mapped = load_index(tmp_path / "index", mmap=True)
    Exact(64).save(tmp_path / "index")
    np.testing.assert_array_equal(np.sort(mapped.search(codes, 1)[0]), 0)
    np.testing.assert_array_equal(mapped.ids, index.ids)
    mapped.save(tmp_path / "index")  # over a file of its own name
    np.testing.assert_array_equal(load_index(tmp_path / "index").table()[0], index.table()[0])


@pytest.mark.slow
def test_a_damaged_file_is_not_mapped(tmp_path, assert_every_flipped_bit_is_refused):
    index, path = Exact(60), tmp_path / "index"
    index.add(random_codes(2) & 15, ["é", "b"])
    index.save(path)
    content = path.read_bytes()
    assert_every_flipped_bit_is_refused(path, lambda path: load_index(path, mmap=True))
    for length in range(0, len(content), 5):
        path.write_bytes(content[:length])
        for verify in (True, False):
            with pytest.raises(ValueError, match="cannot read"):
                load_index(path, mmap=True, verify=verify)
    for place in range(0, 8 * len(content), 5):  # without the check a file opens or says why
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            assert load_index(path, mmap=True, verify=False).ntotal == 2
        except ValueError as error:
            assert "cannot read" in str(error)  # noqa: PT017


def test_a_file_is_read_without_a_check_only_as_a_map(tmp_path):
    Exact(8).save(tmp_path / "index")
    with pytest.raises(ValueError, match="verify=False: give mmap=True too"):
        load_index(tmp_path / "index", verify=False)


def test_a_file_that_becomes_shorter_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "index"
    index = Exact(64)
    index.add(random_codes(10))
    index.save(path)
    read_head = files.read_head

    def shorten(file):
        head = read_head(file)
        with open(path, "r+b") as other:
            other.truncate(path.stat().st_size - 8)
        return head

    monkeypatch.setattr(files, "read_head", shorten)
    with pytest.raises(ValueError, match="it became shorter while it was read"):
        load_index(path, mmap=True)


# memory


@pytest.mark.parametrize(("ids", "most"), [(None, 8), (np.arange(MANY)[::-1], 16)])
@EVERY
def test_a_million_codes_take_no_more_than_their_bytes_and_ids(piece, ids, most, tmp_path):
    """1 MB more are for all else; 10^6 codes of 64 bits are 7.63 MiB."""
    codes, queries = random_codes(MANY), random_codes(4, 1)

    def made():
        index = piece(64)
        index.add(codes, ids)
        index.search(queries, 10)
        return index

    tracemalloc.start()
    index = made()
    assert tracemalloc.get_traced_memory()[0] < most * 1e6 + 1e6
    tracemalloc.stop()
    peak, _ = peak_of(lambda: index.save(tmp_path / "index"))
    assert peak < 2
    peak, loaded = peak_of(lambda: load_index(tmp_path / "index"))
    assert peak < most + 1
    np.testing.assert_array_equal(loaded.search(queries, 10), index.search(queries, 10))


@pytest.mark.parametrize("own_ids", [False, True])
def test_a_merge_makes_one_copy_of_the_codes(own_ids):
    """With ids also the order of 10^6 ids, its inverse, and the ids twice: 8 MB each."""
    parts = []
    for number in range(2):
        index = Exact(64)
        ids = np.arange(number, MANY, 2)
        index.add(random_codes(MANY // 2, number), ids if own_ids else None)
        parts.append(index)
    expected = [np.concatenate([part.table()[0] for part in parts])]
    if own_ids:
        expected = [expected[0].reshape(2, -1, 8).swapaxes(0, 1).reshape(-1, 8)]
    peak, _ = peak_of(lambda: parts[0].merge(parts[1]))
    assert peak < (40 if own_ids else 8)
    np.testing.assert_array_equal(parts[0].table()[0], expected[0])


def test_large_blocks_are_shared_by_a_merge():
    large, small = Exact(64), Exact(64)
    large.add(random_codes(20_000))
    small.add(random_codes(5000, 1))
    peak, _ = peak_of(lambda: large.merge(small))
    assert peak < 0.02
    small.replace([0], random_codes(1, 2))
    np.testing.assert_array_equal(large.table()[0][20_000:], random_codes(5000, 1))
