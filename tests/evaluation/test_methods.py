"""Method specs become encoders; alternatives are chosen on the training rows alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import CGHash, DistilHash, HashEncoder, StructHash
from structhash.baselines import ITQ, LSH
from structhash.embeddings.posterior import Posterior
from structhash.estimators.reader import EVERY_READER
from structhash.evaluation.methods import (
    VARIANTS,
    Method,
    encoders_by_name,
    every_method,
    parse_method,
    partner_counts,
    prepare,
    split_specs,
)
from structhash.pieces import load, names

X, Y = (array[:160] for array in load_digits(return_X_y=True))


class Spy(HashEncoder):
    """Records the rows, by their first number, that each copy is fitted on and scored on."""

    seen: list = []  # noqa: RUF012

    def __init__(self, n_bits=4, quality=0.0, random_state=None):
        self.n_bits = n_bits
        self.quality = quality
        self.random_state = random_state

    def fit(self, X, y):
        self.seen.append(("fit", self.quality, X[:, 0].astype(int).tolist()))
        self.n_bits_, self.weights_ = self.n_bits, np.ones(self.n_bits)
        return self

    def score(self, X, y):
        self.seen.append(("score", self.quality, X[:, 0].astype(int).tolist()))
        return self.quality


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Spy, "seen", [])
    return Spy.seen


# specs


def test_every_encoder_of_the_package_has_a_name():
    assert set(encoders_by_name()) == {
        "additivehash",
        "distilhash",
        "structhash",
        "cghash",
        *names("baselines"),
    }


@pytest.mark.parametrize(
    ("spec", "cls"),
    [("distilhash", DistilHash), ("structhash", StructHash), ("cghash", CGHash), ("itq", ITQ), ("lsh", LSH)],
)
def test_a_name_gives_its_encoder_with_defaults(spec, cls):
    method = parse_method(f" {spec} ")
    (encoder,) = method.encoders
    assert (type(encoder), encoder.get_params()) == (cls, cls().get_params())
    assert (method.name, method.on_database, method.is_float) == (spec, False, False)


def test_float_has_no_encoder():
    assert parse_method("float") == Method("float", ())
    assert parse_method("float").is_float


def test_settings_go_to_the_encoder():
    (encoder,) = parse_method("structhash:ranking=ndcg:k=10,normalizer=paper,C=3,n_near=7").encoders
    assert encoder.get_params() == {
        **StructHash().get_params(),
        "ranking": "ndcg:k=10,normalizer=paper",
        "C": 3,
        "n_near": 7,
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("structhash:C=1|3|10", [(1, "sndcg"), (3, "sndcg"), (10, "sndcg")]),
        ("structhash:ranking=auc|ndcg:k=10|sndcg,C=30", [(30, "auc"), (30, "ndcg:k=10"), (30, "sndcg")]),
        ("structhash:C=1|3,ranking=auc|sndcg", [(1, "auc"), (1, "sndcg"), (3, "auc"), (3, "sndcg")]),
        (
            "structhash:ranking=ndcg:k=10,normalizer=ideal|paper,C=2",
            [(2, "ndcg:k=10,normalizer=ideal"), (2, "ndcg:k=10,normalizer=paper")],
        ),
    ],
)
def test_bars_give_every_combination_of_alternatives(spec, expected):
    assert [(encoder.C, encoder.ranking) for encoder in parse_method(spec).encoders] == expected


@pytest.mark.parametrize("spec", ["itq@database", "distilhash@database", "itq@database:max_iter=3"])
def test_methods_without_labels_may_be_fitted_on_the_database(spec):
    assert parse_method(spec).on_database
    assert not parse_method(spec.replace("database", "train")).on_database


@pytest.mark.parametrize("reader", EVERY_READER)
def test_a_reader_stands_before_or_after_the_rows(reader):
    for spec in (f"itq@database@{reader}:max_iter=3", f"itq@{reader}@database:max_iter=3"):
        method = parse_method(spec)
        assert (method.name, method.on_database, method.reader) == (spec, True, reader)
        assert method.encoders[0].max_iter == 3
    assert not parse_method(f"itq@{reader}").on_database
    assert parse_method("itq@train").reader == ""
    assert parse_method("additivehash@database@near").reader == "near"
    assert parse_method("additivehash@auto").reader == ""


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nosuch", "no method is called 'nosuch'; there are distilhash, structhash, cghash, .*lsh.*float"),
        ("", "no method is called ''"),
        ("structhash@database", "structhash learns from labels, which database rows do not have; drop @dat"),
        ("itq@database:max_iter=3|5", "alternatives are chosen by labels, which database rows do not have"),
        ("distilhash:ranking=auc", "'ranking=auc' is not one of its settings as key=value; it has n_bits, emb"),
        ("distilhash:embedding=nosuch", "embeddings is called 'nosuch'"),
        ("cghash@database", "cghash learns from labels, which database rows do not have; drop @database"),
        (
            "itq@queries",
            "fit on @train or @database rows, not @queries; or read queries by one of @auto",
        ),
        ("itq@real@tables", "'itq@real@tables' names @real and @tables; give one of them"),
        ("itq@database@database", "names @database and @database"),
        ("itq@", "not @; or"),
        ("pq@tables", "codes of pq are numbers, not bits, and are read in one way; drop @tables, or"),
        (
            "additivehash@database@bits",
            "codes of additivehash are numbers, .* by @near or in one other way; drop @bits, or give @auto",
        ),
        ("distilhash@near", "'distilhash@near': @near is for additivehash; drop it"),
        ("pq@near", "'pq@near': @near is for additivehash; drop it"),
        ("float@real", "'float@real': the vectors themselves have no settings and no reader; give 'float'"),
        ("structhash:depth=3", "'depth=3' is not one of its settings as key=value; it has n_bits, ranking"),
        ("structhash:C", "'C' is not one of its settings"),
        ("structhash:C=1,C=2", "C is given twice"),
        ("structhash:ranking=nosuch", "rankings is called 'nosuch'; there are auc"),
        ("structhash:ranking=auc|nosuch", "rankings is called 'nosuch'; there are auc"),
        ("structhash:ranking=ndcg:k=0", "k is 0"),
        ("structhash:ranking=ndcg:k=10|20", "20 is no piece of rankings"),
        ("cghash:loss=nosuch", "losses is called 'nosuch'"),
        ("structhash:family=nosuch", "families is called 'nosuch'"),
        ("structhash:start=spectral:ridge=wide", "ridge"),
        ("structhash:C=-1", "C=-1: give a number above 0"),
        ("structhash:C=30|0", "C=0: give a number above 0"),
        ("structhash:n_near=0", "n_near=0"),
        ("structhash:random_state=-1", "random_state=-1: give None, an integer >= 0"),
        ("cghash:tolerance=x", "tolerance='x': give a finite number above 0"),
        ("one_hot:C=-1", "C=-1: give a finite number above 0"),
        ("one_hot:family=rbf:n_anchors=0", "n_anchors=0"),
        ("itq@database:max_iter=0", "max_iter=0: give an integer of at least 1"),
        ("distilhash:random_state=x", "random_state='x': give None, an integer >= 0"),
    ],
)
def test_specs_that_are_not_allowed_are_refused_before_any_fit(spec, message):
    with pytest.raises(ValueError, match=message):
        parse_method(spec)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lsh", ["lsh"]),
        ("lsh,itq@database , float", ["lsh", "itq@database", "float"]),
        ("structhash:C=3,n_near=5,itq", ["structhash:C=3,n_near=5", "itq"]),
        (
            "structhash:ranking=ndcg:k=10,normalizer=paper,C=1|3,lsh:random_state=4",
            ["structhash:ranking=ndcg:k=10,normalizer=paper,C=1|3", "lsh:random_state=4"],
        ),
        ("structhash:C=1,ranking=ndcg:k=3,float", ["structhash:C=1,ranking=ndcg:k=3", "float"]),
        ("lsh,,itq,", ["lsh", "itq"]),
        ("", []),
    ],
)
def test_a_setting_belongs_to_the_method_before_it(text, expected):
    assert split_specs(text) == expected


@pytest.mark.parametrize("name", encoders_by_name())
def test_the_defaults_of_every_method_are_allowed_and_nothing_is_fitted(name):
    (encoder,) = parse_method(name).encoders
    assert not {key for key in vars(encoder) if key.endswith("_")}


def test_a_setting_may_have_the_name_of_a_kind_of_piece():
    assert parse_method("fast_hash:loss=ksh").encoders[0].loss == "ksh"  # no loss of CGHash


def test_every_method_is_listed_and_again_on_the_database_where_it_needs_no_labels():
    specs = every_method()
    assert len(set(specs)) == len(specs)
    methods = [parse_method(spec) for spec in specs]
    assert {spec.partition(":")[0].partition("@")[0] for spec in specs} == {*encoders_by_name(), "float"}
    assert set(VARIANTS) <= set(specs)
    for method in methods:
        if method.name in VARIANTS:
            continue
        if method.is_float or method.encoders[0].needs_y():
            assert specs.count(method.name) == 1
            assert f"{method.name}@database" not in specs
        elif not method.on_database:
            assert f"{method.name}@database" in specs
        assert all(encoder.get_params() == type(encoder)().get_params() for encoder in method.encoders)


@pytest.mark.parametrize(
    ("spec", "lengths", "bits"),
    [
        ("lsh", [8, 12], 8),
        ("binary_quantization", [0], 64),
        ("binary_quantization:n_bits=10", [0], 10),
        ("float", [0], None),
    ],
)
def test_a_method_may_have_a_length_of_its_own(spec, lengths, bits):
    method = parse_method(spec)
    assert method.lengths([8, 12]) == lengths
    if bits is not None:
        encoder, _ = method.fit(X, Y, lengths[0], 0)
        assert encoder.n_bits_ == bits


def test_a_copy_has_the_length_and_the_seed_and_the_original_stays():
    encoder = StructHash(C=3)
    copy = prepare(encoder, 12, 5)
    assert (copy.n_bits, copy.random_state, copy.C) == (12, 5, 3)
    assert (encoder.n_bits, encoder.random_state) == (64, None)


def test_a_seed_in_the_settings_stays():
    assert prepare(LSH(random_state=9), 12, 5).random_state == 9
    assert prepare(LSH(random_state=0), 12, 5).random_state == 0


def test_partner_counts_are_the_settings_of_the_encoder():
    assert partner_counts(StructHash(n_near=7)) == {"n_near": 7, "n_far": 100}
    assert partner_counts(DistilHash()) == {}


# rows to fit on


class TakesUnlabeled(Spy):
    """Records the unlabeled rows too."""

    takes_unlabeled = True

    def fit(self, X, y, *, unlabeled=None):
        self.seen.append(("unlabeled", self.quality, None if unlabeled is None else unlabeled[:, 0].tolist()))
        return super().fit(X, y)


@pytest.mark.parametrize("on_database", [False, True])
@pytest.mark.parametrize("n_encoders", [1, 2])
def test_unlabeled_database_rows_come_beside_the_training_rows(seen, on_database, n_encoders):
    X, y = numbered(40)
    method = Method("spy", (TakesUnlabeled(),) * n_encoders, on_database)
    method.fit(X, y, 8, 0, np.array([[7.0, 0], [9.0, 0]]))
    rows = {str(rows) for what, _, rows in seen if what == "unlabeled"}
    assert rows == {"[7.0, 9.0]" if on_database else "None"}
    assert seen[-1] == ("fit", 0.0, list(range(40)))


# choice among alternatives


def numbered(n):
    return np.column_stack([np.arange(n), np.zeros(n)]), np.arange(n) % 3


def test_one_alternative_is_fitted_once_on_all_rows(seen):
    X, y = numbered(40)
    encoder, chosen = Method("spy", (Spy(),)).fit(X, y, 8, 3)
    assert (encoder.n_bits, encoder.random_state, chosen) == (8, 3, "")
    assert seen == [("fit", 0.0, list(range(40)))]


@pytest.mark.parametrize("qualities", [(0.2, 0.9, 0.5), (0.9, 0.2, 0.5), (0.2, 0.5, 0.9)])
def test_alternatives_are_judged_on_rows_they_are_not_fitted_on(seen, qualities):
    X, y = numbered(40)
    method = Method("spy", tuple(Spy(quality=quality) for quality in qualities))
    encoder, chosen = method.fit(X, y, 8, 3)
    assert encoder.quality == 0.9
    assert chosen == repr(encoder)
    *trials, (last, quality, rows) = seen
    assert (last, quality, rows) == ("fit", 0.9, list(range(40)))  # the best one, on all rows
    assert [(what, quality) for what, quality, _ in trials] == [
        (what, quality) for quality in qualities for what in ("fit", "score")
    ]
    for (_, _, learnt), (_, _, judged) in zip(trials[::2], trials[1::2], strict=True):
        assert (learnt, judged) == (trials[0][2], trials[1][2])  # the same rows for each
        assert len(judged) == 10
        assert sorted(learnt + judged) == list(range(40))


def test_the_held_out_rows_are_shuffled_and_depend_on_the_seed(seen):
    X, y = numbered(40)
    method = Method("spy", (Spy(quality=0.1), Spy(quality=0.2)))
    for seed in (0, 0, 1):
        method.fit(X, y, 8, seed)
    first, again, other = (seen[5 * k + 1][2] for k in range(3))
    assert first == again
    assert sorted(first) != sorted(other)
    assert sorted(first) != list(range(10))


def test_the_first_of_equal_alternatives_is_chosen(seen):
    X, y = numbered(40)
    method = Method("spy", (Spy(n_bits=1, quality=0.5), Spy(n_bits=2, quality=0.5)))
    method.fit(X, y, 8, 0)
    assert [entry[0] for entry in seen] == ["fit", "score", "fit", "score", "fit"]


def test_a_real_choice_is_the_one_with_the_best_held_out_score(monkeypatch):
    scores = {}
    plain = StructHash.score

    def record(self, X, y):
        scores[repr(self)] = plain(self, X, y)
        return scores[repr(self)]

    monkeypatch.setattr(StructHash, "score", record)
    method = parse_method("structhash:ranking=sndcg,C=1e-6|30,n_near=5,n_far=5")
    encoder, chosen = method.fit(X, Y, 4, 0)
    assert len(scores) == 2
    assert chosen == max(scores, key=scores.get) == repr(encoder)
    assert encoder.C == 30
    again = StructHash(4, ranking="sndcg", C=30, n_near=5, n_far=5, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(encoder.transform(X), again.transform(X))


def test_commas_inside_parentheses_belong_to_a_setting():
    spec = "distilhash:embedding=posterior:temperature=4,query_candidates=(2,1)"
    assert split_specs(f"{spec},itq") == [spec, "itq"]
    (encoder,) = parse_method(spec).encoders
    assert load("embeddings", encoder.embedding) == Posterior(temperature=4, query_candidates=(2, 1))
    pair = parse_method("distilhash:embedding=posterior:query_candidates=(2,1)|metric").encoders
    assert [each.embedding for each in pair] == ["posterior:query_candidates=(2,1)", "metric"]
