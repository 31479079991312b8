"""Metrics on tie blocks: against all orders inside the blocks, ir_measures, sklearn and plain numpy."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import ndcg_score, roc_auc_score

from structhash import metrics as M
from structhash.metrics import tie_blocks


def discounts(n, kind):
    rank = np.arange(1, n + 1)
    return 1 / np.log2(rank + 1) if kind == "standard" else 1 / np.log2(np.maximum(rank, 2))


def plain_ndcg(grades, k, kind, normalizer="ideal"):
    def dcg(order):
        top = order[:k]
        return ((2.0**top - 1) * discounts(len(top), kind)).sum()

    return dcg(grades) / (discounts(k, kind).sum() if normalizer == "paper" else dcg(np.sort(grades)[::-1]))


def plain_ap(grades, k=None, divisor="relevant"):
    hit = grades > 0
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    below = hit.sum() if divisor == "relevant" else max(hit[:k].sum(), 1)
    return (precision * hit)[:k].sum() / below


def plain_auc(grades):
    near, far = np.flatnonzero(grades > 0), np.flatnonzero(grades == 0)
    return (near[:, None] < far).mean()


def plain_sndcg(grades):
    misses = np.cumsum(grades == 0)[grades > 0]
    return (1 / np.log2(2 + misses)).mean()


def plain_area(grades):
    hit = np.cumsum(grades > 0)
    return np.trapezoid(hit / np.arange(1, len(hit) + 1), hit / hit[-1])


def metrics_at(k):
    """Yield (metric on blocks, its value for the grades of one order, binary only)."""
    for kind in ("paper", "standard"):
        yield lambda b, d=kind: M.ndcg(b, k, d), lambda g, d=kind: plain_ndcg(g, k, d), False
        yield lambda b, d=kind: M.ndcg(b, k, d, "paper"), lambda g, d=kind: plain_ndcg(g, k, d, "paper"), True
    yield lambda b: M.precision(b, k), lambda g: (g[:k] > 0).sum() / k, False
    yield lambda b: M.recall(b, k), lambda g: (g[:k] > 0).sum() / (g > 0).sum(), False
    for divisor in ("relevant", "hits"):
        yield lambda b, d=divisor: M.average_precision(b, k, d), lambda g, d=divisor: plain_ap(g, k, d), False
    yield M.average_precision, plain_ap, False
    yield lambda b: M.average_precision(b, divisor="hits"), plain_ap, False
    yield M.reciprocal_rank, lambda g: 1 / (1 + np.flatnonzero(g > 0)[0]), False
    yield M.auc, plain_auc, False
    yield M.sndcg, plain_sndcg, False


def all_orders(distances, grades):
    """Grades of every ranking that sorts the distances, each order inside the blocks once."""
    n = len(distances)
    return [grades[list(p)] for p in permutations(range(n)) if (np.diff(distances[list(p)]) >= 0).all()]


def random_case(rng, top, n=None):
    n = n or int(rng.integers(2, 7))
    grades = rng.integers(0, top + 1, n)
    grades[rng.permutation(n)[:2]] = 0, rng.integers(1, top + 1)  # one irrelevant, one relevant at least
    return rng.integers(0, 3, n), grades


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("top", [1, 3])
def test_metrics_are_means_over_all_orders(seed, top):
    distances, grades = random_case(np.random.default_rng(seed), top)
    orders = all_orders(distances, grades)
    blocks = tie_blocks(distances[None], grades[None])
    for k in (1, 2, 3, 5, 9):
        for metric, plain, binary in metrics_at(k):
            if not binary or blocks.grades.shape[1] == 1:
                np.testing.assert_allclose(metric(blocks), [np.mean([plain(o) for o in orders])], rtol=1e-12)


def test_mean_over_all_orders_inside_one_large_block():
    grades = np.array([1, 1, 0, 1, 0, 0])
    blocks = tie_blocks(np.zeros((1, 6)), grades[None])
    orders = all_orders(np.zeros(6), grades)
    assert len(orders) == 720
    for k in range(1, 8):
        for metric, plain, _ in metrics_at(k):
            np.testing.assert_allclose(metric(blocks), [np.mean([plain(o) for o in orders])], rtol=1e-12)


def test_hits_divisor_by_sampling_in_large_blocks():
    rng = np.random.default_rng(0)
    distances, hit = rng.integers(0, 4, 400), rng.random(400) < 0.1
    value = M.average_precision(tie_blocks(distances[None], hit[None]), 150, "hits")[0]
    order = np.array([np.lexsort((rng.random(400), distances)) for _ in range(4000)])
    sample = [plain_ap(row, 150, "hits") for row in hit[order].astype(int)]
    assert abs(value - np.mean(sample)) < 4 * np.std(sample) / np.sqrt(len(sample))


def test_curve_is_mean_over_all_orders():
    rng = np.random.default_rng(1)
    cases = [random_case(rng, 1, 5) for _ in range(4)]
    recall, precision = [], []
    for distances, grades in cases:
        hit = np.mean([np.cumsum(o > 0) for o in all_orders(distances, grades)], axis=0)
        recall.append(hit / hit[-1])
        precision.append(hit / np.arange(1, 6))
    distances, grades = map(np.array, zip(*cases))
    blocks = tie_blocks(distances, grades)
    x, y = M.precision_recall_curve(blocks)
    np.testing.assert_allclose(x, np.mean(recall, axis=0))
    np.testing.assert_allclose(y, np.mean(precision, axis=0))
    np.testing.assert_allclose(M.pr_area(blocks), np.trapezoid(np.mean(precision, 0), np.mean(recall, 0)))
    np.testing.assert_allclose(
        M.pr_area_per_query(blocks), [np.trapezoid(p, r) for p, r in zip(precision, recall)]
    )


@pytest.fixture(scope="module")
def tie_free():
    rng = np.random.default_rng(2)
    distances = np.argsort(rng.random((20, 50)), axis=1) / 7
    grades = rng.integers(0, 4, (20, 50)) * (rng.random((20, 50)) < 0.3)
    grades[:, 0] = 2
    return distances, grades


def test_tie_free_equals_ir_measures(tie_free):
    ir_measures = pytest.importorskip("ir_measures")
    AP, P, R, RR, nDCG = (getattr(ir_measures, name) for name in ("AP", "P", "R", "RR", "nDCG"))
    distances, grades = tie_free
    qrels = {str(q): {str(i): int(g) for i, g in enumerate(row)} for q, row in enumerate(grades)}
    binary = {q: {i: min(g, 1) for i, g in row.items()} for q, row in qrels.items()}
    run = {str(q): {str(i): -float(d) for i, d in enumerate(row)} for q, row in enumerate(distances)}
    names = {
        "precision@10": P @ 10,
        "recall@10": R @ 10,
        "map": AP,
        "map@10": AP @ 10,
        "mrr": RR,
        "ndcg@10": nDCG @ 10,
    }
    blocks, graded = tie_blocks(distances, grades > 0), tie_blocks(distances, grades)
    for name, measure in names.items():  # trec_eval's gain is the grade itself, so nDCG is compared on 0/1
        expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], binary, run)}
        expected = [expected[str(q)] for q in range(len(grades))]
        np.testing.assert_allclose(M.parse(name)(blocks), expected, rtol=1e-9)
        if name != "ndcg@10":
            np.testing.assert_allclose(M.parse(name)(graded), expected, rtol=1e-9)
    gains = {q: {i: 2**g - 1 for i, g in row.items()} for q, row in qrels.items()}
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([nDCG @ 10], gains, run)}
    expected = [expected[str(q)] for q in range(len(grades))]
    np.testing.assert_allclose(M.ndcg(graded, 10, "standard"), expected, rtol=1e-9)


def test_graded_ndcg_equals_sklearn(tie_free):
    distances, grades = tie_free
    for k in (1, 10, 80):
        expected = [ndcg_score([2.0**g - 1], [-d], k=k) for d, g in zip(distances, grades)]
        np.testing.assert_allclose(M.ndcg(tie_blocks(distances, grades), k, "standard"), expected)


def test_ties_equal_sklearn():
    rng = np.random.default_rng(3)
    distances, grades = rng.integers(0, 6, (10, 60)), rng.integers(0, 3, (10, 60))
    blocks = tie_blocks(distances, grades)
    np.testing.assert_allclose(M.auc(blocks), [roc_auc_score(g > 0, -d) for d, g in zip(distances, grades)])
    tied = [ndcg_score([2.0**g - 1], [-d], k=60) for d, g in zip(distances, grades)]  # sklearn averages ties
    np.testing.assert_allclose(M.ndcg(blocks, 60, "standard"), tied)


TYPES = [np.int8, np.int32, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("dtype", TYPES)
def test_id_order_is_the_stable_sort(dtype):
    rng = np.random.default_rng(4)
    distances, grades = rng.integers(0, 9, (7, 40)).astype(dtype), rng.integers(0, 3, (7, 40))
    blocks = tie_blocks(distances, grades, ties="id")
    ranked = np.take_along_axis(grades, np.argsort(distances, axis=1, kind="stable"), axis=1)
    assert (blocks.size == 1).all()
    np.testing.assert_array_equal(blocks.ptr, 40 * np.arange(8))
    np.testing.assert_array_equal(blocks.hits.reshape(7, 40), ranked > 0)
    np.testing.assert_array_equal(blocks.gain.reshape(7, 40), 2.0**ranked - 1)
    np.testing.assert_allclose(M.average_precision(blocks), [plain_ap(g) for g in ranked])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_equal_unique(dtype, order):
    rng = np.random.default_rng(5)
    distances = rng.integers(0, 30, (9, 40)).astype(dtype, order=order)
    for relevance in (rng.random((9, 40)) < 0.3, rng.integers(0, 4, (9, 40)).astype(np.uint8)):
        blocks = tie_blocks(distances, relevance)
        assert [a.dtype for a in blocks] == [np.int64] * 3 + [np.float64, np.int64]
        for q in range(9):
            own = slice(blocks.ptr[q], blocks.ptr[q + 1])
            values, size = np.unique(distances[q], return_counts=True)
            np.testing.assert_array_equal(blocks.size[own], size)
            gains = [(2.0 ** relevance[q].astype(int) - 1)[distances[q] == v].sum() for v in values]
            np.testing.assert_array_equal(blocks.gain[own], gains)
            hits = [(relevance[q] > 0)[distances[q] == v].sum() for v in values]
            np.testing.assert_array_equal(blocks.hits[own], hits)
        np.testing.assert_array_equal(blocks.relevant, (relevance > 0).sum(axis=1))


def test_wide_ranges_and_many_slabs(monkeypatch):
    rng = np.random.default_rng(6)
    distances, hit = rng.integers(0, 5, (11, 20)), rng.random((11, 20)) < 0.4
    whole = tie_blocks(distances, hit)
    wide = [(distances - 2) * 2**61, distances * 10**5, (distances * 60 - 128).astype(np.int8)]
    for stretched in wide:  # spans beyond 2^62, beyond uint16, and of 240, which int8 cannot hold
        for got, expected in zip(tie_blocks(stretched, hit), whole):
            np.testing.assert_array_equal(got, expected)
    top = np.iinfo(np.uint64).max - distances.astype(np.uint64)
    np.testing.assert_array_equal(tie_blocks(top, hit).size, tie_blocks(-distances, hit).size)
    monkeypatch.setattr(M, "_SLAB", 45)
    for got, expected in zip(tie_blocks(distances, hit), whole):
        np.testing.assert_array_equal(got, expected)


def test_infinite_and_signed_zero_distances():
    blocks = tie_blocks([[np.inf, 0.0, -0.0, np.inf, -np.inf]], [[1, 1, 0, 0, 1]])
    np.testing.assert_array_equal(blocks.size, [1, 2, 2])
    np.testing.assert_array_equal(blocks.hits, [1, 1, 1])


def test_chunks_combine():
    rng = np.random.default_rng(7)
    distances, hit = rng.integers(0, 9, (12, 30)), rng.random((12, 30)) < 0.2
    hit[[0, 1, 2, 7]] = False
    whole = tie_blocks(distances, hit)
    chunks = [tie_blocks(distances[i : i + 3], hit[i : i + 3]) for i in range(0, 12, 3)]
    for name in ("ndcg@5", "map", "map_hits@7", "auc", "sndcg", "mrr", "precision@4", "recall@4"):
        metric = M.parse(name)
        np.testing.assert_allclose(np.concatenate([metric(c) for c in chunks]), metric(whole), rtol=1e-12)
    np.testing.assert_allclose(
        np.concatenate([M.pr_area_per_query(c) for c in chunks]), M.pr_area_per_query(whole)
    )
    weights = [(c.relevant > 0).sum() for c in chunks]
    assert weights[0] == 0
    assert np.isnan(M.precision_recall_curve(chunks[0])).all()
    curves = [M.precision_recall_curve(c) for c in chunks[1:]]
    np.testing.assert_allclose(np.average(curves, axis=0, weights=weights[1:]), M.precision_recall_curve(whole))


NAMES = ["ndcg@3", "ndcg_paper@3", "recall@3", "map", "map@3", "map_hits@3", "auc", "sndcg", "mrr"]


def test_none_relevant():
    blocks = tie_blocks([[1, 1, 2], [3, 4, 4]], np.zeros((2, 3), bool))
    for name in NAMES:
        assert np.isnan(M.parse(name)(blocks)).all(), name
    np.testing.assert_array_equal(M.precision(blocks, 2), [0, 0])
    np.testing.assert_array_equal(M.ndcg(blocks, 2, normalizer="paper"), [0, 0])
    assert np.isnan(M.pr_area(blocks))
    assert np.isnan(M.pr_area_per_query(blocks)).all()


def test_all_relevant():
    blocks = tie_blocks([[1, 1, 2, 5]], np.ones((1, 4), bool))
    for name in NAMES:
        expected = {"recall@3": 0.75, "auc": np.nan, "map@3": 0.75}.get(name, 1)
        np.testing.assert_allclose(M.parse(name)(blocks), [expected], err_msg=name)
    assert M.pr_area(blocks) == pytest.approx(0.75)
    assert M.pr_area(tie_blocks([np.arange(10)], [np.arange(10) < 4])) == pytest.approx(0.75)  # 1 - 1/P


def test_all_distances_equal():
    blocks = tie_blocks(np.ones((1, 200)), np.arange(200)[None] < 50)
    np.testing.assert_allclose(M.precision(blocks), [0.25])
    np.testing.assert_allclose(M.recall(blocks), [0.5])
    np.testing.assert_allclose(M.auc(blocks), [0.5])
    np.testing.assert_allclose(M.precision_recall_curve(blocks)[1], 0.25)


def test_k_beyond_the_items_or_before_the_first_hit():
    blocks = tie_blocks([[1, 2, 2]], [[0, 1, 1]])
    np.testing.assert_allclose(M.precision(blocks, 10), [0.2])
    np.testing.assert_allclose(M.recall(blocks, 10), [1])
    np.testing.assert_allclose(M.ndcg(blocks, 10), M.ndcg(blocks, 3))
    for divisor in ("relevant", "hits"):
        np.testing.assert_allclose(M.average_precision(blocks, 10, divisor), M.average_precision(blocks))
        late = tie_blocks([[1, 2, 3]], [[0, 0, 1]])  # no hit inside the cut is 0, not nan
        np.testing.assert_array_equal(M.average_precision(late, 2, divisor), [0])


def test_single_item():
    hit, miss = tie_blocks([[7]], [[1]]), tie_blocks([[7]], [[0]])
    for name in NAMES:
        expected = np.nan if name == "auc" else 1
        np.testing.assert_allclose(M.parse(name)(hit), [expected], err_msg=name)
        assert np.isnan(M.parse(name)(miss)).all()
    assert M.pr_area(hit) == 0  # one point has no area


@pytest.mark.parametrize("ties", ["expected", "id"])
@pytest.mark.parametrize("dtype", [int, float])
def test_no_queries_and_no_items(ties, dtype):
    for shape in ((0, 4), (3, 0), (0, 0)):
        blocks = tie_blocks(np.zeros(shape, dtype), np.zeros(shape, bool), ties)
        np.testing.assert_array_equal(blocks.ptr, np.zeros(shape[0] + 1))
        for name in [*NAMES, "precision@2"]:
            assert M.parse(name)(blocks).shape == shape[:1]
        assert [len(x) for x in M.precision_recall_curve(blocks)] == [0, 0]
        assert np.isnan(M.pr_area(blocks))
        assert M.pr_area_per_query(blocks).shape == shape[:1]


def test_large_blocks_stay_exact():
    """Block sums from harmonic numbers and log factorials, against longdouble sums rank by rank."""
    n, r, m = 60_000, 6_000, 10_000
    blocks = tie_blocks(np.zeros((1, n), np.uint8), np.arange(n)[None] < r)
    j = np.arange(1, n + 1).astype(np.longdouble)
    at = (1 + (j - 1) * (r - 1) / (n - 1)) / j / n
    assert M.average_precision(blocks)[0] == pytest.approx(float(at.sum()), rel=1e-12)
    assert M.average_precision(blocks, m)[0] == pytest.approx(float(at[:m].sum()), rel=1e-12)
    # given x hits among m ranks the ratio is (1/m) sum (1 + (j-1)(x-1)/(m-1))/j, linear in x: take its mean
    mean = (1 + (j[:m] - 1) * (r * np.longdouble(m) / n - 1) / (m - 1)) / j[:m] / m
    assert M.average_precision(blocks, m, "hits")[0] == pytest.approx(float(mean.sum()), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["ndcg@0", "ndcg", "ndcg@k", "precision", "auc@5", "mrr@10", "map@-1", "map@", "x", ""]
)
def test_unknown_name(name):
    forms = "ndcg@k, ndcg_paper@k, precision@k, recall@k, map, map@k, map_hits@k, auc, sndcg, mrr"
    with pytest.raises(
        ValueError, match=f"metric is '{name}'; allowed are {forms}, k an integer >= 1: pass one"
    ):
        M.parse(name)


def test_names_differ_in_discount():
    blocks = tie_blocks([[1, 2, 3, 4]], [[0, 0, 1, 1]])
    assert M.parse("ndcg@3")(blocks) == M.ndcg(blocks, 3, "standard")
    assert M.parse("ndcg_paper@3")(blocks) == M.ndcg(blocks, 3, "paper") != M.ndcg(blocks, 3, "standard")


INPUT_ERRORS = [
    (([["a"]], [[1]]), TypeError, "distances have dtype <U1; allowed are integers and floats: convert them"),
    (
        ([[1]], [[0.5]]),
        TypeError,
        "relevance has dtype float64; allowed are bool and integer grades: convert it",
    ),
    (([[1, 2]], [[1]]), ValueError, r"are \(1, 2\) and \(1, 1\); allowed is one \(queries, items\): reshape"),
    (([1, 2], [1, 0]), ValueError, r"are \(2,\) and \(2,\); allowed is one \(queries, items\): reshape"),
    (
        ([[np.nan]], [[1]]),
        ValueError,
        "distances hold NaN; allowed are ordered numbers: use inf for items to put",
    ),
    (([[1, 2]], [[-1, 3]]), ValueError, "grades run from -1 to 3; allowed are 0 to 52: shift or rescale"),
    (([[1, 2]], [[0, 53]]), ValueError, "grades run from 0 to 53; allowed are 0 to 52: shift or rescale"),
    (([[1]], [[1]], "mean"), ValueError, "ties is 'mean'; allowed are expected, id: pass one of them"),
]


@pytest.mark.parametrize(("args", "error", "message"), INPUT_ERRORS)
def test_bad_input(args, error, message):
    with pytest.raises(error, match=message):
        tie_blocks(*args)


@pytest.mark.parametrize("k", [0, -3, 2.0, True, "5"])
def test_bad_cut(k):
    blocks = tie_blocks([[1]], [[1]])
    for metric in (M.ndcg, M.precision, M.recall, M.average_precision):
        with pytest.raises(
            ValueError, match=f"k is {k!r}; allowed is an integer >= 1: pass the depth of the cut"
        ):
            metric(blocks, k)


PER_QUERY = [M.ndcg, M.precision, M.recall, M.average_precision, M.auc, M.sndcg, M.reciprocal_rank]


@pytest.mark.parametrize("metric", [*PER_QUERY, M.precision_recall_curve, M.pr_area, M.pr_area_per_query])
def test_distances_are_no_blocks(metric):
    message = (
        r"blocks is ndarray of shape \(9, 300\); allowed are Blocks: pass tie_blocks\(distances, relevance\)$"
    )
    with pytest.raises(TypeError, match=message):
        metric(np.ones((9, 300)))


def test_long_values_are_named_in_short():
    blocks, long = tie_blocks([[1]], [[1]]), np.ones((300, 40))
    with pytest.raises(ValueError, match=r"k is ndarray of shape \(300, 40\); allowed is an integer >= 1"):
        M.ndcg(blocks, k=long)
    with pytest.raises(ValueError, match="k is list of length 300; allowed"):
        M.precision(blocks, long.tolist())
    with pytest.raises(
        ValueError, match=r"discount is ndarray of shape \(300, 40\); allowed are paper, standard"
    ):
        M.ndcg(blocks, discount=long)
    with pytest.raises(ValueError, match=r"ties is ndarray of shape \(300, 40\); allowed are expected, id"):
        tie_blocks([[1]], [[1]], long)
    with pytest.raises(ValueError, match=r"metric is ndarray of shape \(300, 40\); allowed are"):
        M.parse(long)
    many = M.Blocks(np.arange(301).cumsum(), *(np.ones(300 * 301 // 2, int),) * 3, np.ones((300, 1), int))
    with pytest.raises(ValueError, match="queries rank 1 to 300 items"):
        M.pr_area(many)


def test_bad_words():
    blocks, graded = tie_blocks([[1]], [[1]]), tie_blocks([[1]], [[2]])
    with pytest.raises(ValueError, match="discount is 'log'; allowed are paper, standard: pass one"):
        M.ndcg(blocks, discount="log")
    with pytest.raises(ValueError, match="normalizer is None; allowed are ideal, paper: pass one"):
        M.ndcg(blocks, normalizer=None)
    with pytest.raises(
        ValueError, match="normalizer='paper' met grades up to 2; allowed are 0 and 1: use 'ideal'"
    ):
        M.ndcg(graded, normalizer="paper")
    with pytest.raises(ValueError, match="divisor is 'k'; allowed are relevant, hits: pass one"):
        M.average_precision(blocks, divisor="k")


def test_unequal_numbers_of_items():
    one, two = tie_blocks([[1]], [[1]]), tie_blocks([[1, 2]], [[1, 0]])
    joined = M.Blocks(np.array([0, 1, 3]), *(np.concatenate(x) for x in zip(one[1:], two[1:])))
    for metric in (M.precision_recall_curve, M.pr_area, M.pr_area_per_query):
        with pytest.raises(ValueError, match="queries rank 1 to 2 items; allowed is one number"):
            metric(joined)
