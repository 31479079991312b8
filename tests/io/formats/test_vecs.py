"""Files of the TEXMEX collections, written row by row as their page describes."""

import struct

import numpy as np
import pytest

from structhash.io import facts, read, read_rows

KINDS = {".fvecs": (np.float32, "f"), ".bvecs": (np.uint8, "B"), ".ivecs": (np.int32, "i")}


def write(path, rows, letter):
    """Write each row with its length before it, by `struct`."""
    path.write_bytes(b"".join(struct.pack(f"<i{len(row)}{letter}", len(row), *row) for row in rows))


@pytest.mark.parametrize("suffix", KINDS)
def test_rows_come_back(tmp_path, monkeypatch, suffix):
    dtype, letter = KINDS[suffix]
    X = np.random.default_rng(0).integers(0, 256, (2500, 5)).astype(dtype)
    write(tmp_path / f"x{suffix}", X.tolist(), letter)
    found = read(tmp_path / f"x{suffix}")
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype == (np.float64 if suffix == ".ivecs" else np.float32)
    assert (facts(tmp_path / f"x{suffix}")["rows"], facts(tmp_path / f"x{suffix}")["features"]) == (2500, 5)
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 5)
    blocks = list(read_rows(tmp_path / f"x{suffix}").blocks)
    assert [len(block) for block in blocks] == [1024, 1024, 452]
    np.testing.assert_array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            struct.pack("<i2fi2f", 2, 1, 2, 2, 3, 4)[:-1],
            "its first row has 2 numbers, which does not fit its 23 bytes",
        ),
        (struct.pack("<i2fi2f", 2, 1, 2, 3, 3, 4), "row 1 has 3 numbers, the first has 2"),
        (struct.pack("<i2f", -2, 1, 2), "its first row has -2 numbers"),
        (struct.pack("<i2fi2f", 2, 1, 2, 2, 3, float("nan")), "1 NaN .* row 1, column 1"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "x.fvecs").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "x.fvecs")
    with pytest.raises(ValueError, match=message):
        list(read_rows(tmp_path / "x.fvecs").blocks)
