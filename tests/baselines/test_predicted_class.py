"""The class as a code: against the embedding's probabilities, computed and ranked by hand."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

from structhash.baselines import PredictedClass
from structhash.codes import hamming
from structhash.embeddings.posterior import Posterior
from structhash.estimators.loading import load_model
from structhash.evaluation import compare, every_distance, retrieval, same_label, seen_classes


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    drawn = np.random.default_rng(0).permutation(len(y))[:700]
    return X[drawn], y[drawn]


@pytest.fixture(scope="module")
def plain(digits):
    X, y = digits
    return PredictedClass(random_state=0).fit(X[:300], y[:300])


@pytest.fixture(scope="module")
def sure(digits):
    X, y = digits
    return PredictedClass(confidence_bits=4, random_state=0).fit(X[:300], y[:300])


def probabilities(encoder, X):
    """Class probabilities by scikit-learn's kernel; the state holds scores divided by the temperature 16."""
    parts = [normalize(X), X - encoder.center_]
    rows = np.hstack([part / unit for part, unit in zip(parts, encoder.units_, strict=True) if unit])
    K = rbf_kernel(rows, encoder.anchors_, gamma=0.5 / float(encoder.bandwidth_) ** 2)
    return softmax(16 * (K @ encoder.coef_ + encoder.prior_), axis=1)


def test_the_code_is_the_likeliest_class(plain, digits):
    X, y = digits
    P = probabilities(plain, X)
    np.testing.assert_array_equal(plain.transform(X), np.eye(10, dtype=np.uint8)[P.argmax(axis=1)])
    assert (plain.n_bits_, plain.encode(X).shape) == (10, (700, 2))
    assert (P[300:].argmax(axis=1) == y[300:]).mean() > 0.9


def test_rows_of_the_class_tie_and_so_do_all_others(plain, digits):
    X, _ = digits
    guess = probabilities(plain, X).argmax(axis=1)
    apart = hamming(plain.encode_queries(X[300:]), plain.encode(X[:300]))
    np.testing.assert_array_equal(apart, np.where(guess[300:, None] == guess[:300], 0, 2))


def test_more_bits_change_no_distance_and_fewer_keep_classes_apart(plain, digits):
    X, y = digits
    for settings in ({}, {"confidence_bits": 2}):
        short, long = (
            PredictedClass(n_bits, random_state=0, **settings).fit(X[:300], y[:300]) for n_bits in (None, 64)
        )
        assert long.n_bits_ == 64
        apart = [hamming(each.encode_queries(X), each.encode(X)) for each in (short, long)]
        np.testing.assert_array_equal(*apart)
    few = PredictedClass(5, random_state=0).fit(X[:300], y[:300])
    guess = probabilities(few, X).argmax(axis=1)
    np.testing.assert_array_equal(hamming(few.encode(X), few.encode(X)) == 0, guess[:, None] == guess)


def test_sure_rows_of_the_class_come_first_and_sure_rows_of_others_last(sure, digits):
    X, _ = digits
    P = probabilities(sure, X)
    guess, level = P.argmax(axis=1), (P.max(axis=1)[:, None] >= sure.levels_).sum(axis=1)
    assert len(sure.levels_) == 15
    assert sorted(set(level)) == list(range(16))
    signed = np.where(guess[300:, None] == guess[:300], -level[:300], 99 + level[:300])
    apart = hamming(sure.encode_queries(X[300:]), sure.encode(X[:300]))
    for found, expected in zip(apart, signed, strict=True):
        np.testing.assert_array_equal(
            np.unique(found, return_inverse=True)[1], np.unique(expected, return_inverse=True)[1]
        )


def test_levels_hold_equal_shares_of_the_left_out_training_rows(sure, digits):
    X, y = digits[0][:300], digits[1][:300]
    left_out = Posterior().fit(X, y, None, np.arange(300), np.random.default_rng(0)).vectors
    confidence = normalize(left_out**16, norm="l1").max(axis=1)  # vectors have the temperature 16
    counts = np.bincount((confidence[:, None] >= sure.levels_).sum(axis=1), minlength=16)
    assert set(counts.tolist()) == {18, 19}
    seen = (probabilities(sure, X).max(axis=1)[:, None] >= sure.levels_).sum(axis=1)
    assert seen.mean() > 9  # the fit is surer of rows that it has seen: 7.5 of those left out


def test_its_own_distance_orders_by_the_probability_of_a_common_class(plain, digits):
    X, _ = digits
    P = probabilities(plain, X)
    found = plain.own_distances(X[:300])(X[300:])
    np.testing.assert_allclose(found, 1 - P[300:] @ P[:300].T, atol=1e-9)


def test_a_comparison_has_a_line_of_the_code_and_one_of_the_floats(digits):
    X, y = digits
    code, floats = compare(["predicted_class"], X, y, bits=[16, 32], seeds=[0], measures=["map"])
    assert [(each.distance, each.n_bits) for each in (code, floats)] == [("plain", 10), ("posterior", 10)]
    split = seen_classes(y, 0)
    encoder = PredictedClass(random_state=0).fit(X[split.train], y[split.train])
    relevance = same_label(y[split.queries], y[split.database])
    expected = every_distance(encoder, X[split.queries], X[split.database], relevance)
    for result, (_, blocks) in zip((code, floats), expected, strict=True):
        assert result.scores.mean == retrieval(blocks, ["map"]).mean
    assert code.scores.mean["map"] < floats.scores.mean["map"]


def test_codes_that_would_be_too_long_are_refused():
    X = np.random.default_rng(0).standard_normal((600, 2))
    with pytest.raises(
        ValueError, match=r"300 classes with 256 levels .* take 76800 bits, a code at most 65536; give a"
    ):
        PredictedClass(confidence_bits=8).fit(X, np.arange(600) % 300)


@pytest.mark.parametrize("confidence_bits", [0, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(confidence_bits, dtype, digits, tmp_path):
    X, y = digits[0].astype(dtype), digits[1].astype(str)
    encoder = PredictedClass(confidence_bits=confidence_bits, random_state=0).fit(X[:300], y[:300])
    encoder.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.fingerprint() == encoder.fingerprint()
    np.testing.assert_array_equal(again.encode(X), encoder.encode(X))
    np.testing.assert_array_equal(again.encode_queries(X), encoder.encode_queries(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence_bits": -1}, "confidence_bits=-1: give an integer"),
        ({"confidence_bits": 9}, "confidence_bits=9: give an integer"),
        ({"confidence_bits": 1.5}, "confidence_bits=1.5: give an integer"),
        ({"n_bits": 3}, "n_bits=3 gives 8 codes for 10 classes; give at least 4 bits"),
        (
            {"n_bits": 64, "confidence_bits": 4},
            "n_bits=64: 10 classes with 16 levels .* take 160 bits; give at",
        ),
    ],
)
def test_settings(settings, message, digits):
    with pytest.raises(ValueError, match=message):
        PredictedClass(**settings).fit(*digits)
