"""``structhash dedup``: groups of near-duplicates among codes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.cli.display import print_facts
from structhash.cli.ids import read_ids
from structhash.cli.outputs import GROUPS_HEADS, check_output
from structhash.io import load_codes
from structhash.io.container import atomic
from structhash.search import check_ids, near_groups

__all__ = ["dedup"]


def dedup(
    codes: Path,
    radius: int,
    *,
    max_pairs: int,
    out: Path | None,
    force: bool,
    as_json: bool,
    ids: Path | None = None,
    id_column: str | None = None,
) -> None:
    """Group near codes, report the numbers, and write the groups where a file is named.

    Parameters
    ----------
    codes : path
        A file of packed codes.
    radius : int
        Largest number of differing bits of a pair.
    max_pairs : int
        Largest number of pairs of different codes.
    out : path or None
        A .csv file to write: row and group of each row in a group of several, and the ids of both where codes
        have ids.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    ids : path or None
        A file of ids, as `read_ids` reads it; None for those of the codes.
    id_column : str or None
        The column of a .csv file of ids.

    Raises
    ------
    ValueError
        If the file holds no codes, there is not one id a code, or there are too many pairs.
    """
    check_output(out, codes, ids, makes="groups", force=force, suffix=".csv")
    found = load_codes(codes)
    names = found.ids if ids is None and id_column is None else _given_ids(ids, id_column, len(found.table))
    if found.codes_are_bits is False:
        raise ValueError(
            f"{codes} holds codes that are numbers of centroids: how many of their bits differ says nothing "
            "about their rows; give codes of a model whose codes are bits"
        )
    n_bits = found.n_bits or 8 * found.table.shape[1]
    groups = near_groups(found.table, n_bits, radius, max_pairs)
    sizes = np.bincount(groups, minlength=len(groups))
    rows = np.flatnonzero(sizes[groups] > 1)
    if out is not None:
        _write(out, rows, groups[rows], names)
    facts = {
        "codes": len(groups),
        "bits": n_bits,
        "radius": radius,
        "groups": int((sizes > 1).sum()),
        "rows in groups": len(rows),
        "largest group": int(sizes.max(initial=0)),
        "kept rows": int((sizes > 0).sum()),
    }
    print_facts(facts if out is None else {**facts, "file": str(out)}, as_json)


def _write(out: Path, rows: NDArray[np.int64], groups: NDArray[np.int64], names: NDArray[Any] | None) -> None:
    """Write a line for each of the rows, with the ids of all codes where they have some."""
    columns = [rows, groups] if names is None else [rows, groups, names[rows], names[groups]]
    with atomic(out) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(f"{GROUPS_HEADS[names is not None]}\n")
        csv.writer(file, lineterminator="\n").writerows(zip(*(each.tolist() for each in columns)))


def _given_ids(path: Path | None, column: str | None, n: int) -> NDArray[Any]:
    """The ids of n codes, from a file of ids; errors if they are not unique, or not one a code."""
    if path is None:
        raise ValueError(f"--id {column} is a column of a .csv file: give that by --ids")
    names = read_ids(path, column)
    try:
        check_ids(names, n, 0, [])
    except (TypeError, ValueError) as error:
        raise type(error)(f"--ids {path}: {error}") from None
    return names
