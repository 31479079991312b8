"""The loss has the slope that differences have. A learned map serves other queries."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.codes.planes import make_planes
from structhash.training.hash_function import BitFunction
from structhash.training.query_map_learning import QueryLoss, learn_query_maps

X, Y = load_digits(return_X_y=True)
ROWS, QUERIES = X[:600], X[600:900]


def random_loss(own):
    rng = np.random.default_rng(0)
    q, d, r, m, n = 5, 4, 3, 6, 9
    bits = np.where(rng.random((n, m)) < 0.5, 1.0, -1.0)
    relevant = rng.random((q, n)) < 0.4
    relevant[:, 2] = True
    means = relevant @ bits / relevant.sum(axis=1)[:, None]
    parts = rng.normal(size=(q, d)), rng.normal(size=(q, m)), rng.normal(size=(r, m))
    return QueryLoss(*parts, bits, means, np.array(own), 2.0), relevant


NOBODY, SOME_DOCUMENTS = [-1] * 5, [4, -1, 0, 8, -1]


@pytest.mark.parametrize("own", [NOBODY, SOME_DOCUMENTS], ids=["queries", "documents"])
def test_the_loss_is_a_cross_entropy(own):
    loss, relevant = random_loss(own)
    E = np.random.default_rng(1).normal(size=(4, 3))
    expected = []
    for i in range(5):
        h = np.tanh(loss.scores[i] + loss.features[i] @ E @ loss.directions)
        logits = loss.bits @ h / 2.0
        mean = logits[relevant[i]].mean()
        if own[i] >= 0:
            logits[own[i]] = -np.inf
        expected.append(logsumexp(logits) - mean)
    value, _ = loss.value_and_slope(E, 0.7)
    assert value == pytest.approx(np.mean(expected) + 0.35 * (E**2).sum(), rel=1e-12)


@pytest.mark.parametrize("own", [NOBODY, SOME_DOCUMENTS], ids=["queries", "documents"])
def test_the_slope_is_that_of_differences(own):
    loss, _ = random_loss(own)
    E = np.random.default_rng(1).normal(size=(4, 3)) / 2
    _, slope = loss.value_and_slope(E, 0.7)
    for i, j in np.ndindex(E.shape):
        step = np.zeros_like(E)
        step[i, j] = 1e-5
        up, down = (loss.value_and_slope(E + sign * step, 0.7)[0] for sign in (1, -1))
        assert slope[i, j] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-8)


@pytest.fixture(scope="module")
def function():
    return DistilHash(16, random_state=0).fit(ROWS).hash_function_


def by_class(labels, queries):
    return {q: np.flatnonzero((Y[:600] == labels[q]) & (np.arange(600) != q)) for q in queries}


def agreement(mapped, queries, labels):
    """How much nearer the documents of the query's class are than the others, in bits."""
    bits = mapped.query_bits_of(queries, 16)
    distances = (bits[:, None] != mapped.bits_of(ROWS)).sum(axis=2)
    same = labels[:, None] == Y[:600]
    return distances[~same].mean() - distances[same].mean()


@pytest.mark.parametrize("within", [False, True], ids=["queries", "documents"])
def test_a_map_brings_other_queries_to_relevant_documents(function, within):
    vectors, labels = (None, Y) if within else (QUERIES, Y[600:900])
    *_, mapped = learn_query_maps(function, ROWS, vectors, by_class(labels, range(300)), [0.1, 0.01])
    others = X[900:1200]
    before = agreement(function, others, Y[900:1200])
    assert agreement(mapped, others, Y[900:1200]) > before + 0.3
    np.testing.assert_array_equal(mapped.encode(X), function.encode(X))


def test_a_large_ridge_gives_the_identity(function):
    (mapped,) = learn_query_maps(function, ROWS, QUERIES, by_class(Y[600:900], range(50)), [1e9])
    np.testing.assert_array_equal(mapped.encode(X, queries=True), function.encode(X))


class ByPlanes(BitFunction):
    """Bits of given planes."""

    def __init__(self, planes):
        self.given, self.n_given = planes, len(planes.normals)

    n_bits = property(lambda self: self.n_given)

    def planes(self):
        return self.given


@pytest.mark.parametrize(("scale", "origin"), [(2.0**-7, 1.0), (2.0**600, 0.0), (2.0**-600, 0.0)])
def test_unit_and_origin_of_the_rows_do_not_count(scale, origin, function):
    center, normals, thresholds = function.planes()
    moved = ByPlanes(make_planes(center * scale + origin, normals, thresholds * scale))
    rows, queries, others = (each * scale + origin for each in (ROWS, QUERIES, X))
    relevant = by_class(Y[600:900], range(100))
    (expected,) = learn_query_maps(function, ROWS, QUERIES, relevant, [0.03])
    (mapped,) = learn_query_maps(moved, rows, queries, relevant, [0.03])
    found, wanted = mapped.encode(others, queries=True), expected.encode(X, queries=True)
    assert (wanted != function.encode(X)).any()
    assert np.unpackbits(found ^ wanted).mean() < 0.01


def test_documents_are_drawn_in_turn(function, monkeypatch):
    monkeypatch.setattr("structhash.training.query_map_learning._MAX_RANKED", 8)
    monkeypatch.setattr("structhash.training.query_map_learning._MAX_JUDGED", 4)
    seen = []
    encode = type(function).encode
    monkeypatch.setattr(type(function), "encode", lambda self, rows: seen.append(rows) or encode(self, rows))
    relevant = {q: np.arange(10 * q, 10 * q + 10) for q in range(4)}
    list(learn_query_maps(function, ROWS, QUERIES, relevant, [1.0]))
    numbers = [int(np.flatnonzero((row == ROWS).all(axis=1))[0]) for row in seen[0]]
    assert len(set(numbers)) == 8
    counts = np.bincount(np.array([each // 10 for each in numbers if each < 40]), minlength=4)
    assert counts.min() >= 1  # 6 of the 8: one of each query, then a second one
    assert counts.sum() >= 6
