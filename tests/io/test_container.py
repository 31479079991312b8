"""The container: whole writes, checked headers, checked arrays."""

import gzip
import json
import os
import pickle
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from structhash.io import container as files
from structhash.io._layout import read_arrays, read_head

ARRAYS = {
    "codes": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "flags": np.array([True, False]),
    "none": np.empty((0, 3), dtype=np.int64),
    "one": np.array(2.5),
    "half": np.array([1, 2], dtype=np.float16),
}


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good"
    files.save(path, ARRAYS, {"n_bits": 8, "text": "ü", "list": [1, None]}, kind="toy")
    return path


def with_header(path, text):
    save_file({"a": np.zeros(2)}, path, metadata={"structhash": text})
    return path


def test_round_trip(good):
    arrays, header = files.load(good, kind="toy")
    assert header == {"n_bits": 8, "text": "ü", "list": [1, None]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        np.testing.assert_array_equal(arrays[name], array)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from("?bBhHiIqQefd"), st.integers(0, 3), st.sampled_from("<>"))
def test_every_dtype_and_memory_order(tmp_path_factory, code, n, order):
    path = tmp_path_factory.mktemp("files") / "file"
    array = np.arange(2 * n * 3).reshape(2 * n, 3)[::2].T.astype(np.dtype(code).newbyteorder(order))
    files.save(path, {"a": array}, {}, kind="toy")
    found = files.load(path, "toy")[0]["a"]
    assert found.dtype == np.dtype(code)
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("arrays", "header", "error", "message"),
    [
        ({"a": np.array(["x"])}, {}, TypeError, "array 'a' has dtype <U1, allowed are bool, int8"),
        ({"a": np.array([None])}, {}, TypeError, "array 'a' has dtype object"),
        ({"a": np.zeros(2, dtype=complex)}, {}, TypeError, "array 'a' has dtype complex128"),
        ({}, {"x": float("nan")}, ValueError, "holds NaN or infinity.*use None"),
        ({}, {"x": [float("inf")]}, ValueError, "holds NaN or infinity"),
        ({}, {"x": np.int64(3)}, TypeError, "must hold JSON values only: .*int64.*convert"),
        ({}, {"kind": "x"}, ValueError, "may not hold 'kind'"),
    ],
)
def test_save_refuses(tmp_path, arrays, header, error, message):
    with pytest.raises(error, match=message):
        files.save(tmp_path / "file", arrays, header, kind="toy")
    assert os.listdir(tmp_path) == []


