"""Indexes that threads and processes share."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pytest

import structhash.search._blocks as blocks
from structhash.codes import Decoder, PreparedQueries, prepare_values
from structhash.pieces import classes
from structhash.search import load_index

EVERY = pytest.mark.parametrize("piece", [classes("indexes")[name] for name in ("exact", "flat")])
SECONDS = 60  # no right answer takes so long; a process that hangs is ended then


def random_codes(n, seed):
    return np.random.default_rng(seed).integers(0, 256, (n, 8), dtype=np.uint8)


def assert_nearest(found, queries, codes, ids):
    """Check the (distance, id) pairs of a search against brute force."""
    differing = np.bitwise_count(queries[:, None] ^ codes[None]).sum(axis=2)
    for row, *mine in zip(differing, *found):
        pairs = sorted(zip(row.tolist(), ids.tolist()))
        assert list(zip(*(each.tolist() for each in mine))) == pairs[: len(mine[0])]


def run(code, *words):
    """Run Python code in a process of its own, and return what it prints; a process that hangs is ended."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * SECONDS).stdout


# threads

PER_ADD, ADDS = 5000, 60


@pytest.fixture
def quick_switches():
    """Let threads take turns a hundred times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@EVERY
@pytest.mark.parametrize("own_ids", [False, True])
@pytest.mark.usefixtures("quick_switches")
def test_threads_add_and_search_one_index(piece, own_ids):
    """Each answer holds right pairs of whole adds, and no code is lost."""
    index, queries, start = piece(64), random_codes(2, 1), threading.Barrier(6)
    codes = random_codes(ADDS * PER_ADD, 0).reshape(ADDS, PER_ADD, 8)
    codes[:, [0, -1]] = queries[0]  # a search that finds the first code of an add finds its last
    ids = np.random.default_rng(2).permutation(ADDS)[:, None] * PER_ADD + np.arange(PER_ADD)

    def add(part):
        start.wait()
        for number in part:
            index.add(codes[number], ids[number] if own_ids else None)

    def search(adders):
        answers = []
        start.wait()
        while not all(adder.done() for adder in adders) or not answers:
            answers.append((index.search(queries, 30), index.radius(queries[:1], 0)))
        return answers

    with ThreadPoolExecutor(6, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        adders = [pool.submit(add, range(first, ADDS, 3)) for first in range(3)]
        searchers = [pool.submit(search, adders) for _ in range(3)]
        for adder in adders:
            adder.result()
        answers = [answer for searcher in searchers for answer in searcher.result()]

    stored_codes = index.table()[0]
    assert index.ids.tolist() == list(range(ADDS * PER_ADD))
    if own_ids:
        np.testing.assert_array_equal(stored_codes[ids], codes)
    else:
        assert {add.tobytes() for add in stored_codes.reshape(codes.shape)} == {add.tobytes() for add in codes}
    for (near, near_ids), (_, _, equal) in answers:
        right = np.bitwise_count(queries[:, None] ^ stored_codes[near_ids]).sum(axis=2)
        np.testing.assert_array_equal(near, np.where(near_ids < 0, 2**31 - 1, right))
        assert (stored_codes[equal] == queries[0]).all()
        first, last = equal[::2], equal[1::2]
        np.testing.assert_array_equal(first % PER_ADD, 0)
        np.testing.assert_array_equal(last, first + PER_ADD - 1)


@EVERY
@pytest.mark.usefixtures("quick_switches")
def test_a_file_saved_while_others_add_holds_whole_adds(piece, tmp_path):
    index, codes = piece(64), random_codes(ADDS * PER_ADD, 0)

    def add():
        for rows in np.array_split(np.arange(ADDS * PER_ADD), ADDS):
            index.add(codes[rows], rows)

    with ThreadPoolExecutor(2) as pool:
        adder = pool.submit(add)
        while not adder.done():
            index.save(tmp_path / "index")
            loaded = load_index(tmp_path / "index")
            assert loaded.ntotal % PER_ADD == 0
            np.testing.assert_array_equal(loaded.table()[0], codes[: loaded.ntotal])
        adder.result()
    assert index.ntotal == len(codes)


# what adds and searches cost


@pytest.mark.slow
@EVERY
def test_adds_between_searches_copy_few_codes(piece, ids_of, monkeypatch):
    """Each code is copied at most log2(n) + 1 times, and a search copies none."""
    monkeypatch.setattr(blocks, "_SMALL_BLOCK", 1)
    n, codes = 1000, random_codes(1000, 0)
    index, ids, copied = piece(64), ids_of(n), 0
    for i in range(n):
        before = index._blocks
        index.add(codes[i : i + 1], None if ids is None else ids[i : i + 1])
        copied += sum(len(new.codes) for new in index._blocks if not any(new is old for old in before))
        before = index._blocks
        index.search(codes[:1], 3)
        index.radius(codes[:1], 3)
        assert all(new is old for new, old in zip(index._blocks, before, strict=True))
        assert len(index._blocks) <= np.log2(i + 1) + 1
    assert copied <= n * (np.log2(n) + 1)
    assert_nearest(index.search(codes[:5], 50), codes[:5], codes, np.arange(n) if ids is None else ids)


@EVERY
def test_small_blocks_are_merged(piece):
    index, codes = piece(64), random_codes(5000, 0)
    for rows in np.array_split(np.arange(5000), 500):
        index.add(codes[rows])
    assert len(index._blocks) <= 3
    assert_nearest(index.search(codes[:2], 50), codes[:2], codes, np.arange(5000))


@EVERY
def test_an_index_of_64_bits_holds_at_most_20_bytes_a_code(piece):
    """8 for the code, 8 for an id of its own, 4 for the length of its vector after a search with a decoder."""
    n, codes, rng = 100_000, random_codes(100_000, 0), np.random.default_rng(0)
    decoder = Decoder(64, np.zeros(2), rng.normal(size=(8, 256, 2)))
    queries = (
        codes[:3],
        prepare_values(rng.normal(size=(3, 64))),
        prepare_values(rng.normal(size=(40, 64))),
        PreparedQueries(64, np.zeros(3), rng.normal(size=(3, 8, 256)), decoder),
    )
    for measured in (False, True):  # the first loads the kernels
        if measured:
            tracemalloc.start()
        index = piece(64)
        index.add(codes, np.arange(n))
        for asked in queries:
            index.search(asked, 10)
            index.search(asked, 10, among=np.arange(0, n, 10))
    held = tracemalloc.get_traced_memory()[0] / n
    tracemalloc.stop()
    assert 19 < held < 20.2


# copies and processes


@EVERY
def test_copies_are_independent(piece, ids_of):
    ids = ids_of(3000)
    new = ["x", "y", "z"] if ids is not None and ids.dtype == object else [9001, 9002, 9003]
    codes, queries = random_codes(3000, 0), random_codes(3, 1)
    index = piece(64)
    index.source = "a model"
    for part in np.array_split(np.arange(3000), 3):
        index.add(codes[part], None if ids is None else ids[part])
    for made in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index), copy.copy(index)):
        made.add(queries, None if ids is None else new)
        assert (made.ntotal, index.ntotal, made.source) == (3003, 3000, "a model")
        assert_nearest(index.search(queries, 20), queries, codes, np.arange(3000) if ids is None else ids)
        assert made.search(queries, 1)[0].tolist() == [[0]] * 3


@pytest.mark.slow
@EVERY
def test_a_spawned_process_gets_an_index_and_answers(piece):
    index, codes, queries = piece(64), random_codes(3000, 0), random_codes(300, 1)
    index.add(codes)
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # its end kills the process
        found = pool.apply_async(index.search, (queries, 5)).get(SECONDS)
    assert_nearest(found, queries, codes, np.arange(3000))


FORKS = """
import multiprocessing, sys, threading
import numpy as np
from structhash.pieces import classes

