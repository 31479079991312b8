"""Scores of rankings, and the distances and relevance that they are computed from."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.metrics.pairwise import euclidean_distances

from structhash.codes import pack
from structhash.evaluation import (
    MEASURES,
    code_blocks,
    float_blocks,
    judged_relevance,
    retrieval,
    same_label,
    shared_labels,
)
from structhash.evaluation.scoring import check_measures


def rankings(n_queries=9, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n_queries, n)), rng.random((n_queries, n)) < 0.2


def in_order(distances, relevance):
    return np.take_along_axis(relevance, np.argsort(distances, axis=1), axis=1)


def test_scores_without_ties_are_those_of_scikit_learn_and_numpy():
    distances, relevance = rankings()
    scores = retrieval(
        [(distances, relevance)], ["map", "precision@5", "recall@5", "ndcg@10", "mrr", "pr_area"]
    )
    ranked = in_order(distances, relevance)
    hits, n_relevant = ranked.cumsum(axis=1), relevance.sum(axis=1)
    expected = {
        "map": [average_precision_score(r, -d) for r, d in zip(relevance, distances, strict=True)],
        "precision@5": hits[:, 4] / 5,
        "recall@5": hits[:, 4] / n_relevant,
        "ndcg@10": [ndcg_score(r[None], -d[None], k=10) for r, d in zip(relevance, distances, strict=True)],
        "mrr": 1 / (ranked.argmax(axis=1) + 1),
        "pr_area": np.trapezoid(hits / np.arange(1, 41), hits / n_relevant[:, None], axis=1),
    }
    assert list(scores.per_query) == list(scores.mean) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(scores.per_query[name], values, err_msg=name)
        if name != "pr_area":
            assert scores.mean[name] == pytest.approx(np.mean(values)), name
    recall, precision = (hits / n_relevant[:, None]).mean(axis=0), (hits / np.arange(1, 41)).mean(axis=0)
    area = ((precision[1:] + precision[:-1]) / 2 * np.diff(recall)).sum()  # of the mean curve
    assert scores.mean["pr_area"] == pytest.approx(area)
    assert area != pytest.approx(np.mean(expected["pr_area"]))


def test_ties_are_scored_by_the_mean_over_their_orders():
    rng = np.random.default_rng(0)
    distances, relevance = rng.integers(0, 4, (3, 30)), rng.random((3, 30)) < 0.3
    found = retrieval([(distances, relevance)], ["map", "precision@7"]).mean
    draws = [
        retrieval([(distances + 0.5 * rng.random((3, 30)), relevance)], ["map", "precision@7"]).mean
        for _ in range(400)
    ]
    for name, value in found.items():
        values = [draw[name] for draw in draws]
        assert value == pytest.approx(np.mean(values), abs=4 * np.std(values) / 20), name


def test_ties_by_id_keep_the_order_of_the_database():
    distances, relevance = np.zeros((1, 4), int), np.array([[False, True, True, False]])
    assert retrieval([(distances, relevance)], ["map"], ties="id").mean["map"] == pytest.approx(
        (1 / 2 + 2 / 3) / 2
    )


def test_queries_without_relevant_documents_have_no_value_and_do_not_count_in_the_mean():
    distances, relevance = rankings(5)
    relevance[[0, 3]] = False
    scores = retrieval([(distances[[i]], relevance[[i]]) for i in range(5)], ["map", "pr_area"])
    there = retrieval([(distances[[1, 2, 4]], relevance[[1, 2, 4]])], ["map", "pr_area"])
    for name in ("map", "pr_area"):
        np.testing.assert_array_equal(np.isnan(scores.per_query[name]), [True, False, False, True, False])
        np.testing.assert_array_equal(scores.per_query[name][[1, 2, 4]], there.per_query[name])
        assert scores.mean[name] == pytest.approx(there.mean[name])


def test_means_are_nan_where_no_query_has_a_relevant_document():
    distances, relevance = rankings(2)
    scores = retrieval([(distances, relevance & False)], ["map", "pr_area"])
    assert np.isnan([*scores.mean.values(), *scores.per_query["pr_area"]]).all()


def test_scores_have_canonical_names():
    plain = retrieval([rankings()], ["map", "pr_area", "ndcg@5"])
    other = retrieval([rankings()], ["mAP", "PR_area", "nDCG@5"])
    assert plain.mean == other.mean
    assert list(other.per_query) == ["map", "pr_area", "ndcg@5"]


def test_unknown_measures_and_no_queries_are_refused():
    with pytest.raises(ValueError, match=r"metric='mop': give one of .*pr_area"):
        retrieval([rankings()], ["mop"])
    with pytest.raises(ValueError, match="metric='mop': give one of"):
        check_measures(["map", "mop"])
    with pytest.raises(ValueError, match="ties='random'"):
        check_measures(["map"], "random")
    assert check_measures(["pr_area", "NDCG@7", "ndcg@7"], "id") == ["pr_area", "ndcg@7"]
    with pytest.raises(ValueError, match="there are no queries to score"):
        retrieval([])


@pytest.fixture
def bits():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (13, 20), np.uint8), rng.integers(0, 2, (50, 20), np.uint8)


def stacked(blocks):
    distances, relevance = zip(*blocks, strict=True)
    return np.concatenate(distances), np.concatenate(relevance)


@pytest.mark.parametrize("pairs", [1, 120, 250, 10**6])
def test_the_number_of_queries_in_a_block_changes_no_score(bits, pairs, monkeypatch):
    queries, database = map(pack, bits)
    labels = np.arange(50) % 4
    relevance = same_label(np.arange(13) % 4, labels)
    weights = np.random.default_rng(1).random(20)
    kinds = {
        "plain": lambda: code_blocks(queries, database, relevance),
        "weighted": lambda: code_blocks(queries, database, relevance, weights),
        "float": lambda: float_blocks(*bits, relevance),
    }
    whole = {name: (stacked(make()), retrieval(make())) for name, make in kinds.items()}
    monkeypatch.setattr("structhash.evaluation.scoring._MAX_DISTANCES", pairs)
    for name, make in kinds.items():
        blocks = list(make())
        assert max(len(distances) for distances, _ in blocks) == min(13, max(1, pairs // 50))
        for one, two in zip(stacked(blocks), whole[name][0], strict=True):
            np.testing.assert_array_equal(one, two)
        scores = retrieval(make())
        assert scores.mean == pytest.approx(whole[name][1].mean)
        for measure in MEASURES:
            np.testing.assert_allclose(scores.per_query[measure], whole[name][1].per_query[measure])


def test_plain_blocks_count_the_bits_that_differ(bits):
    queries, database = bits
    distances, _ = stacked(
        code_blocks(pack(queries), pack(database), lambda rows: np.zeros((len(queries), 50)))
    )
    np.testing.assert_array_equal(distances, (queries[:, None] != database[None]).sum(axis=2))


def test_weighted_blocks_add_the_weights_of_bits_that_differ(bits):
    queries, database = bits
    weights = np.random.default_rng(2).random(20)
    blocks = code_blocks(pack(queries), pack(database), lambda rows: np.zeros((len(queries), 50)), weights)
    distances, _ = stacked(blocks)
    expected = ((queries[:, None] != database[None]) * weights).sum(axis=2)
    np.testing.assert_allclose(distances * weights.sum() * 1e-6, expected, atol=1.5e-6 * weights.sum())
    np.testing.assert_array_equal(distances, np.rint(distances))


def test_weighted_distances_that_differ_by_rounding_only_tie():
    codes = pack(np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]], np.uint8))
    relevance = same_label(np.zeros(1), np.zeros(3))
    ((distances, _),) = code_blocks(codes[2:], codes, relevance, np.array([0.1, 0.2, 0.3]))
    assert 0.1 + 0.2 != 0.3
    assert distances[0, 0] == distances[0, 1] > distances[0, 2] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_float_blocks_order_as_euclidean_distance(dtype):
    vectors = (np.random.default_rng(0).random((60, 8)) * 255).astype(dtype)
    distances, _ = stacked(float_blocks(vectors[:10], vectors[10:], lambda rows: np.zeros((10, 50))))
    expected = euclidean_distances(vectors[:10].astype(float), vectors[10:].astype(float))
    ranked = np.take_along_axis(expected, distances.argsort(axis=1), axis=1)
    np.testing.assert_allclose(ranked, np.sort(expected, axis=1), rtol=1e-9)


def test_relevance_by_label_is_equality():
    relevance = same_label(np.array(["a", "b"]), np.array(["b", "a", "a"]))
    np.testing.assert_array_equal(relevance(slice(0, 2)), [[False, True, True], [True, False, False]])
    np.testing.assert_array_equal(relevance(slice(1, 2)), [[True, False, False]])


def test_a_document_without_a_judgement_has_grade_0():
    relevance = judged_relevance(np.array([[0, 2, 3], [1, 0, 1], [0, 1, 1]]), 2, 4)
    np.testing.assert_array_equal(relevance(slice(0, 2)), [[0, 1, 3, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(relevance(slice(1, 2)), [[1, 0, 0, 0]])
    np.testing.assert_array_equal(relevance(np.array([1, 0])), [[1, 0, 0, 0], [0, 1, 3, 0]])


def test_the_same_judgement_twice_counts_once():
    relevance = judged_relevance(np.array([[0, 1, 2], [0, 1, 2]]), 1, 3)
    np.testing.assert_array_equal(relevance(slice(0, 1)), [[0, 2, 0]])


@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        ([[0, 1, 2], [0, 1, 1]], "document 1 has the grade 1 and another for query 0; give it one grade"),
        ([[0, 3, 1]], "judged documents run from 3 to 3; give 0 to 2"),
        ([[1, 0, 1]], "judged queries run from 1 to 1; give 0 to 0"),
        ([[0, 0, -1]], "judged grades run from -1"),
        ([[0, 0, 0.5]], "give integer rows"),
    ],
)
def test_judgements_that_cannot_be_are_refused(judgements, message):
    with pytest.raises(ValueError, match=message):
        judged_relevance(np.array(judgements), 1, 3)


def test_graded_judgements_score_as_scikit_learn_with_exponential_gain():
    rng = np.random.default_rng(0)
    queries, vectors = rng.standard_normal((6, 4)), rng.standard_normal((30, 4))
    grades = rng.integers(0, 4, (6, 30))
    qrels = np.column_stack([*np.nonzero(grades), grades[grades > 0]])
    scores = retrieval(float_blocks(queries, vectors, judged_relevance(qrels, 6, 30)), ["ndcg@10", "map"])
    apart = euclidean_distances(queries, vectors)
    assert scores.mean["ndcg@10"] == pytest.approx(ndcg_score(2.0**grades - 1, -apart, k=10))
    expected = [average_precision_score(g > 0, -d) for g, d in zip(grades, apart, strict=True)]
    assert scores.mean["map"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(("shift", "unit"), [(1e9, 1.0), (0.0, 1e200), (0.0, 1e-200), (-1e12, 1e3)])
def test_float_distances_keep_their_order_far_from_the_origin_and_in_any_unit(shift, unit):
    rows = np.random.default_rng(0).integers(0, 50, (60, 4)).astype(float)
    relevance = same_label(np.arange(9) % 3, np.arange(60) % 3)
    ((plain, _),) = float_blocks(rows[:9], rows, relevance)
    ((found, _),) = float_blocks(rows[:9] * unit + shift, rows * unit + shift, relevance)
    for one, two in zip(plain, found):
        np.testing.assert_array_equal(
            np.unique(one, return_inverse=True)[1], np.unique(two, return_inverse=True)[1]
        )


def test_measures_are_a_list_and_labels_may_be_lists():
    with pytest.raises(TypeError, match="measures='map': give a list"):
        retrieval([], "map")
    assert same_label([0, 1], [1, 0, 1])(slice(1, 2)).tolist() == [[True, False, True]]


def test_one_row_far_away_does_not_tie_the_others():
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[5] *= 1e9
    ((found, _),) = float_blocks(rows[:3], rows, same_label(np.zeros(3), np.zeros(60)))
    np.testing.assert_array_equal(found.argsort(), euclidean_distances(rows[:3], rows).argsort())


def test_rows_that_are_all_the_same_tie():
    ((found, _),) = float_blocks(np.ones((2, 3)), np.ones((4, 3)), same_label(np.zeros(2), np.zeros(4)))
    assert (found == found[:, :1]).all()


# several labels a row


def indicators(n, n_labels=5, seed=0):
    """Labels as sets, and as indicators; some rows have none."""
    rng = np.random.default_rng(seed)
    sets = [set(np.flatnonzero(rng.random(n_labels) < 0.35).tolist()) for _ in range(n)]
    return sets, np.array([[int(label in each) for label in range(n_labels)] for each in sets])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_the_grade_is_the_number_of_shared_labels(dtype):
    (asked, Q), (held, Y) = indicators(6), indicators(30, seed=1)
    assert set() in held
    relevance = shared_labels(Q.astype(dtype), Y.astype(dtype))
    expected = np.array([[len(a & b) for b in held] for a in asked])
    assert expected.max() > 1
    for rows in (slice(0, 6), slice(2, 4), np.array([5, 0])):
        found = relevance(rows)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected[rows])


def test_measures_of_shared_labels_are_those_of_scikit_learn_and_of_a_loop():
    rng = np.random.default_rng(0)
    (asked, Q), (held, Y) = indicators(6), indicators(30, seed=1)
    asked[3], Q[3] = set(), 0
    queries, vectors = rng.standard_normal((6, 4)), rng.standard_normal((30, 4))
    names = ["map", "precision@5", "recall@5", "ndcg@10", "ndcg_paper@10"]
    found = retrieval(float_blocks(queries, vectors, shared_labels(Q, Y)), names).per_query
    for query, apart in enumerate(euclidean_distances(queries, vectors)):
        grades = np.array([len(asked[query] & each) for each in held])
        if not grades.any():
            assert not asked[query]
            assert [found[name][query] for name in names] == pytest.approx(
                [np.nan, 0, np.nan, np.nan, np.nan], nan_ok=True
            )
            continue
        order, hits = grades[apart.argsort()], grades > 0
        paper = np.array([1.0, *(1 / np.log2(rank) for rank in range(2, 11))])
        best = np.sort(grades)[::-1]
        expected = [
            average_precision_score(hits, -apart),
            (order[:5] > 0).mean(),
            (order[:5] > 0).sum() / hits.sum(),
            ndcg_score(2.0 ** grades[None] - 1, -apart[None], k=10),
            (paper * (2.0 ** order[:10] - 1)).sum() / (paper * (2.0 ** best[:10] - 1)).sum(),
        ]
        assert [found[name][query] for name in names] == pytest.approx(expected)


def test_more_shared_labels_than_there_are_grades_have_the_highest_grade():
    relevance = shared_labels(np.ones((1, 60)), np.tri(60, 60))
    assert relevance(slice(0, 1)).tolist() == [[*range(1, 53), *[52] * 8]]
    assert retrieval([(np.arange(60)[None], relevance(slice(0, 1)))], ["map"]).mean == {"map": 1}


@pytest.mark.parametrize(
    ("Q", "Y", "message"),
    [
        (np.ones((2, 3)), np.ones((4, 2)), r"shapes \(2, 3\) and \(4, 2\); give \(q, L\) and \(n, L\)"),
        (np.ones(3), np.ones((4, 3)), r"shapes \(3,\) and \(4, 3\)"),
        (np.ones((2, 3)), np.full((4, 3), 2), "Y holds 2: give 0 or 1, .* or use same_label"),
        (np.full((2, 3), np.nan), np.ones((4, 3)), "Y_queries holds nan: give 0 or 1"),
    ],
)
def test_what_are_no_indicators_is_refused(Q, Y, message):
    with pytest.raises(ValueError, match=message):
        shared_labels(Q, Y)


def test_a_list_sorted_by_a_guessed_class_has_the_map_that_the_page_says():
    """docs/evaluation.md: 1 - ln(2) / 2 with two equal classes, though half of the rows are relevant."""
    held, (guessed, asked) = np.arange(2000) % 2, np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    blocks = [((guessed[:, None] != held).astype(int), asked[:, None] == held)]
    found = retrieval(blocks, ["map", "precision@10"])
    wrong = np.mean(np.arange(1, 1001) / (1000 + np.arange(1, 1001)))  # ranks 1,001 to 2,000 are relevant
    np.testing.assert_allclose(found.per_query["map"], [1, wrong, wrong, 1])
    assert found.mean["map"] == pytest.approx(1 - np.log(2) / 2, abs=5e-4)
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
    wrong, mean = (f"{value:.3f}".lstrip("0") for value in (1 - np.log(2), 1 - np.log(2) / 2))
    assert f"1 - ln 2 = {wrong} where it is wrong, {mean} in the mean" in page
    assert found.mean["precision@10"] == 0.5
