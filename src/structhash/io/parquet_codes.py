"""Codes in Parquet files: a column of ids, a column of packed codes, and what is said of them in the schema.

The codes are `fixed_size_binary`, or on request lists of uint8; bit 0 of a code is the lowest bit of its first
byte. The metadata of the schema hold one JSON object under the key "structhash". The metadata of the file hold
a checksum of that, of all codes and of all ids, under the key "structhash.crc32"; another program that copies
rows may lose it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.arrow import import_arrow, plain_ids
from structhash._numerics.validation import describe
from structhash.io._opening import check_file, guard
from structhash.io.container import Blocks, atomic, check_replaced
from structhash.io.formats.base import Ids, regroup

__all__ = [
    "CODE_COLUMN",
    "code_column",
    "code_schema",
    "holds_codes",
    "read_parquet_codes",
    "write_parquet_codes",
]

CODE_COLUMN = "code"
_ROWS_OF_GROUP = 2**17
_KEY, _CHECKSUM_KEY = b"structhash", b"structhash.crc32"
_ALWAYS = {"kind": "codes", "version": 1, "bit_order": "lowest bit first"}


def code_schema(
    n_bytes: int, about: Mapping[str, Any], id_column: str | None, text: bool, as_lists: bool = False
) -> Any:
    """The schema of a file or a batch of codes.

    Parameters
    ----------
    n_bytes : int
        Bytes of a code.
    about : dict
        What is said of the codes: JSON values.
    id_column : str or None
        Name of the column of ids; None where there is none.
    text : bool
        Whether ids are text.
    as_lists : bool
        Whether codes are lists of bytes.

    Returns
    -------
    pyarrow.Schema
    """
    arrow = import_arrow("a table of codes")
    said = {**_ALWAYS, **about, "id_column": id_column}
    byte = arrow.field("element", arrow.uint8(), nullable=False)
    kind = arrow.list_(byte, n_bytes) if as_lists else arrow.binary(n_bytes)
    fields = [arrow.field(CODE_COLUMN, kind, nullable=False)]
    if id_column is not None:
        fields.insert(0, arrow.field(id_column, arrow.string() if text else arrow.int64(), nullable=False))
    return arrow.schema(fields, metadata={_KEY: json.dumps(said, allow_nan=False)})


def write_parquet_codes(
    path: Path,
    codes: Blocks,
    about: Mapping[str, Any],
    ids: Ids | None,
    force: bool = False,
    as_lists: bool = False,
) -> None:
    """Write codes and their ids, atomically, a row group at a time. The same codes give the same bytes.

    Parameters
    ----------
    path : Path
    codes : Blocks
        Of uint8 arrays (m, n_bytes).
    about : dict
        What is said of the codes.
    ids : Ids or None
    force : bool
        Whether to replace a file that holds no codes.
    as_lists : bool
        Whether codes are lists of bytes.

    Raises
    ------
    FileExistsError
        If `path` is such a file, unless `force`.
    ValueError
        If there are more or fewer codes or ids than the shape of `codes` says.
    """
    arrow = import_arrow(f"{path.suffix} files: writing {path}")
    if not force:
        check_replaced(path)
    if not force and path.is_file() and path.stat().st_size and not holds_codes(path):
        raise FileExistsError(
            f"cannot write {path}: the file exists and holds no codes; give another name, or force=True"
        )
    named = None if ids is None else "id" if ids.name == CODE_COLUMN else ids.name
    schema = code_schema(codes.shape[1], about, named, ids is not None and ids.text, as_lists)
    n_written, checksum = 0, _Checksum(schema.metadata[_KEY])
    id_groups = iter(()) if ids is None else regroup(ids.blocks, _ROWS_OF_GROUP)
    with (
        atomic(path) as temporary,
        arrow.parquet.ParquetWriter(temporary, schema, use_dictionary=False) as file,
    ):
        for group in regroup(codes.blocks, _ROWS_OF_GROUP):
            columns = [code_column(group, schema)]
            group_ids = next(id_groups, np.empty(0, np.int64)) if ids is not None else None
            if group_ids is not None:
                columns.insert(0, arrow.array(group_ids.tolist(), schema.field(0).type))
            if any(len(column) != len(group) for column in columns):
                raise ValueError(f"there are fewer ids than codes in row {n_written} and after; give one each")
            file.write_table(arrow.Table.from_arrays(columns, schema=schema))
            checksum.add(group, group_ids)
            n_written += len(group)
        if n_written != codes.shape[0] or next(id_groups, None) is not None:
            raise ValueError(f"{n_written} codes do not add up to {codes.shape}; give all rows and ids once")
        file.add_key_value_metadata({_CHECKSUM_KEY: checksum.text()})


class _Checksum:
    """The checksum of what is said of codes, of the codes and of their ids, which come in parts."""

    def __init__(self, said: bytes) -> None:
        self._said, self._codes, self._ids = zlib.crc32(said), 0, 0

    def add(self, codes: NDArray[np.uint8], ids: NDArray[Any] | None) -> None:
        """Add the next codes and their ids."""
        self._codes = zlib.crc32(np.ascontiguousarray(codes).data, self._codes)
        if ids is not None:
            text = ids.dtype == object
            data = (
                "".join(f"{each}\0" for each in ids.tolist()).encode() if text else ids.astype("<i8").tobytes()
            )
            self._ids = zlib.crc32(data, self._ids)

    def text(self) -> str:
        """The checksum of all that was added."""
        return f"{self._said:08x}{self._codes:08x}{self._ids:08x}"


def code_column(codes: NDArray[np.uint8], schema: Any) -> Any:
    """Codes as an Arrow array of the type that a schema of `code_schema` says; it shares their memory."""
    arrow, kind = import_arrow("a table of codes"), schema.field(CODE_COLUMN).type
    codes = np.ascontiguousarray(codes)
    if arrow.types.is_fixed_size_list(kind):
        return arrow.FixedSizeListArray.from_arrays(arrow.array(codes.ravel()), codes.shape[1]).cast(kind)
    return arrow.FixedSizeBinaryArray.from_buffers(kind, len(codes), [None, arrow.py_buffer(codes)])


def holds_codes(path: Path) -> bool:
    """Whether a file is one that `write_parquet_codes` wrote, by its metadata."""
    arrow = import_arrow(f"{path.suffix} files: reading {path}")
    with guard(path, "a column"):
        return _KEY in (arrow.parquet.read_schema(path).metadata or {})


def read_parquet_codes(path: Path) -> tuple[NDArray[np.uint8], NDArray[Any] | None, dict[str, Any]]:
    """Read codes, their ids, and what is said of them; ValueError if the file is damaged or holds no codes."""
    check_file(path, (".parquet",))
    if not holds_codes(path):
        raise ValueError(
            f"cannot read {path}: its schema does not say which codes it holds; structhash encode makes codes"
        )
    arrow = import_arrow("Parquet")
    with guard(path, "a column"):
        with arrow.parquet.ParquetFile(path) as file:
            table, stated = file.read(), (file.metadata.metadata or {}).get(_CHECKSUM_KEY)
        said = json.loads(table.schema.metadata[_KEY])
        if not isinstance(said, dict) or any(said.get(key) != value for key, value in _ALWAYS.items()):
            raise ValueError(f"its metadata are {describe(said)}, of another version")
        column, id_column = table.column(CODE_COLUMN), said.get("id_column")
        width = _width(column.type)
        if width is None or column.null_count:
            raise ValueError(f"its codes are {column.type}, or some are missing")
        ids = None if id_column is None else table.column(id_column).combine_chunks()
        parts = [_codes_of(chunk) for chunk in column.chunks]
    codes = np.concatenate(parts) if parts else np.empty((0, width), np.uint8)
    found = None if ids is None else plain_ids(ids, f"column {describe(id_column)} of {path}")
    checksum = _Checksum(table.schema.metadata[_KEY])
    checksum.add(codes, found)
    if stated not in (None, checksum.text().encode()):
        raise ValueError(f"cannot read {path}: its content does not match its checksum; write the codes again")
    return codes, found, said


def _width(kind: Any) -> int | None:
    """Bytes of a code of a type of Arrow; None where the type is no code."""
    arrow = import_arrow("Parquet")
    if arrow.types.is_fixed_size_list(kind) and kind.value_type == arrow.uint8():
        return int(kind.list_size)
    return int(kind.byte_width) if arrow.types.is_fixed_size_binary(kind) else None


def _codes_of(chunk: Any) -> NDArray[np.uint8]:
    """The codes of an Arrow array, which share its memory; an error of Arrow if a byte is missing."""
    width = _width(chunk.type) or 0
    if import_arrow("Parquet").types.is_fixed_size_list(chunk.type):
        bytes_of_codes: NDArray[np.uint8] = chunk.flatten().to_numpy(zero_copy_only=True)
        return bytes_of_codes.reshape(len(chunk), width)
    data = np.frombuffer(chunk.buffers()[1], np.uint8)
    return data[chunk.offset * width : (chunk.offset + len(chunk)) * width].reshape(len(chunk), width)
