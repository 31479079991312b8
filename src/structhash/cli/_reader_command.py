"""The command ``reader``: its arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Choices, Force, Json, Model, Seed, data_argument, output, reads_data

__all__ = ["fit_reader_command"]


@reads_data
def fit_reader_command(
    model: Model,
    rows: Annotated[Path, data_argument("ROWS", "Vectors like those in the index, such as the indexed rows.")],
    out: Annotated[Path, output("The reader file to write, for search --reader.")],
    name: Annotated[
        str,
        typer.Option(
            "--reader",
            help="auto (what finds most of held-out rows), bits, real, cells, linear or tables; of the stores "
            "only sqlite reads linear and tables.",
        ),
    ] = "auto",
    bits: Annotated[
        int | None,
        typer.Option(min=1, help="Bits of a code in the index.", show_default="all the model has"),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Fit how queries are read, so that the same codes find more.

    The table is the share of the ten nearest rows, by the vectors, that each
    reader finds for held-out rows. At most 50,000 rows are used.
    """
    from structhash.cli.reader import reader

    reader(
        model,
        rows,
        out,
        name=name,
        bits=bits,
        seed=seed,
        force=force,
        as_json=as_json,
        choices=choices,
    )
