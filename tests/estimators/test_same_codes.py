"""A rare class keeps a code of its own, and codes that say too little are reported."""

import numpy as np
import pytest

from structhash import DistilHash
from structhash.codes import hamming
from structhash.estimators._same_codes import warn_about_same_codes
from structhash.metrics import average_precision, tie_blocks


def drawn(sizes, rng, centers):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), centers.shape[1])) + centers[y], y


def worst_class(sizes, seed, d=32, radius=8.0):
    """mAP of the worst class, for new queries among the training rows."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(len(sizes), d))
    centers *= radius / np.linalg.norm(centers, axis=1, keepdims=True)
    X, y = drawn(sizes, rng, centers)
    Q, wanted = drawn([20] * len(sizes), rng, centers)
    encoder = DistilHash(16, random_state=seed).fit(X, y)
    distances = hamming(encoder.encode_queries(Q), encoder.encode(X))
    found = average_precision(tie_blocks(distances, wanted[:, None] == y))
    return min(found[wanted == c].mean() for c in range(len(sizes)))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("sizes", [[396, 4], [398, 2], [600, 4], [300, 90, 10, 4], [400, 1], [100, 1]])
def test_a_rare_class_far_from_the_others_is_found(sizes, seed):
    assert worst_class(sizes, seed) > 0.9


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(50, 3)), np.repeat(np.arange(5), 10)


def same(X):
    return np.zeros((len(X), 1), np.uint8)


def test_one_code_for_all_rows_is_reported(rows, caplog):
    warn_about_same_codes(same, 8, rows[0], None)
    assert "50 training rows all have the same code" in caplog.text


def test_fewer_codes_than_classes_are_reported_where_the_length_allows_more(rows, caplog):
    X, y = rows

    def two(X):
        return (X[:, :1] > 0).astype(np.uint8)

    warn_about_same_codes(two, 4, X, y)
    assert not caplog.text
    warn_about_same_codes(two, 5, X, y)
    assert "50 training rows of 5 classes have only 2 codes" in caplog.text


def test_a_rare_class_is_among_the_rows_that_are_checked(caplog):
    X = np.random.default_rng(0).normal(size=(5000, 2))
    y = np.zeros(5000, np.int64)
    y[2501] = 1
    seen = []
    warn_about_same_codes(lambda part: seen.append(part) or np.arange(len(part))[:, None], 64, X, y)
    assert (seen[0] == X[2501]).all(axis=1).any()
    assert len(seen[0]) <= 1002
