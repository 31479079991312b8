"""Data sets in .csv files."""

import numpy as np
import pytest

from structhash.io import facts, read


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "X", "y", "names"),
    [
        ("1,2\n3,4.5\n", [[1, 2], [3, 4.5]], None, None),
        ("a, b\n1,2\n\n3,-4e1", [[1, 2], [3, -40]], None, ["a", "b"]),
        ("a,LABEL,b\r\n1,cat,2\r\n3,dog,4\r\n", [[1, 2], [3, 4]], ["cat", "dog"], ["a", "b"]),
        ('"y",x\n1,2\n7,"3"\n', [[2], [3]], [1, 7], ["x"]),
        ("y,x\n1,2\n1.5,3\n", [[2], [3]], [1, 1.5], ["x"]),
        ("y,x\n1,2\nnan,3\n", [[2], [3]], ["1", "nan"], ["x"]),
        ("y,x\n1_0,2\n10,3\n", [[2], [3]], ["1_0", "10"], ["x"]),
        (
            "y,x\n99999999999999999999,2\n99999999999999999998,3\n",
            [[2], [3]],
            ["9" * 20, "9" * 19 + "8"],
            ["x"],
        ),
    ],
)
def test_write(tmp_path, text, X, y, names):
    data = read(write(tmp_path, text))
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X, X)
    assert data.names == names
    if y is None:
        assert data.y is None
    else:
        assert data.y.dtype == np.array(y).dtype
        assert data.y.tolist() == y


def test_with_a_byte_order_mark(tmp_path):
    assert read(write(tmp_path, "a,y\n1,2\n", "utf-8-sig")).names == ["a"]
    assert read(write(tmp_path, "1,2\n", "utf-8-sig")).X.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n", r"data\.csv: line 3, column b: 'x' is not a number"),
        ("1,2\n\n3,\n", "line 3, column 2: '' is not a number"),
        ("1,,3\n", "line 1, column 2: '' is not a number"),
        ("1,2\n3,4_0\n", "line 2, column 2: '4_0' is not a number"),
        ("a,y,b\n1,t,2\n3,u,z\n", "line 3, column b: 'z' is not a number"),
        ("a,y\n1,2\n3, \n", "line 3, column y: the label is missing"),
        ("1,2\n3\n", "line 2 has 1 cells, the first line has 2"),
        (",x\n1,2\n", "column 1 has no name"),
        ("y,Label,a\n1,2,3\n", "2 columns named y or label; keep one"),
        ("\n\n", "it has no line"),
        ("a,b\n", "must have at least one row and one column"),
        ("y\n1\n", "must have at least one row and one column"),
        ("a,b\n1,nan\n", "holds 1 NaN and 0 infinite values, the first at row 0, column 1"),
        ('a,b\n"1,2\n', "unexpected end of data"),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path, text))


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="it is not UTF-8 text"):
        read(write(tmp_path, "größe\n1\n", "latin-1"))


def test_a_long_cell_is_cut_in_the_message(tmp_path):
    with pytest.raises(ValueError, match=r"line 2, column 1: '(no )+n?o?\.\.\. is not a number"):
        read(write(tmp_path, "1\n" + "no " * 1000))


def test_facts(tmp_path):
    expected = {"kind": "data", "rows": 2, "features": 1, "dtype": "float64", "labels": "<U3", "classes": 1}
    assert facts(write(tmp_path, "a,y\n1,cat\n2,cat\n")) == expected
