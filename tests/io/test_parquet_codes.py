"""Files of codes with ids: Parquet files, as other programs read them, and containers."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from structhash.io import holds_codes, load_codes, save_codes
from structhash.io.formats.base import Ids

RNG = np.random.default_rng(0)
ABOUT = {"coded_as": "rows", "queries_differ": False, "weighted": True}
NUMBERS = np.array([7, -3, 2**62])
TEXTS = np.array(["a", "", "zwölf\0"], object)


def table(n, n_bits):
    """Packed codes of random bits, by numpy."""
    return np.packbits(RNG.integers(0, 2, (n, n_bits), np.uint8), axis=1, bitorder="little")


def ids_of(values):
    """Ids in blocks of one and of two."""
    return Ids("doc", values.dtype == object, iter([values[:1], values[1:]]))


@pytest.mark.parametrize("n_bits", [1, 24, 64, 100, 128])
@pytest.mark.parametrize("name", ["c", "c.parquet"])
@pytest.mark.parametrize("ids", [None, NUMBERS, TEXTS], ids=["none", "numbers", "texts"])
def test_codes_and_ids_come_back(tmp_path, name, n_bits, ids):
    codes = table(3, n_bits)
    given = None if ids is None else ids_of(ids)
    save_codes(tmp_path / name, iter([codes[:2], codes[2:]]), 3, n_bits, "a1", ids=given, **ABOUT)
    found = load_codes(tmp_path / name)
    np.testing.assert_array_equal(found.table, codes)
    assert found[1:6] == (n_bits, "a1", "rows", False, True)
    if ids is None:
        assert found.ids is None
    else:
        assert (found.ids.dtype, found.ids.tolist()) == (ids.dtype, ids.tolist())


def test_another_program_finds_ids_codes_and_their_description(tmp_path):
    codes = table(3, 20)
    save_codes(tmp_path / "c.parquet", [codes], 3, 20, "a1", ids=ids_of(NUMBERS), **ABOUT)
    found = pq.read_table(tmp_path / "c.parquet")
    assert found.schema.types == [pa.int64(), pa.binary(3)]
    assert found.to_pydict() == {"doc": NUMBERS.tolist(), "code": [bytes(code) for code in codes]}
    assert json.loads(found.schema.metadata[b"structhash"]) == {
        "kind": "codes", "version": 1, "bit_order": "lowest bit first", "n_bits": 20, "source": "a1", **ABOUT,
        "id_column": "doc",
    }  # fmt: skip


def test_many_rows_are_groups_and_the_same_codes_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.io.parquet_codes._ROWS_OF_GROUP", 1000)
    codes, ids = table(2500, 24), np.arange(2500)[::-1].copy()
    for name, size in (("a.parquet", 2500), ("b.parquet", 33)):
        blocks = (codes[i : i + size] for i in range(0, 2500, size))
        id_blocks = (ids[i : i + 71] for i in range(0, 2500, 71))
        save_codes(tmp_path / name, blocks, 2500, 24, ids=Ids("id", False, id_blocks))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    found = load_codes(tmp_path / "a.parquet")
    np.testing.assert_array_equal(found.table, codes)
    np.testing.assert_array_equal(found.ids, ids)


def test_rows_that_another_program_chose_are_codes(tmp_path):
    codes = table(3, 24)
    save_codes(tmp_path / "c.parquet", [codes], 3, 24, "a1", ids=ids_of(NUMBERS), **ABOUT)
    pq.write_table(pq.read_table(tmp_path / "c.parquet").slice(1, 1), tmp_path / "d.parquet")
    found = load_codes(tmp_path / "d.parquet")
    assert (found.table.tolist(), found.ids.tolist(), found.source) == (codes[1:2].tolist(), [-3], "a1")


@pytest.mark.parametrize("name", ["c", "c.parquet"])
def test_no_row_is_a_file_of_codes(tmp_path, name):
    for text in (True, False):
        save_codes(tmp_path / name, [], 0, 20, ids=Ids("id", text, iter(())))
        found = load_codes(tmp_path / name)
        assert (found.table.shape, len(found.ids), found.ids.dtype == object) == ((0, 3), 0, text)


def test_no_flipped_bit_changes_codes_in_silence(tmp_path):
    path = tmp_path / "c.parquet"
    save_codes(path, [table(3, 20)], 3, 20, "a1", ids=ids_of(TEXTS), **ABOUT)
    content, true, refused = bytearray(path.read_bytes()), load_codes(path), 0
    for place in range(0, 8 * len(content), 3):
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        content[place // 8] ^= 1 << place % 8
        try:
            found = load_codes(path)
        except ValueError:
            refused += 1
            continue
        assert found.table.tolist() == true.table.tolist()
        assert (found.ids.tolist(), found[1:6]) == (true.ids.tolist(), true[1:6])
    assert refused > len(content)


@pytest.mark.parametrize("name", ["c", "c.parquet"])
@pytest.mark.parametrize("n_ids", [2, 4])
def test_ids_are_one_each(tmp_path, name, n_ids):
    ids = Ids("id", False, iter([np.arange(n_ids)]))
    with pytest.raises(ValueError, match="ids"):
        save_codes(tmp_path / name, [table(3, 20)], 3, 20, ids=ids)
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_vectors_is_no_codes_and_stays(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"v": [[1.0], [2.0]]}), path)
    content = path.read_bytes()
    assert not holds_codes(path)
    with pytest.raises(ValueError, match="its schema does not say which codes it holds; structhash encode"):
        load_codes(path)
    with pytest.raises(FileExistsError, match="holds no codes; give another name"):
        save_codes(path, [table(3, 20)], 3, 20)
    assert path.read_bytes() == content
    save_codes(path, [table(3, 20)], 3, 20, force=True)
    assert holds_codes(path)


def test_a_column_of_ids_called_code_keeps_apart(tmp_path):
    codes = table(3, 20)
    save_codes(tmp_path / "c.parquet", [codes], 3, 20, ids=Ids("code", False, iter([NUMBERS])))
    assert pq.read_schema(tmp_path / "c.parquet").names == ["id", "code"]
    assert load_codes(tmp_path / "c.parquet").ids.tolist() == NUMBERS.tolist()


@pytest.mark.parametrize("n_bits", [1, 24, 100])
@pytest.mark.parametrize("ids", [None, NUMBERS], ids=["none", "numbers"])
def test_codes_as_lists_are_the_same_codes(tmp_path, n_bits, ids):
    codes = table(3, n_bits)
    given = [None if ids is None else ids_of(ids) for _ in range(2)]
    save_codes(tmp_path / "c.parquet", [codes], 3, n_bits, "a1", ids=given[0], **ABOUT)
    save_codes(tmp_path / "l.parquet", [codes], 3, n_bits, "a1", ids=given[1], as_lists=True, **ABOUT)
    found, expected = load_codes(tmp_path / "l.parquet"), load_codes(tmp_path / "c.parquet")
    np.testing.assert_array_equal(found.table, codes)
    assert found[1:-1] == expected[1:-1]
    assert (found.ids is None) if ids is None else (found.ids.tolist() == ids.tolist())
    lists = pq.read_table(tmp_path / "l.parquet")
    assert lists.column("code").to_pylist() == codes.tolist()
    assert lists.schema.field("code").type.list_size == codes.shape[1]
    spoiled = lists.column("code").to_pylist()
    spoiled[1][0] = None
    byte = pa.list_(pa.uint8(), codes.shape[1])
    other = lists.set_column(lists.num_columns - 1, "code", pa.array(spoiled, byte))
    pq.write_table(other, tmp_path / "l.parquet")
    with pytest.raises(ValueError, match=r"cannot read .*l\.parquet"):
        load_codes(tmp_path / "l.parquet")
    for row in range(3):  # slices of lists begin at their own place
        pq.write_table(lists.slice(row), tmp_path / "l.parquet")
        np.testing.assert_array_equal(load_codes(tmp_path / "l.parquet").table, codes[row:])
