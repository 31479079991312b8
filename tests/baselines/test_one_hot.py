"""The classifier as a code: against scikit-learn, with more and with fewer bits than classes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from structhash.baselines import OneHot
from structhash.baselines._codebook import codebook
from structhash.codes import hamming
from structhash.estimators.loading import load_model


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.mark.parametrize("labels", ["integers", "strings", "objects", "two"])
def test_is_the_classifier(digits, labels):
    X, y = digits
    y = {"integers": y - 3, "strings": y.astype(str), "objects": y.astype(str).astype(object), "two": y > 4}[
        labels
    ]
    scale = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    shrink = FunctionTransformer(lambda Z: Z / scale)
    pipeline = make_pipeline(StandardScaler(with_std=False), shrink, LogisticRegression(C=10, max_iter=1000))
    predicted = pipeline.fit(X[:200], y[:200]).predict(X)
    encoder = OneHot(n_bits=2 if labels == "two" else 10).fit(X[:200], y[:200])
    assert encoder.classes_ == sorted(set(y.tolist()))
    expected = predicted[:, None] == np.array(encoder.classes_, dtype=y.dtype)
    np.testing.assert_array_equal(encoder.transform(X), expected)


def test_labels_survive_saving(digits, tmp_path):
    X, y = digits
    for labels in (y.astype(str), y.astype(str).astype(object), y.astype(np.uint8), y > 4):
        OneHot(n_bits=10).fit(X[:200], labels[:200]).save(tmp_path / "model")
        assert load_model(tmp_path / "model").classes_ == sorted(set(labels.tolist()))


def test_with_more_bits(digits):
    X, y = digits
    short, long = (OneHot(n_bits=m).fit(X, y) for m in (10, 64))
    assert not long.transform(X)[:, 10:].any()
    distances = [hamming(each.encode(X), each.encode(X)) for each in (short, long)]
    np.testing.assert_array_equal(*distances)


@pytest.mark.parametrize(
    ("n_bits", "n_classes", "least"),
    [(1, 2, 1), (3, 8, 1), (4, 10, 1), (16, 26, 5), (64, 100, 22)],
)
def test_with_fewer_bits(n_bits, n_classes, least):
    rng = np.random.default_rng(0)
    centres = np.eye(n_classes)
    y = np.tile(np.arange(n_classes), 4)
    X = centres[y] + 0.01 * rng.standard_normal((len(y), n_classes))
    encoder = OneHot(n_bits=n_bits, random_state=0).fit(X, y)
    codes = encoder.encode(centres)
    apart = hamming(codes, codes)[~np.eye(n_classes, dtype=bool)]
    assert apart.min() >= least
    np.testing.assert_array_equal(encoder.transform(X), encoder.codebook_[y])
    again = OneHot(n_bits=n_bits, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.codebook_, encoder.codebook_)


@pytest.mark.slow
def test_codebook_of_many_classes():
    book = codebook(5000, 13, np.random.default_rng(0))  # of 8192 codewords
    assert len(np.unique(book, axis=0)) == 5000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bits": 3}, "n_bits=3 gives 8 codes for 10 classes; give at least 4 bits"),
        ({"C": 0}, "C=0: give a finite number above 0"),
        ({"C": np.inf}, "C=inf: give a finite number above 0"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"family": "nothing"}, "no piece of families is called 'nothing'"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        OneHot(**settings).fit(*digits)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(400, int), "y has one class only, .*0.*; give labels of at least two"),
        (np.linspace(0, 1, 400), "Unknown label type"),
        (np.zeros((400, 2), int), r"labels have shape \(400, 2\), and row 0 has 0 of the labels"),
        (np.zeros(3, int), r"labels have shape \(3,\); give one label for each of the 400 rows"),
    ],
)
def test_labels(digits, y, message):
    with pytest.raises(ValueError, match=message):
        OneHot().fit(digits[0], y)
