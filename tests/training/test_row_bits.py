"""Class bits and row bits in one code: places, parts, files, warm starts, and what row bits are for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.codes import unpack
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


def test_row_bits_among_class_bits_are_as_many_as_they_have_places_for():
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
