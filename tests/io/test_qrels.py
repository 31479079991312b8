"""Judgements by ids, in tables; TREC files are tested with `Qrels.read`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from structhash.io.qrels import read_qrels

QUERIES, DOCUMENTS = ["q 1", "7", "é"], ["a", "b", "a b", "0"]
TABLE = [(0, 2, 3), (2, 0, 0), (1, 3, 1), (1, 1, 2)]


def columns(query="query_id", document="doc_id", grade="grade", kind=None):
    return {
        "iteration": [0] * len(TABLE),
        document: [DOCUMENTS[d] for _, d, _ in TABLE],
        grade: pa.array([g for *_, g in TABLE], kind),
        query: pa.array([QUERIES[q] for q, *_ in TABLE]).dictionary_encode(),
    }


def write(path, table, **words):
    pq.write_table(pa.table(table), path, **words)
    return path


@pytest.mark.parametrize(
    "names", [("query_id", "doc_id", "relevance"), ("query-id", "corpus-id", "score"), ("qid", "docid", "rel")]
)
@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64()])
def test_columns_of_collections_are_found(tmp_path, names, kind):
    path = write(tmp_path / "q.parquet", columns(*names, kind), row_group_size=2)
    assert read_qrels(path, QUERIES, DOCUMENTS).tolist() == [list(each) for each in TABLE]


def test_numbers_are_ids_too_and_junk_is_grade_0(tmp_path):
    table = {"query": [10, 10, 7], "document": [2**62, 5, 5], "grade": [-2, 1, 52]}
    path = write(tmp_path / "q.parquet", table)
    found = read_qrels(path, np.array([7, 10]), ["5", str(2**62)])
    assert found.tolist() == [[1, 1, 0], [1, 0, 1], [0, 0, 52]]


def test_unknown_ids_are_an_error_with_their_row_or_skipped(tmp_path, caplog):
    path = write(tmp_path / "q.parquet", columns())
    with pytest.raises(ValueError, match="row 2 has the unknown query id '7'; 2 of 4 judgements have one"):
        read_qrels(path, [QUERIES[0], QUERIES[2]], DOCUMENTS)
    assert len(read_qrels(path, [QUERIES[0], QUERIES[2]], DOCUMENTS, "skip")) == 2
    assert caplog.messages == ["2 of 4 judgements have unknown ids: skipped"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grade": [0.5, 1, 1, 1]}, "column 'grade' of .* holds no grades: give whole numbers of at most 52"),
        ({"grade": [53, 1, 1, 1]}, "column 'grade' of .* holds no grades"),
        ({"grade": [None, 1, 1, 1]}, "column 'grade' of .* lacks the grade of row 0"),
        ({"grade": ["a"] * 4}, "column 'grade' of .* holds no grades"),
        ({"doc_id": ["a", None, "b", "b"]}, "column 'doc_id' of .* lacks the id of row 1"),
        ({"doc_id": [0.5] * 4}, "column 'doc_id' of .* is double; ids are whole numbers or text"),
        (
            {"score": [1] * 4},
            "which column holds the grade[?] Call it grade; the columns are iteration, doc_id",
        ),
    ],
)
def test_wrong_columns_are_refused(tmp_path, change, message):
    path = write(tmp_path / "q.parquet", {**columns(), **change})
    with pytest.raises(ValueError, match=message):
        read_qrels(path, QUERIES, DOCUMENTS)


def test_files_that_are_no_table_are_refused(tmp_path):
    with pytest.raises(ValueError, match="which column holds the query"):
        read_qrels(write(tmp_path / "q.parquet", {"a": [1]}), QUERIES, DOCUMENTS)
    (tmp_path / "q.parquet").write_text("q 0 d 1")
    with pytest.raises(ValueError, match=r"it is text, not a \.parquet file"):
        read_qrels(tmp_path / "q.parquet", QUERIES, DOCUMENTS)
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_qrels(tmp_path / "none.parquet", QUERIES, DOCUMENTS)
