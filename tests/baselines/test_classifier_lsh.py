"""Random planes of a classifier's output, against the classifier of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from structhash.baselines import ITQ, ClassifierLSH, OneHot


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))
    return X[rows], y[rows]


def classifier(X, y, rows):
    """Probabilities and scores (n, n_classes) of all rows, fitted on the first ones."""
    Z = X - X[:rows].mean(axis=0)
    Z /= np.sqrt((Z[:rows] ** 2).sum(axis=1).mean())
    model = LogisticRegression(C=10, max_iter=1000).fit(Z[:rows], y[:rows])
    return model.predict_proba(Z), model.decision_function(Z)


@pytest.mark.parametrize("of", ["probabilities", "scores"])
@pytest.mark.parametrize("labels", ["numbers", "strings"])
def test_share_of_bits_that_differ_is_the_angle(digits, of, labels):
    X, y = digits[0], digits[1] if labels == "numbers" else np.array([f"digit {i}" for i in digits[1]])
    encoder = ClassifierLSH(10_000, of=of, random_state=0).fit(X[:200], y[:200])
    p, scores = classifier(X, y, 200)
    if of == "scores":
        p = scores - scores.mean(axis=1, keepdims=True)
    p = p[:30] / np.linalg.norm(p[:30], axis=1, keepdims=True)
    angle = np.arccos(np.clip(p @ p.T, -1, 1)) / np.pi
    bits = encoder.transform(X[:30])
    differ = (bits[:, None] != bits).mean(axis=2)
    deviation = np.sqrt(angle * (1 - angle) / 10_000)
    assert (np.abs(differ - angle) <= 5 * deviation + 1e-4).all()


def test_the_classifier_is_that_of_one_hot(digits):
    X, y = digits
    lsh, one_hot = (cls(n_bits=16, random_state=0).fit(X[:300], y[:300]) for cls in (ClassifierLSH, OneHot))
    for name in ("coef_", "intercept_", "classes_", "n_iter_"):
        np.testing.assert_array_equal(getattr(lsh, name), getattr(one_hot, name))


def test_two_classes(digits):
    X, y = digits[0], digits[1] > 4
    encoder = ClassifierLSH(5, of="scores", random_state=0).fit(X[:300], y[:300])
    assert encoder.planes_.shape == (5, 2)
    p, _ = classifier(X, y, 300)
    expected = ((p - 0.5) @ encoder.planes_.T) > 0  # scores of two classes that add up to zero: one line
    np.testing.assert_array_equal(encoder.transform(X), expected)


def test_a_shorter_code_is_a_prefix(digits):
    long, short = (ClassifierLSH(m, random_state=3).fit(*digits) for m in (16, 8))
    np.testing.assert_array_equal(long.encode(digits[0], n_bits=8), short.encode(digits[0]))


def test_known_classes_want_probabilities_and_others_scores(digits):
    X, y = digits
    known = {
        of: ClassifierLSH(64, of=of, random_state=0).fit(X[:900], y[:900]) for of in ("probabilities", "scores")
    }
    score = {of: encoder.score(X[900:], y[900:]) for of, encoder in known.items()}
    assert score["probabilities"] > score["scores"] + 0.1
    assert score["probabilities"] > ITQ(64, random_state=0).fit(X).score(X[900:], y[900:]) + 0.1
    seen = y < 7
    score = {
        of: ClassifierLSH(64, of=of, random_state=0).fit(X[seen], y[seen]).score(X[~seen], y[~seen])
        for of in ("probabilities", "scores")
    }
    assert score["scores"] > score["probabilities"]
    assert score["probabilities"] > OneHot(64).fit(X[seen], y[seen]).score(X[~seen], y[~seen])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"of": "logits"}, "of='logits': give 'probabilities' or 'scores'"),
        ({"C": 0}, "C=0: give a finite number above 0"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"family": "nothing"}, "no piece of families is called 'nothing'"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        ClassifierLSH(**settings).fit(*digits)
