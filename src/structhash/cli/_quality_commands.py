"""Arguments and help of the commands that say how good codes of new rows are: recall, drift."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Choices, Data, Json, Model, Seed, data_argument, data_option, reads_data

__all__ = ["drift_command", "recall_command"]

MaxRows = Annotated[int, typer.Option(min=200, help="Draw so many rows of a larger file.")]


@reads_data
def recall_command(
    data: Data,
    bits: Annotated[
        str, typer.Option(help="Lengths of the codes, in bits, with commas between them.")
    ] = "32,64,128",
    k: Annotated[int, typer.Option("-k", min=1, help="Nearest rows that a search should find.")] = 10,
    queries: Annotated[
        int, typer.Option(min=1, help="Rows that are held out as queries, at most a quarter.")
    ] = 500,
    max_rows: MaxRows = 50_000,
    reader: Annotated[
        str, typer.Option("--reader", help="auto (the best on held-out rows), real, cells, linear or tables.")
    ] = "auto",
    factor: Annotated[
        int | None,
        typer.Option(min=1, help="Codes a neighbour that vectors order, as in search.", show_default="10"),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            "--recall", min=0, max=1, help="Instead of --factor: find the least factor for this recall."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw recall against bytes into this .png or .svg (needs matplotlib)."
        ),
    ] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Let --plot replace a file of another kind.")] = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Tell what codes of these vectors would find, before anything is built.

    DATA needs no labels. Random rows are held out as queries, and distilhash is
    fitted on the others. The table is the share of the nearest rows that a
    search finds: by bits (Hamming), with queries read by a reader, and where
    vectors order the nearest codes (rescored).
    """
    from structhash.cli.recall import recall as run

    run(
        data,
        bits=bits,
        k=k,
        n_queries=queries,
        max_rows=max_rows,
        reader=reader,
        factor=factor,
        wanted=recall,
        plot=plot,
        seed=seed,
        force=force,
        as_json=as_json,
        choices=choices,
    )


@reads_data
def drift_command(
    model: Model,
    data: Annotated[
        Path, data_argument("NEW", "New rows that the model has not seen, as DATA of fit; at least 200.")
    ],
    training: Annotated[
        Path | None, data_option("The rows that the model was fitted on, to tell what changed.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Rank of recall@k, or with labels of precision@k.")] = 10,
    min_gain: Annotated[
        float, typer.Option(min=0, help="The gain in this measure that is worth a refit.")
    ] = 0.02,
    max_rows: MaxRows = 10_000,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with status 1 where a refit is advised.")] = False,
    seed: Seed = 0,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Tell whether a model still does for new rows: keep it, or fit again.

    The same method is fitted on a part of the new rows. Both models answer the
    same held-out queries. The verdict is refit if the new model surely gains
    more than --min-gain, or a tenth of the rows are surely of new classes
    (99 percent confidence).

    A model that was learned from labels needs labels in NEW, or --training.
    """
    from structhash.cli.drift import drift as run

    run(
        model,
        data,
        training=training,
        k=k,
        min_gain=min_gain,
        max_rows=max_rows,
        fail=fail,
        seed=seed,
        as_json=as_json,
        choices=choices,
    )
