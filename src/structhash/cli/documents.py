"""JSON documents for machines, on standard output and in files."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from structhash import __version__

__all__ = ["deliver", "stamp", "to_json", "write_json"]

_VERSIONED_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def to_json(document: Any) -> str:
    """JSON text of plain values, numpy scalars and arrays. NaN and infinity, which JSON lacks, become null."""
    return json.dumps(_plain(document), indent=2, allow_nan=False)


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file whole or not at all."""
    from structhash.io.container import atomic

    with atomic(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


def deliver(document: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Write a document to its file, and print it for machines.

    Parameters
    ----------
    document : dict
    out : path or None
        The file, where one is wanted.
    as_json : bool
        Whether to print the document.
    """
    if out is not None:
        write_json(out, document)
    if as_json:
        print(to_json(document))


def stamp() -> dict[str, Any]:
    """Date and versions, for documents that are kept."""
    versions = {"structhash": __version__, **{name: version(name) for name in _VERSIONED_PACKAGES}}
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions}


def _plain(value: Any) -> Any:
    """A value as `json` takes it."""
    if hasattr(value, "tolist"):  # numpy, which this module does not import
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
