"""Rows with no or several labels: which peers learn from them, and that one label a row is as before."""

import numpy as np
import pytest

from structhash.baselines import ITQ, SupervisedBaseline
from structhash.baselines.base import TrainingRows
from structhash.estimators.loading import load_model
from structhash.pieces import classes, load

SUPERVISED = {name: each for name, each in classes("baselines").items() if issubclass(each, SupervisedBaseline)}
SEVERAL = sorted(name for name, each in SUPERVISED.items() if each.takes_several_labels)
X4 = np.array([[0.0, 1], [1, 0], [2, 2], [3, 1]])


def encoder_of(name):
    quick = ":n_anchors=60,max_iter=50" if name == "ksh" else ""
    return load("baselines", name + quick).set_params(n_bits=16, random_state=0)


@pytest.fixture(scope="module")
def data():
    """Rows that are sums of the vectors of their labels and much noise: 500 to learn from, 300 others."""
    rng = np.random.default_rng(0)
    Y = rng.random((800, 6)) < 0.2
    X = (Y - 0.2) @ rng.normal(size=(6, 24)) + 3 * rng.normal(size=(800, 24)) * (np.arange(24) < 6)
    X += 0.5 * rng.normal(size=X.shape)
    return X[:500], Y[:500], X[500:], Y[500:]


def sets_of(Y):
    return [set(np.flatnonzero(row).tolist()) for row in Y]


def mean_average_precision(encoder, data):
    """Of the other rows among the training rows, by hand; relevant rows share a label."""
    X, Y, Q, of_queries = data
    bits, found = encoder.transform(X).astype(int), []
    sets = sets_of(Y)
    order_of_ties = np.random.default_rng(1).permutation(len(X))
    for code, own in zip(encoder.transform(Q).astype(int), sets_of(of_queries), strict=True):
        if own:
            order = np.lexsort([order_of_ties, np.abs(bits - code).sum(axis=1)])
            relevant = np.array([bool(own & sets[i]) for i in order])
            ranks = np.flatnonzero(relevant) + 1
            found.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return np.mean(found)


def test_which_take_several_labels():
    assert SEVERAL == ["cca_itq", "cosdish", "fsdh", "ksh", "predicted_labels", "sdh"]
    assert not SupervisedBaseline.takes_several_labels


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_they_find_more_rows_that_share_a_label(name, data):
    assert set(data[1].sum(axis=1)) >= {0, 1, 2, 3}
    found = mean_average_precision(encoder_of(name).fit(*data[:2]), data)
    assert found > mean_average_precision(ITQ(16, random_state=0).fit(data[0]), data) + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_one_label_a_row_as_indicators_learns_the_codes_of_classes(name, data):
    """`fit` reads such indicators as classes, so both ways are taken here."""
    X, Y, Q, _ = data
    y = Y[:, :5].argmax(axis=1)
    encoder, found = encoder_of(name), []
    assert encoder.fit(X, np.eye(5)[y]).fingerprint() == encoder.fit(X, y).fingerprint()
    rows, _ = encoder._check_rows(X, y)
    assert rows.indicators is None
    several = rows._replace(class_index=np.empty(0, np.int64), indicators=np.eye(5, dtype=bool)[y])
    for each in (rows, several):
        for attribute, value in encoder._learn(each, np.random.default_rng(3)).items():
            setattr(encoder, attribute, value)
        found.append((encoder.encode(Q), getattr(encoder, "losses_", np.empty(0))))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_columns_without_rows_do_not_matter(name, data, tmp_path):
    X, Y, Q, _ = data
    encoder = encoder_of(name).fit(X, Y)
    other = encoder_of(name).fit(X, np.insert(Y, [0, 3], False, axis=1).astype(int).tolist())
    assert other.fingerprint() == encoder.fingerprint()
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(Q), encoder.encode(Q))


@pytest.mark.parametrize("name", sorted(set(SUPERVISED) - set(SEVERAL)))
def test_the_others_refuse_them(name):
    encoder = SUPERVISED[name]()
    message = (
        rf"labels have shape \(4, 3\), and row 2 has 2 of the labels; {type(encoder).__name__} learns from one "
        "label a row; give one, or fit one of CCA_ITQ, COSDISH, FSDH, KSH, PredictedLabels, SDH, AdditiveHash, "
        "DistilHash, StructHash and CGHash, which"
    )
    with pytest.raises(ValueError, match=message):
        encoder.fit(X4, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 0]] * 4, "none of the 4 rows of y has a label; give rows that have labels"),
        ([[0, 1]] * 3 + [[0, 0]], "y has one class only, 1; give labels of at least two"),
        ([[1, 0, 1]] * 4, "all 4 rows have the same 2 labels; give rows whose labels differ"),
        ([[0, 2], [1, 0], [1, 0], [0, 1]], r"labels of shape \(4, 2\) must be 0 or 1"),
        ([[0, 1], [1, 1]], r"labels have shape \(2, 2\); give one label for each of the 4 rows"),
    ],
)
@pytest.mark.parametrize("name", SEVERAL)
def test_labels_that_say_nothing_are_refused(name, y, message):
    with pytest.raises(ValueError, match=message):
        encoder_of(name).fit(X4, y)


@pytest.mark.parametrize("name", ["cosdish", "ksh"])
@pytest.mark.parametrize("y", [[[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [[1, 0, 1], [1, 1, 0]] * 2])
def test_methods_of_pairs_refuse_rows_that_all_share_a_label(name, y):
    with pytest.raises(
        ValueError, match="every two of the rows drawn share a label, or no two do; give labels"
    ):
        encoder_of(name).fit(X4, y)


def test_training_rows_know_who_shares_a_label(data):
    X, Y, *_ = data
    y, chosen = np.arange(500) % 3, np.array([4, 0, 77])
    several = TrainingRows(X, X.mean(axis=0), np.arange(6), np.empty(0, np.int64), Y)
    sets = sets_of(Y)
    expected = [[bool(sets[i] & other) for other in sets] for i in chosen]
    np.testing.assert_array_equal(several.sharing(chosen), expected)
    np.testing.assert_array_equal(several.label_matrix(), Y)
    single = TrainingRows(X, X.mean(axis=0), np.arange(3), y)
    np.testing.assert_array_equal(single.sharing(chosen), [[y[i] == c for c in y] for i in chosen])
    np.testing.assert_array_equal(single.label_matrix(), [[c == k for k in range(3)] for c in y])
