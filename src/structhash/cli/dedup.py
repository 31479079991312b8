"""``structhash dedup``: groups of near-duplicates among codes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from structhash.cli.display import print_facts
from structhash.cli.outputs import GROUPS_HEADS, check_output
from structhash.io import load_codes
from structhash.io.container import atomic
from structhash.search import near_groups

__all__ = ["dedup"]


def dedup(codes: Path, radius: int, *, max_pairs: int, out: Path | None, force: bool, as_json: bool) -> None:
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
        A .csv file to write: row and group of each row in a group of several, and its id where codes have ids.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.

    Raises
    ------
    ValueError
        If the file holds no codes, or there are too many pairs.
    """
    check_output(out, codes, makes="groups", force=force, suffix=".csv")
    found = load_codes(codes)
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
        columns = [rows, groups[rows]] if found.ids is None else [rows, groups[rows], found.ids[rows]]
        with atomic(out) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(f"{GROUPS_HEADS[found.ids is not None]}\n")
            csv.writer(file, lineterminator="\n").writerows(zip(*(each.tolist() for each in columns)))
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
