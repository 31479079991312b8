"""Removal, replacement, merging and limits, against a dictionary that holds the codes by id."""

import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import structhash.search._blocks as blocks
import structhash.search._index_file as index_file
import structhash.search._sublinear as sublinear
from structhash.codes import hamming, prepare_values, prepared_distances, unpack
from structhash.pieces import classes
from structhash.search import IVF, Exact, Flat, MultiHash, Rescored, load_index, save_merged

EVERY = pytest.mark.parametrize("piece", classes("indexes").values())
N_BITS = 11  # few, so that ties are many
NO_CODE = 2**31 - 1
PIECES = st.sampled_from([Exact, Flat, IVF, MultiHash])  # which miss nothing, with all lists probed


def random_codes(n, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n, 2), dtype=np.uint8)
    codes[:, 1] &= 7
    return codes


def text_of(number):
    """A text id of a number; texts are not in the order of the numbers."""
    return f"{'é-a'[number % 3]}{number}"


class Stateful(RuleBasedStateMachine):
    """An index, and the dictionary of the codes that it should hold."""

    def __init__(self):
        super().__init__()
        self.before = blocks._SMALL_BLOCK, sublinear._LEAST_CODES, index_file._ROWS_AT_ONCE
        blocks._SMALL_BLOCK, sublinear._LEAST_CODES = 3, 5  # several blocks, and structures over some of them
        index_file._ROWS_AT_ONCE = 2
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        blocks._SMALL_BLOCK, sublinear._LEAST_CODES, index_file._ROWS_AT_ONCE = self.before
        self.folder.cleanup()

    @initialize(piece=PIECES, kind=st.sampled_from(["running", "numbers", "text"]))
    def start(self, piece, kind):
        self.index, self.model, self.kind = piece(N_BITS), {}, kind
        if piece is IVF:
            self.index = IVF(N_BITS, n_lists=4, n_probe=4)

    def new_ids(self, n, rng):
        """n ids that the index does not have; None for row numbers."""
        if self.kind == "running":
            return None
        names = [text_of(each) if self.kind == "text" else each for each in rng.permutation(500).tolist()]
        return [each for each in names if each not in self.model][:n]

    def remember(self, ids, codes):
        """Note what was added."""
        names = range(len(self.model), len(self.model) + len(codes)) if ids is None else ids
        self.model |= dict(zip(names, codes, strict=True))

    def ids_and_codes(self):
        ids = sorted(self.model)
        codes = np.array([self.model[each] for each in ids], dtype=np.uint8).reshape(-1, 2)
        return np.array(ids, dtype=object if ids and self.kind == "text" else np.int64), codes

    @rule(seed=st.integers(0, 10**6), n=st.integers(0, 12))
    def add(self, seed, n):
        ids, codes = self.new_ids(n, np.random.default_rng(seed)), random_codes(n, seed)
        self.index.add(codes, ids)
        self.remember(ids, codes)

    @precondition(lambda self: self.model)
    @rule(seed=st.integers(0, 10**6))
    def add_what_is_there(self, seed):
        known = np.random.default_rng(seed).choice(self.ids_and_codes()[0])
        with pytest.raises(ValueError, match=r"this index has row numbers|is in the index already"):
            self.index.add(random_codes(1, seed), [known])
        with pytest.raises((ValueError, TypeError), match=r"row numbers|that are"):
            self.index.add(random_codes(1, seed), [0 if self.kind == "text" else "0"])

    @precondition(lambda self: self.model)
    @rule(seed=st.integers(0, 10**6), share=st.floats(0, 1))
    def remove(self, seed, share):
        rng = np.random.default_rng(seed)
        ids = rng.permutation(self.ids_and_codes()[0])[: int(np.ceil(share * len(self.model)))]
        self.index.remove(ids)
        for each in ids.tolist():
            del self.model[each]
        if not self.model:  # an empty index decides again
            self.kind = str(rng.choice(["running", "numbers", "text"]))
        elif len(ids) and self.kind == "running":
            self.kind = "numbers"

    @precondition(lambda self: self.model)
    @rule(seed=st.integers(0, 10**6), n=st.integers(0, 5))
    def replace(self, seed, n):
        ids = np.random.default_rng(seed).permutation(self.ids_and_codes()[0])[:n]
        codes = random_codes(len(ids), seed)
        self.index.replace(ids, codes)
        self.model |= dict(zip(ids.tolist(), codes))

    @rule(seed=st.integers(0, 10**6), n=st.integers(0, 6), piece=PIECES)
    def merge(self, seed, n, piece):
        other, codes = piece(N_BITS), random_codes(n, seed)
        ids = self.new_ids(n, np.random.default_rng(seed))
        for part in range(0, n, 2):
            other.add(codes[part : part + 2], None if ids is None else ids[part : part + 2])
        self.index.merge(other)
        self.remember(ids, codes)

    @rule(seed=st.integers(0, 10**6), n=st.integers(0, 6), mapped=st.booleans())
    def merge_in_a_file(self, seed, n, mapped):
        path, other, codes = Path(self.folder.name) / "index", Exact(N_BITS), random_codes(n, seed)
        ids = self.new_ids(n, np.random.default_rng(seed))
        other.add(codes, ids)
        self.index.save(path)
        save_merged([load_index(path, mmap=True), other], path)
        self.index = load_index(path, mmap=mapped)
        self.remember(ids, codes)

    @rule(seed=st.integers(0, 10**6), k=st.integers(1, 9), factor=st.integers(1, 4))
    def search_in_two_stages(self, seed, k, factor):
        """Each vector is the bits of its code, so candidates by code are the nearest by vector, too."""
        ids, codes = self.ids_and_codes()
        order = np.random.default_rng(seed).permutation(len(ids))
        asked, vectors = random_codes(3, seed), unpack(codes[order], N_BITS)
        rescored = Rescored(copy.copy(self.index), vectors, "euclidean", factor, ids[order])
        distances, found = rescored.search(asked, unpack(asked, N_BITS), k)
        near, expected = self.index.search(asked, k)
        np.testing.assert_array_equal(found, expected)
        there = near < NO_CODE
        np.testing.assert_allclose(distances[there], np.sqrt(near[there]), rtol=1e-6)

    @rule()
    def pickle(self):
        self.index = pickle.loads(pickle.dumps(self.index))

    @rule(mapped=st.booleans())
    def save_and_load(self, mapped):
        path = Path(self.folder.name) / "index"
        self.index.save(path)
        self.index = load_index(path, mmap=mapped)

    @invariant()
    def holds_what_the_dictionary_holds(self):
        ids, codes = self.ids_and_codes()
        whole = copy.copy(self.index)  # `table` merges its blocks; those of the index itself stay
        assert len(self.index) == len(ids)
        np.testing.assert_array_equal(whole.table()[0], codes)
        assert whole.ids.dtype == ids.dtype
        np.testing.assert_array_equal(whole.ids, ids)

    @rule(seed=st.integers(0, 10**6), k=st.integers(1, 20), limited=st.booleans(), prepared=st.booleans())
    def search(self, seed, k, limited, prepared):
        rng = np.random.default_rng(seed)
        ids, codes = self.ids_and_codes()
        kept = rng.random(len(ids)) < 0.5 if limited else np.ones(len(ids), bool)
        asked = random_codes(3, seed + 1)
        if prepared and type(self.index) is not MultiHash:
            asked = prepare_values(rng.integers(-3, 4, (3, N_BITS)))
            distances = prepared_distances(asked, codes[kept])
        else:
            distances = hamming(asked, codes[kept])
        for among in [kept, rng.permutation(ids[kept])] if limited else [None]:
            near, names = self.index.search(asked, k, among=among)
            lims, within, owners = self.index.radius(asked, 3.0, among=among)
            assert names.dtype == owners.dtype == ids.dtype
            for q in range(3):
                pairs = sorted(zip(distances[q].tolist(), ids[kept].tolist()))
                empty = (np.inf if near.dtype == np.float32 else NO_CODE, "" if ids.dtype == object else -1)
                expected = pairs[:k] + [empty] * (k - len(pairs))
                assert list(zip(near[q].tolist(), names[q].tolist())) == expected
                own = slice(lims[q], lims[q + 1])
                assert list(zip(within[own].tolist(), owners[own].tolist())) == [p for p in pairs if p[0] <= 3]


