"""The learned function: scores, bits, planes and codes agree; it is rebuilt from its own description."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, StructHash
from structhash.codes import pack
from structhash.embeddings.base import Embedding
from structhash.families.linear import Linear
from structhash.pieces import names
from structhash.training.hash_function import HashFunction

X, Y = (array[:240] for array in load_digits(return_X_y=True))
SIZES = {"n_features": 64, "n_bits": 10}
SMALL = {"n_near": 5, "n_far": 5, "random_state": 0}
FUNCTIONS = [
    *(("family", name) for name in names("families")),
    *(("embedding", name) for name in names("embeddings")),
]


@pytest.fixture(scope="module", params=FUNCTIONS, ids="=".join)
def function(request):
    kind, name = request.param
    encoder = StructHash(10, family=name, **SMALL) if kind == "family" else DistilHash(10, embedding=name)
    return encoder.fit(X[:150], Y[:150]).hash_function_


@pytest.fixture
def queries_apart():
    """A function whose queries have temperatures of their own."""
    learned = DistilHash(10, random_state=0).fit(X[:150], Y[:150]).hash_function_
    arrays, plain = learned.to_arrays()
    return HashFunction.from_arrays(arrays, {**plain, "query_temperatures": [1.0, 2.0, 16.0, 4.0]}, SIZES)


def same(a, b):
    assert (a.family, a.embedding) == (b.family, b.embedding)
    assert (a.row_temperature, a.query_temperatures) == (b.row_temperature, b.query_temperatures)
    for group in ("bits", "family_state", "embedding_state"):
        one, two = getattr(a, group), getattr(b, group)
        assert one.keys() == two.keys()
        for name in one:
            assert np.asarray(one[name]).dtype == np.asarray(two[name]).dtype
            np.testing.assert_array_equal(one[name], two[name])


def test_a_bit_is_1_where_its_score_is_above_0(function):
    scores = function.scores(X)
    assert scores.shape == (240, 10)
    np.testing.assert_array_equal(function.bits_of(X), scores > 0)
    assert 0 < (scores > 0).mean() < 1


def test_codes_are_the_bits_packed_however_they_are_computed(function):
    bits = function.bits_of(X)
    np.testing.assert_array_equal(function.encode(X), pack(bits))
    np.testing.assert_array_equal(function.encode(X, 3), pack(bits[:, :3]))


def test_planes_cut_the_rows_as_the_scores_do(function):
    planes = function.planes()
    if planes is None:
        assert function.family != Linear() or function.embedding.affine(function.embedding_state) is None
    else:
        apart = (X - planes.center) @ planes.normals.T - planes.thresholds
        np.testing.assert_array_equal(apart > 0, function.bits_of(X))


def test_it_comes_back_from_arrays_and_json(function):
    arrays, plain = function.to_arrays()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    again = HashFunction.from_arrays(arrays, json.loads(json.dumps(plain)), SIZES)
    same(again, function)
    np.testing.assert_array_equal(again.encode(X), function.encode(X))


def test_bits_split_and_put_together_are_the_same(function):
    bits = function.split_bits()
    assert len(bits) == function.n_bits == 10
    assert all(len(array) == 1 for each in bits for array in each.values())
    same(function.with_bits(bits), function)
    short = function.with_bits(bits[:4])
    assert (short.n_bits, function.n_bits) == (4, 10)
    np.testing.assert_array_equal(short.bits_of(X), function.bits_of(X)[:, :4])


def test_it_is_frozen_and_has_no_bits_at_first():
    empty = HashFunction(Linear(), {})
    assert empty.n_bits == 0
    assert empty.split_bits() == []
    with pytest.raises(FrozenInstanceError):
        empty.row_temperature = 2.0


def test_queries_have_the_temperature_of_their_length(queries_apart):
    """Temperatures are for 1, 2, 4 and 8 bits, and for the lengths up to the next."""
    vectors = queries_apart.embedding.embed(X, queries_apart.embedding_state)
    for n_bits, temperature in ((1, 1.0), (2, 2.0), (3, 2.0), (4, 16.0), (7, 16.0), (8, 4.0), (10, 4.0)):
        at = queries_apart.embedding.at_temperature(vectors, temperature, {})
        features = queries_apart.family.features(at, queries_apart.family_state)
        expected = queries_apart.family.decide(features, queries_apart.bits)
        np.testing.assert_array_equal(queries_apart.query_scores(X, n_bits), expected)
        np.testing.assert_array_equal(queries_apart.query_bits_of(X, n_bits), expected > 0)
        np.testing.assert_array_equal(
            queries_apart.encode(X, n_bits, queries=True), pack(expected[:, :n_bits] > 0)
        )
        assert queries_apart.queries_differ(n_bits) == (temperature != queries_apart.row_temperature)
    assert (queries_apart.query_bits_of(X, 8) != queries_apart.bits_of(X)).any()


def test_without_temperatures_queries_are_coded_as_rows():
    function = DistilHash(6, embedding="metric", random_state=0).fit(X[:150], Y[:150]).hash_function_
    assert function.query_temperatures == ()
    assert not function.queries_differ(6)
    np.testing.assert_array_equal(function.query_scores(X, 6), function.scores(X))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"row_temperature": 0}, "temperature=0: give a finite number above 0"),
        ({"row_temperature": float("inf")}, "temperature=inf: give a finite number above 0"),
        ({"query_temperatures": [1.0, 2.0, 3.0, -4.0]}, "temperature=-4.0: give a finite number above 0"),
        (
            {"query_temperatures": [1.0, float("nan"), 3.0, 4.0]},
            "temperature=nan: give a finite number above 0",
        ),
        ({"query_temperatures": [1.0, 2.0, 3.0]}, "3 temperatures of queries for 10 bits"),
        ({"embedding": None}, "it holds the state of an embedding, but has none"),
    ],
)
def test_values_that_no_fit_gives_are_refused(queries_apart, changed, message):
    arrays, plain = queries_apart.to_arrays()
    with pytest.raises(ValueError, match=message):
        HashFunction.from_arrays(arrays, {**plain, **changed}, SIZES)


def test_a_piece_without_a_name_is_not_hidden_by_one_with_its_name():
    class Centered(Embedding):
        """Another class of the same name as a piece."""

    own = HashFunction(Linear(max_iter=3), {}, embedding=Centered())
    assert own.to_arrays()[1]["family"] == "linear:max_iter=3"
    assert own.to_arrays()[1]["embedding"] is own.embedding  # which JSON refuses
