"""Codes of class bits and row bits, as they are learned: who gets them, what they are for, warm starts."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.codes import hamming, unpack
from structhash.metrics import precision, tie_blocks
from structhash.training.column_generation import bits_to_keep
from structhash.training.row_bits import (
    Interleaved,
    is_row_bit,
    n_row_bits,
)

X, Y = load_digits(return_X_y=True)
TRAIN, REST = slice(0, 300), slice(300, 800)


@pytest.fixture(scope="module")
def model():
    return DistilHash(40, random_state=0).fit(X[TRAIN], Y[TRAIN])


def test_only_the_automatic_posterior_has_row_bits(model):
    assert isinstance(model.hash_function_, Interleaved)
    named = DistilHash(40, embedding="posterior", random_state=0).fit(X[TRAIN], Y[TRAIN])
    short = DistilHash(23, random_state=0).fit(X[TRAIN], Y[TRAIN])
    without_labels = DistilHash(24, random_state=0).fit(X[:200])
    for other in (named, short, without_labels):
        assert not isinstance(other.hash_function_, Interleaved)
    class_bits = unpack(model.encode(X[REST]), 40)[:, ~is_row_bit(40)]
    np.testing.assert_array_equal(class_bits, unpack(named.encode(X[REST]), 40)[:, : class_bits.shape[1]])


def test_classes_inside_a_class_are_found_by_row_bits():
    found = {}
    for embedding in ("auto", "posterior"):
        coarse = DistilHash(40, embedding=embedding, random_state=0).fit(X[TRAIN], Y[TRAIN] // 2)
        distances = hamming(coarse.encode_queries(X[REST]), coarse.encode(X[TRAIN]))
        blocks = tie_blocks(distances, Y[REST][:, None] == Y[TRAIN])
        found[embedding] = np.mean(precision(blocks, 10))
    assert found["auto"] > found["posterior"] + 0.1


def test_a_warm_start_gives_the_bits_of_a_long_fit(model):
    grown = DistilHash(20, random_state=0, warm_start=True)
    for n_bits in (20, 30, 40):
        grown.set_params(n_bits=n_bits).fit(X[TRAIN], Y[TRAIN])
        np.testing.assert_array_equal(grown.encode(X[REST]), model.encode(X[REST], n_bits=n_bits))
    assert [each["bit"] for each in grown.history_] == list(range(40))
    assert [each["objective"] for each in grown.history_] == [each["objective"] for each in model.history_]


def test_bits_of_two_kinds_are_kept_only_by_a_fit_that_has_both(model):
    with pytest.raises(ValueError, match="warm_start=True goes on with the same rows"):
        bits_to_keep(model.hash_function_, model.hash_function_.classes)
    grown = DistilHash(24, embedding="posterior", random_state=0, warm_start=True).fit(X[TRAIN], Y[TRAIN])
    codes = grown.encode(X[REST])
    with pytest.raises(
        ValueError, match=r"the earlier ones have no row bits.*give the embedding of the earlier"
    ):
        grown.set_params(n_bits=40, embedding="auto").fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(grown.encode(X[REST]), codes)
    grown.set_params(embedding="posterior").fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(grown.encode(X[REST], n_bits=24), codes)


def test_one_weight_serves_the_bits_of_each_prefix(model):
    assert (np.diff(model.weights_) == 0).all()
    for t, weights in enumerate(model.prefix_weights_):
        assert len(set(weights[: t + 1])) == 1
        assert weights[0] > 0
        assert not weights[t + 1 :].any()


def test_a_fit_that_ends_early_has_the_row_bits_that_belong_to_its_class_bits():
    rows = np.repeat(X[:30], 3, axis=0)
    model = DistilHash(64, random_state=0, stop_at_optimum=True, tolerance=1e-2).fit(rows, np.repeat(Y[:30], 3))
    n_rows = model.hash_function_.rows.n_bits if isinstance(model.hash_function_, Interleaved) else 0
    assert n_rows == n_row_bits(model.n_bits_)
    assert len(model.weights_) == len(model.history_) == model.n_bits_ <= 64
