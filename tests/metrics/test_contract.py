"""The contract of every metric: errors, nan, chunks of queries, and memory that does not depend on the cut."""

import tracemalloc

import numpy as np
import pytest

from structhash import metrics
from structhash.metrics import names, parse, tie_blocks
from structhash.metrics.recall_tenth import recall_tenth

CUT = [metrics.ndcg, metrics.precision, metrics.recall, metrics.average_precision]
FUNCTIONS = [
    *CUT,
    metrics.auc,
    metrics.sndcg,
    metrics.reciprocal_rank,
    metrics.precision_recall_curve,
    metrics.pr_area,
    metrics.pr_area_per_query,
    recall_tenth,
]


def named(k):
    """Every text name with this cut, and its metric."""
    return [(name.replace("@k", f"@{k}"), parse(name.replace("@k", f"@{k}"))) for name in names()]


def test_every_public_name_is_what_it_says():
    """A module and a function may have one name: the package gives the function."""
    for name in metrics.__all__:
        member = getattr(metrics, name)
        assert callable(member) or name == "MAX_GRADE", name


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_distances_are_no_blocks(metric):
    message = r"blocks=ndarray of shape \(9, 300\): give tie_blocks\(distances, relevance\)$"
    with pytest.raises(TypeError, match=message):
        metric(np.ones((9, 300)))


@pytest.mark.parametrize("k", [0, -3, 2.0, True, "5"])
@pytest.mark.parametrize("metric", CUT)
def test_bad_cut(metric, k):
    with pytest.raises(ValueError, match=f"k={k!r}: give an integer of at least 1"):
        metric(tie_blocks([[1]], [[1]]), k)


@pytest.mark.parametrize("metric", CUT)
def test_a_long_cut_is_described_briefly(metric):
    with pytest.raises(ValueError, match=r"k=ndarray of shape \(300, 40\): give an integer"):
        metric(tie_blocks([[1]], [[1]]), np.ones((300, 40)))
    with pytest.raises(ValueError, match="k=list of length 300: give an integer"):
        metric(tie_blocks([[1]], [[1]]), [1] * 300)


def test_chunks_combine():
    rng = np.random.default_rng(7)
    distances, hit = rng.integers(0, 9, (12, 30)), rng.random((12, 30)) < 0.2
    hit[[0, 1, 2, 7]] = False
    whole = tie_blocks(distances, hit)
    chunks = [tie_blocks(distances[i : i + 3], hit[i : i + 3]) for i in range(0, 12, 3)]
    for name, metric in named(5):
        parts = np.concatenate([metric(chunk) for chunk in chunks])
        np.testing.assert_allclose(parts, metric(whole), rtol=1e-12, err_msg=name)


def test_without_relevant_documents_the_value_is_nan_or_zero():
    blocks = tie_blocks([[1, 1, 2], [3, 4, 4]], np.zeros((2, 3), bool))
    for name, metric in named(3):
        expected = 0 if name == "precision@3" else np.nan
        np.testing.assert_array_equal(metric(blocks), [expected, expected], err_msg=name)


def test_with_relevant_documents_only_the_value_is_one():
    blocks = tie_blocks([[1, 1, 2, 5]], np.ones((1, 4), bool))
    exceptions = {"recall@3": 0.75, "map@3": 0.75, "pr_area": 0.75, "auc": np.nan, "recall_tenth": 0.1}
    for name, metric in named(3):
        np.testing.assert_allclose(metric(blocks), [exceptions.get(name, 1)], err_msg=name)


def test_one_document():
    exceptions = {"auc": np.nan, "precision@3": 1 / 3, "recall_tenth": 0.1, "pr_area": 0}  # a point has no area
    for name, metric in named(3):
        np.testing.assert_allclose(metric(tie_blocks([[7]], [[1]])), [exceptions.get(name, 1)], err_msg=name)
        expected = 0 if name == "precision@3" else np.nan
        np.testing.assert_array_equal(metric(tie_blocks([[7]], [[0]])), [expected], err_msg=name)


def test_one_block_of_all_documents():
    blocks = tie_blocks(np.ones((1, 200)), np.arange(200)[None] < 50)
    np.testing.assert_allclose(metrics.precision(blocks), [0.25])
    np.testing.assert_allclose(metrics.recall(blocks), [0.5])
    np.testing.assert_allclose(metrics.auc(blocks), [0.5])
    np.testing.assert_allclose(metrics.precision_recall_curve(blocks)[1], 0.25)


@pytest.mark.parametrize("name", [name for name in names() if name.endswith("@k")])
def test_a_cut_far_beyond_the_documents_takes_no_memory(name):
    blocks = tie_blocks([[1, 2, 2]], [[0, 1, 1]])
    small, large = (parse(name.replace("@k", f"@{k}")) for k in (3, 300_000_000))
    expected = small(blocks)
    tracemalloc.start()
    found = large(blocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    np.testing.assert_allclose(found, expected / 100_000_000 if name == "precision@k" else expected)


@pytest.mark.parametrize("metric", CUT)
def test_a_cut_may_exceed_every_integer_type(metric):
    blocks = tie_blocks([[1, 2, 2]], [[0, 1, 1]])
    expected = 2 / 10**30 if metric is metrics.precision else metric(blocks, 3)[0]
    np.testing.assert_allclose(metric(blocks, 10**30), [expected])
    np.testing.assert_array_equal(metric(blocks, np.int8(127)), metric(blocks, 127))


def test_names_equal_ir_measures_without_ties(tie_free):
    """trec_eval's gain is the grade itself, so ndcg is compared on grades 0 and 1 only."""
    ir_measures = pytest.importorskip("ir_measures")
    AP, P, R, RR, nDCG = (getattr(ir_measures, name) for name in ("AP", "P", "R", "RR", "nDCG"))
    distances, grades = tie_free
    qrels = {str(q): {str(i): int(g > 0) for i, g in enumerate(row)} for q, row in enumerate(grades)}
    run = {str(q): {str(i): -float(d) for i, d in enumerate(row)} for q, row in enumerate(distances)}
    measures = {
        "precision@10": P @ 10,
        "recall@10": R @ 10,
        "map": AP,
        "map@10": AP @ 10,
        "mrr": RR,
        "ndcg@10": nDCG @ 10,
    }
    binary, graded = tie_blocks(distances, grades > 0), tie_blocks(distances, grades)
    for name, measure in measures.items():
        found = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
        expected = [found[str(q)] for q in range(len(grades))]
        np.testing.assert_allclose(parse(name)(binary), expected, rtol=1e-9)
        if name != "ndcg@10":
            np.testing.assert_allclose(parse(name)(graded), expected, rtol=1e-9)
