"""TSH: inference against enumeration, classifiers against scikit-learn on the same bits."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC

from structhash.baselines import ITQ, LSH, TSH
from structhash.baselines._label_pairs import draw_pairs
from structhash.baselines._two_step import energy, pair_weights, relax, symmetric
from structhash.estimators.loading import load_model


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("loss", ["ksh", "hinge", "bre"])
def test_inference_against_enumeration(loss):
    best, found = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs = draw_pairs(np.arange(9) % 3, 9, 9, rng)
        a = pair_weights(loss, rng.integers(0, 4, len(pairs.first)), pairs.similar, 4)
        best.append(min(energy(pairs, a, np.array(z)) for z in itertools.product([-1, 1], repeat=9)))
        z = relax(pairs, a, 9, rng)
        assert set(np.unique(z)) <= {-1, 1}
        found.append(energy(pairs, a, z))
    gap = np.array(found) - best
    assert (gap >= 0).all()
    assert np.sum(gap == 0) >= 6
    assert np.sum(gap) <= 0.1 * np.sum(np.abs(best))


def test_never_worse_than_the_eigenvector():
    rng = np.random.default_rng(0)
    index = rng.integers(0, 4, 120)
    pairs = draw_pairs(index, 10, 10, rng)
    a = pair_weights("ksh", rng.integers(0, 8, len(pairs.first)), pairs.similar, 8)
    vector = np.linalg.eigh(symmetric(pairs, a, 120).toarray())[1][:, 0]
    assert energy(pairs, a, relax(pairs, a, 120, rng)) <= energy(pairs, a, np.where(vector >= 0, 1, -1))


@pytest.mark.parametrize("inference", ["spectral", "graph_cut"])
def test_losses_fall(digits, inference):
    encoder = TSH(8, function="svm", inference=inference, random_state=0).fit(digits[0][:200], digits[1][:200])
    assert (np.diff(encoder.losses_) < 0).all()
    assert encoder.losses_[-1] < 0.3 * encoder.losses_[0]


@pytest.mark.slow
def test_many_short_classes():
    index = np.repeat(np.arange(60), 20)

    def purity(loss, inference):
        bits, _ = TSH(32, loss=loss, inference=inference)._infer(index, np.random.default_rng(0))
        alike = np.where(bits, 1, -1) @ np.where(bits, 1, -1).T
        np.fill_diagonal(alike, -33)
        nearest = np.argsort(-alike, axis=1, kind="stable")[:, :19]
        return np.mean(index[nearest] == index[:, None])

    assert purity("hinge", "graph_cut") > 0.9
    assert purity("ksh", "spectral") < 0.3  # as the class's notes say


@pytest.mark.parametrize("function", ["rbf_svm", "svm"])
def test_classifiers_against_scikit_learn(digits, function):
    X, y = digits[0][:200], digits[1][:200]
    encoder = TSH(4, function=function, C=2000, random_state=0)
    bits, _ = TSH(4, random_state=0)._infer(y, np.random.default_rng(0))
    varying = X.min(axis=0) < X.max(axis=0)  # other features of the training rows are constant
    scaler = MinMaxScaler().fit(X[:, varying])
    Z = scaler.transform(X[:, varying])
    apart = np.sort(((Z[:, None] - Z) ** 2).sum(axis=2), axis=1)[:, :50]
    found = encoder.fit(X, y).transform(digits[0])
    for j in range(4):
        if function == "rbf_svm":
            machine = SVC(C=10, gamma=1 / apart.mean())
        else:
            machine = LinearSVC(C=10, dual=False, max_iter=10_000)
        expected = machine.fit(Z, bits[:, j]).predict(scaler.transform(digits[0][:, varying]))
        assert np.mean(found[:, j] == expected) > 0.998


@pytest.mark.slow
@pytest.mark.parametrize(("function", "gain"), [("rbf_svm", 0.15), ("svm", -0.05), ("trees", 0.1)])
def test_retrieval(digits, function, gain):
    X, y = digits
    settings = {"function": function, "inference": "graph_cut", "loss": "hinge", "random_state": 0}
    score = TSH(12, **settings).fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert score > gain + ITQ(12, random_state=0).fit(X[:400]).score(X[400:], y[400:])
    assert score > gain + 0.05 + LSH(12, random_state=0).fit(X[:400]).score(X[400:], y[400:])


@pytest.mark.parametrize("function", ["rbf_svm", "svm", "trees"])
def test_saved_models(digits, function, tmp_path):
    X, y = digits[0][:100], digits[1][:100]
    encoder = TSH(4, function=function, random_state=0).fit(X, y)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(digits[0]), encoder.encode(digits[0]))


@pytest.mark.parametrize("function", ["rbf_svm", "svm", "trees"])
def test_many_equal_rows(function):
    X = np.repeat([[0.0, 5], [1, 5]], 60, axis=0)
    encoder = TSH(4, function=function, random_state=0).fit(X, np.repeat([0, 1], 60))
    codes = encoder.encode(X)
    assert len(np.unique(codes)) == 2
    assert (codes[:60] == codes[0]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "other"}, "loss='other': give one of ksh, hinge, bre"),
        ({"function": "rbf"}, "function='rbf': give one of rbf_svm, svm, trees"),
        ({"inference": "cut"}, "inference='cut': give one of spectral, graph_cut"),
        ({"C": 0}, "C=0: give a finite number above 0"),
        ({"n_similar": 0}, "n_similar=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        TSH(**settings).fit(*digits)
