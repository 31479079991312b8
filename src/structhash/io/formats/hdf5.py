"""Data sets in HDF5 files with the layout of ann-benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import join_names
from structhash.io._opening import guard
from structhash.io.dataset import Dataset
from structhash.io.formats._columns import is_id_name
from structhash.io.formats.base import Format, Rows, block_slices, checked_rows

__all__ = ["Hdf5"]


@dataclass(frozen=True)
class Hdf5(Format):
    """The arrays `train`, which is X, and where the file has it `test`, which is Q.

    Other arrays, such as `neighbors` and `distances`, are not read: a model that learned from the neighbours of
    the test queries would be measured on what it has seen.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".hdf5", ".h5")

    def read(self, path: Path) -> Dataset:
        """Read `train` and `test`."""
        with _opened(path) as file:
            Q = file["test"][:] if "test" in file else None
            return Dataset(file["train"][:], Q=Q, id_candidates=tuple(filter(is_id_name, file)))

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read `train`, or for queries `test` where the file has it, in blocks."""
        with _opened(path) as file:
            name = "test" if queries and "test" in file else "train"
            shape, dtype = file[name].shape, file[name].dtype
            candidates = tuple(filter(is_id_name, file)) if name == "train" else ()
        rows = checked_rows(shape, dtype, _blocks(path, name, shape), f"{name} of {path}")
        return rows._replace(id_candidates=candidates)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file; ValueError if it is damaged or has no array `train`."""
    try:
        import h5py
    except ImportError as error:
        raise not_installed("h5py", f"reading {path}", "hdf5", error) from error
    with guard(path):
        file = h5py.File(path, "r")
    with file:
        held = [name for name, each in file.items() if isinstance(each, h5py.Dataset)]
        if "train" not in held:
            raise ValueError(
                f"cannot read {path}: it needs an array train, but holds {join_names(held) or 'none'}; name "
                "the rows train, and the queries test"
            )
        with guard(path):
            yield {name: file[name] for name in held}


def _blocks(path: Path, name: str, shape: tuple[int, ...]) -> Iterator[NDArray[Any]]:
    """The rows of an array, some at a time."""
    with _opened(path) as file:
        for block in block_slices(shape):
            yield np.asarray(file[name][block])
