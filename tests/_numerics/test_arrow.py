import numpy as np
import pytest

from structhash._numerics.arrow import holds_ids, holds_numbers, holds_vectors, plain_ids, plain_values, vectors

pa = pytest.importorskip("pyarrow")


def test_kinds_of_columns_are_told_apart():
    kinds = {
        "vectors": pa.list_(pa.float16()),
        "fixed": pa.list_(pa.float64(), 3),
        "bytes": pa.list_(pa.uint8()),
        "number": pa.int32(),
        "flag": pa.bool_(),
        "text": pa.string(),
        "coded": pa.dictionary(pa.int32(), pa.string()),
        "day": pa.date32(),
    }
    assert {name for name, kind in kinds.items() if holds_vectors(kind)} == {"vectors", "fixed"}
    assert {name for name, kind in kinds.items() if holds_numbers(kind)} == {"number", "flag"}
    assert {name for name, kind in kinds.items() if holds_ids(kind)} == {"number", "text", "coded"}
    assert holds_vectors(kinds["bytes"], "u")


def test_lists_become_a_matrix_that_shares_their_memory():
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    column = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
    found = vectors(column, "v")
    np.testing.assert_array_equal(found, X)
    assert found.base is not None
    assert not found.flags.owndata
    np.testing.assert_array_equal(vectors(column[1:3], "v"), X[1:3])
    assert vectors(column[:0], "v", 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0], None], "v lacks the vector of row 6; remove or fill it"),
        ([[1.0, 2.0], [3.0]], "v has 1 numbers in row 6, not 2"),
        ([[1.0, 2.0], [3.0, None]], "v lacks number 1 of the vector in row 6"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_row(rows, message):
    with pytest.raises(ValueError, match=message):
        vectors(pa.array(rows), "v", first_row=5)


def test_ids_are_whole_numbers_or_text():
    assert plain_ids(pa.array([3, 1], pa.uint8()), "id").dtype == np.int64
    assert plain_ids(pa.array(["b", "a"]).dictionary_encode(), "id").tolist() == ["b", "a"]
    for column, message in (
        (pa.array([2**63], pa.uint64()), "holds the id 9223372036854775808; give ids below 2"),
        (pa.array([1.5]), "id is double; ids are whole numbers or text"),
        (pa.array(["a", None]), "id lacks the id of row 1"),
    ):
        with pytest.raises(ValueError, match=message):
            plain_ids(column, "id")


def test_text_that_is_not_utf8_is_refused():
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.int32([0, 1])), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(ValueError, match="holds text that is not UTF-8"):
        plain_values(broken, "label")
