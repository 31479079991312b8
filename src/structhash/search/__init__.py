"""Search packed codes by Hamming or weighted Hamming distance.

Each index is a piece in this folder: a subclass of `structhash.search.base.Index` in a file of its own.
`Exact`, `IVF` and `MultiHash` need only numpy and numba. `Flat` and `HNSW` need faiss, and import it when an
index is made.
"""

from __future__ import annotations

import os
from typing import Any

from structhash import pieces
from structhash._numerics.validation import describe
from structhash.io import container as files
from structhash.search._checks import check_ids, check_k, check_queries
from structhash.search._radius_chosen import ChosenRadius
from structhash.search._rescored import FactorChoice, Rescored, choose_factor
from structhash.search._text_ids import holds_neighbour
from structhash.search._tuned import OperatingPoint, Tuned
from structhash.search._vector_metrics import to_int8
from structhash.search.base import Index
from structhash.search.exact import Exact
from structhash.search.flat import Flat
from structhash.search.hnsw import HNSW
from structhash.search.ivf import IVF
from structhash.search.merging import save_merged
from structhash.search.multi_hash import MultiHash
from structhash.search.near_duplicates import group_pairs, near_groups, near_pairs
from structhash.search.radius_choice import choose_radius
from structhash.search.tuning import tune

__all__ = [
    "HNSW",
    "IVF",
    "ChosenRadius",
    "Exact",
    "FactorChoice",
    "Flat",
    "Index",
    "MultiHash",
    "OperatingPoint",
    "Rescored",
    "Tuned",
    "check_ids",
    "check_k",
    "check_queries",
    "choose_factor",
    "choose_radius",
    "group_pairs",
    "holds_neighbour",
    "load_index",
    "near_groups",
    "near_pairs",
    "save_merged",
    "to_int8",
    "tune",
]


def load_index(path: str | os.PathLike[str], mmap: bool = False, verify: bool = True) -> Index:
    """Open an index file of any kind.

    Parameters
    ----------
    path : str or path
    mmap : bool
        Whether codes and ids stay on disk. They are read when they are searched, and all processes that map the
        file share one copy. A new file that takes the place of this one, as `Index.save` makes it, changes
        nothing. If a program shortens or overwrites the file itself, results are wrong, or the system ends
        the process (SIGBUS).
    verify : bool
        Whether to check a mapped file, for which it is read once. Without the check a damaged file gives wrong
        neighbours: only for a file that was verified since it was written. Any other file is always checked.

    Returns
    -------
    index : Index
        An object of the class whose `kind` the file names.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, comes from another program, or does not hold an index, or a file that is not
        mapped should not be verified.
    ImportError
        If the index needs a library that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "index"
    >>> Exact(n_bits=8).save(path)
    >>> load_index(path)
    Exact(n_bits=8, ntotal=0)
    """
    kind = files.header(path, "index")["kind"]
    found: dict[str, Any] = dict(pieces.classes("indexes"))
    known: dict[str, type[Index]] = {piece.kind: piece for piece in found.values()}
    if kind not in known:
        raise ValueError(
            f"cannot read {path}: it holds {describe(kind)}, not {' or '.join(map(repr, known))}; "
            "upgrade structhash"
        )
    return known[kind].load(path, mmap, verify)
