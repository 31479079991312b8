"""Write an exported model in a format."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from structhash._numerics.validation import check_choice
from structhash.export.model import Exported, npz_bytes
from structhash.export.onnx_file import onnx_bytes
from structhash.export.sql import duckdb_text, postgresql_text
from structhash.io.container import atomic

__all__ = ["ENCODERS", "FORMATS", "json_text", "write_export"]

_FOLDER = Path(__file__).parent
ENCODERS = {"npz": str(_FOLDER / "encoder.py"), "json": str(_FOLDER / "encoder.mjs")}  # to be copied


def json_text(exported: Exported) -> str:
    """JSON for ``encoder.mjs``: ``about``, and ``arrays`` as dtype, shape and little-endian base64."""
    arrays = {
        name: {
            "dtype": array.dtype.name,
            "shape": array.shape,
            "base64": base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii"),
        }
        for name, array in exported.arrays.items()
    }
    return json.dumps({"about": exported.about, "arrays": arrays}) + "\n"


FORMATS: dict[str, Callable[[Exported], bytes]] = {
    "onnx": onnx_bytes,
    "npz": npz_bytes,
    "json": lambda exported: json_text(exported).encode(),
    "sql": lambda exported: duckdb_text(exported).encode(),
    "postgresql": lambda exported: postgresql_text(exported).encode(),
}


def write_export(exported: Exported, path: str | PathLike[str], to: str) -> None:
    """Write one file, whole or not at all. A file that is there is replaced.

    Parameters
    ----------
    exported : Exported
        From `export_model`.
    path : str or path
    to : str
        One of `FORMATS`: ``"sql"`` is for DuckDB.

    Raises
    ------
    ValueError
        If the format cannot hold the model.
    ImportError
        If the format is ``"onnx"`` and onnx is not installed.
    """
    check_choice("to", to, tuple(FORMATS))
    content = FORMATS[to](exported)
    with atomic(path) as temporary:
        temporary.write_bytes(content)
