"""Parquet and Arrow files, written by pyarrow."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from structhash.io import facts, read, read_rows

SUFFIXES = (".parquet", ".arrow", ".feather")
RNG = np.random.default_rng(0)
N, D = 2500, 6
ROWS = RNG.normal(size=(N, D)).astype(np.float16)


def write(table, path, rows=700):
    """Write a table in groups of so many rows."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=rows)
    elif path.suffix == ".feather":
        feather.write_feather(table, path, chunksize=rows)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=rows)
    return path


def lists(X, kind="fixed", numbers=None):
    """Rows as an Arrow column of lists."""
    values = pa.array(X.ravel(), numbers)
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(values, X.shape[1])
    offsets = np.arange(len(X) + 1) * X.shape[1]
    if kind == "list":
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)


def streamed(path, **settings):
    """X and the ids, read in blocks."""
    rows = read_rows(path, **settings)
    blocks, ids = list(rows.blocks), [] if rows.ids is None else list(rows.ids.blocks)
    assert not ids or [len(each) for each in ids] == [len(each) for each in blocks]
    return np.concatenate(blocks), [each for block in ids for each in block.tolist()]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64])
def test_every_kind_of_vectors_is_read_exactly(tmp_path, monkeypatch, suffix, kind, number):
    X = RNG.normal(size=(N, D)).astype(number)
    table = pa.table(
        {"id": np.arange(N) * 3, "embedding": lists(X, kind), "label": [f"c{i % 3}" for i in range(N)]}
    )
    path = write(table, tmp_path / f"x{suffix}")
    data = read(path)
    assert data.X.dtype == (np.float64 if number == np.float64 else np.float32)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.ids, np.arange(N) * 3)
    assert data.ids.dtype == np.int64
    assert data.y.tolist() == [f"c{i % 3}" for i in range(N)]
    assert (data.names, data.label) == (None, "label")
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * D)
    rows, ids = streamed(path)
    np.testing.assert_array_equal(rows, X)
    assert ids == (np.arange(N) * 3).tolist()
    assert [len(block) for block in read_rows(path).blocks] == [1024, 1024, 452]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_are_named_by_the_caller(tmp_path, suffix):
    table = pa.table(
        {
            "embedding": lists(ROWS),
            "other": lists(-ROWS, "list"),
            "tokens": lists(np.ones((N, 2), np.int32)),
            "doc": [f"d{i}" for i in range(N)],
            "intent": pa.array([i % 4 for i in range(N)]),
        }
    )
    path = write(table, tmp_path / f"x{suffix}")
    for function in (read, read_rows, facts):
        with pytest.raises(
            ValueError, match="does 'embedding' or 'other' hold the vectors\\? Give column='emb"
        ):
            function(path)
    data = read(path, column="other", id="doc", label="intent")
    np.testing.assert_array_equal(data.X, -ROWS.astype(np.float32))
    assert data.ids.tolist() == [f"d{i}" for i in range(N)]
    assert data.y.tolist() == [i % 4 for i in range(N)]
    assert read(path, ignore=["other"]).X[0, 0] == ROWS[0, 0]
    assert read(path, column="tokens").X.tolist() == [[1, 1]] * N
    assert streamed(path, column="embedding", id="doc")[1][-1] == f"d{N - 1}"
    assert facts(path, column="other", id="doc", label="intent") == {
        "kind": "data", "rows": N, "features": D, "dtype": "float32", "labels": "int64", "ids": "string",
    }  # fmt: skip


