"""Data sets in .csv files."""

import gzip
import shutil

import numpy as np
import pandas as pd
import pytest

from structhash.io import facts, read, read_rows


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "X", "y", "names"),
    [
        ("1,2.5\n3,4.5\n", [[1, 2.5], [3, 4.5]], None, None),
        ("5\n2\n", [[5], [2]], None, None),
        ("\na, b\n1,2\n3,-4e1\n\n\n", [[1, 2], [3, -40]], None, ["a", "b"]),
        ("a,LABEL,b\r\n1,cat,2\r\n3,dog,4\r\n", [[1, 2], [3, 4]], ["cat", "dog"], ["a", "b"]),
        ('"y",a\n1,2\n7,"3"\n', [[2], [3]], [1, 7], ["a"]),
        ("y,a\n1, 2\n1.5 ,3\n", [[2], [3]], [1, 1.5], ["a"]),
        ("y,a\n 1,2\n1 ,3\n", [[2], [3]], [1, 1], ["a"]),
        ("1e3,2.5\n3,4\n", [[1000, 2.5], [3, 4]], None, None),
        ("3,4\n5,6\n", [[3, 4], [5, 6]], None, None),
    ],
)
def test_a_table(tmp_path, text, X, y, names):
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
    assert read(write(tmp_path, "1,2.5\n", "utf-8-sig")).X.tolist() == [[1, 2.5]]


# labels keep their spelling


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["07", "7", "007"], ["07", "7", "007"]),
        (["07", "08"], ["07", "08"]),
        (["+7", "7"], ["+7", "7"]),
        (["1_0", "10"], ["1_0", "10"]),
        (["1.0", "1"], ["1.0", "1"]),
        (["1e3", "1000"], ["1e3", "1000"]),
        (["-0", "0"], ["-0", "0"]),
        (["9" * 20, "9" * 19 + "8"], ["9" * 20, "9" * 19 + "8"]),
        (["9007199254740993.0", "9007199254740992.0"], ["9007199254740993.0", "9007199254740992.0"]),
        (["٣", "3"], ["٣", "3"]),
        (["-3", "0", "12"], [-3, 0, 12]),
        (["1.0", "2.0"], [1.0, 2.0]),
        (["0.5", "0.50", ".5"], [0.5, 0.5, 0.5]),  # no classes: methods refuse them as continuous
        (["none", "NA", "x"], ["none", "NA", "x"]),
    ],
)
def test_no_two_spellings_become_one_label(tmp_path, labels, expected):
    lines = [f"{label},{2 * i}.5" for i, label in enumerate(labels)]
    y = read(write(tmp_path, "\n".join(["label,a", *lines]))).y
    assert (y.tolist(), y.dtype) == (expected, np.array(expected).dtype)


@pytest.mark.parametrize("label", ["", " ", "nan", "NaN", "?", "NA", "null", "None"])
def test_a_missing_label_is_refused(tmp_path, label):
    with pytest.raises(
        ValueError, match=r"line 3, column y: the label is missing \('.*'\); give each row a label"
    ):
        read(write(tmp_path, f"a,y\n5,1\n6,{label}\n7,2\n"))


# the first line


@pytest.mark.parametrize(
    "first", ["0,1,2", "1,2,3", "5,6,7", "0.0,1.0,2.0", ",0,1", "0,1,label", "5.1,?,cat", "a,1st,3"]
)
def test_a_first_line_that_may_be_a_header_or_a_row_is_refused(tmp_path, first):
    text = f"{first}\n4,9,1\n8,3,2\n"
    with pytest.raises(
        ValueError, match=r"is it a header or a row\? Give header=True or header=False \(--header or"
    ):
        read(write(tmp_path, text))
    assert len(read(write(tmp_path, text), header=True, ignore=["none"]).X) == 2


def test_a_table_of_pandas(tmp_path):
    X = np.random.default_rng(0).random((4, 3))
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", index=False)
    data = read(tmp_path / "x.csv", header=True)
    assert data.names == ["0", "1", "2"]
    np.testing.assert_array_equal(data.X, X)
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"are the columns 'Unnamed: 0' features\? .*--ignore 'Unnamed: 0'"):
        read(tmp_path / "x.csv")
    np.testing.assert_array_equal(read(tmp_path / "x.csv", ignore=["Unnamed: 0"]).X, X)
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", header=False)
    with pytest.raises(ValueError, match="column 1 numbers the rows; are the columns '1' features"):
        read(tmp_path / "x.csv")
    np.testing.assert_array_equal(read(tmp_path / "x.csv", ignore=["1"]).X, X)


