"""Queries of a fitted model are adapted to judgements; rows keep their codes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, Qrels, load_model

X, Y = load_digits(return_X_y=True)
DOCUMENTS = X[:600]


def negatives(n_queries=200):
    """Queries that are negative images: coded as rows, they find the wrong documents."""
    judged = [(q, d, 1) for q in range(n_queries) for d in np.flatnonzero(Y[:600] == Y[600 + q])[:10]]
    return Qrels(np.array(judged), 16 - X[600 : 600 + n_queries])


@pytest.fixture(scope="module")
def alone():
    return DistilHash(8, random_state=0).fit(DOCUMENTS)


@pytest.fixture(scope="module")
def adapted(alone):
    return alone.adapt_queries(DOCUMENTS, negatives())


def same(a, b):
    np.testing.assert_array_equal(a.encode(X), b.encode(X))
    np.testing.assert_array_equal(a.encode_queries(X), b.encode_queries(X))


def test_rows_keep_their_codes_and_queries_get_their_own(alone, adapted):
    assert adapted is not alone
    np.testing.assert_array_equal(adapted.encode(X), alone.encode(X))
    assert adapted.queries_differ()
    assert (adapted.encode_queries(X) != alone.encode_queries(X)).any()
    assert adapted.about()["queries"] == "mapped before they are coded"
    assert adapted.judged_


def test_the_model_that_is_adapted_stays_as_it_was(alone, adapted):
    assert not alone.queries_differ()
    assert not alone.judged_
    same(alone, DistilHash(8, random_state=0).fit(DOCUMENTS))


def test_codes_of_rows_are_known_by_the_same_fingerprint(alone, adapted):
    assert adapted.fingerprint() == alone.fingerprint()
    assert adapted.fingerprint() != DistilHash(7, random_state=0).fit(DOCUMENTS).fingerprint()


def test_files_hold_the_query_map(adapted, tmp_path):
    adapted.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    same(again, adapted)
    assert again.fingerprint() == adapted.fingerprint()
    assert again.judged_
    assert again.about() == adapted.about()


def test_an_adapted_model_is_adapted_from_its_rows(alone, adapted):
    few = negatives(3)
    same(adapted.adapt_queries(DOCUMENTS, few), alone)
    same(adapted.adapt_queries(DOCUMENTS, negatives()), adapted)


def test_judgements_that_do_not_help_leave_queries_as_they_were(alone, caplog):
    rng = np.random.default_rng(0)
    table = np.array([(q, d, 1) for q in range(60) for d in rng.permutation(600)[:5]])
    other = alone.adapt_queries(DOCUMENTS, Qrels(table, X[600:660]))
    same(other, alone)
    assert not other.queries_differ()
    assert "a query map does not help held-out judged queries" in caplog.text


@pytest.mark.slow
def test_frames_are_read_by_their_columns():
    frame = pd.DataFrame(X).rename(columns=str)
    model = DistilHash(8, random_state=0).fit(frame[:600])
    judged = negatives()
    found = model.adapt_queries(frame[:600], Qrels(judged.judgements, 16 - frame[600:800]))
    same_codes = found.encode_queries(frame), model.adapt_queries(frame[:600], judged).encode_queries(frame)
    np.testing.assert_array_equal(*same_codes)
    with pytest.raises(ValueError, match="feature names"):
        model.adapt_queries(frame[:600].rename(columns={"0": "other"}), judged)


@pytest.mark.parametrize(
    ("X", "qrels", "kind", "message"),
    [
        (DOCUMENTS[:, :63], negatives(), ValueError, "63 features"),
        (DOCUMENTS, Qrels(negatives().judgements, X[:, :3]), ValueError, "Q is float64 of shape"),
        (DOCUMENTS[:5], negatives(), ValueError, "judged documents run from"),
        (DOCUMENTS, Y, TypeError, r"give Qrels\(judgements, Q\)"),
        (np.where(np.arange(600)[:, None] == 7, np.nan, DOCUMENTS), negatives(), ValueError, "NaN"),
    ],
    ids=["width", "Q", "documents", "labels", "nan"],
)
def test_what_does_not_fit_is_refused(alone, X, qrels, kind, message):
    with pytest.raises(kind, match=message):
        alone.adapt_queries(X, qrels)


def test_bits_that_are_not_planes_are_refused():
    model = DistilHash(4, family="rbf", random_state=0).fit(DOCUMENTS)
    with pytest.raises(ValueError, match="its bits are not planes among the rows"):
        model.adapt_queries(DOCUMENTS, negatives())


def moved(n_queries=100):
    """Queries that ask for the nearest documents, but are all moved the same way."""
    rows = X[600 : 600 + n_queries]
    order = np.argsort(((rows[:, None] - DOCUMENTS) ** 2).sum(axis=2), axis=1)[:, :2]
    judged = [(q, d, 1) for q in range(n_queries) for d in order[q]]
    return Qrels(np.array(judged), rows + 4 * np.random.default_rng(0).normal(size=64))


@pytest.mark.slow
def test_fit_learns_a_query_map_where_that_helps_most():
    model = DistilHash(16, random_state=0).fit(DOCUMENTS, moved())
    assert model.reason_ == "a query map helps held-out queries"
    assert model.about()["because"] == model.reason_
    assert model.judged_
    alone = DistilHash(16, random_state=0).fit(DOCUMENTS)
    np.testing.assert_array_equal(model.encode(X), alone.encode(X))
    np.testing.assert_array_equal(model.reader_recalls_, alone.reader_recalls_)  # without the map
    same(model, alone.adapt_queries(DOCUMENTS, moved()))


@pytest.mark.slow
def test_a_warm_start_learns_the_map_of_the_longer_code():
    model = DistilHash(16, warm_start=True, random_state=0).fit(DOCUMENTS, moved())
    model.set_params(n_bits=18).fit(DOCUMENTS, moved())
    assert model.queries_differ()
    same(model, DistilHash(18, random_state=0).fit(DOCUMENTS).adapt_queries(DOCUMENTS, moved()))
