"""Class bits and row bits in one code: places, parts, files, warm starts, and what row bits are for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.codes import hamming, unpack
from structhash.metrics import precision, tie_blocks
from structhash.training.column_generation import bits_to_keep
from structhash.training.row_bits import (
    Interleaved,
    function_from_arrays,
    is_row_bit,
    n_row_bits,
    n_row_bits_among,
)

X, Y = load_digits(return_X_y=True)
TRAIN, REST = slice(0, 300), slice(300, 800)


@pytest.fixture(scope="module")
def model():
    return DistilHash(40, random_state=0).fit(X[TRAIN], Y[TRAIN])


def test_after_16_bits_every_eighth_is_a_row_bit():
    assert np.flatnonzero(is_row_bit(64)).tolist() == [23, 31, 39, 47, 55, 63]
    for n_bits in range(1, 200):
        assert is_row_bit(n_bits).sum() == n_row_bits(n_bits)
        np.testing.assert_array_equal(is_row_bit(200)[:n_bits], is_row_bit(n_bits))


def test_a_number_of_class_bits_tells_the_number_of_row_bits():
    for n_class_bits in range(1, 200):
        n_bits = n_class_bits + n_row_bits_among(n_class_bits)
        assert n_row_bits(n_bits) == n_row_bits_among(n_class_bits)


def test_scores_are_those_of_the_parts_in_their_places(model):
    function = model.hash_function_
    of_row = is_row_bit(40)
    scores = function.scores(X[REST])
    np.testing.assert_array_equal(scores[:, of_row], function.rows.scores(X[REST]))
    np.testing.assert_array_equal(scores[:, ~of_row], function.classes.scores(X[REST]))
    np.testing.assert_array_equal(unpack(model.encode(X[REST]), 40), scores > 0)


@pytest.mark.parametrize("n_bits", [7, 16, 24, 33, 40])
def test_queries_of_a_prefix_have_the_temperature_of_its_class_bits(model, n_bits):
    function, of_row = model.hash_function_, is_row_bit(40)
    n_class_bits = int((~of_row[:n_bits]).sum())
    scores = function.query_scores(X[REST], n_bits)
    np.testing.assert_array_equal(scores[:, ~of_row], function.classes.query_scores(X[REST], n_class_bits))
    np.testing.assert_array_equal(scores[:, of_row], function.rows.scores(X[REST]))
    assert model.queries_differ(n_bits) == function.classes.queries_differ(n_class_bits)
    expected = unpack(model.encode_queries(X[REST]), 40)
    np.testing.assert_array_equal(unpack(model.encode_queries(X[REST], n_bits=40), 40), expected)


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


def test_one_weight_serves_the_bits_of_each_prefix(model):
    assert (np.diff(model.weights_) == 0).all()
    for t, weights in enumerate(model.prefix_weights_):
        assert len(set(weights[: t + 1])) == 1
        assert weights[0] > 0
        assert not weights[t + 1 :].any()


def test_files_hold_both_parts(model, tmp_path):
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(X[REST]), model.encode(X[REST]))
    np.testing.assert_array_equal(again.encode_queries(X[REST]), model.encode_queries(X[REST]))


def test_parts_of_other_lengths_are_refused(model):
    function = model.hash_function_
    with pytest.raises(ValueError, match="3 row bits among 37 bits"):
        Interleaved(DistilHash(34, embedding="posterior").fit(X[TRAIN], Y[TRAIN]).hash_function_, function.rows)
    arrays, plain = function.to_arrays()
    with pytest.raises(ValueError, match="'others/bits' is"):
        function_from_arrays({**arrays, "others/bits": np.zeros(1)}, plain, {"n_features": 64, "n_bits": 40})


def test_a_fit_that_ends_early_has_the_row_bits_that_belong_to_its_class_bits():
    rows = np.repeat(X[:30], 3, axis=0)
    model = DistilHash(64, random_state=0, stop_at_optimum=True, tolerance=1e-2).fit(rows, np.repeat(Y[:30], 3))
    n_rows = model.hash_function_.rows.n_bits if isinstance(model.hash_function_, Interleaved) else 0
    assert n_rows == n_row_bits(model.n_bits_)
    assert len(model.weights_) == len(model.history_) == model.n_bits_ <= 64