@pytest.mark.parametrize("cell", ["?", "NA", "", "nan"])
def test_a_missing_value_in_the_first_row_makes_no_header(tmp_path, cell):
    with pytest.raises(
        ValueError, match=r"line 1, column 2: '.*' is not a number; fill it|1 NaN and 0 infinite"
    ):
        read(write(tmp_path, f"5.1,{cell},3\n4,5,6\n"))


def test_without_a_header_columns_have_numbers(tmp_path):
    data = read(write(tmp_path, "5.1,3.5,cat\n4.9,3,dog\n"), header=False, label="3")
    assert (data.X.tolist(), data.y.tolist(), data.names) == ([[5.1, 3.5], [4.9, 3]], ["cat", "dog"], None)
    assert read(write(tmp_path, "5.1,3.5,cat\n4.9,3,dog\n"), header=False, ignore=[1], label=3).X.tolist() == [
        [3.5],
        [3],
    ]
    assert read(write(tmp_path, "0,1\n7,3\n"), header=False).X.tolist() == [[0, 1], [7, 3]]


# which column is what


@pytest.mark.parametrize(
    "name", ["target", "Class", "labels", "category", "class_label", "trueLabel", "y_true"]
)
def test_a_usual_name_for_labels_is_a_question(tmp_path, name):
    path = write(tmp_path, f"a,{name}\n5,1\n6,0\n")
    message = (
        rf"does '{name}' hold labels\? Give label='{name}' or label='none' \(--label '{name}' or --label none\)"
    )
    with pytest.raises(ValueError, match=message):
        read(path)
    data = read(path, label=name)
    assert (data.y.tolist(), data.names, data.label) == ([1, 0], ["a"], name)
    data = read(path, label="none")
    assert (data.y, data.names) == (None, ["a", name])


@pytest.mark.parametrize("header", ["x,y,z", "y,label,a", "y,target,a"])
def test_a_doubtful_y_is_a_question(tmp_path, header):
    with pytest.raises(ValueError, match=r"does 'y'.* hold labels"):
        read(write(tmp_path, f"{header}\n5,6,9\n"))


@pytest.mark.parametrize("name", ["id", "index", "PassengerId", "sample_id", "ID", "Unnamed: 0", "row"])
def test_an_id_is_a_question(tmp_path, name):
    path = write(tmp_path, f"{name},a,y\n17,5,1\n12,6,0\n")
    with pytest.raises(
        ValueError, match=rf"are the columns '{name}' features\? Give ignore=\['{name}'\] to leave"
    ):
        read(path)
    assert read(path, ignore=[name]).names == ["a"]
    assert read(path, ignore=name).names == ["a"]
    assert read(path, ignore=["none"]).names == [name, "a"]


def test_a_column_called_none_is_no_label(tmp_path):
    data = read(write(tmp_path, "none,a\n7,1\n"), header=True, label="none")
    assert (data.y, data.names) == (None, ["none", "a"])


def test_a_second_column_of_labels_is_no_feature_in_silence(tmp_path):
    path = write(tmp_path, "coarse_label,target,a\n17,5,1\n12,6,0\n")
    with pytest.raises(ValueError, match="are the columns 'coarse_label' features"):
        read(path, label="target")
    assert read(path, label="target", ignore=["coarse_label"]).names == ["a"]


def test_other_names_are_features(tmp_path):
    names = ["width", "refractive_index", "pclass", "plaid", "center_y"]
    assert read(write(tmp_path, f"{','.join(names)}\n17,5,1,4,4\n12,6,0,2,2\n")).names == names


def test_a_column_that_numbers_the_rows_is_a_question(tmp_path):
    path = write(tmp_path, "a,sample\n5,1\n7,2\n2,3\n")
    with pytest.raises(ValueError, match="column sample numbers the rows"):
        read(path)
    assert read(path, ignore=["none"]).X.shape == (3, 2)
    assert read(write(tmp_path, "a,sample\n5,1\n7,2\n2,4\n")).X.shape == (3, 2)


def test_known_features_are_taken_by_name_and_the_others_left_out(tmp_path, caplog):
    path = write(tmp_path, "sku,b,brand,a,note\n17,5,lux,1,\n18,6,acme,0,x\n")
    data = read(path, features=["a", "b"])
    assert (data.names, data.X.tolist(), data.y) == (["a", "b"], [[1, 5], [0, 6]], None)
    assert "left out the columns sku, brand, note, which are no features" in caplog.text
    caplog.clear()
    data = read(path, features=["a", "b"], label="brand", ignore=["sku", "note"])
    assert (data.y.tolist(), caplog.text) == (["lux", "acme"], "")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"features": ["a", "c", "d"]},
            "it lacks 'c', 'd' of the columns a, c, d that are needed; it has a, b",
        ),
        ({"features": ["a"], "label": "a"}, "column 'a' is needed as a feature and cannot be the label"),
        ({"features": ["a"], "ignore": ["a"]}, "column 'a' is needed as a feature and cannot be ignored"),
    ],
)
def test_known_features_that_cannot_be_taken_are_refused(tmp_path, choices, message):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path, "a,b\n1,2\n"), **choices)


