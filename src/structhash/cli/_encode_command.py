"""The command ``encode``: its arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import VECTORS, Choices, Force, Json, Model, data_argument, ends_in_slash, output

__all__ = ["encode"]


def encode(
    model: Model,
    data: Annotated[list[Path], data_argument("DATA", f"{VECTORS} Several are one data set.")],
    out: Annotated[
        str,
        output(
            "The file to write: a .npy is a bare array, a .parquet a table; all but a .npy name the model. "
            "A folder, or a name with / at the end: one file of codes for each file of DATA.",
            may_be_folder=True,
        ),
    ],
    bits: Annotated[
        int | None, typer.Option(min=1, help="Only the first bits.", show_default="all the model has")
    ] = None,
    queries: Annotated[
        bool,
        typer.Option(
            "--queries", help="Encode queries (Q of DATA, else X): their codes may differ from rows'."
        ),
    ] = False,
    lists: Annotated[
        bool,
        typer.Option(
            "--lists", help="Write codes into .parquet files as lists of bytes, not as fixed_size_binary."
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes that encode the files of DATA into a folder.")
    ] = 1,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Turn vectors into packed codes."""
    from structhash.cli.encode import encode as run

    run(
        model,
        data,
        Path(out),
        in_parts=ends_in_slash(out),
        bits=bits,
        as_queries=queries,
        as_lists=lists,
        jobs=jobs,
        force=force,
        as_json=as_json,
        choices=choices,
    )
