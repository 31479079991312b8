"""What tells comparisons apart, so that a finished one is not replaced by another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from structhash._numerics.validation import join_names
from structhash.evaluation.methods import Method

__all__ = ["check_replaced", "has_fit", "identity"]

_OPTIONS = ("measures", "queries", "train")  # the options that every fit has in common


def identity(about: dict[str, Any]) -> dict[str, Any]:
    """The data and the settings that all lines of a comparison have in common, of its document."""
    options = {name: about["options"][name] for name in _OPTIONS}
    return {"protocol": about["protocol"], "data_sha256": about["data_sha256"], **options}


def has_fit(methods: Sequence[Method], options: dict[str, Any], method: str, n_bits: int, seed: int) -> bool:
    """Whether a comparison of these methods has a fit.

    Parameters
    ----------
    methods : sequence of Method
    options : dict
        With bits and seeds.
    method : str
        The name of the method of the fit.
    n_bits, seed : int

    Returns
    -------
    bool
    """
    lengths = next((each.lengths(options["bits"]) for each in methods if each.name == method), [])
    return seed in options["seeds"] and (lengths == [0] or n_bits in lengths)


def check_replaced(out: Path, methods: Sequence[Method], about: dict[str, Any]) -> None:
    """Refuse to replace a comparison of other data or settings, or one with lines that the new one lacks.

    Parameters
    ----------
    out : path
        The output file; it may be missing or empty.
    methods : sequence of Method
    about : dict
        The new document, without its lines.

    Raises
    ------
    ValueError
        Naming what the file holds. Lines that failed may be lost.
    """
    if not out.exists() or not out.stat().st_size:
        return
    found = json.loads(out.read_text("utf-8"))
    fits = [
        (line["method"], line["n_bits"], seed)
        for line in found["lines"]
        if not line["error"]
        for seed in line["seeds"]
    ]
    same = identity(found) == identity(about)
    if same and all(has_fit(methods, about["options"], *fit) for fit in fits):
        return
    options = found["options"]
    held = [
        f"{name} {join_names([str(each) for each in options[name]])}"
        for name in ("methods", "bits", "seeds", "measures")
    ]
    what = "with lines that this command would drop" if same else "of other data or settings"
    raise ValueError(
        f"cannot write {out}: it holds a comparison {what} ({found['data']}, protocol {found['protocol']}, "
        f"{'; '.join(held)}); give another name, or --force"
    )
