"""One run: what it measures is what a comparison measures, and prefixes are shorter fits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import StructHash
from structhash.baselines.splh import SPLH
from structhash.evaluation import compare
from structhash.reproduce.plan import METHODS, Run
from structhash.reproduce.run import DEPTHS, MEASURES, draw, perform
from structhash.reproduce.sets import Loaded

N_ROWS = 240


@pytest.fixture(scope="module")
def data():
    """Digits that pass for usps: 16 by 16 pixels."""
    X, y = load_digits(return_X_y=True)
    X = np.kron(X[:N_ROWS].reshape(-1, 8, 8), np.ones((1, 2, 2))).reshape(N_ROWS, 256)
    return Loaded("usps", X.astype(np.float32), y[:N_ROWS], None, "0")


@pytest.fixture(scope="module")
def vectors():
    """Rows and queries without labels that pass for glove."""
    X, _ = load_digits(return_X_y=True)
    return Loaded("glove6b50_100k", X[:200].astype(np.float32), None, X[200:220].astype(np.float32), "0")


@pytest.fixture(scope="module")
def record(data):
    return perform(Run("usps", "StructH-N", 8, (4, 8), 0, 100), data, draw(data, 0))


def mean(record, n_bits, distance):
    return next(
        line["mean"] for line in record["scores"] if (line["n_bits"], line["distance"]) == (n_bits, distance)
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_bits", [4, 8])
def test_prefixes_score_as_a_comparison_of_shorter_fits_does(data, record, n_bits):
    options = {"bits": [n_bits], "seeds": [0], "measures": MEASURES, "n_train": 100}
    results = compare([METHODS["StructH-N"].spec], data.X, data.y, **options)
    found = {each.distance: each.scores.mean for each in results}
    assert mean(record, n_bits, "weighted") == pytest.approx(found["weighted"])
    if n_bits == 8:
        assert mean(record, 8, "plain") == pytest.approx(found["plain"])


def test_codes_of_splh_are_prefixes_too(data):
    drawn = draw(data, 0)
    X, y = drawn.X[:100], drawn.y[:100]
    short, long = (SPLH(n_bits, random_state=0).fit(X, y) for n_bits in (4, 8))
    assert np.array_equal(long.encode(drawn.queries, 4), short.encode(drawn.queries))


@pytest.mark.slow
def test_the_history_is_that_of_the_fit(data, record):
    drawn = draw(data, 0)
    encoder = StructHash(8, ranking="ndcg:k=100", schedule="totally_corrective", random_state=0)
    encoder.fit(drawn.X[:100], drawn.y[:100])
    assert record["history"]["rounds"] == [each["rounds"] for each in encoder.history_]
    assert len(record["history"]["seconds"]) == 8
    assert sum(record["history"]["seconds"]) <= record["fit_seconds"]


@pytest.mark.slow
def test_values_of_queries_have_the_mean(record):
    for distance in ("weighted", "plain"):
        for measure in ("ndcg_paper@100", "precision@100", "map"):
            values = record["per_query"][distance][measure]
            assert len(values) == N_ROWS // 4
            assert np.mean(values) == pytest.approx(mean(record, 8, distance)[measure], abs=1e-5)


@pytest.mark.slow
def test_examples_name_rows_and_whether_they_are_right(data, record):
    drawn = draw(data, 0)
    first = [each for each in record["examples"] if not each["hard"]]
    assert sorted(data.y[each["query"]] for each in first) == list(range(10))
    assert 1 <= len(record["examples"]) - 10 <= 4
    for each in record["examples"]:
        assert each["query"] in drawn.query_rows
        assert set(each["found"]) <= set(drawn.database_rows)
        assert each["right"] == [data.y[row] == data.y[each["query"]] for row in each["found"]]


@pytest.mark.slow
def test_without_labels_the_nearest_rows_are_relevant(vectors):
    record = perform(Run(vectors.name, "StructH-SN-Stage", 8, (8,), 0, 80), vectors, draw(vectors, 0))
    found = mean(record, 8, "plain")
    assert {f"precision@{depth}" for depth in DEPTHS} <= set(found)
    distances = ((vectors.Q[:, None] - vectors.X[None]) ** 2).sum(axis=2)
    relevant = np.argsort(distances, axis=1, kind="stable")[:, :4]  # 2 percent of 200
    flags = draw(vectors, 0).relevance(slice(None))
    assert [set(np.flatnonzero(each)) for each in flags] == [set(each) for each in relevant]


def test_methods_that_learn_from_nothing_run_without_labels(vectors):
    record = perform(Run(vectors.name, "LSH", 8, (8,), 0, 80), vectors, draw(vectors, 0))
    assert record["history"] is None
    assert record["examples"] == []
    assert 0 < mean(record, 8, "plain")["map"] < 1


def test_training_rows_are_the_first_of_the_database(data):
    drawn = draw(data, 3)
    assert len(drawn.queries) == N_ROWS // 4
    assert np.array_equal(drawn.X, drawn.database)
    assert not set(drawn.query_rows) & set(drawn.database_rows)
