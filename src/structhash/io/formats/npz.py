"""Data sets in .npz files."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe, join_names
from structhash.io._opening import guard
from structhash.io.dataset import Dataset
from structhash.io.formats._columns import NONE, find_label, is_id_name, not_among
from structhash.io.formats.base import Format, Rows, block_slices, checked_rows

__all__ = ["Npz"]


_HEADER_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_OTHER_NAMES = {"q": "Q", "query": "Q", "queries": "Q", "qrels": "qrels"}
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Npz(Format):
    """Named arrays of numpy: X, and where the file has them y, Q and qrels.

    Other arrays are ignored with a warning. Without y, an array label, or Y, holds the labels. If the name of
    another array is usual for labels, such as target, or for queries where Q is missing, `read` raises
    the question.

    Parameters
    ----------
    label : str, optional
        The array of labels; "none" if there is none.
    """

    label: str | None = None

    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def read(self, path: Path) -> Dataset:
        """Read the arrays that make a data set; ValueError if X is not among them."""
        names = _names(path)
        label = self._label(path, names)
        parts: dict[str, str] = {name: name for name in ("X", "Q", "qrels") if name in names}
        if label is not None:
            parts["y"] = label
        arrays: dict[str, Any] = {part: _load(path, name) for part, name in parts.items()}
        if ignored := [name for name in names if name not in parts.values()]:
            _LOG.warning("%s: ignored the arrays %s", path, join_names(ignored))
        return Dataset(**arrays, label=label, id_candidates=self._id_candidates(names), held=tuple(names))

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read X or Q in blocks, without the other arrays; an array in Fortran order is read whole."""
        names = _names(path)
        name = "Q" if queries and "Q" in names else "X"
        with guard(path), zipfile.ZipFile(path) as found, found.open(f"{name}.npy") as file:
            shape, fortran, dtype = _read_header(file)
        if fortran or dtype.hasobject:
            whole = _load(path, name)
            blocks: Iterator[NDArray[Any]] = (whole[block] for block in block_slices(shape))
        else:
            blocks = _read_blocks(path, f"{name}.npy")
        rows = checked_rows(shape, dtype, blocks, f"{name} of {path}")
        return rows._replace(id_candidates=self._id_candidates(names) if name == "X" else ())

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe a data set, or other arrays such as the results of `structhash search`."""
        with guard(path), np.load(path, allow_pickle=False) as found:
            names = found.files
        if "X" in names:
            return super().facts(path)
        others = {name: _load(path, name) for name in names}
        return {"kind": "arrays"} | {name: f"{each.dtype} {list(each.shape)}" for name, each in others.items()}

    def _id_candidates(self, names: list[str]) -> tuple[str, ...]:
        """The arrays that may hold ids by their names, which X, Q, qrels, y and label never do."""
        return tuple(name for name in names if is_id_name(name) and name != self.label)

    def _label(self, path: Path, names: list[str]) -> str | None:
        """The name of the array of labels."""
        if self.label is None:
            try:
                return "y" if "y" in names else find_label([name for name in names if name != "X"])
            except ValueError as error:
                raise ValueError(f"cannot read {path}: {error}") from None
        if self.label != NONE and self.label not in names:
            raise ValueError(f"cannot read {path}: {not_among(self.label, names, 'array')}")
        return None if self.label == NONE else self.label


def _names(path: Path) -> list[str]:
    """The names of all arrays; ValueError if X is missing, or a name comes twice or may mean Q or qrels."""
    with guard(path), open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
        names = sorted(found.files)
    if twice := [name for name, following in pairwise(names) if name == following]:
        raise ValueError(f"cannot read {path}: it has two arrays {describe(twice[0])}; write the file again")
    if "X" not in names:
        raise ValueError(
            f"cannot read {path}: it needs an array X, but holds {join_names(names) or 'nothing'}; name the "
            "rows X (and labels y), as numpy.savez(file, X=..., y=...) does"
        )
    for name in names:
        if _OTHER_NAMES.get(name.lower(), name) not in names:
            known = _OTHER_NAMES[name.lower()]
            what = "the queries" if known == "Q" else "the judgements"
            raise ValueError(
                f"cannot read {path}: is {describe(name)} {what}? Name it {known}, or leave it out"
            )
    return names


def _load(path: Path, name: str) -> NDArray[Any]:
    """Load one array."""
    with guard(path, f"array {name}"), open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
        array: NDArray[Any] = found[name]
    return array


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and dtype of the array at the beginning of a file."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER_READERS:
        raise ValueError(f"its array has version {version} of numpy's format")
    shape, fortran, dtype = _HEADER_READERS[version](file)
    return shape, fortran, dtype


def _read_blocks(path: Path, member: str) -> Iterator[NDArray[Any]]:
    """Read an array in C order from a zip file, a block of rows at a time."""
    with guard(path), zipfile.ZipFile(path) as found, found.open(member) as file:
        shape, _, dtype = _read_header(file)
        for block in block_slices(shape):
            rows = block.stop - block.start
            content = file.read(rows * shape[1] * dtype.itemsize)
            yield np.frombuffer(content, dtype).reshape(rows, shape[1])
        file.read()  # at its end, zipfile compares the checksum