piece, holder_adds = classes("indexes")[sys.argv[1]], sys.argv[2] == "busy"
rng = np.random.default_rng(0)
codes, queries = (rng.integers(0, 256, (n, 8), dtype=np.uint8) for n in (20_000, 600))
index, other, ids = piece(64), piece(64), np.arange(20_000)
index.add(codes)
expected = index.search(queries, 5)  # the threads of OpenMP begin here

def work():
    for mine, right in zip(index.search(queries, 5), expected):
        np.testing.assert_array_equal(mine, right)
    in_thread = []
    thread = threading.Thread(target=lambda: in_thread.append(index.radius(queries[:9], 20)))
    thread.start()
    index.add(codes[:1])
    thread.join()
    other.add(codes[:1], [10**9])
    assert index.ntotal == 20_001 and len(in_thread) == 1
    with open(sys.argv[3], "a") as file:
        file.write("done\\n")

def hold():  # the lock, nearly all the time
    for first in range(0, 10**9, 20_000):
        if stop.is_set():
            return
        other.add(codes, ids[::-1] + first)

stop = threading.Event()
thread = threading.Thread(target=hold)
children = [multiprocessing.get_context("fork").Process(target=work) for _ in range(6 if holder_adds else 1)]
if holder_adds:
    thread.start()
try:
    for child in children:
        child.start()
        child.join(SECONDS)
        if child.exitcode != 0:
            child.kill()
            raise SystemExit(f"the child ended with {child.exitcode}")
finally:
    stop.set()
assert index.search(queries[:1], 5)[0].tolist() == expected[0][:1].tolist()
"""


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("other_thread", ["idle", "busy"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_searches_and_adds(piece, other_thread, tmp_path, monkeypatch):
    """The parent has searched, and another of its threads may hold the lock."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    run(
        FORKS.replace("SECONDS", str(SECONDS // 3)), piece.__name__.lower(), other_thread, str(tmp_path / "log")
    )
    assert (tmp_path / "log").read_text().split() == ["done"] * (6 if other_thread == "busy" else 1)
