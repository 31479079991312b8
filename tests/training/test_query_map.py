"""A mapped query has the code of its image; rows keep their codes; files hold the map."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.codes import unpack
from structhash.training.query_map import QueryMap, QueryMapped, restore_function

X, Y = load_digits(return_X_y=True)
ROWS, QUERIES = X[:600], X[600:900]
SIZES = {"n_features": 64, "n_bits": 20}


def random_map(width=64, n_directions=5):
    rng = np.random.default_rng(0)
    shapes = (width, n_directions), (n_directions,), (n_directions, width)
    return QueryMap(*(rng.normal(size=shape).astype(np.float32) / 2 for shape in shapes))


@pytest.fixture(scope="module")
def alone():
    return DistilHash(20, random_state=0).fit(ROWS).hash_function_


@pytest.fixture(scope="module")
def mapped(alone):
    return QueryMapped(alone, random_map())


def test_a_query_has_the_code_that_its_image_has_as_a_row(alone, mapped):
    images = mapped.query_map.apply(QUERIES, alone.planes().center)
    assert (alone.encode(images) != alone.encode(QUERIES)).any()
    np.testing.assert_array_equal(mapped.encode(QUERIES, queries=True), alone.encode(images))
    np.testing.assert_array_equal(mapped.query_bits_of(QUERIES, 20), unpack(alone.encode(images), 20))


def test_an_image_is_a_sum(alone):
    each, center = random_map(), alone.planes().center
    x = QUERIES[3]
    by_hand = x + sum(
        (sum((x[i] - center[i]) * each.down[i, r] for i in range(64)) + each.shift[r]) * each.up[r]
        for r in range(5)
    )
    np.testing.assert_allclose(each.apply(QUERIES[3:4], center)[0], by_hand, rtol=1e-6)


def test_prefixes_of_queries_are_first_bits(mapped):
    whole = unpack(mapped.encode(QUERIES, queries=True), 20)
    np.testing.assert_array_equal(unpack(mapped.encode(QUERIES, 7, queries=True), 7), whole[:, :7])


def test_rows_have_the_codes_of_the_function_without_the_map(alone, mapped):
    assert mapped.row_function is alone
    assert mapped.embedding is alone.embedding
    np.testing.assert_array_equal(mapped.encode(X), alone.encode(X))
    np.testing.assert_array_equal(mapped.scores(X), alone.scores(X))
    assert mapped.queries_differ(20)


def test_without_steps_the_map_is_the_identity(alone):
    zero = QueryMap(np.zeros((64, 3)), np.zeros(3), random_map(n_directions=3).up)
    np.testing.assert_array_equal(QueryMapped(alone, zero).encode(X, queries=True), alone.encode(X))


def test_arrays_hold_the_map(mapped):
    arrays, plain = mapped.to_arrays()
    again = restore_function(arrays, plain, SIZES)
    assert isinstance(again, QueryMapped)
    for queries in (False, True):
        np.testing.assert_array_equal(again.encode(X, queries=queries), mapped.encode(X, queries=queries))


def test_a_function_without_a_map_is_restored_too(alone):
    again = restore_function(*alone.to_arrays(), SIZES)
    assert type(again) is type(alone)
    np.testing.assert_array_equal(again.encode(X), alone.encode(X))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_map/down": np.zeros((63, 5))}, "query_map|down"),
        ({"query_map/shift": np.zeros(4)}, "shift"),
        ({"query_map/up": np.full((5, 64), np.nan)}, "up"),
        ({"query_map/more": np.zeros(1)}, "more"),
        ({"others/down": np.zeros(1)}, "'others/down' is neither of the hash function nor of its query map"),
    ],
)
def test_a_map_from_a_file_that_does_not_fit_is_refused(mapped, changed, message):
    arrays, plain = mapped.to_arrays()
    with pytest.raises(ValueError, match=message):
        restore_function({**arrays, **changed}, plain, SIZES)


def test_a_map_of_another_width_is_refused(alone):
    with pytest.raises(ValueError, match="a query map of 63 features does not fit planes of 64"):
        QueryMapped(alone, random_map(63))


def test_bits_that_are_not_planes_have_no_map():
    function = DistilHash(4, embedding="posterior", random_state=0).fit(ROWS, Y[:600]).hash_function_
    with pytest.raises(ValueError, match="only bits that are planes among the rows have a query map"):
        QueryMapped(function, random_map())