def test_known_features_settle_doubtful_names(tmp_path):
    path = write(tmp_path, "id,a,target,class\n17,5,1,8\n12,6,0,9\n")
    data = read(path, features=["a", "class"])
    assert (data.names, data.y) == (["a", "class"], None)
    assert read(write(tmp_path, "id,a,y\n17,5,1\n"), features=["a"]).y.tolist() == [1]


def test_ignored_columns_may_hold_text(tmp_path):
    path = write(tmp_path, "name,a\nx,5\n,6\n")
    with pytest.raises(
        ValueError, match=r"'x' is not a number; a column of text is a label \(label='name', --label\)"
    ):
        read(path)
    assert read(path, ignore=["name"]).X.tolist() == [[5], [6]]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"label": "z"}, "it has no column 'z'; its columns are a, b"),
        ({"ignore": ["z"]}, "it has no column 'z'"),
        (
            {"label": "a", "ignore": ["a"]},
            "column 'a' is to be the label and to be ignored; give one of the two",
        ),
    ],
)
def test_wrong_choices_are_refused(tmp_path, choices, message):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path, "a,b\n1,2\n"), **choices)


# other tables


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1;2\n", "its cells are separated by semicolons; separate them by commas"),
        ("1,5;2,5\n", "separated by semicolons"),
        ("a\tb\n1\t2\n", "separated by tabs"),
        ("1,5\t2,5\n", "separated by tabs"),
        ("1.5 2.5\n3 4\n", "separated by blanks"),
        ("a b\n3 4\n", "'3 4' is not a number; separate cells by commas"),
        ("# label,a\n1,2\n", r"its first line is a comment \(#\)"),
        ('"1,5","2,5"\n', "'1,5' is not a number; write a decimal point, and nothing between thousands"),
        ('a\n"1,234"\n', "line 2, column a: '1,234' is not a number; write a decimal point"),
        ("a,b\n1,2\n3,x\n", r"data\.csv: line 3, column b: 'x' is not a number"),
        ("1,2.5\n3,\n", "line 2, column 2: '' is not a number"),
        ("1,2.5,\n", "line 1, column 3: '' is not a number; .*if it ends with a comma, remove the comma"),
        ("a,b,\n1,2,\n", "are the columns 'Unnamed: 2' features"),
        ("1,2.5\n3,4_0\n", "line 2, column 2: '4_0' is not a number"),
        ("a,y,b\n1,t,2\n3,u,z\n", "line 3, column b: 'z' is not a number"),
        ("1,2.5\n3\n", "line 2 has 1 cells, the first line has 2"),
        ("a\n1\n\n3\n", "line 3 is blank; remove it, or fill it if it is a row"),
        ("a,b,a\n1,2,3\n", "2 columns are named 'a'; give each a name of its own"),
        ("\n\n", "it has no line"),
        ("a,b\n", "must have at least one row and one column"),
        ("y\n1\n", "must have at least one row and one column"),
        ("a,b\n1,nan\n", "holds 1 NaN and 0 infinite values, the first at row 0, column 1"),
        (
            'a,b\n3,4\n"1,2\n5,6\n',
            "line 3: unexpected end of data; a cell that begins with a quote ends with one",
        ),
        ('"a"b,c\n1,2\n', "',' expected after '\"' in line 1; a cell that begins with a quote"),
        (
            'a,b,y\n1,2,"p\n3,4,q\n5,6,r"\n',
            r"line 4, column y: the label 'p\\n3,4,q.*' spans lines; .*close a quote",
        ),
        ('a,t\n1,"x\ny"\n', r"line 3, column t: 'x\\ny' is not a number; a column of text"),
        ("sep=,\r\na,b\r\n1,2\r\n", "its first line is the separator for a spreadsheet; remove the line"),
        ("sep=;\na;b\n1;2\n", "its first line is the separator for a spreadsheet"),
        ("<!DOCTYPE html>\n<p>404, not found</p>\n", "its first line is HTML or XML"),
        ('{"a": 1, "b": 2}\n', "its first line is JSON"),
        ("@RELATION iris\n@data\n1,2\n", "its first line is ARFF"),
        ("a|b\n1|2\n", "separated by bars; separate them by commas"),
        ('"a" "b"\n"1" 1 2\n', "separated by blanks"),
        (
            "+1 3:0.5 17:1e-3\n-1 4:1\n",
            "its first line is libsvm; sklearn.datasets.load_svmlight_file reads it",
        ),
        ("king 0.1 0.2 0.3\nqueen 0.4 0.5 0.6\n", "separated by blanks"),
        ('"a,b,y"\n"1,2,p"\n', "'1,2,p' is not a number; if there are quotes around each line, remove them"),
        ("a,b,c\n1,2,3\na,b,c\n4,5,6\n", "line 3 repeats the header; remove it"),
        ("a,b\nTrue,2\n", "'True' is not a number; write 1 and 0"),
        ("day,b\n2020-01-31,2\n", r"'2020-01-31' is not a number; .*left out \(ignore=\['day'\], --ignore\)"),
        (
            "a,y\n1,caf\u00e9\n2,cafe\u0301\n",
            r"y of .* holds 'cafe\\u0301' and 'caf\\xe9', which look the same",
        ),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path, text))


