"""Data sets in .npz files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from structhash._numerics.validation import join_names
from structhash.io._opening import guard
from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format

__all__ = ["Npz"]

_PARTS_OF_A_DATASET = ("X", "y", "Q", "qrels")


@dataclass(frozen=True)
class Npz(Format):
    """Named arrays of numpy: X, and where the file has them y, Q and qrels; other arrays are ignored."""

    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def read(self, path: Path) -> Dataset:
        """Read the arrays that make a data set; ValueError if X is not among them."""
        with guard(path), open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            names = sorted(found.files)
            arrays = {name: found[name] for name in _PARTS_OF_A_DATASET if name in found.files}
        if "X" not in arrays:
            holds = join_names(names) or "nothing"
            raise ValueError(f"cannot read {path}: it needs an array X, but holds {holds}")
        return Dataset(**arrays)

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe a data set, or other arrays such as the results of `structhash search`."""
        with guard(path), np.load(path, allow_pickle=False) as found:
            names = found.files
            others = {name: found[name] for name in names if "X" not in names}
        if "X" in names:
            return super().facts(path)
        return {"kind": "arrays"} | {name: f"{each.dtype} {list(each.shape)}" for name, each in others.items()}