def test_plain_columns_are_features_with_their_names(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": [7, 9, 8], "c": [True, False, True], "y": ["u", "v", "u"]})
    frame.to_parquet(tmp_path / "x.parquet")
    data = read(tmp_path / "x.parquet")
    assert data.names == ["a", "b", "c"]
    assert data.X.tolist() == [[1.5, 7, 1], [2, 9, 0], [3, 8, 1]]
    assert (data.y.tolist(), data.label, data.ids) == (["u", "v", "u"], "y", None)
    assert read(tmp_path / "x.parquet", features=["c", "a"]).X.tolist() == [[1, 1.5], [0, 2], [1, 3]]
    with pytest.raises(ValueError, match="it lacks 'd' of the columns"):
        read(tmp_path / "x.parquet", features=["d"])
    with pytest.raises(
        ValueError,
        match=r"column 'y' is (large_)?string, no number and no list of floats; it is a label \(label='y'",
    ):
        read(tmp_path / "x.parquet", label="none")
    assert read(tmp_path / "x.parquet", label="none", ignore=["y"]).y is None


def test_whole_numbers_of_plain_columns_are_exact(tmp_path):
    path = write(
        pa.table({"a": pa.array([2**40 + 1, 5, 7]), "b": pa.array([0.5, 1, 2], pa.float32())}),
        tmp_path / "x.parquet",
    )
    assert read(path).X.tolist() == [[2**40 + 1, 0.5], [5, 1], [7, 2]]


def test_columns_that_number_rows_are_a_question(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2, 9]}, index=[4, 9, 2])
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="are the columns '__index_level_0__' features"):
        read(tmp_path / "x.parquet")
    path = write(pa.table({"a": [0, 1, 2, 3], "b": [0.5, 1, 2, 8]}), tmp_path / "y.parquet")
    for function in (read, streamed):
        with pytest.raises(ValueError, match="column a numbers the rows"):
            function(path)
    assert read(path, ignore=["none"]).names == ["a", "b"]
    path = write(pa.table({"id": [5, 1, 2], "b": [0.5, 1, 2]}), tmp_path / "z.parquet")
    assert (read(path).ids.tolist(), read(path).names) == ([5, 1, 2], ["b"])
    assert read(path, features=["b", "id"]).ids is None
    assert read(path, id="none", ignore=["none"]).names == ["id", "b"]
    assert read(path, ignore=["id"]).ids is None


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda rows: rows.__setitem__(2100, None), "'v' of .* lacks the vector of row 2100; remove"),
        (lambda rows: rows.__setitem__(2100, [1.0, None, 2.0]), "lacks number 1 of the vector in row 2100;"),
        (
            lambda rows: rows.__setitem__(2100, [1.0, 2.0]),
            "has 2 numbers in row 2100, not 3; give vectors of one",
        ),
        (
            lambda rows: rows.__setitem__(2100, [1.0, 2.0, float("nan")]),
            "1 NaN and 0 infinite .* row 2100, column 2",
        ),
        (lambda rows: rows.__setitem__(2100, []), "has 0 numbers in row 2100, not 3"),
    ],
)
def test_wrong_vectors_are_refused_by_row(tmp_path, suffix, spoil, message):
    rows = [[float(i), 1.0, 2.0] for i in range(N)]
    spoil(rows)
    path = write(pa.table({"v": pa.array(rows)}), tmp_path / f"x{suffix}")
    for function in (read, streamed):
        with pytest.raises(ValueError, match=message):
            function(path)


def test_vectors_of_a_fixed_length_that_are_missing_are_refused_by_row(tmp_path):
    column = pa.array([[1.0, 2.0], [3.0, 4.0], None], pa.list_(pa.float32(), 2))
    path = write(pa.table({"v": column}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="lacks the vector of row 2"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"a": [1, None, 3], "b": [1.0, 2, 2]}, {}, "column 'a' of .* lacks the number of row 1"),
        ({"id": ["a", None], "b": [1.0, 3]}, {}, "column 'id' of .* lacks the id of row 1"),
        ({"y": ["a", None], "b": [1.0, 3]}, {}, "column 'y' of .* lacks the label of row 1"),
        ({"id": [0.5, 1], "b": [1.0, 3]}, {"id": "id"}, "column 'id' is double; ids are whole numbers or text"),
        ({"b": [1.0, 3]}, {"id": "doc"}, "it has no column 'doc'; its columns are b"),
        ({"b": [1.0, 3]}, {"column": "b"}, "column 'b' is double, not a list of numbers"),
        ({"b": [1.0, 3], "c": [2, 5]}, {"id": "c", "label": "c"}, "column 'c' is named for two uses"),
        ({"s": ["a", "b"]}, {"label": "s"}, "it has no column of vectors or numbers; its columns are s"),
        ({"t": [[1, 2], [3, 4]]}, {}, r"does 't' hold the vectors\? Give column='t'"),
        ({"t": [[1.0], [2.0]], "target": [1, 2]}, {}, "does 'target' hold labels"),
        ({"v": [[1.0], [2.0]], "id": [0.5, 1]}, {}, "column 'id' is double, and .* give id='none'"),
        ({"v": [[1.0], [2.0]], "id": [b"a", b"b"]}, {}, "column 'id' is binary, and .* cast it"),
        ({"v": [[], [2.0]]}, {}, "column 'v' of .* has no numbers in row 0"),
        ({"v": [[1.0], [2.0]], "y": ["a", "a\0"]}, {}, r"column 'y' of .* holds 'a\\x00' in row 1"),
        ({"v": [[1.0], [2.0]], "y": [["a"], ["b"]]}, {}, "column 'y' of .* in row 0; labels are text"),
        ({"v": [[1.0], [2.0]], "y": [{"a": 1}, {"a": 2}]}, {}, "column 'y' of .* in row 0; labels are text"),
        ({"v": [[[1.0]], [[2.0]]]}, {}, "column 'v' is list.*, no number and no list of floats"),
    ],
)
def test_what_has_no_answer_is_refused(tmp_path, columns, settings, message):
    path = write(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=message):
        read(path, **settings)


