"""The command ``reproduce``: its arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Json

__all__ = ["reproduce_command"]


def reproduce_command(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of the data sets, such as usps.npz.",
            envvar="STRUCTHASH_DATA",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="usps and isolet only, two seeds, fewer methods: ten minutes.")
    ] = False,
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; made if missing.")
    ] = Path("reproduction"),
    as_json: Json = False,
) -> None:
    """Run the paper's experiments again: its tables, figures and claims beside ours.

    Writes reproduced.html (one page that loads nothing), .md and .json. Finished
    runs are kept in FOLDER/runs: the same command goes on where it was stopped.

    The full run is planned for 90 minutes on two idle cores.
    """
    from structhash.cli.reproduce import reproduce

    reproduce(data, folder, quick=quick, as_json=as_json)
