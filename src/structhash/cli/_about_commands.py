"""Arguments and help of the commands about the program itself and its files: demo, pieces, info."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Choices, Json, Seed, data_argument, reads_data

__all__ = ["demo", "info", "pieces"]


def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; made if missing.")
    ] = Path("demo-output"),
    bits: Annotated[int, typer.Option(min=1, help="Length of the code, in bits.")] = 32,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Do the whole job on 1,797 handwritten digits: learn, encode, index, search, compare."""
    from structhash.cli.demo import demo as run

    run(folder, bits=bits, seed=seed, as_json=as_json)


def pieces(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Such as rankings.", show_default="all kinds")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what methods are made of: rankings, losses, families and so on."""
    from structhash.cli.pieces import print_pieces

    print_pieces(kind, as_json)


@reads_data
def info(
    file: Annotated[Path, data_argument("FILE", "Model, index, codes or data.")],
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Say what a file is: kind, class, sizes, what a model learned and why, and its settings."""
    from structhash.cli.info import print_info

    print_info(file, as_json, choices=choices)
