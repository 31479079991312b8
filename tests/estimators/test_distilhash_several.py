"""DistilHash where rows have several labels, or none."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.utils import shuffle

from structhash import AdditiveHash, DistilHash, load_model
from structhash.baselines.itq import ITQ
from structhash.embeddings.multilabel import Multilabel
from structhash.io import container

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
SETS = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6, Y == 1]).astype(int)  # 5 has none
TRAIN = slice(0, 300)
REST = X[300:500]
SMALL = {"n_bits": 12, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return DistilHash(**SMALL).fit(X[TRAIN], SETS[TRAIN])


def attributes_of(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def mean_average_precision(model, queries, rows):
    """By hand, of the queries with a label; the orders of ties are drawn."""
    bits, of_rows = model.transform(X[queries]).astype(int), model.transform(X[rows]).astype(int)
    noise = np.random.default_rng(0).random(len(of_rows)) / 2
    found = []
    for code, own in zip(bits, SETS[queries], strict=True):
        relevant = (SETS[rows] & own).any(axis=1)
        if own.any():
            found.append(average_precision_score(relevant, -np.abs(of_rows - code).sum(axis=1) - noise))
    return np.mean(found)


@pytest.mark.slow
def test_it_finds_more_rows_that_share_a_label_than_other_ways_do():
    learn, queries, rows = np.arange(600), np.arange(600, 900), np.arange(900, 1797)
    first = np.where(SETS.any(axis=1), SETS.argmax(axis=1), 4)
    found = [
        mean_average_precision(encoder, queries, rows)
        for encoder in (
            DistilHash(24, random_state=0).fit(X[learn], SETS[learn]),
            DistilHash(24, random_state=0).fit(X[learn], first[learn]),
            ITQ(24, random_state=0).fit(X[learn]),
        )
    ]
    assert found[0] > found[1] + 0.02
    assert found[0] > found[2] + 0.2


def test_the_embedding_is_multilabel_and_is_said(model):
    assert model.embedding_ == Multilabel()
    assert model.about() == {
        "embedding": "multilabel",
        "because": "rows have several labels",
        "queries": "coded like rows",
    }
    assert not model.queries_differ()
    np.testing.assert_array_equal(model.encode_queries(REST), model.encode(REST))
    named = DistilHash(**SMALL, embedding="multilabel").fit(X[TRAIN], SETS[TRAIN])
    np.testing.assert_array_equal(named.encode(REST), model.encode(REST))


def test_a_prefix_is_the_model_of_that_length(model):
    short = DistilHash(n_bits=5, random_state=0).fit(X[TRAIN], SETS[TRAIN])
    np.testing.assert_array_equal(model.encode(REST, n_bits=5), short.encode(REST))


def test_a_model_from_a_file_and_a_pickle_is_the_model(model, tmp_path):
    model.save(tmp_path / "model")
    for again in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.embedding_ == model.embedding_
        assert again.fingerprint() == model.fingerprint()
        np.testing.assert_array_equal(again.encode(REST), model.encode(REST))
        assert again.score(X[300:500], SETS[300:500]) == model.score(X[300:500], SETS[300:500])


STATE = "hash_function_/embedding_state/"


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop(f"{STATE}prior"),
        lambda arrays: arrays.update({f"{STATE}prior": arrays[f"{STATE}prior"][:2]}),
        lambda arrays: arrays.update({f"{STATE}coef": arrays[f"{STATE}coef"] * np.nan}),
        lambda arrays: arrays.update({f"{STATE}coef": arrays[f"{STATE}coef"][:, :2]}),
        lambda arrays: arrays.update({f"{STATE}anchors": arrays[f"{STATE}anchors"][1:]}),
        lambda arrays: arrays.update({f"{STATE}bandwidth": -arrays[f"{STATE}bandwidth"]}),
        lambda arrays: arrays.update({f"{STATE}units": np.zeros(2)}),
        lambda arrays: arrays.update({f"{STATE}sureness": np.ones(3)}),
    ],
)
def test_a_damaged_file_is_refused_by_its_path(model, change, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    arrays, header = container.load(path, "model")
    change(arrays)
    container.save(path, arrays, header, "model")
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lists", "tuples", "bools", "floats", "frame"])
def test_labels_of_any_container_are_read(model, kind):
    y = SETS[TRAIN]
    given = {
        "lists": y.tolist(),
        "tuples": tuple(map(tuple, y.tolist())),
        "bools": y.astype(bool),
        "floats": y.astype(np.float32),
        "frame": pd.DataFrame(y, columns=list("abcd"), index=range(1000, 1300)),
    }[kind]
    np.testing.assert_array_equal(DistilHash(**SMALL).fit(X[TRAIN], given).encode(REST), model.encode(REST))


def test_a_label_of_no_row_does_not_matter(model):
    y = np.column_stack([SETS, np.zeros_like(SETS)])[TRAIN]
    np.testing.assert_array_equal(DistilHash(**SMALL).fit(X[TRAIN], y).encode(REST), model.encode(REST))


@pytest.mark.slow
def test_warm_start_goes_on_with_the_same_bits(model):
    warm = DistilHash(6, random_state=0, warm_start=True).fit(X[TRAIN], SETS[TRAIN])
    first = warm.encode(REST)
    warm.set_params(n_bits=12).fit(X[TRAIN], SETS[TRAIN])
    assert warm.n_bits_ == 12
    np.testing.assert_array_equal(warm.encode(REST, n_bits=6), first)
    np.testing.assert_array_equal(warm.encode(REST), model.encode(REST))


def test_a_clone_learns_the_same_codes(model):
    again = clone(model)
    assert not hasattr(again, "embedding_")
    np.testing.assert_array_equal(again.fit(X[TRAIN], SETS[TRAIN]).encode(REST), model.encode(REST))


def test_float32_rows():
    rows = X.astype(np.float32)
    codes = DistilHash(**SMALL).fit(rows[TRAIN], SETS[TRAIN]).transform(rows[300:500])
    assert 0 < codes.mean() < 1
    assert len(np.unique(codes, axis=0)) > 20


@pytest.mark.slow
def test_bits_are_learned_from_unlabeled_rows(model):
    shift = X[500:1100]
    moved = DistilHash(**SMALL).fit(X[TRAIN], SETS[TRAIN], unlabeled=shift)
    assert moved.embedding_ == Multilabel()
    assert (moved.transform(REST) != model.transform(REST)).any()
    assert abs(moved.score(REST, SETS[300:500]) - model.score(REST, SETS[300:500])) < 0.03
    balance = moved.transform(shift).mean(axis=0)
    assert ((balance > 0.05) & (balance < 0.95)).all()


@pytest.mark.slow
def test_one_label_a_row_is_taken_by_a_named_multilabel():
    named = DistilHash(**SMALL, embedding="multilabel").fit(X[TRAIN], Y[TRAIN])
    centred = DistilHash(**SMALL, embedding="centered").fit(X[TRAIN])
    assert named.score(REST, Y[300:500]) > centred.score(REST, Y[300:500]) + 0.2
    columns = DistilHash(**SMALL, embedding="multilabel").fit(X[TRAIN], np.eye(10, dtype=int)[Y[TRAIN]])
    np.testing.assert_array_equal(columns.encode(REST), named.encode(REST))


@pytest.mark.parametrize("embedding", ["posterior", "mixture", "metric", "manifold"])
@pytest.mark.parametrize("unlabeled", [None, X[500:700]], ids=["alone", "unlabeled"])
def test_an_embedding_of_one_label_a_row_says_what_to_do(embedding, unlabeled):
    words = f"embedding='{embedding}' learns from one label a row.*give embedding='multilabel' or 'auto'"
    with pytest.raises(ValueError, match=words):
        DistilHash(**SMALL, embedding=embedding).fit(X[TRAIN], SETS[TRAIN], unlabeled=unlabeled)


def test_centered_ignores_several_labels():
    piece = "centered:n_points=100"
    plain, given = (
        DistilHash(4, embedding=piece, random_state=0).fit(X[TRAIN], y) for y in (None, SETS[TRAIN])
    )
    np.testing.assert_array_equal(plain.encode(REST), given.encode(REST))


SAME = np.tile([1, 1, 0], (30, 1))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.eye(30, 31, dtype=int), "each of the 30 rows has a label"),
        (np.diag(np.r_[0, np.ones(29, int)]), "no two of the 30 rows share a label; give rows that do"),
        (np.zeros((30, 3), int), "none of the 30 rows of y has a label"),
        (SAME, "all 30 rows have the same 2 labels; give rows whose labels differ"),
        (SAME * 2, "must be 0 or 1, which of 3 a row has"),
        (SAME / 2, "must be 0 or 1, which of 3 a row has"),
        (np.where(SAME, np.nan, 0), "must be 0 or 1, which of 3 a row has"),
        (SAME[:29], r"labels have shape \(29, 3\)"),
        (csr_array(SAME), r"y is sparse: give y.toarray\(\)"),
        ([{1, 2}] * 30, "y holds a set in row 0: where rows have several labels, give an indicator matrix"),
    ],
    ids=["own", "own or none", "none", "same", "two", "half", "nan", "short", "sparse", "sets"],
)
def test_labels_that_cannot_be_learned_from_are_refused_and_the_model_stays(y, message):
    estimator = DistilHash(4, random_state=0)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X[:30], y)
    assert attributes_of(estimator) == {}
    estimator.fit(X[:30], SETS[:30])
    before, codes = attributes_of(estimator), estimator.encode(REST)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X[:30], y)
    after = attributes_of(estimator)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(estimator.encode(REST), codes)


@pytest.mark.parametrize("method", [DistilHash, AdditiveHash])
def test_unlabeled_rows_of_which_labels_say_nothing_are_refused(method):
    far = X[TRAIN] + 400.0  # no row of X is near any of these
    with pytest.raises(
        ValueError, match=r"say the same of all 300 unlabeled rows .*; give unlabeled rows like"
    ):
        method(**SMALL).fit(X[TRAIN], SETS[TRAIN], unlabeled=far)