def test_two_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0, 2]), pa.array([1.0, 2])], names=["a", "a"])
    with pytest.raises(ValueError, match="2 columns are named 'a'"):
        read(write(table, tmp_path / "x.parquet"))


def test_labels_and_ids_in_dictionaries_are_text(tmp_path):
    table = pa.table(
        {
            "v": lists(ROWS[:3]),
            "label": pa.array(["u", "v", "u"]).dictionary_encode(),
            "id": pa.array(["x", "y", "z"]).dictionary_encode(),
        }
    )
    data = read(write(table, tmp_path / "x.arrow"))
    assert (data.y.tolist(), data.ids.tolist()) == (["u", "v", "u"], ["x", "y", "z"])
    table = pa.table({"v": lists(ROWS[:3]), "id": pa.array([7, 8, 7]).dictionary_encode()})
    assert read(write(table, tmp_path / "x.arrow")).ids.tolist() == [7, 8, 7]
    gap = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["u", None]))
    path = write(pa.table({"v": lists(ROWS[:3]), "label": gap}), tmp_path / "x.arrow")
    with pytest.raises(ValueError, match=r"column 'label' of .* lacks the label of row 1"):
        read(path)


def test_labels_of_bytes_are_text(tmp_path):
    table = pa.table({"v": lists(ROWS[:2]), "y": [b"a", b"\xff"]})
    assert read(write(table, tmp_path / "x.parquet")).y.tolist() == ["a", "ÿ"]


def test_streams_and_old_feather_files_are_named(tmp_path):
    table = pa.table({"a": [1.5, 2]})
    with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(
        ValueError, match=r"it is a stream of Arrow, .*; write its table by pyarrow.ipc.new_file"
    ):
        read(tmp_path / "x.arrow")
    (tmp_path / "x.feather").write_bytes(b"FEA1" + bytes(100) + b"FEA1")
    with pytest.raises(ValueError, match=r"it is of version 1 of Feather, .*; write its table with version=2"):
        read(tmp_path / "x.feather")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_and_empty_files_are_refused(tmp_path, suffix):
    path = write(pa.table({"v": lists(ROWS)}), tmp_path / f"x{suffix}")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cannot read .*: it is damaged"):
        read(path)
    path.write_text("1,2")
    with pytest.raises(ValueError, match=f"it is text, not a \\{suffix} file"):
        read(path)
    write(pa.table({"v": lists(ROWS[:0])}), path)
    with pytest.raises(ValueError, match="must have at least one row"):
        read(path)
    assert read_rows(path).shape == (0, D)
    write(pa.table({"v": lists(ROWS[:0], "list")}), path)
    assert read_rows(path).shape == (0, 0)


def test_a_row_group_is_not_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 32)
    X = RNG.normal(size=(200_000, 32)).astype(np.float32)  # 26 MB
    path = write(pa.table({"v": lists(X)}), tmp_path / "x.parquet", rows=len(X))
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in read_rows(path).blocks]
    assert len(held) == 196
    assert max(held) < 10e6


def test_columns_that_may_hold_ids_are_named_where_none_does(tmp_path):
    ids, names = list(range(3)), ["a", "b", "c"]
    columns = {"title": names, "doc_id": ids, "price": [0.5] * 3, "label": ids, "v": lists(ROWS[:3])}
    path = write(pa.table(columns), tmp_path / "x.parquet")
    for function in (read, read_rows):
        assert function(path).id_candidates == ("doc_id", "title")  # usual names of ids first
        assert function(path, id="none").id_candidates == ()
        assert function(path, id="title").id_candidates == ()
        assert function(path, ignore=["doc_id"]).id_candidates == ("title",)
        assert function(path, label="title").id_candidates == ("doc_id",)
    assert read(path).ids is None
    (tmp_path / "parts").mkdir()
    for part in "ab":
        write(pa.table(columns), tmp_path / "parts" / f"{part}.parquet")
    assert read(tmp_path / "parts").id_candidates == ("doc_id", "title")
    assert read_rows(tmp_path / "parts").id_candidates == ("doc_id", "title")
    numbers = write(pa.table({"doc": names, "size": [1.5] * 3, "height": [2.5] * 3}), tmp_path / "n.parquet")
    assert read(numbers, features=["size", "height"]).id_candidates == ("doc",)
    named = write(pa.table({"id": ids, "title": names, "v": lists(ROWS[:3])}), tmp_path / "named.parquet")
    assert (read(named).id_candidates, read(named).ids.tolist()) == ((), ids)
