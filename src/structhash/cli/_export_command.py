"""The command ``export``: its arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Force, Json, Model, output

__all__ = ["export_command"]


def export_command(
    model: Model,
    to: Annotated[
        str,
        typer.Option(
            help="onnx, npz (read by encoder.py, NumPy only), json (by encoder.mjs), sql (DuckDB) or "
            "postgresql. SQL takes models whose bits are planes.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, output("The file to write.")],
    bits: Annotated[
        int | None, typer.Option(min=1, help="Only the first bits.", show_default="all the model has")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a model as a file that encodes rows and queries without structhash.

    The steps are checked against the model before they are written. A model
    that cannot be expressed is refused.
    """
    from structhash.cli.export import export

    export(model, out, to=to, bits=bits, force=force, as_json=as_json)