TestStateful = pytest.mark.slow(Stateful.TestCase)
TestStateful.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


@EVERY
def test_changes_are_saved(piece, tmp_path):
    codes = random_codes(6, 0)
    index = piece(N_BITS)
    index.add(codes)
    index.remove([1, 4])
    index.replace([5, 0], codes[[1, 4]])
    index.save(tmp_path / "i")
    loaded = load_index(tmp_path / "i")
    np.testing.assert_array_equal(loaded.ids, [0, 2, 3, 5])
    np.testing.assert_array_equal(loaded.table()[0], codes[[4, 2, 3, 1]])


@EVERY
def test_ids_that_come_twice_are_searched_once(piece):
    index = piece(N_BITS)
    index.add(random_codes(6, 0), [7, 1, 4, 9, 2, 3])
    found = index.search(random_codes(1, 1), 6, among=[4, 9, 4, 2, 9])[1]
    assert sorted(found[0].tolist()) == [-1, -1, -1, 2, 4, 9]
    none = index.search(random_codes(1, 1), 2, among=[])[1]
    assert none.tolist() == [[-1, -1]]


@EVERY
def test_running_numbers_become_ids_when_codes_are_removed(piece):
    index = piece(N_BITS)
    index.add(random_codes(3, 0))
    index.remove([])
    index.add(random_codes(1, 1))  # nothing was removed: numbers still run
    index.remove([0, 0])
    assert index.ids.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="this index has ids of its own; give ids"):
        index.add(random_codes(1, 1))
    index.remove([1, 2, 3])
    index.add(random_codes(1, 1))  # an empty index decides again
    assert index.ids.tolist() == [0]


