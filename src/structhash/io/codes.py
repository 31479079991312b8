"""Files of packed codes: containers and Parquet files, which name their model, or bare .npy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.codes import check_codes, check_n_bits
from structhash.io import container
from structhash.io._stored_ids import stored_ids, take_ids
from structhash.io.arrays import read_codes
from structhash.io.container import atomic
from structhash.io.formats.base import Ids
from structhash.io.manifest import finished_parts
from structhash.io.parquet_codes import holds_codes, read_parquet_codes, write_parquet_codes

__all__ = ["CODES", "CODE_SUFFIXES", "Codes", "holds_codes", "load_codes", "save_codes"]

CODES = "codes"  # the kind of container
CODE_SUFFIXES = (".npy", ".parquet")  # formats of data files that also hold codes
_ABOUT = {
    "coded_as": ("rows", "queries"),
    "queries_differ": (True, False),
    "weighted": (True, False),
    "codes_are_bits": (True, False),
}


class Codes(NamedTuple):
    """The content of a file of codes."""

    table: NDArray[np.uint8]  # (n, n_bytes)
    n_bits: int | None  # None where the file does not say
    source: str | None  # fingerprint of the model that made the codes; None where the file does not say
    coded_as: str | None = None  # "rows" or "queries"; None where the file does not say
    queries_differ: bool | None = None  # whether the model codes queries differently; None as above
    weighted: bool | None = None  # whether the model weighs its bits; None as above
    codes_are_bits: bool | None = None  # False for numbers of centroids; None where the file does not say
    ids: NDArray[Any] | None = None  # int64 (n,) or an object array of str; None where the file has none


def save_codes(
    path: str | os.PathLike[str],
    blocks: Iterable[NDArray[np.uint8]],
    n_rows: int,
    n_bits: int,
    source: str | None = None,
    *,
    coded_as: str | None = None,
    queries_differ: bool | None = None,
    weighted: bool | None = None,
    codes_are_bits: bool = True,
    ids: Ids | None = None,
    as_lists: bool = False,
    force: bool = False,
) -> None:
    """Write packed codes, atomically: a bare array (.npy), a Parquet file (.parquet), else a container.

    Nothing can tell which model made a bare array. The other kinds keep the length of the codes, their ids and
    what is said of their model, and an index of another model refuses them.

    Parameters
    ----------
    path : str or path
    blocks : iterable of uint8 arrays (m, ceil(n_bits / 8))
        The rows in their order, some at a time.
    n_rows, n_bits : int
        Number of all rows, and length of a code.
    source : str, optional
        `HashEncoder.fingerprint` of the model. A bare array keeps neither it nor what follows.
    coded_as : {"rows", "queries"}, optional
    queries_differ, weighted, codes_are_bits : bool, optional
        Whether the model codes queries differently; weighs its bits; has bits, not numbers of centroids.
    ids : Ids, optional
    as_lists, force : bool
        Whether a Parquet file has codes as lists of bytes; whether to replace what `check_replaced` refuses.

    Raises
    ------
    FileExistsError, FileNotFoundError, ValueError
        If `path` is such a file, unless `force`; the folder is missing; there are not `n_rows` codes and ids.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "codes"
    >>> save_codes(path, [np.array([[5], [1]], np.uint8)], n_rows=2, n_bits=3, source="a1")
    >>> load_codes(path).n_bits, load_codes(path).source
    (3, 'a1')
    """
    path, suffix = Path(path), Path(path).suffix.lower()
    array = container.Blocks(np.dtype(np.uint8), (n_rows, -(-n_bits // 8)), blocks)
    about = {"n_bits": n_bits, "source": source, "coded_as": coded_as, "queries_differ": queries_differ}
    about |= {"weighted": weighted} if codes_are_bits else {"weighted": weighted, "codes_are_bits": False}
    if suffix not in CODE_SUFFIXES:
        container.save(path, {"codes": array, **stored_ids(ids, n_rows)}, about, CODES, force)
    elif suffix == ".npy":
        _write_bare(path, array, force)
    else:
        write_parquet_codes(path, array, about, ids, force, as_lists)


def _write_bare(path: Path, codes: container.Blocks, force: bool) -> None:
    """Write codes as numpy writes an array."""
    if not force:
        container.check_replaced(path)
    with atomic(path) as temporary, open(temporary, "wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": codes.shape}
        np.lib.format.write_array_header_1_0(file, header)
        first = file.tell()
        for block in codes.blocks:
            file.write(np.ascontiguousarray(block, np.uint8).data)
        if file.tell() - first != codes.shape[0] * codes.shape[1]:
            raise ValueError(f"the blocks do not add up to {codes.shape}; give all rows once")


def load_codes(path: str | os.PathLike[str]) -> Codes:
    """Read a file of codes of any kind, or a folder of parts that `structhash encode` wrote.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, or holds something else.
    """
    path = Path(path)
    if path.is_dir():
        return _joined(path, [load_codes(part) for part in finished_parts(path)])
    if path.suffix.lower() == ".npy":
        return Codes(read_codes(path), None, None)
    ids: NDArray[Any] | None = None
    if path.suffix.lower() == ".parquet":
        table, ids, header = read_parquet_codes(path)
        arrays: container.Arrays = {"codes": table}
    else:
        arrays, header = container.load(path, CODES)
    try:
        ids = take_ids(arrays) if ids is None else ids
        n_bits, source = check_n_bits(header.get("n_bits")), header.get("source")
        if arrays.keys() != {"codes"} or not isinstance(source, str | None):
            raise ValueError(f"it holds {sorted(arrays)} of the model {describe(source)}, not codes of a model")
        if ids is not None and len(ids) != len(arrays["codes"]):
            raise ValueError(f"it holds {len(ids)} ids of {len(arrays['codes'])} codes")
        about = {name: _one_of(header, name, allowed) for name, allowed in _ABOUT.items()}
        return Codes(check_codes(arrays["codes"], n_bits), n_bits, source, **about, ids=ids)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}; write the codes again") from None


def _joined(path: Path, parts: list[Codes]) -> Codes:
    """Codes of several files as one table; ValueError if they were not made in one way."""
    first = parts[0]
    ids = [part.ids for part in parts if part.ids is not None]
    kinds = {part[1:-1] for part in parts} | {(None if part.ids is None else part.ids.dtype) for part in parts}
    if len(kinds) != 2:
        raise ValueError(f"cannot read {path}: its parts differ in model, length or ids; encode again into it")
    table = np.concatenate([part.table for part in parts])
    return first._replace(table=table, ids=np.concatenate(ids) if ids else None)


def _one_of(header: container.Header, name: str, allowed: tuple[Any, ...]) -> Any:
    """An entry of a header, None if it is missing; ValueError if it is another than those that are allowed."""
    value = header.get(name)
    if value is not None and value not in allowed:
        raise ValueError(f"its {name} is {describe(value)}, not {' or '.join(map(str, allowed))}")
    return value
