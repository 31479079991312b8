"""Files for servers: read as their documentation says, each gives the bits and the ids."""

import json

import numpy as np
import pytest

from structhash.codes import unpack
from structhash.stores.bulk_files import (
    elasticsearch_lines,
    milvus_lines,
    qdrant_lines,
    vespa_lines,
    write_bulk_file,
)

TEXT = np.array(['a"b', "é\u2028", "c\n"], object)


def elasticsearch(lines):
    """Ids and bits as the server reads them, here and below: bytes from the highest bit on."""
    heads, sources = lines[::2], lines[1::2]
    ids = [json.loads(line)["index"]["_id"] for line in heads]
    return ids, ["".join(f"{byte:08b}" for byte in bytes.fromhex(json.loads(line)["code"])) for line in sources]


def milvus(lines):
    """Bytes from the lowest bit on."""
    rows = json.loads("\n".join(lines))["rows"]
    return [row["id"] for row in rows], ["".join(f"{byte:08b}"[::-1] for byte in row["code"]) for row in rows]


def qdrant(lines):
    points = [point for line in lines for point in json.loads(line)["points"]]
    ids = [point.get("payload", point)["id"] for point in points]
    assert all(isinstance(point["id"], int) for point in points)
    return ids, ["".join(map(str, point["vector"])) for point in points]


def vespa(lines):
    """Signed bytes from the highest bit on."""
    documents = [json.loads(line) for line in lines]
    ids = [document["put"].removeprefix("id:codes:code::") for document in documents]
    values = [document["fields"]["code"]["values"] for document in documents]
    return ids, ["".join(f"{byte % 256:08b}" for byte in row) for row in values]


EVERY = pytest.mark.parametrize(
    ("lines_of", "read"),
    [
        (elasticsearch_lines, elasticsearch),
        (milvus_lines, milvus),
        (qdrant_lines, qdrant),
        (vespa_lines, vespa),
    ],
)


@EVERY
@pytest.mark.parametrize("n_bits", [24, 64, 100, 128])
@pytest.mark.parametrize("ids", [None, np.array([7, 2**63 - 1, 3]), TEXT], ids=["running", "numbers", "text"])
def test_a_server_reads_the_bits_and_the_ids(tmp_path, tied_codes, lines_of, read, n_bits, ids):
    codes, _ = tied_codes(3, n_bits)
    write_bulk_file(tmp_path / "file", lines_of(codes, n_bits, ids))
    names = np.arange(3) if ids is None else ids
    order = np.argsort(names)
    found, bits = read((tmp_path / "file").read_text("utf-8").removesuffix("\n").split("\n"))
    assert list(map(str, found)) == list(map(str, names[order]))
    expected = ["".join(map(str, row)) for row in unpack(codes, n_bits)[order]]
    assert [text[:n_bits] for text in bits] == expected
    assert not any(text[n_bits:].strip("0") for text in bits)


@EVERY
def test_many_codes_and_none(tied_codes, lines_of, read):
    codes, _ = tied_codes(2001, 24)
    assert len(read(list(lines_of(codes, 24)))[0]) == 2001
    assert read(list(lines_of(codes[:0], 24))) == ([], [])


def test_qdrant_gets_requests_of_a_thousand(tied_codes):
    lines = qdrant_lines(tied_codes(2001, 24)[0], 24)
    assert [len(json.loads(line)["points"]) for line in lines] == [1000, 1000, 1]


@EVERY
def test_nothing_is_written_of_bad_input(tmp_path, tied_codes, lines_of, read):
    with pytest.raises(ValueError, match="unique"):
        write_bulk_file(tmp_path / "file", lines_of(tied_codes(3, 24)[0], 24, [1, 1, 2]))
    assert not list(tmp_path.iterdir())
