"""The contract of a file format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structhash._numerics.blocks import BLOCK_ROWS, row_slices, rows_within
from structhash.io.dataset import Dataset, check_dataset, check_matrix

__all__ = ["Format", "Ids", "Rows", "block_rows", "block_slices", "checked_rows", "regroup"]

_MAX_NUMBERS_IN_BLOCK = 2**22


class Ids(NamedTuple):
    """The ids of the rows of a file, a block at a time.

    Attributes
    ----------
    name : str
        Name of their column.
    text : bool
        Whether they are text. Otherwise they are whole numbers.
    blocks : iterator of array (b,)
        int64, or object arrays of str. Each belongs to one block of `Rows`.
    """

    name: str
    text: bool
    blocks: Iterator[NDArray[Any]]


class Rows(NamedTuple):
    """The rows of one matrix of a file, a block at a time.

    Attributes
    ----------
    shape : (int, int)
        Number of rows and of columns.
    names : list of str, or None
        Names of the columns.
    blocks : iterator of float array (b, n_columns)
        Checked as by `check_matrix`, in row order. A file without rows has none.
    ids : Ids, or None
        Ids of the rows, where the file has them.
    column : str, or None
        Name of the column of vectors, where the file has one.
    id_candidates : tuple of str
        Where the file has no ids: names of columns that are left out and may hold them.
    """

    shape: tuple[int, int]
    names: list[str] | None
    blocks: Iterator[NDArray[Any]]
    ids: Ids | None = None
    column: str | None = None
    id_candidates: tuple[str, ...] = ()


class Format:
    """A file format of data sets, chosen by the extension of the file.

    A subclass is a frozen dataclass that can be made without arguments, in a file of its own in this folder.
    It sets `suffixes` and implements `read`. A format that needs an optional library imports it inside its
    methods, so that the other formats work without it. Its fields are its settings: those of the keywords
    of `structhash.io.read` that it takes.

    Attributes
    ----------
    suffixes : tuple of str
        Extensions of its files, lower case, with the dot. No two formats share one.
    reads_addresses : bool
        Whether `read`, `rows` and `facts` take an address, too. Otherwise they get a copy.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    reads_addresses: ClassVar[bool] = False

    def read(self, path: Path) -> Dataset:
        """Read a data set.

        `structhash.io.read` calls this for an existing file that is not empty, and checks afterwards that the
        arrays are a data set (`structhash.io.dataset.check_dataset`).

        Parameters
        ----------
        path : Path

        Returns
        -------
        data : Dataset
            X is needed; y, Q, qrels and names are None where the file lacks them.

        Raises
        ------
        ValueError
            If the file is damaged or lacks X. The message begins with ``cannot read PATH: ``.
        """
        raise NotImplementedError

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read X, or for queries Q where the file has it, in blocks; by default from the whole data set."""
        data = check_dataset(self.read(path), path)
        name, matrix = ("Q", data.Q) if queries and data.Q is not None else ("X", data.X)
        blocks = (matrix[block] for block in block_slices(matrix.shape))
        rows = checked_rows(matrix.shape, matrix.dtype, blocks, f"{name} of {path}", data.names)
        return rows._replace(id_candidates=data.id_candidates if name == "X" else ())

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe a file for `structhash info`; by default the facts of its data set."""
        data = self.read(path)
        return check_dataset(data, path).facts() | {"dtype": str(data.X.dtype)}


def block_slices(shape: tuple[int, ...]) -> Iterator[slice]:
    """The slices that cut a matrix of this shape into blocks of about 16 MB to 32 MB."""
    yield from row_slices(shape[0], block_rows(shape[1]))


def block_rows(n_columns: int) -> int:
    """Rows of a block of `block_slices`, by the number of columns."""
    # encoders cut into BLOCK_ROWS again, so that a multiple of it gives the codes of one call for all rows
    return max(1, rows_within(n_columns, _MAX_NUMBERS_IN_BLOCK) // BLOCK_ROWS) * BLOCK_ROWS


def regroup(parts: Iterable[NDArray[Any]], n: int) -> Iterator[NDArray[Any]]:
    """Cut arrays, one after the other, into arrays of n rows each; the last may have fewer.

    >>> [block.tolist() for block in regroup([np.arange(3), np.arange(3, 5)], 2)]
    [[0, 1], [2, 3], [4]]
    """
    kept: list[NDArray[Any]] = []
    missing = n
    for part in parts:
        while len(part):
            kept.append(part[:missing])
            part = part[missing:]
            missing -= len(kept[-1])
            if missing == 0:
                yield _joined(kept)
                kept, missing = [], n
    if kept:
        yield _joined(kept)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays as one, which is no copy where there is one only."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def checked_rows(
    shape: tuple[int, ...],
    dtype: DTypeLike,
    blocks: Iterator[NDArray[Any]],
    name: str,
    names: list[str] | None = None,
) -> Rows:
    """Check shape and type of a matrix at once, and its numbers block by block.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    blocks : iterator of array
        All rows in their order; nothing is read before the first block is asked for.
    name : str
        Name of the matrix in an error message.
    names : list of str, or None
        Names of its columns.

    Returns
    -------
    Rows
        Its blocks raise ValueError at the first block with NaN or infinity.
    """
    one_row = (1, *shape[1:]) if len(shape) == 2 else shape
    check_matrix(np.broadcast_to(np.zeros((), dtype), one_row), name)

    def checked() -> Iterator[NDArray[Any]]:
        first = 0
        for block in blocks:
            rows = f" (rows {first} to {first + len(block) - 1})" if len(block) < shape[0] else ""
            yield check_matrix(block, name + rows, first)
            first += len(block)

    return Rows((shape[0], shape[1]), names, checked())
