"""``structhash merge``: several indexes in one file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from structhash.cli.console import say
from structhash.cli.display import print_facts
from structhash.cli.index import kind_of_ids, replaced_index
from structhash.cli.outputs import check_output
from structhash.io import suffixes
from structhash.search import Index, load_index, save_merged

__all__ = ["merge"]


def merge(indexes: Sequence[Path], out: Path, *, force: bool, as_json: bool) -> None:
    """Save the codes of several indexes as one index.

    Parameters
    ----------
    indexes : sequence of path
    out : path
        The index file to write.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.

    Raises
    ------
    TypeError, ValueError
        If the indexes do not fit each other.
    """
    check_output(out, *indexes, makes="index", force=force, refused=suffixes())
    found = [load_index(path, mmap=True) for path in indexes]
    for path, other in combinations(indexes, 2):
        if path.samefile(other):
            raise ValueError(f"{path} is given twice, so each of its codes would be there twice; give it once")
    replaced = replaced_index(out)
    try:
        save_merged(found, out, force)
    except ValueError:
        _refuse_shared(indexes, found)
        raise
    unnamed = [str(path) for path, each in zip(indexes, found, strict=True) if each.source is None]
    if 0 < len(unnamed) < len(found):
        say("warning", f"{unnamed[0]} does not say which model made its codes, so {out} does not either")
    facts = {"codes": sum(map(len, found)), "bits": found[0].n_bits, "ids": kind_of_ids(found)}
    print_facts({**facts, "weighted": found[0].weights is not None, **replaced, "file": str(out)}, as_json)


def _refuse_shared(paths: Sequence[Path], indexes: Sequence[Index]) -> None:
    """ValueError that names two files with one id."""
    for (path, index), (other, more) in combinations(zip(paths, indexes, strict=True), 2):
        if index.id_kind == more.id_kind != "row numbers":
            for shared in np.intersect1d(index.ids, more.ids)[:1].tolist():
                raise ValueError(
                    f"{path} and {other} both have the id {shared!r}; give each code an id of its own"
                )
