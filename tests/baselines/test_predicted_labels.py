"""Labels as bits: against the probabilities of the embedding, with bits and distances counted one by one."""

import numpy as np
import pytest

from structhash.baselines import PredictedClass, PredictedLabels
from structhash.codes import hamming
from structhash.embeddings.multilabel import Multilabel
from structhash.estimators.loading import load_model
from structhash.evaluation import compare
from structhash.evaluation.methods import code_traits

COUNTS = [40, 90, 90, 150, 20, 90]  # training rows of each label
BY_COUNT = [3, 1, 2, 5, 0, 4]  # the labels by falling count, of equal ones the lower first


@pytest.fixture(scope="module")
def data():
    """Rows that are sums of the vectors of their labels and noise: 300 to learn from, 100 others."""
    rng = np.random.default_rng(0)
    Y = np.zeros((400, 6), bool)
    for label, count in enumerate(COUNTS):
        Y[rng.choice(300, count, replace=False), label] = True
    Y[300:] = rng.random((100, 6)) < np.array(COUNTS) / 300
    X = Y @ rng.normal(size=(6, 12)) + 0.7 * rng.normal(size=(400, 12))
    return X[:300], Y[:300], X[300:], Y[300:]


@pytest.fixture(scope="module")
def P(data):
    """Label probabilities of the training rows and of the others, by the embedding itself."""
    X, Y, Q, _ = data
    state, *_ = Multilabel().fit(X, Y, None, np.arange(300), np.random.default_rng(0))
    return Multilabel().embed(X, state), Multilabel().embed(Q, state)


def fitted(data, n_bits):
    return PredictedLabels(n_bits, random_state=0).fit(*data[:2])


def bits_by_hand(P, n_bits):
    """Bit j is that of the label at place j by count; bits without a label are 0."""
    rows = [[int(row[label] > 0.5) for label in BY_COUNT[:n_bits]] for row in P]
    return [row + [0] * (n_bits - len(row)) for row in rows]


@pytest.mark.parametrize("n_bits", [1, 3, 4, 6, 9])
def test_bits_are_the_likely_labels_of_the_most_rows(n_bits, data, P):
    encoder = fitted(data, n_bits)
    assert data[1].sum(axis=0).tolist() == COUNTS
    assert encoder.labels_.tolist() == BY_COUNT[:n_bits]
    assert (encoder.n_bits_, encoder.weights_.tolist()) == (n_bits, [1.0] * n_bits)
    for rows, found in zip((data[0], data[2]), P, strict=True):
        np.testing.assert_array_equal(encoder.transform(rows), bits_by_hand(found, n_bits))


def test_the_labels_are_predicted_well(data):
    bits = fitted(data, 6).transform(data[2])
    truth = data[3][:, BY_COUNT]
    assert 0 < bits.mean() < 0.5
    assert (bits == truth).mean() > max((truth == 0).mean(), 0.85)


def test_a_prefix_of_a_code_is_a_shorter_code(data):
    long, short = fitted(data, 9), fitted(data, 4)
    np.testing.assert_array_equal(long.encode(data[2], 4), short.encode(data[2]))


@pytest.mark.parametrize("n_bits", [3, 9])
def test_both_distances(n_bits, data, P):
    X, _, Q, _ = data
    encoder, (of_rows, of_queries) = fitted(data, n_bits), P
    bits, asked = bits_by_hand(of_rows, n_bits), bits_by_hand(of_queries, n_bits)
    plain = [[sum(a != b for a, b in zip(row, query, strict=True)) for row in bits] for query in asked]
    np.testing.assert_array_equal(hamming(encoder.encode(Q), encoder.encode(X)), plain)
    has_bit = BY_COUNT[:n_bits]
    shared = [[sum(p[k] * b for k, b in zip(has_bit, row)) for row in bits] for p in of_queries]
    own = encoder.own_distances(X)(Q)
    most = of_queries[:, has_bit].sum(axis=1, keepdims=True)  # the same for all rows of a query
    np.testing.assert_allclose(own, most - shared, atol=1e-9)
    assert own.min() >= 0


def test_its_own_distance_reads_the_codes_of_rows_alone(data):
    X, _, Q, _ = data
    encoder = fitted(data, 6)
    own, codes = encoder.own_distances(X)(Q), encoder.encode(X)
    _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    assert len(first) < 100  # many rows share a code
    np.testing.assert_array_equal(own, own[:, first[group.ravel()]])
    assert code_traits(encoder, "posterior") == {"reads_floats": False, "one_hot": False}


def test_one_label_a_row(data):
    X, Y, Q, _ = data
    y = np.array(["b", "c", "a"])[Y[:, 1] + 2 * Y[:, 3] * ~Y[:, 1]]
    values, counts = np.unique(y, return_counts=True)
    encoder = PredictedLabels(8, random_state=0).fit(X, y)
    assert encoder.labels_.tolist() == sorted(range(3), key=lambda c: -counts[c])
    as_indicators = PredictedLabels(8, random_state=0).fit(X, y[:, None] == values)
    assert as_indicators.fingerprint() == encoder.fingerprint()
    likeliest = PredictedClass(random_state=0).fit(X, y).transform(Q)[:, encoder.labels_]
    bits = encoder.transform(Q)
    sure = bits.sum(axis=1) == 1
    assert sure.mean() > 0.7
    assert (bits[sure, :3] == likeliest[sure]).all(axis=1).mean() > 0.9
    assert not bits[:, 3:].any()


def test_rows_that_say_nothing_of_rare_labels_have_codes_of_zeros(data, caplog):
    _, Y, _, _ = data
    noise = np.random.default_rng(1).normal(size=(300, 3))
    encoder = PredictedLabels(6, random_state=0).fit(noise, Y[:, [0, 1, 2, 4, 5]])
    assert not encoder.transform(noise).any()
    assert "all have the same code: search cannot tell them apart" in caplog.text


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(dtype, data, tmp_path):
    X, Y, Q, _ = data
    X, Q = X.astype(dtype), Q.astype(dtype)
    encoder = PredictedLabels(4, random_state=0).fit(X, Y)
    encoder.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.fingerprint() == encoder.fingerprint()
    assert again.labels_.tolist() == BY_COUNT[:4]
    np.testing.assert_array_equal(again.encode(Q), encoder.encode(Q))
    np.testing.assert_array_equal(again.own_distances(X)(Q), encoder.own_distances(X)(Q))


def test_a_comparison_has_a_line_of_each_distance_at_each_length(data):
    X, Y = np.concatenate([data[0], data[2]]), np.concatenate([data[1], data[3]])
    lines = compare(["predicted_labels"], X, Y, bits=[3, 6], seeds=[0], measures=["map"])
    found = {(each.distance, each.n_bits): each.scores.mean["map"] for each in lines}
    assert set(found) == {("plain", 3), ("posterior", 3), ("plain", 6), ("posterior", 6)}
    assert found["posterior", 6] > found["plain", 6] > 0.4
