"""Data sets in several files: a folder, or a pattern such as ``vectors/*.parquet``."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.addresses import Address
from structhash._numerics.validation import join_names
from structhash.io._opening import suffix_of
from structhash.io._remote import find_addresses
from structhash.io.dataset import Dataset
from structhash.io.formats.base import Ids, Rows, block_rows, regroup

__all__ = ["find_parts", "join_datasets", "join_rows"]

_PATTERN = set("*?[")


def find_parts(path: Path, suffixes: Iterable[str]) -> list[Path] | None:
    """The files of a folder or a pattern in the order of their names; None where `path` is no such thing.

    Parameters
    ----------
    path : Path
    suffixes : iterable of str
        Extensions of data files. A folder may hold other files; their names begin with a dot or an underscore.

    Returns
    -------
    list of Path, or None

    Raises
    ------
    FileNotFoundError
        If no file fits the pattern.
    ValueError
        If a folder holds no data file, or other files, or files of several kinds.
    """
    if isinstance(path, Address):
        remote = None if path.copy else find_addresses(path)
        if remote is None:
            return None
        found = [each for each in remote if each.name[0] not in "._"]
    elif path.is_dir():
        found = [each for each in path.iterdir() if each.name[0] not in "._"]
    elif not path.exists() and _PATTERN & set(str(path)):
        found = [Path(name) for name in glob.glob(str(path))]
        if not found:
            raise FileNotFoundError(f"no such files: {path}")
    else:
        return None
    kinds = sorted({suffix_of(each) for each in found})
    if len(kinds) != 1 or kinds[0] not in suffixes or not all(map(_is_file, found)):
        held = join_names(sorted(each.name for each in found)) or "no file of data"
        raise ValueError(
            f"cannot read {path}: it is not one file but holds {held}; give a folder or a pattern of data "
            "files of one extension"
        )
    return sorted(found, key=lambda each: (each.name, str(each)))


def _is_file(path: Path) -> bool:
    """Whether what a folder holds is a file."""
    return not str(path).endswith("/") if isinstance(path, Address) else path.is_file()


def join_datasets(path: Path, parts: Sequence[Path], found: Sequence[Dataset]) -> Dataset:
    """Data sets as one; ValueError if they differ in their columns, or one has queries.

    Parameters
    ----------
    path : Path
        The folder or the pattern.
    parts : sequence of Path
    found : sequence of Dataset
        One of each part.

    Returns
    -------
    Dataset
    """
    first = found[0]
    for part, data in zip(parts, found):
        _refuse_other(path, parts[0], part, _columns_of(first), _columns_of(data))
        if data.Q is not None or data.qrels is not None:
            raise ValueError(f"{part} holds queries; give them in a file of their own, and rows in {path}")
    X = np.concatenate([data.X for data in found])
    y = None if first.y is None else np.concatenate([data.y for data in found if data.y is not None])
    ids = None if first.ids is None else np.concatenate([data.ids for data in found if data.ids is not None])
    return first._replace(X=X, y=y, ids=ids)


def _columns_of(data: Dataset) -> tuple[Any, ...]:
    """What parts must have in common."""
    kinds = [None if each is None else (each.dtype.kind, *each.shape[1:]) for each in (data.y, data.ids)]
    return data.X.shape[1], data.names, data.label, *kinds


def join_rows(path: str | Path, parts: Sequence[Path], open_rows: Callable[[Path], Rows]) -> Rows:
    """Rows of several files as one matrix. A file is opened when its rows are needed.

    Parameters
    ----------
    path : str or Path
        The folder or the pattern, or words for the files, in errors.
    parts : sequence of Path
    open_rows : callable
        Gives the rows of a part.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If the parts differ in their columns, or in the kind of their ids.
    """
    opened = [(part, open_rows(part)._replace(blocks=iter(()))) for part in parts]
    opened = [each for each in opened if each[1].shape[0]] or opened[:1]
    leader, first = opened[0]
    for part, rows in opened:
        _refuse_other(path, leader, part, _row_columns(first), _row_columns(rows))
    used, width = [part for part, _ in opened], first.shape[1]

    def gather(take: Callable[[Rows], Iterator[NDArray[Any]]]) -> Iterator[NDArray[Any]]:
        return regroup((block for part in used for block in take(open_rows(part))), block_rows(width))

    shape = (sum(rows.shape[0] for _, rows in opened), width)
    ids = None
    if first.ids is not None:
        ids = Ids(
            first.ids.name, first.ids.text, gather(lambda rows: rows.ids.blocks if rows.ids else iter(()))
        )
    return first._replace(shape=shape, blocks=gather(lambda rows: rows.blocks), ids=ids)


def _row_columns(rows: Rows) -> tuple[Any, ...]:
    """What rows of parts must have in common."""
    return rows.shape[1], rows.names, rows.column, None if rows.ids is None else rows.ids[:2]


def _refuse_other(
    path: str | Path, leader: Path, part: Path, expected: tuple[Any, ...], found: tuple[Any, ...]
) -> None:
    """ValueError if a part has other columns than the first."""
    if expected != found:
        raise ValueError(
            f"cannot read {path} as one data set: {part} has other columns, labels or ids than {leader}; give "
            "files with the same columns"
        )