def test_numbers_that_repeat_the_header_are_refused(tmp_path):
    assert read(write(tmp_path, "0,1\n0,1\n7,8\n"), header=True, ignore="none").X.tolist() == [[0, 1], [7, 8]]
    with pytest.raises(ValueError, match="line 3 repeats the header; remove it"):
        read(write(tmp_path, "0,1,2\n7,8,9\n0,1,2\n"), header=True)


def test_bars_in_the_cells_of_a_table_are_text(tmp_path):
    data = read(write(tmp_path, "a,kind|of,b,y\n1,x|y|z,2,p|q\n"), ignore=["kind|of"])
    assert (data.X.tolist(), data.y.tolist()) == ([[1, 2]], ["p|q"])


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"it is not UTF-8 text .*; save it as UTF-8"):
        read(write(tmp_path, "größe\n1\n", "latin-1"))
    for encoding in ("utf-16", "utf-16-le"):
        with pytest.raises(ValueError, match=r"it is UTF-16 .*; save it as UTF-8"):
            read(write(tmp_path, "a,b\n1,2\n", encoding))
    (tmp_path / "data.csv").write_bytes(gzip.compress(b"1,2\n"))
    with pytest.raises(ValueError, match="it is gzip-compressed; unpack it first"):
        read(tmp_path / "data.csv")
    np.savez(tmp_path / "data", X=np.eye(2))
    (tmp_path / "data.npz").rename(tmp_path / "data.csv")
    with pytest.raises(ValueError, match=r"it is a \.npz or other zip file"):
        read(tmp_path / "data.csv")


def test_a_long_cell_is_cut_in_the_message(tmp_path):
    with pytest.raises(ValueError, match=r"line 2, column 1: '(no )+n?o?\.\.\. is not a number"):
        read(write(tmp_path, "5\n" + "no " * 1000))


def test_facts(tmp_path):
    expected = {"kind": "data", "rows": 2, "features": 1, "dtype": "float64", "labels": "<U3", "classes": 1}
    assert facts(write(tmp_path, "a,y\n1,cat\n2,cat\n")) == expected


def test_a_compressed_file_is_that_file(tmp_path):
    text = "a,b,label\n" + "".join(f"{i}.5,{-i},c{i % 3}\n" for i in range(300))
    (tmp_path / "x.csv").write_text(text)
    packed = gzip.compress(text.encode())
    (tmp_path / "x.csv.GZ").write_bytes(packed)
    plain, found = read(tmp_path / "x.csv"), read(tmp_path / "x.csv.GZ")
    np.testing.assert_array_equal(found.X, plain.X)
    assert (found.y.tolist(), found.names) == (plain.y.tolist(), plain.names)
    assert facts(tmp_path / "x.csv.GZ") == facts(tmp_path / "x.csv")
    for bad in (packed[:-1], packed[:-9], packed[:200], packed[:5], text.encode(), packed[:-8] + bytes(8)):
        (tmp_path / "bad.csv.gz").write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad.csv.gz: it is no whole gzip file \(.*; compress it again"):
            read(tmp_path / "bad.csv.gz")
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress("é,1\n".encode("latin-1")))
    with pytest.raises(ValueError, match="it is not UTF-8 text"):
        read(tmp_path / "bad.csv.gz")
    with pytest.raises(ValueError, match=r"unknown extension '\.gz'"):
        read(shutil.copy(tmp_path / "x.csv", tmp_path / "x.npy.gz"))


def test_a_column_that_may_hold_ids_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("a,doc_id,b,price\n1,7,2,3\n4,8,5,6\n")
    for function in (read, read_rows):
        assert function(tmp_path / "x.csv", features=["a", "b"]).id_candidates == ("doc_id",)
        assert function(tmp_path / "x.csv", ignore=["doc_id"]).id_candidates == ()
