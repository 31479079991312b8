import logging

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from structhash import CGHash, Qrels, StructHash
from structhash.pieces import load
from structhash.supervision import Supervision

X = np.random.default_rng(0).normal(size=(40, 3))
Q = np.random.default_rng(1).normal(size=(4, 3))
TABLE = np.array([[0, 5, 2], [0, 6, 1], [0, 7, 0], [0, 8, 1], [2, 5, 0], [2, 9, 3], [3, 1, 0]])


def graded(rng, n_queries=4, n=40, m=15, top=3):
    """Random judgements, m of each query."""
    parts = [
        np.column_stack([np.full(m, q), rng.choice(n, m, replace=False), rng.integers(0, top + 1, m)])
        for q in range(n_queries)
    ]
    return rng.permutation(np.concatenate(parts))


# who is near and far


def test_a_graded_query_is_a_binary_one_for_each_grade(partners, rng):
    r = Qrels(TABLE, Q, unjudged="ignore").comparisons(X, rng)
    found = [(i, sorted(near), sorted(far)) for i, near, far in partners(r)]
    assert found == [(40, [5, 6, 8], [7]), (40, [5], [6, 7, 8]), (42, [9], [5])]
    np.testing.assert_allclose(r.weights, [1 / 3, 2 / 3, 1])
    assert [part.dtype for part in r[:5]] == ["i8", "i4", "i8", "i4", "i8"]


@pytest.mark.parametrize(("n_near", "n_far"), [(1, 1), (2, 5), (50, 100)])
@pytest.mark.parametrize("own", [False, True])
def test_partners_follow_the_grades(n_near, n_far, own, partners, rng):
    table = graded(rng)
    r = Qrels(table, Q if own else None, n_near, n_far).comparisons(X, rng)
    expected = []
    for q in range(4):
        grade = np.full(40, -1)
        rows = table[:, 0] == q
        grade[table[rows, 1]] = table[rows, 2]
        if not own:
            grade[q] = -2
        expected += [(40 * own + q, grade, t) for t in np.unique(grade[grade > 0])]
    for (i, near, far), (q, grade, t) in zip(partners(r), expected, strict=True):
        assert i == q
        assert (grade[near] >= t).all()
        assert (grade[far] < t).all()
        assert (grade[far] > -2).all()
        low, free = ((grade >= 0) & (grade < t)).sum(), (grade == -1).sum()
        assert len(set(near)) == len(near) == min(n_near, (grade >= t).sum())
        assert len(set(far)) == len(far) == min(n_far, low + free)
        if n_far == 5:
            assert (grade[far] >= 0).sum() == min(3, low)


def test_the_weights_of_a_query_add_up_to_1(rng):
    r = Qrels(graded(rng), Q, unjudged="ignore").comparisons(X, rng)
    np.testing.assert_allclose(np.bincount(r.queries, r.weights)[40:], 1)
    assert len(r.queries) == 12


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("unjudged", ["ignore", "irrelevant"])
def test_threshold_losses_equal_the_triplet_loss_weighted_by_differences_of_gains(
    loss, unjudged, triplets_of, rng
):
    table, loss = graded(rng), load("losses", loss)
    qrels = Qrels(table, Q, n_near=100, n_far=100, unjudged=unjudged)
    P = qrels.training_matrix(X)
    w = rng.random(6)
    bits = (P @ rng.normal(size=(3, 6)) > 0).astype(float)
    apart = np.abs(bits[:, None] - bits[None]) @ w

    expected = 0.0
    for q in range(4):
        grade = np.full(40, 0 if unjudged == "irrelevant" else -1)
        rows = table[:, 0] == q
        grade[table[rows, 1]] = table[rows, 2]
        gain, total = 2.0**grade - 1, 0.0
        for j in np.flatnonzero(grade >= 0):
            for k in np.flatnonzero(grade >= 0):
                if grade[j] > grade[k]:
                    rho = apart[40 + q, k] - apart[40 + q, j]
                    total += (gain[j] - gain[k]) * loss.value(np.array([rho]))[0]
        expected += total / gain.max()  # the weights of a query add up to 1: the steps to its top gain

    r = qrels.comparisons(X, rng)
    q, i, j, k = triplets_of(r).T
    assert r.weights[q] @ loss.value(apart[i, k] - apart[i, j]) == pytest.approx(expected)


def test_skipped_queries_are_counted_in_the_log(rng, caplog):
    with caplog.at_level(logging.WARNING, "structhash.supervision"):
        Qrels(TABLE, Q).comparisons(X, rng)
    assert caplog.messages == ["1 of 3 judged queries have no relevant or no irrelevant document: skipped"]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "structhash.supervision"):
        Qrels(np.vstack([TABLE, [[3, 2, 1]]]), Q).comparisons(X, rng)
    assert caplog.messages == []


