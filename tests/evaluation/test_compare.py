"""Comparisons let no method see the rows that it is tested on."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.metrics.pairwise import euclidean_distances

from structhash import HashEncoder, StructHash
from structhash.baselines import LSH
from structhash.evaluation import (
    Method,
    as_table,
    compare,
    parse_method,
    retrieval,
    seen_classes,
    summarise,
    unseen_classes,
)

X, Y = (array[:300] for array in load_digits(return_X_y=True))
JITTERED = X + 0.01 * np.random.default_rng(0).random(X.shape)  # no two distances are equal
PARTNERS = "n_near=5,n_far=5"


def test_each_method_has_one_result_a_distance_length_and_seed():
    methods = [f"structhash:{PARTNERS}", f"cghash:{PARTNERS}", "itq", "lsh@database", "float"]
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


def test_weights_that_move_give_a_weighted_result():
    methods = [f"structhash:schedule=totally_corrective,{PARTNERS}", f"cghash:schedule=stagewise,{PARTNERS}"]
    found = [(r.method, r.distance) for r in compare(methods, X, Y, bits=[4], seeds=[0], measures=["map"])]
    assert found == [(methods[0], "plain"), (methods[0], "weighted"), (methods[1], "plain")]


def direct(distances, relevant):
    return np.mean([average_precision_score(r, -d) for r, d in zip(relevant, distances, strict=True)])


@pytest.mark.parametrize(("protocol", "splits"), [("seen", seen_classes), ("unseen", unseen_classes)])
def test_a_result_is_the_fit_on_the_training_rows_scored_on_the_queries(protocol, splits):
    X = JITTERED
    spec = f"cghash:{PARTNERS}"
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
        assert not hasattr(self, "n_bits_")  # a new copy each time
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
def test_a_method_with_a_distance_of_its_own_has_another_result(pairs, monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    monkeypatch.setattr("structhash.evaluation.scoring._MAX_DISTANCES", pairs)
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


def test_a_method_with_a_length_of_its_own_is_trained_once():
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
def test_a_method_sees_its_own_rows_only_and_is_fitted_for_each_seed(
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
            for _ in range(3):  # of which two are timed
                assert next(log) == ("encode", split.queries.tolist())
            assert not set(rows) & set(split.queries)
    assert next(log, None) is None


def test_alternatives_are_chosen_on_the_training_rows(monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    numbered = np.column_stack([np.arange(120.0), np.zeros(120)])
    y = np.arange(120) % 8
    (result,) = compare([Method("spy", (Spy(4), Spy(5)))], numbered, y, "seen", [6], [0], ["map"], n_train=40)
    *trials, database, _, _, queries = Spy.log  # between them, queries are timed
    split = seen_classes(y, 0, n_train=40)
    for _, rows, *_ in trials:
        assert set(rows) <= set(split.train)
    assert (database[1], queries[1]) == (split.database.tolist(), split.queries.tolist())
    assert result.chosen == repr(Spy(n_bits=6, random_state=0))


def test_the_chosen_setting_is_named():
    spec = f"structhash:ranking=sndcg,C=1e-6|30,{PARTNERS}"
    (result,) = compare([spec], X, Y, bits=[4], seeds=[0], measures=["map"])
    assert result.chosen == repr(StructHash(n_bits=4, ranking="sndcg", C=30, n_near=5, n_far=5, random_state=0))


def test_the_same_seeds_give_the_same_numbers():
    def run():
        return [r.scores.mean for r in compare([f"structhash:{PARTNERS}", "lsh"], X, Y, bits=[4], seeds=[5])]

    assert run() == run()


def test_lists_and_data_frames_are_taken():
    options = {"bits": [4], "seeds": [0], "measures": ["map"]}
    (one,) = compare(["lsh"], X, Y, **options)
    (two,) = compare(["lsh"], pd.DataFrame(X), Y.tolist(), **options)
    assert one.scores.mean == two.scores.mean


def test_lengths_and_measures_may_be_iterators_and_seeds_may_be_an_array():
    results = list(compare(["lsh", "itq"], X, Y, bits=iter([4, 5]), seeds=np.arange(2), measures=iter(["map"])))
    assert [(r.method, r.n_bits, r.seed) for r in results] == [
        (method, n_bits, seed) for seed in (0, 1) for method in ("lsh", "itq") for n_bits in (4, 5)
    ]
    assert {type(r.seed) for r in results} == {int}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol": "known"}, "protocol='known': give seen or unseen"),
        ({"methods": ["nosuch"]}, "no method is called 'nosuch'"),
        ({"methods": ["spy", "structhash:ranking=nosuch"]}, "rankings is called 'nosuch'"),
        ({"measures": ["map", "mop"]}, "metric='mop'"),
        ({"seeds": [-1]}, "seeds=-1: give an integer of at least 0"),
        ({"y": Y[:9]}, r"labels have shape \(9,\); give one label for each of the 300 rows"),
        ({"n_queries": 0}, "n_queries=0: give an integer"),
        ({"n_train": 0}, "n_train=0: give an integer"),
        ({"n_train": -5}, "n_train=-5: give an integer"),
        ({"bits": [4, 0]}, "bits=0: give an integer"),
        ({"bits": [4.5]}, "bits=4.5: give an integer"),
        ({"ties": "random"}, "ties='random'"),
    ],
)
def test_what_is_not_allowed_is_refused_before_the_first_fit(change, message, monkeypatch):
    monkeypatch.setattr(Spy, "log", [])
    spy = Method("spy", (Spy(),))
    options = {"methods": ["spy"], "bits": [4], "seeds": [0], "measures": ["map"], **change}
    options["methods"] = [spy if method == "spy" else method for method in options["methods"]]
    with pytest.raises(ValueError, match=message):
        compare(**{"X": X, "y": Y, **options})
    assert Spy.log == []


def test_a_failure_is_kept_or_raised_with_the_name_of_the_fit(digits):
    bad = "mdsh:bandwidth=1e-100"
    options = {"bits": [4], "seeds": [0], "measures": ["map"], "n_queries": 30}
    with pytest.raises(ValueError, match="bandwidth=1e-100 is too small") as caught:
        list(compare([bad], *digits, **options))
    assert caught.value.__notes__ == [f"in the comparison: {bad}, 4 bits, seed 0"]
    fits = []
    found = list(compare([bad, "lsh"], *digits, **options, failures="keep", on_fit=fits.append))
    assert [each.error for each in found] == [f"ValueError: {caught.value}", ""]
    assert [each for fit in fits for each in fit] == found
    assert [bool(line.error) for line in summarise(found)] == [True, False]
    with pytest.raises(ValueError, match="failures='x': give 'raise' or 'keep'"):
        compare(["lsh"], *digits, failures="x")


def test_finished_results_are_not_computed_again(digits):
    X, y = digits
    options = {"bits": [4], "seeds": [0, 1], "measures": ["map"], "n_queries": 30}
    first = list(compare(["lsh", "float"], X, y, **options))
    marked = [each._replace(fit_seconds=-1.0) for each in first[:2]]
    again = list(compare(["lsh", "float"], X, y, **options, finished=marked))
    assert [each.fit_seconds == -1 for each in again] == [True, True, False, False]


class Interrupted(Spy):
    """Is interrupted in compiled code, which raises an error of its own."""

    def fit(self, X, y=None):
        raise SystemError("in compiled code") from KeyboardInterrupt()


def test_an_interrupt_is_no_failure_of_a_method(digits):
    method = Method("interrupted", (Interrupted(),))
    with pytest.raises(SystemError, match="in compiled code"):
        list(compare([method], *digits, bits=[4], failures="keep"))


def test_a_line_that_failed_for_one_seed_is_not_averaged(digits):
    found = list(compare(["lsh", "itq"], *digits, bits=[4], seeds=[0, 1], n_queries=30))
    broken = [*found[:3], found[3]._replace(error="ValueError: no", distance="-")]
    lines = summarise(broken)
    assert [(line.method, line.seeds, line.error) for line in lines] == [
        ("lsh", [0, 1], ""),
        ("itq", [1], "ValueError: no"),
    ]
    assert "failed" in as_table(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": "itq"}, r"methods='itq': give a list, such as \['itq'\]"),
        ({"methods": [LSH()]}, r"LSH\(\) is no method; give a text"),
        ({"bits": 8}, r"bits=8: give a list, such as \[8\]"),
        ({"measures": "map"}, "measures='map': give a list"),
        ({"protocol": ["seen"]}, "protocol=.*: give seen or unseen"),
        ({"X": np.eye(8) * 1j}, "X is complex128"),
        ({"X": np.full((8, 2), np.nan)}, "X holds NaN in row 0"),
        ({"X": csr_array(np.eye(8))}, "X is sparse"),
    ],
)
def test_arguments_of_another_kind_are_refused_before_the_first_fit(change, message):
    allowed = {"methods": ["float"], "X": np.eye(8), "y": np.arange(8) % 2, "bits": [4]}
    with pytest.raises((TypeError, ValueError), match=message):
        compare(**{**allowed, **change})


# several labels a row

SETS = [
    {f"digit {y}"} | ({"odd"} if y % 2 else set()) | ({"dark"} if x.sum() > 320 else set())
    for x, y in zip(X, Y)
]
SETS = [set() if i % 9 == 0 else labels for i, labels in enumerate(SETS)]
NAMES = sorted(set.union(*SETS))
INDICATORS = np.array([[int(name in labels) for name in NAMES] for labels in SETS])


def test_several_labels_are_judged_by_how_many_are_shared():
    measures = ["map", "precision@5", "ndcg@10"]
    (found,) = compare(["float"], JITTERED, INDICATORS, seeds=[2], measures=measures, n_queries=40)
    split = seen_classes(np.zeros(len(X)), 2, 40)
    queries = [row for row in split.queries.tolist() if SETS[row]]
    assert len(queries) < 40
    assert found.found.queries == queries
    assert found.sizes == (260, len(queries), 260)
    for place, row in enumerate(queries):
        apart = np.linalg.norm(JITTERED[split.database] - JITTERED[row], axis=1)
        grades = np.array([len(SETS[row] & SETS[other]) for other in split.database])
        assert found.found.grades[place] == grades[apart.argsort()[:10]].tolist()
        expected = [
            average_precision_score(grades > 0, -apart),
            (grades[apart.argsort()[:5]] > 0).mean(),
            ndcg_score(2.0 ** grades[None] - 1, -apart[None], k=10),
        ]
        assert [found.scores.per_query[name][place] for name in measures] == pytest.approx(expected)


def test_methods_learn_from_the_indicators_of_their_rows():
    several = f"structhash:{PARTNERS}"
    options = {"bits": [6], "seeds": [1], "measures": ["map"], "n_train": 90}
    (found,) = compare([several], X, INDICATORS, **options)
    split = seen_classes(np.zeros(len(X)), 1, n_train=90)
    encoder = StructHash(6, n_near=5, n_far=5, random_state=1).fit(X[split.train], INDICATORS[split.train])
    queries = [row for row in split.queries if SETS[row]]
    codes = [np.unpackbits(encoder.encode(X[rows]), axis=1) for rows in (queries, split.database)]
    distances = (codes[0][:, None] != codes[1]).sum(axis=2)
    relevant = np.array([[bool(SETS[a] & SETS[b]) for b in split.database] for a in queries])
    assert found.scores.mean == pytest.approx(retrieval([(distances, relevant)], ["map"]).mean)


def test_a_method_of_one_label_a_row_fails_in_its_own_line():
    options = {"bits": [4], "seeds": [0], "measures": ["map"]}
    lines = list(compare(["one_hot", "itq"], X, INDICATORS, **options, failures="keep"))
    assert "ValueError: labels have shape (225, " in lines[0].error
    assert "take several" in lines[0].error
    assert lines[1].error == ""
    assert lines[1].scores.mean["map"] > 0


def test_training_rows_may_lack_a_label():
    split = seen_classes(np.zeros(len(X)), 0, n_train=60)
    rare = INDICATORS.copy()
    rare[split.train, NAMES.index("odd")] = 0
    (found,) = compare([f"structhash:{PARTNERS}"], X, rare, bits=[4], seeds=[0], measures=["map"], n_train=60)
    assert 0 < found.scores.mean["map"] < 1


def test_alternatives_are_chosen_by_several_labels():
    spec = f"structhash:{PARTNERS},ranking=auc|ndcg"
    (found,) = compare([spec], X, INDICATORS, bits=[4], seeds=[0], measures=["map"], n_train=90)
    assert found.chosen.startswith("StructHash(")
