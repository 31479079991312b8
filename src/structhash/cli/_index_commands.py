"""Arguments and help of the commands that make indexes: index, merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Force, IdColumn, Json, argument, output

__all__ = ["index", "merge"]


def index(
    codes: Annotated[Path, argument("CODES", "Codes that encode made.")],
    out: Annotated[Path, output("The index file to write.")],
    append: Annotated[
        bool,
        typer.Option("--append", help="Add to the index in this file; its codes are not read into memory."),
    ] = False,
    bits: Annotated[
        int | None, typer.Option(min=1, help="Bits of a code.", show_default="as the model, or 8 a byte")
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="exact, flat (needs faiss), or one that looks at a part of the codes, with settings: "
            "ivf:n_probe=32 (see `pieces indexes`).",
            show_default="exact",
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(
            help="Whole numbers or text, one a code: a .npy, a .csv with --id, or a text file, one a line.",
            show_default="those of CODES, else row numbers",
        ),
    ] = None,
    id_column: IdColumn = None,
    model: Annotated[
        Path | None, typer.Option(help="Take the bits from this model and, if it weighs them, the weights.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make an index of packed codes.

    Distances are the number of bits that differ, or the sum of their weights.
    """
    from structhash.cli.index import index as run

    run(
        codes,
        out,
        append=append,
        bits=bits,
        backend=backend,
        ids=ids,
        id_column=id_column,
        model=model,
        force=force,
        as_json=as_json,
    )


def merge(
    indexes: Annotated[list[Path], argument("INDEX...", "Indexes that index made, of codes of one model.")],
    out: Annotated[Path, output("The index file to write, of the kind of the first.")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Join indexes in one file. Their codes are not read into memory.

    Row numbers go on from index to index; ids stay, and none may come twice.
    """
    from structhash.cli.merge import merge as run

    run(indexes, out, force=force, as_json=as_json)
