"""Two-stage search against brute force over the vectors."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import structhash.search._rescored as module
from structhash import DistilHash
from structhash.codes import pack, prepare_values
from structhash.search import HNSW, IVF, Exact, Flat, Rescored, choose_factor, to_int8

N, D, N_BITS = 200, 7, 24
METRICS = ["cosine", "inner_product", "euclidean"]


def whole_vectors(n, seed=0):
    """Small whole numbers: all sums are exact, and ties are many."""
    return np.random.default_rng(seed).integers(-2, 3, (n, D)).astype(float)


def codes_of(X):
    """Codes that know something of the vectors."""
    return pack(X @ np.random.default_rng(5).normal(size=(X.shape[1], N_BITS)) > 0)


def distances_of(metric, Q, X):
    if metric == "inner_product":
        return (-(Q @ X.T)).astype(np.float32)
    if metric == "cosine":  # scikit-learn's are not below 0
        unit = [Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300) for Z in (Q, X)]
        return (1 - unit[0] @ unit[1].T).astype(np.float32)
    return cdist(Q, X).astype(np.float32)


def index_of(X, ids=None, piece=Exact):
    index = piece(N_BITS)
    index.add(codes_of(X), ids)
    return index


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(module, "_NUMBERS_AT_ONCE", 3000)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("piece", [Exact, Flat])
@pytest.mark.parametrize("limited", [False, True])
def test_with_all_codes_as_candidates_it_is_the_search_of_the_vectors(ids_of, metric, piece, limited):
    X, Q, ids = whole_vectors(N), whole_vectors(9, 1), ids_of(N)
    index = index_of(X, ids, piece)
    names = np.arange(N) if ids is None else ids
    shuffled = np.random.default_rng(3).permutation(N)
    given = (X, None) if ids is None else (X[shuffled], ids[shuffled])
    rescored = Rescored(index, given[0], metric, factor=40, ids=given[1])
    kept = np.random.default_rng(4).random(N) < 0.5 if limited else np.ones(N, bool)
    among = names[kept] if limited else None
    distances, found = rescored.search(codes_of(Q), Q, 5, among)
    assert (distances.dtype, found.dtype) == (np.float32, names.dtype)
    expected = distances_of(metric, Q, X[kept])
    for q, row in enumerate(expected):
        pairs = sorted(zip(row.tolist(), names[kept].tolist()))[:5]
        assert list(zip(distances[q].tolist(), found[q].tolist())) == [
            (pytest.approx(d, abs=1e-7), i) for d, i in pairs
        ]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8])
def test_real_vectors_of_each_type_and_from_disk(metric, dtype, tmp_path):
    rng = np.random.default_rng(0)
    X, Q, scale = 5 * rng.normal(size=(N, D)), rng.normal(size=(9, D)), None
    stored = X.astype(dtype)
    if dtype == np.int8:
        stored, scale = to_int8(X)
    np.save(tmp_path / "x.npy", stored)
    exact = stored.astype(float) * (1 if scale is None else scale)
    for vectors in (stored, np.load(tmp_path / "x.npy", mmap_mode="r")):
        rescored = Rescored(index_of(X), vectors, metric, factor=N, scale=scale)
        distances, ids = rescored.search(codes_of(Q), Q, 6)
        expected = distances_of(metric, Q, exact)
        np.testing.assert_array_equal(ids, np.argsort(expected, axis=1, kind="stable")[:, :6])
        np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :6], rtol=1e-6, atol=1e-7)
    assert type(rescored.vectors) is np.memmap


@pytest.mark.parametrize("metric", METRICS)
def test_it_orders_the_nearest_codes_and_no_others(metric):
    X, Q = whole_vectors(N), whole_vectors(9, 1)
    index, expected = index_of(X), distances_of(metric, Q, X)
    distances, ids = Rescored(index, X, metric, factor=3).search(codes_of(Q), Q, 4)
    candidates = index.search(codes_of(Q), 12)[1]
    for q, row in enumerate(candidates):
        pairs = sorted((expected[q, i], i) for i in row.tolist())[:4]
        assert list(zip(distances[q].tolist(), ids[q].tolist())) == [
            (pytest.approx(d, abs=1e-7), i) for d, i in pairs
        ]


def test_the_candidates_of_few_queries_are_held_at_once():
    sizes = []

    class Watched(Exact):
        def search(self, codes, k, among=None):
            sizes.append(len(codes) * k)
            return super().search(codes, k, among)

    X, Q = whole_vectors(N), whole_vectors(50, 1)
    found = Rescored(index_of(X, piece=Watched), X, factor=10).search(codes_of(Q), Q, 7)
    assert (sum(sizes), max(sizes)) == (50 * 70, 42 * 70)  # 42 times 70 is within 3000
    one_by_one = [Rescored(index_of(X), X, factor=10).search(codes_of(q[None]), q[None], 7) for q in Q]
    for each, alone in zip(found, zip(*one_by_one)):
        np.testing.assert_array_equal(each, np.concatenate(alone))


def test_equal_vectors_are_tied_wherever_they_stand():
    x, Q = np.random.default_rng(0).normal(size=(2, 37)), np.random.default_rng(1).normal(size=(3, 37))
    X = np.concatenate([np.repeat(x[:1], 50, axis=0), x[1:], np.repeat(x[:1], 50, axis=0)])
    for metric in METRICS:
        for factor in (1, 7, 101):
            index = index_of(X)
            distances, ids = Rescored(index, X, metric, factor).search(codes_of(Q), Q, 60)
            for row, near in zip(ids, distances):
                assert len(set(near[row != 50].tolist())) == 1
                assert (np.diff(row[row != 50]) > 0).all()


def test_prepared_queries_find_candidates():
    X, Q = whole_vectors(N), whole_vectors(9, 1)
    index = index_of(X)
    prepared = prepare_values(np.random.default_rng(0).normal(size=(9, N_BITS)))
    ids = Rescored(index, X, factor=2).search(prepared, Q, 3)[1]
    candidates = index.search(prepared, 6)[1]
    assert all(set(row) <= set(near) for row, near in zip(ids.tolist(), candidates.tolist()))


def test_empty_places_come_last(ids_of):
    X, ids = whole_vectors(3), ids_of(3)
    rescored = Rescored(index_of(X, ids), X, ids=ids)
    distances, found = rescored.search(codes_of(X), X, 5)
    empty = "" if found.dtype == object else -1
    assert (found[:, 3:] == empty).all()
    assert (distances[:, 3:] == np.inf).all()
    assert (found[:, :3] != empty).all()
    none = Rescored(Exact(N_BITS), np.empty((0, D))).search(codes_of(X), X, 2)
    assert none[1].tolist() == [[-1, -1]] * 3
    assert rescored.search(codes_of(X[:0]), X[:0], 2)[0].shape == (0, 2)


def test_zero_vectors_have_cosine_0():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    distances, ids = Rescored(index_of(X), X).search(codes_of(X[:2]), X[:2], 3)
    assert distances.tolist() == [[1, 1, 1], [0, 1, 2]]
    assert ids.tolist() == [[0, 1, 2], [1, 0, 2]]


def test_vectors_may_be_more_than_codes_and_codes_may_go():
    X, names = whole_vectors(30), np.array([f"d{i}" for i in range(30)], dtype=object)
    index = index_of(X[:20], names[:20])
    rescored = Rescored(index, X, ids=names, factor=30)
    index.remove(["d3"])
    index.add(codes_of(X[25:26]), ["d25"])
    found = rescored.search(codes_of(X[:1]), X[:1], 20)[1]
    assert sorted(found[0]) == sorted({*names[:20], "d25"} - {"d3"})
    index.add(codes_of(X[:1]), ["new"])
    with pytest.raises(ValueError, match="1 id has no vector, such as 'new'; give vectors of all codes"):
        rescored.search(codes_of(X[:1]), X[:1], 22)


def test_numbers_that_run_no_more_are_not_taken_for_rows():
    X = whole_vectors(9)
    index = index_of(X)
    rescored = Rescored(index, X)
    index.remove([1])
    with pytest.raises(ValueError, match="the index has ids of its own; give ids, one for each row of vectors"):
        rescored.search(codes_of(X), X, 2)
    found = Rescored(index, X, "euclidean", ids=np.arange(9)).search(codes_of(X[2:3]), X[2:3], 1)
    assert found[0].tolist() == [[0]]


INDEX = index_of(whole_vectors(4))


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"index": 3}, TypeError, "index=3: give an index"),
        ({"vectors": [1.0]}, ValueError, r"vectors=.*: give a matrix of real numbers"),
        ({"vectors": np.ones((4, 0))}, ValueError, r"vectors=.*: give a matrix of real numbers"),
        ({"vectors": [["a"]]}, ValueError, r"vectors=.*: give a matrix of real numbers"),
        (
            {"vectors": whole_vectors(3)},
            ValueError,
            "1 id has no vector, such as 3; give vectors of all codes",
        ),
        ({"vectors": np.ma.array(np.ones((4, 2)))}, TypeError, "vectors is a masked array"),
        ({"metric": "l2"}, ValueError, "metric='l2'"),
        ({"factor": 0}, ValueError, "factor=0: give an integer"),
        ({"scale": [1.0]}, ValueError, r"scale=.*: give finite numbers of shape \(7,\)"),
        ({"scale": [np.nan] * 7}, ValueError, r"scale=.*: give finite numbers of shape \(7,\)"),
        ({"ids": [1, 2]}, ValueError, r"ids must have shape \(4,\)"),
        ({"ids": [0, 1, 2, 2]}, ValueError, "unique, but 2 comes 2 times"),
        ({"ids": ["0", "1", "2", "3"]}, TypeError, "are whole numbers, got text such as '0'"),
        ({"ids": [0, 1, 2, 4]}, ValueError, "1 id has no vector, such as 3"),
        ({"vectors": np.ones((0, 7)), "ids": []}, ValueError, "4 ids have no vector, such as 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(words, error, message):
    with pytest.raises(error, match=message):
        Rescored(**{"index": INDEX, "vectors": whole_vectors(4), **words})


@pytest.mark.parametrize(
    ("codes", "queries", "k", "error", "message"),
    [
        (codes_of(whole_vectors(2)), whole_vectors(3), 1, ValueError, r"finite vectors of shape \(2, 7\)"),
        (codes_of(whole_vectors(2)), np.ones((2, 6)), 1, ValueError, r"finite vectors of shape \(2, 7\)"),
        (codes_of(whole_vectors(2)), np.full((2, 7), np.inf), 1, ValueError, "finite vectors of shape"),
        (codes_of(whole_vectors(2)), whole_vectors(2), 0, ValueError, "k must be at least 1"),
        (np.zeros((2, 1), np.uint8), whole_vectors(2), 1, ValueError, "queries of 24 bits must have 3 bytes"),
    ],
)
def test_queries_that_do_not_fit_are_refused(codes, queries, k, error, message):
    with pytest.raises(error, match=message):
        Rescored(INDEX, whole_vectors(4)).search(codes, queries, k)


def test_vectors_that_have_no_order_are_refused():
    X = whole_vectors(4)
    for value, message in ((np.nan, "vectors hold NaN or infinity"), (1e200, "beyond the range of float32")):
        spoiled = X.copy()
        spoiled[2, 1] = value
        with pytest.raises(ValueError, match=message):
            Rescored(INDEX, spoiled, "euclidean").search(codes_of(X), X, 2)


# how many candidates


@pytest.mark.slow
@pytest.mark.parametrize("recall", [0.3, 0.7, 0.95, 1.0])
@pytest.mark.parametrize("metric", METRICS)
def test_the_least_factor_with_the_wanted_recall(ids_of, metric, recall):
    rng = np.random.default_rng(0)
    X, Q, ids = rng.normal(size=(N, D)), rng.normal(size=(20, D)), ids_of(N)
    index = index_of(X, ids)
    names = np.arange(N) if ids is None else ids
    nearest = names[np.argsort(distances_of(metric, Q, X), axis=1)[:, :7]]
    recalls = {}
    for factor in range(1, 30):
        found = Rescored(index, X, metric, factor, ids).search(codes_of(Q), Q, 7)[1]
        recalls[factor] = np.mean([np.isin(near, row).mean() for near, row in zip(nearest, found)])
    choice = choose_factor(Rescored(index, X, metric, ids=ids), codes_of(Q), Q, 7, recall)
    assert choice.factor == min(factor for factor, found in recalls.items() if found >= recall - 1e-12)
    assert choice.recall == pytest.approx(recalls[choice.factor])
    assert choice.recalls == pytest.approx({factor: recalls[factor] for factor in choice.recalls})
    assert set(choice.recalls) == {choice.factor, *(f for f in (1, 2, 4, 8, 16) if f <= choice.factor)}


@pytest.mark.slow
def test_a_factor_for_real_codes_keeps_what_it_says_on_other_queries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)) @ rng.normal(size=(5, 16))
    encoder = DistilHash(32, random_state=0).fit(X[:1000])
    index = Exact(32)
    index.add(encoder.encode(X[:2000]))
    rescored = Rescored(index, X[:2000].astype(np.float16), "euclidean")
    tried, other = (
        encoder.prepare_queries(X[part], reader="real") for part in (slice(2000, 2500), slice(2500, 3000))
    )
    choice = choose_factor(rescored, tried, X[2000:2500])
    assert 0.95 <= choice.recall < 0.99
    found = Rescored(index, X[:2000], "euclidean", choice.factor).search(other, X[2500:], 10)[1]
    nearest = np.argsort(cdist(X[2500:], X[:2000]), axis=1)[:, :10]
    assert np.mean([np.isin(*pair).mean() for pair in zip(nearest, found)]) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("index", [IVF(N_BITS, n_probe=1), HNSW(N_BITS, ef=1)], ids=repr)
@pytest.mark.parametrize("recall", [0.3, 0.9])
def test_the_recall_of_an_index_that_misses_codes_is_that_of_its_searches(index, recall):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(10_000, D)), rng.normal(size=(20, D))
    index = index.with_settings()
    index.add(codes_of(X))
    choice = choose_factor(Rescored(index, X, "euclidean"), codes_of(Q), Q, 10, recall)
    nearest = np.argsort(cdist(Q, X), axis=1)[:, :10]
    found = Rescored(index, X, "euclidean", choice.factor).search(codes_of(Q), Q, 10)[1]
    assert choice.recall == pytest.approx(np.mean([np.isin(*pair).mean() for pair in zip(nearest, found)]))
    assert choice.recall >= recall


@pytest.mark.parametrize("piece", [Exact, IVF])
@pytest.mark.parametrize("scale", [None, np.arange(1.0, D + 1)])
def test_held_out_rows_are_no_longer_found(ids_of, piece, scale):
    X, ids = np.random.default_rng(0).integers(-9, 9, (N, D)), ids_of(N)
    rescored = Rescored(index_of(X, ids, piece), X, "euclidean", 5, ids, scale)
    others, rows = rescored.hold_out(30, random_state=1)
    scaled = X * (1 if scale is None else scale)
    held = np.array([np.flatnonzero((scaled == row).all(axis=1)) for row in rows]).ravel()  # rows are unique
    left, names = np.delete(np.arange(N), held), np.arange(N) if ids is None else ids
    assert (len(np.unique(held)), len(others.index), len(rescored.index)) == (30, N - 30, N)
    assert sorted(others.index.ids) == sorted(names[left])
    distances, found = others.search(codes_of(X[held]), rows, N - 30)
    order = np.lexsort([np.argsort(np.argsort(names[left]))[None].repeat(30, 0), cdist(rows, scaled[left])])
    np.testing.assert_array_equal(found[:, :3], names[left][order[:, :3]])
    assert (distances[:, 3] > 0).all()
    again = rescored.search(codes_of(X[held]), rows, 1)  # which did not change
    np.testing.assert_array_equal(again[1].ravel(), names[held])


def test_an_index_whose_arrays_change_in_place_keeps_the_rows_that_are_held_out():
    class Flags(Exact):
        """Marks what is removed."""

        def __init__(self, n_bits):
            super().__init__(n_bits)
            self.there = np.ones(N, bool)

        def remove(self, ids):
            self.there[ids] = False

    X = whole_vectors(N)
    rescored = Rescored(index_of(X, np.arange(N), Flags), X, ids=np.arange(N))
    others, _ = rescored.hold_out(30)
    assert (others.index.there.sum(), rescored.index.there.sum()) == (N - 30, N)


@pytest.mark.parametrize(("n", "n_rows", "message"), [(4, 3, "has 4 codes; .* at least 5"), (9, 0, "n_rows=0")])
def test_rows_that_cannot_be_held_out(n, n_rows, message):
    with pytest.raises(ValueError, match=message):
        Rescored(index_of(whole_vectors(n)), whole_vectors(n)).hold_out(n_rows)


def test_held_out_rows_are_drawn_by_any_random_state():
    rescored = Rescored(index_of(whole_vectors(40)), whole_vectors(40))
    for random_state in (np.random.RandomState(3), np.random.default_rng(3), None):
        assert len(rescored.hold_out(5, random_state)[1]) == 5
    for random_state in ("x", -1, 1.5):
        with pytest.raises(ValueError, match=f"random_state={random_state!r}: give None, an integer >= 0"):
            rescored.hold_out(5, random_state)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"recall": 0}, "recall=0: give a number above 0 and at most 1"),
        ({"recall": 1.1}, "recall=1.1: give a number above 0 and at most 1"),
        ({"k": 5}, "2 queries and 4 codes: give at least one query and 5 codes"),
        ({"codes": codes_of(whole_vectors(0)), "queries": whole_vectors(0)}, "0 queries and 4 codes"),
    ],
)
def test_no_factor_is_chosen_from_nothing(words, message):
    given = {"codes": codes_of(whole_vectors(2)), "queries": whole_vectors(2), "k": 2, **words}
    with pytest.raises(ValueError, match=message):
        choose_factor(Rescored(INDEX, whole_vectors(4)), **given)


# vectors of one byte a number


def test_one_byte_a_number_errs_by_half_a_step():
    X = np.random.default_rng(0).normal(size=(50, 6)) * [1, 10, 0, 1e-5, 1e5, 3]
    rounded, scale = to_int8(X)
    assert (rounded.dtype, scale.shape) == (np.int8, (6,))
    assert (np.abs(rounded * scale - X) <= scale / 2 * (1 + 1e-9)).all()
    assert np.abs(rounded).max() == 127
    for spoiled in ([[np.nan]], [[np.inf]]):
        with pytest.raises(ValueError, match="vectors hold NaN or infinity"):
            to_int8(spoiled)
    assert to_int8(np.empty((0, 2)))[0].shape == (0, 2)
