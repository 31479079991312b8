"""Score: mean average precision, ties in expectation, each row left out of its own ranking."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_score

from structhash import CGHash, DistilHash, HashEncoder, Labels, StructHash
from structhash.baselines import OneHot
from structhash.codes import unpack
from structhash.evaluation import compare
from structhash.metrics import average_precision, tie_blocks

X, Y = (array[:120] for array in load_digits(return_X_y=True))
MORE = load_digits().data[200:300]
SMALL = {"n_bits": 10, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}
ENCODERS = {
    "distilhash": DistilHash(**SMALL),
    "distilhash-metric": DistilHash(**SMALL, embedding="metric"),
    "structhash": StructHash(**SMALL, **FEW),
    "structhash-corrective": StructHash(**SMALL, **FEW, schedule="totally_corrective"),
    "cghash": CGHash(**SMALL, **FEW),
    "cghash-stagewise": CGHash(**SMALL, **FEW, schedule="stagewise"),
}


class Signs(HashEncoder):
    """Bit j of a row: its j-th number is above 0. Weights as given."""

    def __init__(self, weights=None):
        self.weights = weights

    def fit(self, X, y=None):
        checked = self._check_input(X)
        n_bits = checked.X.shape[1]
        weights = np.ones(n_bits) if self.weights is None else np.asarray(self.weights, float)
        fitted = {"n_bits_": n_bits, "weighted_": self.weights is not None, "weights_": weights, "history_": []}
        self._store(checked.columns, fitted)
        return self

    def _bits(self, X):
        return X > 0


@pytest.fixture(scope="module", params=list(ENCODERS))
def fitted(request):
    return clone(ENCODERS[request.param]).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return DistilHash(**SMALL).fit(X, Y)


def expected_precision(distance, relevant):
    """Mean average precision over every order of a ranking that its distances allow."""
    values = []
    for order in itertools.permutations(range(len(distance))):
        if all(distance[a] <= distance[b] for a, b in itertools.pairwise(order)):
            hits = relevant[list(order)]
            ranks = np.flatnonzero(hits) + 1
            values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return np.mean(values)


def precision_in_order(distance, relevant):
    """Average precision where no two distances are equal."""
    ranks = np.flatnonzero(relevant[np.argsort(distance)]) + 1
    return np.mean(np.arange(1, len(ranks) + 1) / ranks)


def leave_one_out(bits, y, weights, one, asked=None):
    asked, values = bits if asked is None else asked, []
    for i in range(len(bits)):
        others = np.arange(len(bits)) != i
        relevant = y[others] == y[i]
        if relevant.any():
            values.append(one((weights * (bits[others] != asked[i])).sum(axis=1), relevant))
    return np.mean(values)


@pytest.mark.parametrize("seed", range(5))
def test_score_is_the_expectation_over_all_orders_of_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((7, 3)), np.array([0, 0, 1, 1, 1, 2, 0])  # class 2 has one row: left out
    encoder = Signs().fit(X)
    assert encoder.score(X, y) == pytest.approx(leave_one_out(X > 0, y, np.ones(3), expected_precision))


def test_score_of_a_weighted_model_uses_the_weights():
    rng = np.random.default_rng(0)
    X = np.unique(rng.choice([-1.0, 1.0], (60, 12)), axis=0)
    y, weights = rng.integers(0, 4, len(X)).astype(str), rng.random(12)
    apart = (weights * (X[:, None] != X[None])).sum(axis=2)
    assert np.diff(np.sort(apart, axis=1)).min() > 1e-5  # no ties
    found = Signs(weights).fit(X).score(X, y)
    expected = leave_one_out(X, y, weights, lambda d, relevant: average_precision_score(relevant, -d))
    assert found == pytest.approx(expected)
    assert found != pytest.approx(Signs().fit(X).score(X, y))


def test_score_over_several_blocks_is_the_mean_over_all_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 24)), rng.integers(0, 3, 300)
    weights = rng.random(24)
    found = Signs(weights).fit(X).score(X, y)
    expected = leave_one_out(X > 0, y, weights, precision_in_order)
    assert found == pytest.approx(expected, rel=1e-5)  # distances tie within a millionth


@pytest.mark.slow
def test_score_of_a_learned_model_is_the_mean_over_random_orders_of_ties(fitted):
    rng = np.random.default_rng(0)
    weights = np.ones(10) if fitted.search_weights_ is None else fitted.weights_
    bits, y = fitted.transform(MORE), load_digits().target[200:300]
    asked = unpack(fitted.encode_queries(MORE), 10)

    def one(distance, relevant):
        return precision_in_order(np.round(distance, 4) + 1e-6 * rng.random(len(distance)), relevant)

    draws = [leave_one_out(bits, y, weights, one, asked) for _ in range(30)]
    assert fitted.score(MORE, y) == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / np.sqrt(30) + 1e-3)


def test_a_model_whose_weights_are_all_zero_is_scored_by_plain_distance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.integers(0, 3, 30)
    zero = Signs(np.zeros(6)).fit(X)
    assert zero.search_weights_ is None
    assert zero.score(X, y) == Signs().fit(X).score(X, y)


def test_score_refuses_labels_that_do_not_fit(model):
    with pytest.raises(ValueError, match=r"labels have shape \(5,\); give one label for each of the 120 rows"):
        model.score(X, Y[:5])
    with pytest.raises(ValueError, match="at least one class needs 2 rows"):
        model.score(X, np.arange(120))
    with pytest.raises(ValueError, match=r"labels have shape \(5, 2\); give one label for each of the"):
        model.score(X, np.eye(2)[[0, 1, 0, 1, 0]])
    with pytest.raises(ValueError, match="at least one class needs 2 rows"):
        model.score(X, np.eye(120))
    alone = np.eye(120, 121)
    alone[0, 120] = 1
    with pytest.raises(ValueError, match="no two of the 120 rows have a label in common; give labels that"):
        model.score(X, alone)


@pytest.mark.parametrize(
    "frame", [lambda y: y[:, None], lambda y: pd.DataFrame({"y": y}), lambda y: y.astype("S")]
)
def test_labels_in_one_column_and_as_bytes_can_be_cross_validated(frame):
    found = cross_val_score(DistilHash(**SMALL), X, frame(Y), cv=KFold(2), error_score="raise")
    np.testing.assert_array_equal(found, cross_val_score(DistilHash(**SMALL), X, Y, cv=KFold(2)))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(Y == 3, np.nan, Y), "y holds NaN in row 3; give each row a label"),
        ([{int(label)} for label in Y], "y holds a set in row 0: .* give an indicator matrix"),
        (Y + 0.5, "y holds fractions"),
    ],
)
def test_score_refuses_what_fit_refuses(model, y, message):
    for action in (
        lambda: model.score(X, y),
        lambda: DistilHash(**SMALL).fit(X, y),
        lambda: OneHot(4).fit(X, y),
    ):
        with pytest.raises(ValueError, match=message):
            action()
    for kind in (StructHash, CGHash):
        with pytest.raises(ValueError, match=message):
            kind(**SMALL).fit(X, y)
        with pytest.raises(ValueError, match=message):
            kind(**SMALL).fit(X, Labels(y))
    with pytest.raises(ValueError, match=message):
        compare(["lsh"], X, y)


@pytest.mark.parametrize("encoder", [*ENCODERS.values(), OneHot(4, random_state=0)], ids=repr)
def test_one_label_a_row_as_indicators_is_a_class(encoder):
    one_hot = np.eye(12)[Y]  # two labels that no row has
    by_class, by_column = (clone(encoder).fit(X, y) for y in (Y, one_hot))
    assert by_class.fingerprint() == by_column.fingerprint()
    assert by_class.score(X, one_hot) == by_class.score(X, Y)


def test_score_by_indicators_is_that_by_labels_and_knows_several(model):
    assert model.score(X, np.eye(10)[Y]) == model.score(X, Y)
    several = np.column_stack([Y == 3, Y % 2])
    found, seen = model.score(X, several), []
    bits, asked = model.transform(X), unpack(model.encode_queries(X), 10)
    for i in np.flatnonzero(several.any(axis=1)):
        others = np.arange(120) != i
        apart = (bits[others] != asked[i]).sum(axis=1)
        relevant = (several[others] & several[i]).any(axis=1)
        seen.append(average_precision(tie_blocks(apart[None], relevant[None]))[0])
    assert found == pytest.approx(np.mean(seen))