@EVERY
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda i: i.remove([3, 9]), ValueError, "1 of 2 ids are not in the index, such as 9"),
        (lambda i: i.remove([-1]), ValueError, "ids must be from 0"),
        (lambda i: i.remove([1.5]), TypeError, "ids must be whole numbers or text, got float64 such as 1.5"),
        (
            lambda i: i.remove([True, False]),
            TypeError,
            r"got bool; give the ids of a mask, as index.ids\[mask\]",
        ),
        (
            lambda i: i.replace([7, 9], random_codes(2, 0)),
            ValueError,
            "1 of 2 ids are not in the index, such as 9",
        ),
        (lambda i: i.replace([7, 7], random_codes(2, 0)), ValueError, "unique, but 7 comes 2 times"),
        (lambda i: i.replace([7], random_codes(2, 0)), ValueError, r"shape \(2,\), one for each code"),
        (lambda i: i.replace([7], np.full((1, 2), 255, np.uint8)), ValueError, "zero pad bits"),
        (lambda i: i.merge(Exact(N_BITS + 1)), ValueError, "another length or other weights"),
        (lambda i: i.merge(Exact(N_BITS, np.ones(N_BITS))), ValueError, "another length or other weights"),
        (
            lambda i: i.merge(random_codes(2, 0)),
            TypeError,
            "ndarray of shape .* is no index; codes are added by add",
        ),
        (lambda i: i.merge(i), ValueError, "an index is given twice, .*; give it once"),
    ],
)
@pytest.mark.parametrize("own_ids", [False, True])
def test_a_change_that_fails_changes_nothing(piece, change, error, message, own_ids):
    index, codes = piece(N_BITS), random_codes(9 if not own_ids else 2, 0)
    index.add(codes, [3, 7] if own_ids else None)
    with pytest.raises(error, match=message):
        change(index)
    np.testing.assert_array_equal(index.table()[0], codes)


@EVERY
@pytest.mark.parametrize(
    ("among", "error", "message"),
    [
        (
            [3, 8],
            ValueError,
            r"among: 1 of 2 ids are not in the index, such as 8; or give a mask of shape \(2,\)",
        ),
        ([True], ValueError, r"among=.*: give a mask of shape \(2,\), one for each code, or ids"),
        ([0.5], TypeError, "among: ids must be whole numbers or text, got float64"),
        (["a"], TypeError, "among: this index has ids that are whole numbers, got text such as 'a'"),
        ([[3]], ValueError, "among: ids must have shape"),
        (np.ma.array([True, True], mask=[False, True]), TypeError, "among is a masked array"),
        ([[3], [3, 7]], ValueError, r"among=.*: give ids, or a mask of shape \(2,\)"),
    ],
)
def test_a_limit_that_does_not_fit_is_refused(piece, among, error, message):
    index = piece(N_BITS)
    index.add(random_codes(2, 0), [3, 7])
    with pytest.raises(error, match=message):
        index.search(random_codes(1, 0), 1, among=among)
    with pytest.raises(error, match=message):
        index.radius(random_codes(1, 0), 1, among=among)


def test_a_merged_index_names_a_model_only_if_all_codes_are_of_it():
    def made(source, n=2):
        index = Exact(N_BITS)
        index.add(random_codes(n, 0))
        index.source = source
        return index

    for mine, theirs, expected in (("a", "a", "a"), (None, None, None), ("a", None, None)):
        index = made(mine)
        index.merge(made(theirs))
        assert index.source == expected
    empty = Exact(N_BITS)
    empty.merge(made("a"))
    assert empty.source == "a"
    unnamed = made(None)
    unnamed.merge(made("a"))
    assert unnamed.source is None
    kept = made("a")
    kept.merge(made(None, 0))
    assert kept.source == "a"
    with pytest.raises(ValueError, match="codes of different models"):
        made("a").merge(made("b"))


@EVERY
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_a_mask_of_integers_is_not_taken_for_ids(piece, dtype):
    index, mask = piece(N_BITS), np.array([0, 0, 1, 1, 0], dtype)
    index.add(random_codes(5, 0))
    with pytest.raises(TypeError, match=r"among holds only 0 and 1, as a mask does; give among.astype\(bool\)"):
        index.search(random_codes(1, 0), 1, among=mask)
    assert sorted(index.search(random_codes(1, 0), 2, among=mask.astype(bool))[1][0]) == [2, 3]
    assert sorted(index.search(random_codes(1, 0), 2, among=np.array([1, 0], dtype))[1][0]) == [0, 1]
