"""Which embedding is distilled, and the evidence that unlabeled rows are of new classes."""

import logging
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash import DistilHash
from structhash.embeddings.centered import Centered
from structhash.embeddings.metric import Metric
from structhash.embeddings.multilabel import Multilabel
from structhash.embeddings.posterior import Posterior
from structhash.training.distillation import embed_points
from structhash.training.embedding_choice import choose_embedding, new_class_evidence

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
OLD = Y < 6
KNOWN, LABELS = X[OLD][:300], Y[OLD][:300]
MANY = np.repeat(X[~OLD], 3, axis=0) + np.random.default_rng(0).normal(size=(3 * (~OLD).sum(), 64))
CASES = {
    "none": (None, "posterior", "there are labels"),
    "old": (X[OLD][300:], "posterior", "the unlabeled rows are of the labelled classes"),
    "new": (X[~OLD], "metric", "unlabeled rows are of classes without labels"),
    "some new": (X, "mixture", "about 4.% of the unlabeled rows are of classes without labels"),
    "many new": (MANY, "manifold", "unlabeled rows are of classes without labels"),
}


def of_posterior(X, y):
    index = np.unique(y, return_inverse=True)[1]
    return embed_points(Posterior(), X, index, None, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_it_depends_on_whether_unlabeled_rows_are_of_new_classes(case, caplog):
    rows, name, reason = CASES[case]
    with caplog.at_level(logging.INFO, "structhash"):
        points, _, found, _ = choose_embedding(KNOWN, LABELS, rows, 0)
    assert re.fullmatch(reason, found)
    assert type(points.embedding).__name__.lower() == name
    assert f"embedding {name}: {found}" in caplog.text
    model = DistilHash(8, random_state=0).fit(KNOWN, LABELS, unlabeled=rows)
    named = DistilHash(8, embedding=name, random_state=0).fit(KNOWN, LABELS, unlabeled=rows)
    assert model.embedding_ == named.embedding_
    assert (model.reason_, named.reason_) == (found, "")
    some = X[:900]  # too few for the warning of new classes
    np.testing.assert_array_equal(model.encode(some), named.encode(some))
    np.testing.assert_array_equal(model.encode_queries(some), named.encode_queries(some))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_few_labels_are_helped_by_the_unlabeled_rows(size):
    rows = np.concatenate([np.flatnonzero(c == Y)[:size] for c in range(10)])
    points, _, reason, _ = choose_embedding(X[rows], Y[rows], X, 0)
    assert type(points.embedding).__name__ == "Mixture"
    assert reason == "the labels are few, and the unlabeled rows help"


def test_one_label_a_class_is_taken_with_any_number_of_unlabeled_rows():
    rows = np.unique(Y, return_index=True)[1]
    model = DistilHash(8, random_state=0).fit(X[rows], Y[rows], unlabeled=X[:300])
    assert type(model.embedding_).__name__ == "Mixture"
    assert not model.queries_differ()
    for given in ({}, {"embedding": "posterior", "unlabeled": X[:300]}):
        rest = {"unlabeled": given.pop("unlabeled", None)}
        with pytest.raises(ValueError, match="each of the 10 rows has a label of its own"):
            DistilHash(8, random_state=0, **given).fit(X[rows], Y[rows], **rest)


@pytest.mark.parametrize("unlabeled", [None, X[300:500]], ids=["alone", "unlabeled"])
def test_where_rows_have_several_labels_it_is_multilabel(unlabeled):
    labels = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6])[:300]
    points, rng, reason, row_bits = choose_embedding(X[:300], labels, unlabeled, 3)
    other = np.random.default_rng(3)
    expected = embed_points(Multilabel(), X[:300], labels, unlabeled, other)
    assert points.embedding == Multilabel()
    assert (reason, row_bits) == ("rows have several labels", False)
    np.testing.assert_array_equal(points.embedded.vectors, expected.embedded.vectors)
    assert rng.random() == other.random()


@pytest.mark.parametrize("unlabeled", [None, X[300:500]], ids=["alone", "unlabeled"])
def test_without_labels_it_is_centered(unlabeled):
    points, rng, *_ = choose_embedding(X[:300], None, unlabeled, 3)
    other = np.random.default_rng(3)
    expected = embed_points(Centered(), X[:300], None, unlabeled, other)
    assert points.embedding == Centered()
    np.testing.assert_array_equal(points.embedded.vectors, expected.embedded.vectors)
    assert rng.random() == other.random()  # the generator goes on from there


def test_the_generator_goes_on_as_where_the_embedding_is_named():
    points, rng, *_ = choose_embedding(KNOWN, LABELS, X[~OLD], 5)
    other = np.random.default_rng(5)
    expected = embed_points(Metric(), KNOWN, LABELS, X[~OLD], other)
    np.testing.assert_array_equal(points.embedded.vectors, expected.embedded.vectors)
    assert rng.random() == other.random()


def test_the_evidence_is_the_share_of_pairs_in_which_the_training_row_is_the_surer():
    known, labels, rows = X[:300], Y[:300], X[300:700]
    points = of_posterior(known, labels)
    both = points.embedded.vectors, Posterior().embed(rows, points.embedded.state)
    sure, unsure = ((V**16 / (V**16).sum(axis=1, keepdims=True)).max(axis=1) for V in both)
    apart = sure[:, None] - unsure
    expected = (apart > 0).mean() + (apart == 0).mean() / 2
    chance, error = new_class_evidence(points, rows)
    assert chance == pytest.approx(expected, abs=1e-3)
    assert error == pytest.approx(np.sqrt((300 + 400 + 1) / (12 * 300 * 400)))


def test_the_evidence_is_strong_for_new_classes_and_none_for_old_ones():
    points = of_posterior(KNOWN, LABELS)
    assert new_class_evidence(points, X[~OLD])[0] > 0.8
    chance, error = new_class_evidence(points, X[OLD][300:])
    assert abs(chance - 0.5) < 4 * error


def test_points_without_left_out_vectors_are_refused():
    points = embed_points(Centered(), X[:60], None, None, np.random.default_rng(0))
    with pytest.raises(
        ValueError, match=r"Centered\(.*gives no left-out vectors; give the points of a Posterior"
    ):
        new_class_evidence(points, X[60:90])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"]
)
def test_a_second_embedding_draws_what_it_would_draw_if_it_were_named(make):
    new = X[~OLD]
    auto = DistilHash(8, random_state=make(3)).fit(KNOWN, LABELS, unlabeled=new)
    named = DistilHash(8, embedding="metric", random_state=make(3)).fit(KNOWN, LABELS, unlabeled=new)
    assert auto.embedding_ == named.embedding_
    np.testing.assert_array_equal(auto.transform(X), named.transform(X))
