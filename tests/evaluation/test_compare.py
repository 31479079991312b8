"""Splits, scores of rankings, and comparisons that let no method see what it is tested on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.metrics.pairwise import euclidean_distances

from structhash import HashEncoder, StructHash
from structhash.codes import pack
from structhash.evaluation.compare import (
    MEASURES,
    code_blocks,
    compare,
    float_blocks,
    judged,
    retrieval,
    same_label,
    seen_classes,
    unseen_classes,
)
from structhash.evaluation.methods import Method, parse_method

X, Y = (array[:300] for array in load_digits(return_X_y=True))
JITTERED = X + 0.01 * np.random.default_rng(0).random(X.shape)  # no two distances are equal
FEW = "n_near=5,n_far=5"


# splits


@pytest.mark.parametrize("n", [4, 7, 40, 1000])
@pytest.mark.parametrize("seed", [0, 1])
def test_seen_queries_and_database_part_all_rows_and_training_is_in_the_database(n, seed):
    split = seen_classes(np.arange(n) % 3, seed, n_queries=100, n_train=300)
    assert sorted([*split.queries, *split.database]) == list(range(n))
    assert len(split.queries) == min(100, n // 4)
    assert len(split.train) == min(300, len(split.database)) == len(set(split.train))
    assert set(split.train) <= set(split.database)


def test_the_paper_sizes_are_the_defaults():
    seen = seen_classes(np.arange(10_000) % 10)
    assert (len(seen.queries), len(seen.train), len(seen.database)) == (2000, 2000, 8000)
    unseen = unseen_classes(np.arange(40_000) % 10)
    assert (len(unseen.train), len(unseen.queries)) == (4000, 2000)
    assert len(unseen.database) == 3 * 4000 - 2000


@pytest.mark.parametrize("n_classes", [5, 6, 8, 10, 77])
@pytest.mark.parametrize("seed", [0, 1])
def test_unseen_training_classes_are_three_quarters_and_never_searched(n_classes, seed):
    y = np.array([f"class {i % n_classes}" for i in range(n_classes * 12)])
    split = unseen_classes(y, seed, n_queries=50, n_train=10**6)
    rest = np.concatenate([split.queries, split.database])
    assert len(set(y[split.train])) == n_classes * 3 // 4
    assert len(set(y[rest])) == n_classes - n_classes * 3 // 4
    assert not set(y[split.train]) & set(y[rest])
    assert not set(split.queries) & set(split.database)
    assert sorted([*split.train, *rest]) == list(range(len(y)))
    assert len(split.queries) == min(50, len(rest) // 4)


def test_unseen_training_rows_are_at_most_n_train():
    split = unseen_classes(np.arange(400) % 8, 0, n_train=30)
    assert len(split.train) == len(set(split.train)) == 30


@pytest.mark.parametrize("protocol", [seen_classes, unseen_classes])
def test_a_seed_gives_one_shuffled_split_and_leaves_the_global_state(protocol):
    y = np.repeat(np.arange(8), 50)  # sorted by class
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b, c = protocol(y, 3), protocol(y, 3), protocol(y, 4)
    for one, two, other in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(one, two)
        assert not np.array_equal(one, other)
        assert (np.diff(one) < 0).any()
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert len(set(y[seen_classes(y, 0).queries])) == 8


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4])
def test_too_few_classes_for_unseen_ones_are_refused(n_classes):
    with pytest.raises(ValueError, match=f"needs 2 others; the data have {n_classes}"):
        unseen_classes(np.arange(100) % n_classes)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"the data have 3 rows.*give at least 4"):
        seen_classes(np.arange(3))
    with pytest.raises(ValueError, match="the 2 classes left for retrieval have 2 rows; give at least 4"):
        unseen_classes(np.arange(5))


# scores


def rankings(n_queries=9, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n_queries, n)), rng.random((n_queries, n)) < 0.2


def in_order(distances, relevance):
    return np.take_along_axis(relevance, np.argsort(distances, axis=1), axis=1)


def test_without_ties_the_scores_are_those_of_scikit_learn_and_numpy():
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


def test_queries_without_relevant_points_are_left_out_of_the_mean_but_keep_their_place():
    distances, relevance = rankings(5)
    relevance[[0, 3]] = False
    scores = retrieval([(distances[[i]], relevance[[i]]) for i in range(5)], ["map", "pr_area"])
    there = retrieval([(distances[[1, 2, 4]], relevance[[1, 2, 4]])], ["map", "pr_area"])
    for name in ("map", "pr_area"):
        np.testing.assert_array_equal(np.isnan(scores.per_query[name]), [True, False, False, True, False])
        np.testing.assert_array_equal(scores.per_query[name][[1, 2, 4]], there.per_query[name])
        assert scores.mean[name] == pytest.approx(there.mean[name])


def test_where_nothing_is_relevant_the_means_are_nan():
    distances, relevance = rankings(2)
    scores = retrieval([(distances, relevance & False)], ["map", "pr_area"])
    assert np.isnan([*scores.mean.values(), *scores.per_query["pr_area"]]).all()


def test_unknown_measures_and_no_queries_are_refused():
    with pytest.raises(ValueError, match=r"metric='mop': give one of .* ndcg@k"):
        retrieval([rankings()], ["mop"])
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
def test_the_size_of_a_block_changes_no_number(bits, pairs, monkeypatch):
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
    monkeypatch.setattr("structhash.evaluation.compare.PAIRS", pairs)
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


def test_weighted_distances_that_are_equal_but_for_rounding_tie():
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


def test_judgements_are_grades_and_unjudged_documents_have_none():
    qrels = np.array([[0, 2, 3], [1, 0, 1], [0, 1, 1]])
    relevance = judged(qrels, 2, 4)
    np.testing.assert_array_equal(relevance(slice(0, 2)), [[0, 1, 3, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(relevance(slice(1, 2)), [[1, 0, 0, 0]])


def test_graded_judgements_score_as_scikit_learn_with_exponential_gain():
    rng = np.random.default_rng(0)
    queries, vectors = rng.standard_normal((6, 4)), rng.standard_normal((30, 4))
    grades = rng.integers(0, 4, (6, 30))
    qrels = np.column_stack([*np.nonzero(grades), grades[grades > 0]])
    scores = retrieval(float_blocks(queries, vectors, judged(qrels, 6, 30)), ["ndcg@10", "map"])
    apart = euclidean_distances(queries, vectors)
    assert scores.mean["ndcg@10"] == pytest.approx(ndcg_score(2.0**grades - 1, -apart, k=10))
    expected = [average_precision_score(g > 0, -d) for g, d in zip(grades, apart, strict=True)]
    assert scores.mean["map"] == pytest.approx(np.mean(expected))


# comparisons


def test_each_line_is_there_once_a_length_and_seed():
    methods = [f"structhash:{FEW}", f"cghash:{FEW}", "itq", "lsh@database", "float"]
    results = list(compare(methods, X, Y, bits=[4, 6], seeds=[0, 1], measures=["map"]))
    lines = {(r.method, r.distance, r.n_bits, r.seed) for r in results}
    assert len(lines) == len(results)
    assert lines == {
        (method, distance, n_bits, seed)
        for seed in (0, 1)
        for method, distance, lengths in [
            (methods[0], "plain", (4, 6)),
            (methods[1], "plain", (4, 6)),
            (methods[1], "weighted", (4, 6)),
            ("itq", "plain", (4, 6)),
            ("lsh@database", "plain", (4, 6)),
            ("float", "L2", (0,)),
        ]
        for n_bits in lengths
    }
    for result in results:
        assert list(result.scores.mean) == ["map"]
        assert result.scores.per_query["map"].shape == (75,)
        assert 0 < result.scores.mean["map"] < 1
        assert result.fit_seconds >= 0 <= result.encode_seconds


def test_a_corrective_structhash_has_a_weighted_line_and_a_stagewise_cghash_none():
    methods = [f"structhash:schedule=totally_corrective,{FEW}", f"cghash:schedule=stagewise,{FEW}"]
    found = [(r.method, r.distance) for r in compare(methods, X, Y, bits=[4], seeds=[0], measures=["map"])]
    assert found == [(methods[0], "plain"), (methods[0], "weighted"), (methods[1], "plain")]


def direct(distances, relevant):
    return np.mean([average_precision_score(r, -d) for r, d in zip(relevant, distances, strict=True)])


@pytest.mark.parametrize(("protocol", "splits"), [("seen", seen_classes), ("unseen", unseen_classes)])
def test_a_line_is_the_fit_on_the_training_rows_scored_on_the_queries(protocol, splits):
    X = JITTERED
    spec = f"cghash:{FEW}"
    plain, weighted, vectors = compare(
        [spec, "float"], X, Y, protocol, [6], [3], ["map"], n_queries=20, n_train=90
    )
    split = splits(Y, 3, n_queries=20, n_train=90)
    (encoder,) = parse_method(spec).encoders
    model = clone(encoder).set_params(n_bits=6, random_state=3).fit(X[split.train], Y[split.train])
    differ = model.transform(X[split.queries])[:, None] != model.transform(X[split.database])[None]
    relevant = Y[split.queries, None] == Y[split.database]
    for result, distances in ((plain, differ.sum(axis=2)), (weighted, (differ * model.weights_).sum(axis=2))):
        tied = [(np.round(distances, 6), relevant)]
        assert result.scores.mean["map"] == pytest.approx(retrieval(tied, ["map"]).mean["map"], rel=1e-3)
    apart = euclidean_distances(X[split.queries], X[split.database])
    assert vectors.scores.mean["map"] == pytest.approx(direct(apart, relevant))


class Spy(HashEncoder):
    """Records the rows, by their first number, that it is fitted on and encodes."""

    log: list = []  # noqa: RUF012

    def __init__(self, n_bits=4, random_state=None):
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, X, y=None):
        assert not hasattr(self, "n_bits_")  # anew each time
        labels = None if y is None else y.tolist()
        self.log.append(("fit", X[:, 0].astype(int).tolist(), labels, self.n_bits, self.random_state))
        self.n_bits_, self.weights_, self.history_ = self.n_bits, np.ones(self.n_bits), []
        self.n_features_in_ = X.shape[1]
        return self

    def _bits(self, X):
        self.log.append(("encode", X[:, 0].astype(int).tolist()))
        return X[:, :1] > np.arange(self.n_bits) * 10


class Own(Spy):
    """One bit, and squared distance of the first two features."""

    own_distance_ = "first two"

    def own_distances(self, rows):
        return lambda queries: ((queries[:, None, :2] - rows[None, :, :2]) ** 2).sum(axis=2)


@pytest.mark.parametrize("pairs", [1000, 10**6])
def test_a_distance_of_a_methods_own_is_another_line(pairs, monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    monkeypatch.setattr("structhash.evaluation.compare.PAIRS", pairs)
    Z = JITTERED[:, 20:]
    plain, own = compare([Method("own", (Own(1),))], Z, Y, bits=[1], seeds=[2], measures=["map"])
    assert [(r.method, r.distance, r.n_bits) for r in (plain, own)] == [
        ("own", "plain", 1),
        ("own", "first two", 1),
    ]
    split = seen_classes(Y, 2)
    apart = euclidean_distances(Z[split.queries, :2], Z[split.database, :2])
    relevant = Y[split.queries, None] == Y[split.database]
    assert own.scores.mean["map"] == pytest.approx(direct(apart, relevant))
    assert plain.scores.mean["map"] != pytest.approx(own.scores.mean["map"])
    assert (own.fit_seconds, own.encode_seconds) == (plain.fit_seconds, plain.encode_seconds)


def test_a_method_with_a_length_of_its_own_has_one_line_of_it():
    methods = ["lsh", "binary_quantization", "binary_quantization:n_bits=10"]
    results = compare(methods, X, Y, bits=[4, 6], seeds=[0], measures=["map"])
    assert [(r.method, r.distance, r.n_bits) for r in results] == [
        ("lsh", "plain", 4),
        ("lsh", "plain", 6),
        *((methods[1], distance, 64) for distance in ("plain", "rescored")),
        *((methods[2], distance, 10) for distance in ("plain", "rescored")),
    ]


@pytest.mark.parametrize(("protocol", "splits"), [("seen", seen_classes), ("unseen", unseen_classes)])
@pytest.mark.parametrize("on_database", [False, True])
def test_a_method_sees_its_rows_only_and_is_fitted_anew_for_each_seed(
    protocol, splits, on_database, monkeypatch
):
    monkeypatch.setattr(Spy, "log", [])
    numbered = np.column_stack([np.arange(120.0), np.zeros(120)])
    y = np.arange(120) % 8
    method = Method("spy", (Spy(),), on_database)
    list(compare([method], numbered, y, protocol, [4, 5], [0, 1], ["map"], n_queries=20, n_train=30))
    log = iter(Spy.log)
    for seed in (0, 1):
        split = splits(y, seed, n_queries=20, n_train=30)
        rows = split.database if on_database else split.train
        for n_bits in (4, 5):
            labels = None if on_database else y[rows].tolist()
            assert next(log) == ("fit", rows.tolist(), labels, n_bits, seed)
            assert next(log) == ("encode", split.database.tolist())
            assert next(log) == ("encode", split.queries.tolist())
            assert not set(rows) & set(split.queries)
    assert next(log, None) is None


def test_alternatives_are_chosen_within_the_training_rows(monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    numbered = np.column_stack([np.arange(120.0), np.zeros(120)])
    y = np.arange(120) % 8
    (result,) = compare([Method("spy", (Spy(4), Spy(5)))], numbered, y, "seen", [6], [0], ["map"], n_train=40)
    *trials, database, queries = Spy.log
    split = seen_classes(y, 0, n_train=40)
    for _, rows, *_ in trials:
        assert set(rows) <= set(split.train)
    assert (database[1], queries[1]) == (split.database.tolist(), split.queries.tolist())
    assert result.chosen == repr(Spy(n_bits=6, random_state=0))


def test_the_chosen_setting_is_named():
    spec = f"structhash:ranking=sndcg,C=1e-6|30,{FEW}"
    (result,) = compare([spec], X, Y, bits=[4], seeds=[0], measures=["map"])
    assert result.chosen == repr(StructHash(n_bits=4, ranking="sndcg", C=30, n_near=5, n_far=5, random_state=0))


def test_the_same_seeds_give_the_same_numbers():
    def run():
        return [r.scores.mean for r in compare([f"structhash:{FEW}", "lsh"], X, Y, bits=[4], seeds=[5])]

    assert run() == run()


def test_lists_and_frames_will_do():
    options = {"bits": [4], "seeds": [0], "measures": ["map"]}
    (one,) = compare(["lsh"], X, Y, **options)
    (two,) = compare(["lsh"], pd.DataFrame(X), Y.tolist(), **options)
    assert one.scores.mean == two.scores.mean


def test_lengths_and_measures_may_be_iterators_and_seeds_an_array():
    results = list(compare(["lsh", "itq"], X, Y, bits=iter([4, 5]), seeds=np.arange(2), measures=iter(["map"])))
    assert [(r.method, r.n_bits, r.seed) for r in results] == [
        (method, n_bits, seed) for seed in (0, 1) for method in ("lsh", "itq") for n_bits in (4, 5)
    ]
    assert {type(r.seed) for r in results} == {int}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol": "known"}, "protocol 'known': give seen or unseen"),
        ({"methods": ["nosuch"]}, "no method is called 'nosuch'"),
        ({"methods": ["spy", "structhash:ranking=nosuch"]}, "rankings is called 'nosuch'"),
        ({"measures": ["map", "mop"]}, "metric='mop'"),
        ({"y": Y[:9]}, r"labels have shape \(9,\); give one label for each of the 300 rows"),
        ({"n_queries": 0}, "n_queries=0: give an integer"),
        ({"n_train": 0}, "n_train=0: give an integer"),
        ({"n_train": -5}, "n_train=-5: give an integer"),
        ({"bits": [4, 0]}, "bits=0: give an integer"),
        ({"bits": [4.5]}, "bits=4.5: give an integer"),
    ],
)
def test_a_bad_word_is_refused_before_anything_is_fitted(change, message, monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    spy = Method("spy", (Spy(),))
    options = {"methods": ["spy"], "bits": [4], "seeds": [0], "measures": ["map"], **change}
    options["methods"] = [spy if method == "spy" else method for method in options["methods"]]
    with pytest.raises(ValueError, match=message):
        list(compare(**{"X": X, "y": Y, **options}))
    assert Spy.log == []


def test_a_ties_word_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="ties"):
        list(compare(["float"], X, Y, seeds=[0], ties="random"))