def test_save_replaces_no_file_of_another_program(tmp_path):
    path = tmp_path / "x"
    for content, found in (
        (b"1,2\n", "text"),
        (b"PAR1\0", r"a Parquet \(\.parquet\) file"),
        (b"\0", "no whole structhash file"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileExistsError, match=f"cannot write .*: the file exists and is {found}; give"):
            files.save(path, {}, {}, kind="toy")
        assert path.read_bytes() == content
    too_few = files.Blocks(np.dtype(np.uint8), (2, 1), iter([np.zeros((1, 1), np.uint8)]))
    with pytest.raises(ValueError, match="do not add up"):
        files.save(path, {"a": too_few}, {}, kind="toy", force=True)
    assert path.read_bytes() == content  # a forced write that fails leaves the old file
    files.save(path, {}, {}, kind="toy", force=True)
    path.write_bytes(b"")
    files.save(path, {}, {}, kind="toy")


def test_save_replaces_files_of_its_kind_only(tmp_path):
    path = tmp_path / "x"
    files.save(path, {}, {"n": 1}, kind="index.exact")
    files.save(path, {}, {"n": 2}, kind="index.flat")
    content = path.read_bytes()
    message = (
        "x: the file exists and is a structhash file of kind 'index.flat'; give another name, or force=True"
    )
    for kind in ("model", "indexes", "index_of.flat"):
        with pytest.raises(FileExistsError, match=f"{message}$"):
            files.save(path, {}, {}, kind=kind)
    assert path.read_bytes() == content
    files.save(path, {}, {}, kind="model", force=True)
    assert files.header(path)["kind"] == "model"


def test_load_refuses_missing_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file: .*nothing"):
        files.load(tmp_path / "nothing", "toy")
    with pytest.raises(ValueError, match="it is not a file"):
        files.load(tmp_path, "toy")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged or no safetensors file"),
        (b"hello, this is no such file at all", "it is text, no toy$"),
        ("größe\n".encode() * 1000, "it is text, no toy$"),
        (b"\x93NUMPY\x01\x00 and so on", r"it is a \.npy file, no toy$"),
        (b"PK\x03\x04 and so on", r"it is a \.npz or other zip file, no toy$"),
        (pickle.dumps({"a": 1}), "damaged or no safetensors file"),
    ],
)
def test_load_refuses_other_files(tmp_path, content, message):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"cannot read .*foreign: .*{message}"):
        files.load(path, "toy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "its header is not JSON"),
        ("[" * 100_000, "its header is not JSON"),
        ('{"format": NaN}', "its header is not JSON .NaN is not JSON"),
        ("[1]", "its header is not of the structhash format"),
        ('{"format": "x", "version": 1, "kind": "toy"}', "its header is not of the structhash format"),
        ('{"format": "structhash", "version": 1}', "its header is not of the structhash format"),
        (
            '{"format": "structhash", "version": 3, "kind": "toy"}',
            "it has version 3, this structhash reads 2; upgrade structhash",
        ),
        (
            '{"format": "structhash", "version": 1, "kind": "toy"}',
            "it has version 1, this structhash reads 2; make it again from the data",
        ),
        ('{"format": "structhash", "version": 2, "kind": "model"}', "it holds 'model', not 'toy'"),
    ],
)
def test_load_refuses_headers(tmp_path, text, message):
    path = with_header(tmp_path / "file", text)
    with pytest.raises(ValueError, match=f"cannot read .*file: {message}"):
        files.load(path, "toy")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("model", "it holds 'toy', not 'model'; structhash fit makes models$"),
        ("index", "it holds 'toy', not 'index'; structhash index makes indexes, from codes$"),
        ("index.exact", r"it holds 'toy', not 'index\.exact'; structhash index makes indexes"),
    ],
)
def test_a_file_of_another_kind_names_the_command_that_makes_the_right_one(good, tmp_path, kind, message):
    with pytest.raises(ValueError, match=message):
        files.header(good, kind)
    other = tmp_path / "text"
    other.write_text("1 2")
    with pytest.raises(ValueError, match=f"it is text, no {kind[:5]}; {message.split('; ')[1]}"):
        files.load(other, kind)


def test_a_header_of_any_kind(good, tmp_path):
    assert files.header(good)["kind"] == files.header(good, "toy")["kind"] == "toy"
    files.save(tmp_path / "i", {}, {}, kind="index.exact")
    assert files.header(tmp_path / "i", "index")["kind"] == "index.exact"
    np.save(tmp_path / "x.npy", np.zeros(3))
    message = (
        r"it is a \.npy file, no model or index; structhash fit makes models, structhash index makes indexes"
    )
    with pytest.raises(ValueError, match=message):
        files.header(tmp_path / "x.npy")