def test_unjudged_documents_let_a_query_count_whose_judged_ones_are_all_relevant(rng):
    table = np.array([[1, 4, 1], [1, 6, 1]])
    r = Qrels(table, Q, n_far=100).comparisons(X, rng)
    assert sorted(r.far) == [j for j in range(40) if j not in (4, 6)]
    with pytest.raises(ValueError, match="none of the 1 judged queries has both a relevant and an irrelevant"):
        Qrels(table, Q, unjudged="ignore").comparisons(X, rng)


def test_a_row_judged_for_itself_and_a_judgement_given_twice_do_not_count(partners, rng):
    table = np.array([[1, 1, 2], [1, 4, 1], [1, 4, 1], [1, 3, 0]])
    for _, near, far in partners(Qrels(table, unjudged="ignore").comparisons(X, rng)):
        assert (near.tolist(), far.tolist()) == ([4], [3])


# vectors of the queries


def test_the_queries_are_stacked_below_the_documents():
    qrels = Qrels(TABLE, Q)
    np.testing.assert_array_equal(qrels.training_matrix(X), np.vstack([X, Q]))
    assert qrels.training_matrix(X.astype(np.float32)).dtype == np.float32
    assert Qrels(TABLE).training_matrix(X) is X
    with pytest.raises(ValueError, match="Q has numbers that float32, the type of X, cannot hold; give both"):
        Qrels(TABLE, Q * 1e300).training_matrix(X.astype(np.float32))
    assert isinstance(qrels, Supervision)


@pytest.mark.parametrize("cls", [StructHash, CGHash])
@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (Q[:, :2], r"Q is float64 of shape \(4, 2\); give numbers, 3 columns as X has"),
        (Q[0], r"Q is float64 of shape \(3,\)"),
        (Q[:0], r"Q is float64 of shape \(0, 3\)"),
        (Q.astype(str), "Q is <U"),
        (np.where(np.arange(4)[:, None] == 2, np.nan, Q), "Q holds NaN or infinite values, the first in row 2"),
        (np.where(np.arange(4)[:, None] == 1, np.inf, Q), "Q holds NaN or infinite values, the first in row 1"),
    ],
)
def test_bad_query_vectors(cls, queries, message):
    with pytest.raises(ValueError, match=message):
        cls(n_bits=2).fit(X, Qrels(TABLE, queries))


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (Qrels(TABLE.astype(float), Q), r"judgements are float64 of shape \(7, 3\); give integer rows"),
        (Qrels(TABLE[:, :2], Q), r"judgements are int64 of shape \(7, 2\)"),
        (Qrels(TABLE[:0], Q), r"judgements are int64 of shape \(0, 3\)"),
        (Qrels(TABLE + np.array([1, 0, 0]), Q), "judged queries run from 1 to 4; give 0 to 3"),
        (Qrels(TABLE - [1, 0, 0]), "judged queries run from -1 to 2; give 0 to 39"),
        (Qrels(TABLE + np.array([0, 31, 0]), Q), "judged documents run from 32 to 40; give 0 to 39"),
        (Qrels(TABLE - [0, 0, 1], Q), "judged grades run from -1 to 2; give 0 to 52"),
        (Qrels(TABLE * [1, 1, 20], Q), "judged grades run from 0 to 60; give 0 to 52"),
        (
            Qrels(np.vstack([TABLE, [[2, 9, 1]]]), Q),
            "document 9 has the grade 1 and another for query 2; give it one grade",
        ),
        (Qrels(TABLE * [1, 1, 0], Q), "none of the 3 judged queries has both a relevant and an irrelevant"),
        (Qrels(TABLE, Q, unjudged="far"), "unjudged='far': give irrelevant or ignore"),
        (Qrels(TABLE, Q, n_near=0), "n_near=0: give an integer of at least 1"),
        (Qrels(TABLE, Q, n_far=2.5), "n_far=2.5: give an integer of at least 1"),
    ],
)
def test_bad_judgements(qrels, message, rng):
    with pytest.raises(ValueError, match=message):
        qrels.comparisons(X, rng)


# TREC files

QUERIES, DOCUMENTS = ["301", "302", "q-3", "304"], [f"FT-{j:03}" for j in range(40)]


def write(path, table):
    lines = [f"{QUERIES[q]} 0\t{DOCUMENTS[j]}  {g}\n" for q, j, g in table]
    path.write_text("".join(lines) + "\n")
    return path


