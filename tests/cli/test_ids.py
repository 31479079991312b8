"""Files of ids; `test_index` has those that commands take and refuse."""

import numpy as np
import pytest

from structhash.cli.ids import read_ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("7\n0\n", [7, 0]),
        (" 7\n8 \n", [7, 8]),
        ("7\n+8\n", ["7", "+8"]),
        ("7\n08\n", ["7", "08"]),
        ("7\n-8\n", ["7", "-8"]),
        ("7\n1.0\n", ["7", "1.0"]),
        (f"{2**63 - 1}\n7", [2**63 - 1, 7]),
        (f"{2**63}\n7", [str(2**63), "7"]),
        ("1" * 20, ["1" * 20]),
        ("a\u2028b\r\nc\x85d\re\x0cf", ["a\u2028b", "c\x85d", "e\x0cf"]),
        ("7\n\n8", ["7", "", "8"]),
        ("", []),
    ],
)
def test_lines_are_numbers_only_if_each_is_written_as_one(tmp_path, text, ids):
    (tmp_path / "ids.txt").write_text(text, encoding="utf-8", newline="")
    found = read_ids(tmp_path / "ids.txt")
    assert found.tolist() == ids
    assert found.dtype == (np.int64 if all(type(each) is int for each in ids) else object)
    assert read_ids(tmp_path / "ids.txt", as_text=True).tolist() == [str(each) for each in ids]


def test_a_quoted_cell_may_hold_commas_and_lines(tmp_path):
    (tmp_path / "ids.csv").write_text('id,n\n"a, b",1\n"c ""d""",2\n')
    assert read_ids(tmp_path / "ids.csv", "id").tolist() == ["a, b", 'c "d"']
    (tmp_path / "ids.csv").write_text('id\n"a')
    with pytest.raises(ValueError, match="it is no file of ids in UTF-8"):
        read_ids(tmp_path / "ids.csv")