@pytest.mark.parametrize("content", [b"", b"\xff\xfb\x00", b"a\x00b", pickle.dumps({"a": 1})])
def test_what_is_empty_for_unknown_content(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert files.what(path) == ""


def test_a_compressed_model_is_named_with_the_remedy(good, tmp_path):
    (tmp_path / "file").write_bytes(gzip.compress(good.read_bytes()))
    assert files.what(tmp_path / "file") == "gzip-compressed"
    with pytest.raises(ValueError, match="it is gzip-compressed, no model; unpack it first; structhash fit"):
        files.load(tmp_path / "file", "model")


def test_long_headers_are_cut_in_messages(tmp_path):
    with pytest.raises(ValueError, match="which JSON lacks: dict of length 1; use None"):
        files.save(tmp_path / "file", {}, {"x": [float("nan")] * 1000}, kind="toy")
    text = json.dumps({"format": "structhash", "version": ["long"] * 1000, "kind": "toy"})
    with pytest.raises(
        ValueError, match="it has version list of length 1000, this structhash reads 2; upgrade structhash"
    ):
        files.load(with_header(tmp_path / "file", text), "toy")


def test_load_refuses_files_of_other_programs(tmp_path):
    save_file({"a": np.zeros(2)}, tmp_path / "file")
    with pytest.raises(ValueError, match="safetensors file of another program"):
        files.load(tmp_path / "file", "toy")


def raw_file(path, content=bytes(4), **entry):
    """A file with a right checksum and one array "a", whose dtype, shape and place can be anything."""
    ours = json.dumps({"format": "structhash", "version": 2, "kind": "toy"})
    entry = {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)], **entry}
    metadata = {"crc32": "00000000", "structhash": ours}
    text = json.dumps({"__metadata__": metadata, "a": entry}, separators=(",", ":")).encode()
    blank = len(text).to_bytes(8, "little") + text + content
    path.write_bytes(blank.replace(b"00000000", f"{zlib.crc32(blank):08x}".encode(), 1))
    return path


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "BF16", "shape": [2]}, "it is damaged: array 'a' .*its dtype is unknown"),
        ({"dtype": "F8_E4M3"}, "it is damaged: array 'a' .*its dtype is unknown"),
        ({"dtype": ["U8"]}, "it is damaged: array 'a' .*its dtype is unknown"),
        ({"dtype": "BOOL", "content": b"\x01\x02"}, "it is damaged: array 'a' holds a bool that is neither"),
        ({"shape": [5]}, "it is damaged: array 'a' has a shape that does not fit its bytes"),
        ({"shape": [4.0]}, "it is damaged: array 'a' has a shape that does not fit its bytes"),
        (
            {"shape": [-4], "data_offsets": [4, 0]},
            "it is damaged: array 'a' has a shape that does not fit its bytes",
        ),
        (
            {"shape": [0, 10**30], "data_offsets": [0, 0]},
            "it is damaged: array 'a' has a shape that does not fit its bytes",
        ),
        ({"shape": 4}, "it is damaged: array 'a' lacks a shape"),
        ({"data_offsets": [0]}, "it is damaged: array 'a' lacks a shape or a place"),
        ({"shape": [3], "data_offsets": [0, 3]}, "it is damaged: its content does not match"),
        ({"shape": [3], "data_offsets": [1, 4]}, "it is damaged: array 'a' is not where it should be"),
        ({"shape": [2**40], "data_offsets": [0, 2**40]}, "it is damaged: array 'a' is not where it should be"),
    ],
)
def test_load_refuses_arrays_that_do_not_fit_the_file(tmp_path, entry, message):
    assert files.load(raw_file(tmp_path / "good"), "toy")[0]["a"].shape == (4,)
    with pytest.raises(ValueError, match=f"cannot read .*: {message}"):
        files.load(raw_file(tmp_path / "file", **entry), "toy")


def test_other_programs_read_our_files(good):
    with safe_open(good, framework="numpy") as tensors:
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(tensors.get_tensor(name), array)


def test_an_array_is_written_a_block_at_a_time(tmp_path):
    rows = np.arange(12, dtype=np.int32).reshape(4, 3)
    blocks = (rows[run] for run in (slice(0, 1), slice(1, 4)))
    files.save(tmp_path / "blocks", {"a": files.Blocks(rows.dtype, (4, 3), blocks)}, {}, kind="toy")
    files.save(tmp_path / "whole", {"a": rows}, {}, kind="toy")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()
    with pytest.raises(ValueError, match=r"the blocks of 'a' do not add up to \(4, 3\)"):
        files.save(tmp_path / "few", {"a": files.Blocks(rows.dtype, (4, 3), [rows[:3]])}, {}, kind="toy")
    assert not (tmp_path / "few").exists()


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "file"
    files.save(path, {"a": np.zeros(1000)}, {}, kind="toy")
    arrays = files.load(path, "toy")[0]
    os.truncate(path, 100)
    assert arrays["a"].sum() == 0  # a map of the file would end the process here
    files.save(path, {"a": np.zeros(1000)}, {}, kind="toy", force=True)
    with open(path, "rb") as file:
        head = read_head(file)
        os.truncate(path, 1000)
        with pytest.raises(ValueError, match="it became shorter while it was read"):
            read_arrays(file, head)


def opens_or_says_why(path, content):
    path.write_bytes(content)
    try:
        files.load(path, "toy")
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017
        return False
    return True


def test_no_truncated_file_opens(good, tmp_path):
    content = good.read_bytes()
    for length in range(len(content)):
        assert not opens_or_says_why(tmp_path / "cut", content[:length])


def test_a_file_with_a_flipped_bit_is_refused(good, tmp_path):
    content = bytearray(good.read_bytes())
    for place in range(8 * len(content)):
        changed = content.copy()
        changed[place // 8] ^= 1 << place % 8
        assert not opens_or_says_why(tmp_path / "flipped", changed)


def test_a_flipped_byte_in_an_array_is_found(tmp_path):
    path = tmp_path / "file"
    files.save(path, {"a": np.arange(8.0)}, {}, kind="toy")
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="does not match its checksum; write the file again"):
        files.load(path, kind="toy")