def test_a_trec_file_gives_back_what_was_written(tmp_path):
    path = write(tmp_path / "qrels.txt", TABLE)
    qrels = Qrels.read(path, QUERIES, DOCUMENTS, Q, n_far=7, unjudged="ignore")
    np.testing.assert_array_equal(qrels.judgements, TABLE)
    assert qrels.judgements.dtype == np.int64
    assert (qrels.n_far, qrels.unjudged) == (7, "ignore")
    assert qrels.Q is Q
    by_number = Qrels.read(write(tmp_path / "n", TABLE), [301, 302, "q-3", 304], DOCUMENTS)
    np.testing.assert_array_equal(by_number.judgements, TABLE)
    assert by_number.Q is None


def test_junk_grades_are_read_as_0(tmp_path):
    (tmp_path / "f").write_text("301 0 FT-000 -2\n301 0 FT-001 1\n")
    found = Qrels.read(tmp_path / "f", QUERIES, DOCUMENTS).judgements
    assert found.tolist() == [[0, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    "line", ["301 0 FT-000", "301 0 FT-000 1 2", "301 0 FT-000 high", "301 0 FT-000 1.5", "301"]
)
def test_a_malformed_line_is_named(tmp_path, line):
    (tmp_path / "f").write_text(f"301 0 FT-002 1\n\n{line}\n301 0 FT-003 1\n")
    with pytest.raises(ValueError, match=f"f, line 3: '{line}' is no judgement; give query-id iteration"):
        Qrels.read(tmp_path / "f", QUERIES, DOCUMENTS)


def test_a_file_of_bytes_is_refused_by_line_and_a_byte_order_mark_read_over(tmp_path):
    (tmp_path / "f").write_bytes(bytes(range(128, 256)) * 3)
    with pytest.raises(ValueError, match=r"f, line 1: .* is no judgement"):
        Qrels.read(tmp_path / "f", QUERIES, DOCUMENTS)
    (tmp_path / "f").write_text("\ufeff301 0 FT-001 1\n", encoding="utf-8")
    assert Qrels.read(tmp_path / "f", QUERIES, DOCUMENTS).judgements.tolist() == [[0, 1, 1]]


def test_unknown_ids_are_an_error_or_skipped(tmp_path, caplog):
    path = tmp_path / "f"
    path.write_text("301 0 FT-002 1\n301 0 LA-1 1\n999 0 FT-002 1\n302 0 FT-004 2\n")
    with pytest.raises(
        ValueError, match=r"f: line 2 has the unknown document id 'LA-1'; 2 of 4 judgements have one; give all"
    ):
        Qrels.read(path, QUERIES, DOCUMENTS)
    with pytest.raises(ValueError, match="line 3 has the unknown query id '999'; 1 of 4"):
        Qrels.read(path, QUERIES, [*DOCUMENTS[:39], "LA-1"])
    with caplog.at_level(logging.WARNING, "structhash.io"):
        found = Qrels.read(path, QUERIES, DOCUMENTS, unknown="skip")
    assert found.judgements.tolist() == [[0, 2, 1], [1, 4, 2]]
    assert caplog.messages == ["2 of 4 judgements have unknown ids: skipped"]
    with pytest.raises(ValueError, match="unknown='drop': give error or skip"):
        Qrels.read(path, QUERIES, DOCUMENTS, unknown="drop")
    with pytest.raises(ValueError, match="no judgement of known ids is in it"):
        Qrels.read(path, ["a"], DOCUMENTS, unknown="skip")


def test_bad_lists_of_ids(tmp_path):
    path = write(tmp_path / "f", TABLE)
    with pytest.raises(ValueError, match="query id '301' belongs to two rows; give each row an id of its own"):
        Qrels.read(path, ["301", "302", 301], DOCUMENTS)
    with pytest.raises(ValueError, match="document id 'FT-000' belongs to two rows"):
        Qrels.read(path, QUERIES, [*DOCUMENTS, "FT-000"])
    with pytest.raises(ValueError, match=r"there are 4 query ids for 3 rows of Q; give one for each"):
        Qrels.read(path, QUERIES, DOCUMENTS, Q[:3])
    with pytest.raises(FileNotFoundError):
        Qrels.read(tmp_path / "nowhere", QUERIES, DOCUMENTS)


# learning


@pytest.fixture(scope="module")
def topics():
    """300 documents around 10 topics, a query for each, grades by nearness: X, Q, judgements."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(10, 12))
    topic = rng.integers(0, 10, 300)
    documents = np.column_stack([centres[topic] + rng.normal(size=(300, 12)), 10 * rng.normal(size=(300, 6))])
    queries = np.column_stack([centres, 10 * rng.normal(size=(10, 6))])  # a third of the columns is noise
    apart = ((documents[:, :12] - centres[topic]) ** 2).sum(axis=1)
    grade = 1 + (apart < np.median(apart))
    table = [[q, j, grade[j] * (topic[j] == q)] for q in range(10) for j in range(300)]
    return documents, queries, np.array(table)


def precision(model, X, Q, table, k=10):
    """Mean share of relevant documents among the k nearest by code."""
    relevant = np.zeros((len(Q), len(X)), bool)
    relevant[table[:, 0], table[:, 1]] = table[:, 2] > 0
    apart = np.abs(model.transform(Q)[:, None].astype(float) - model.transform(X)[None]) @ model.weights_
    order = np.argsort(apart, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(relevant, order, axis=1).mean()


@pytest.mark.slow
@pytest.mark.parametrize("cls", [StructHash, CGHash])
@pytest.mark.parametrize("unjudged", ["irrelevant", "ignore"])
def test_both_methods_learn_from_judgements(cls, unjudged, topics):
    X, Q, table = topics
    model = cls(n_bits=10, random_state=0).fit(X, Qrels(table, Q, unjudged=unjudged))
    assert model.n_features_in_ == 18
    assert model.n_skipped_ == 0  # every judged query has a relevant and an irrelevant document
    assert model.transform(X).shape == (300, 10)
    assert precision(model, X, Q, table) > 0.6
    again = cls(n_bits=10, random_state=0).fit(X, Qrels(table[::-1], Q, unjudged=unjudged))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))  # the order of the rows is nothing


def test_rows_of_x_may_be_the_queries(topics):
    X, Q, table = topics
    both = np.vstack([X, Q])
    one = StructHash(n_bits=6, random_state=0).fit(X, Qrels(table, Q, unjudged="ignore"))
    two = StructHash(n_bits=6, random_state=0).fit(
        both, Qrels(table + np.array([300, 0, 0]), unjudged="ignore")
    )
    np.testing.assert_array_equal(one.transform(both), two.transform(both))
    np.testing.assert_array_equal(one.weights_, two.weights_)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["npl_minilm", "dbpedia5k_minilm"])
@pytest.mark.parametrize("cls", [StructHash, CGHash])
def test_real_judgements(name, cls, data_folder):
    with np.load(data_folder / f"{name}.npz") as file:
        X, Q, table = file["X"], file["Q"], file["qrels"]
    used = np.unique(np.append(table[table[:, 2] > 0, 1], np.arange(0, len(X), 20)))  # and some others
    new = np.full(len(X), -1)
    new[used] = np.arange(len(used))
    table = np.column_stack([table[:, 0], new[table[:, 1]], table[:, 2]])
    table = table[table[:, 1] >= 0]
    model = cls(n_bits=8, random_state=0).fit(X[used], Qrels(table, Q, n_near=10, n_far=40))
    shuffled = np.random.default_rng(0).permutation(len(Q))
    found = precision(model, X[used], Q, table)
    assert found > 3 * precision(model, X[used], Q[shuffled], table)


def test_queries_without_relevant_documents_are_counted_as_skipped(topics):
    X, Q, table = topics
    irrelevant = table[table[:, 0] == table[0, 0]] * [1, 1, 0]  # the first query finds nothing relevant
    rest = table[table[:, 0] != table[0, 0]]
    qrels = Qrels(np.vstack([irrelevant, rest]), Q)
    model = StructHash(n_bits=2, random_state=0).fit(X, qrels)
    assert qrels.count_queries(X) == len(np.unique(table[:, 0]))
    assert model.n_skipped_ == 1


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        (np.ma.masked_equal([[0.0, 1.0]], 0.0), TypeError, "Q is a masked array"),
        (csr_array([[0.0, 1.0]]), TypeError, r"Q is sparse; give Q.toarray\(\)"),
        ([[1.0, 2.0], [1.0]], ValueError, "Q holds rows of several lengths"),
    ],
)
def test_query_vectors_that_would_be_misread_are_refused(queries, error, message):
    with pytest.raises(error, match=message):
        Qrels(np.array([[0, 1, 1]]), queries).training_matrix(np.zeros((3, 2)))


def test_a_column_of_query_vectors_is_their_matrix():
    qrels = Qrels(np.array([[0, 1, 1]]), pd.Series([np.array([1.0, 2.0]), np.array([3.0, 4.0])]))
    np.testing.assert_array_equal(qrels.training_matrix(np.zeros((1, 2))), [[0, 0], [1, 2], [3, 4]])
