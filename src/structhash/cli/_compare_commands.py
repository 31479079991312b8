"""Arguments and help of the commands that compare methods and show the result: compare, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import (
    QUERIES_HELP,
    Choices,
    Data,
    Force,
    Json,
    Measures,
    argument,
    data_option,
    output,
    page_options,
    reads_judged_data,
)

__all__ = ["compare", "report"]

_USUAL_METHODS = "distilhash,structhash,cghash,one_hot,itq@database,lsh,float"

_Methods = Annotated[
    str,
    typer.Option(
        help="As for fit --method, with commas between them. NAME@database: fitted on the database; "
        "NAME@real, NAME@auto: so read; float: the vectors by L2; all: every one, some also @database.",
        show_default=_USUAL_METHODS.replace(",", ", "),  # blanks let the help break the line
    ),
]
_Protocol = Annotated[
    str,
    typer.Option(
        help="seen: queries are of classes that train; unseen: of new classes. Others: mixed-known, mixed-new, "
        "few-N, tail, coarse, instances, judged, neighbours. docs/evaluation.md has a table of them."
    ),
]
_Images = Annotated[
    str,
    typer.Option(
        metavar="FOLDER|SHAPE",
        help="Rows as pictures in the page: image files, by ids or in the order of their names; a shape, "
        "such as 28x28 or 32x32x3; auto: where rows look like pictures; none.",
    ),
]
_Texts = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|COLUMN",
        help="A text for each row, for the page: a text file, one a line; a .csv or .npy; or a column of DATA.",
        show_default=False,
    ),
]


@reads_judged_data
def compare(
    data: Data,
    methods: _Methods = _USUAL_METHODS,
    bits: Annotated[
        str, typer.Option(help="Lengths of the codes, in bits, with commas between them.")
    ] = "16,32,64",
    protocol: _Protocol = "seen",
    seeds: Annotated[str, typer.Option(help="A split and a model each, with commas between them.")] = "0,1,2",
    queries: Annotated[
        int | None,
        typer.Option(min=1, help=QUERIES_HELP, show_default="2000"),
    ] = None,
    train: Annotated[
        int | None, typer.Option(min=1, help="Training rows.", show_default="2000, unseen 4000")
    ] = None,
    measures: Measures = None,
    out: Annotated[
        Path | None, output("Write this JSON file; an interrupted command goes on from FILE.part.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write this page (.html), see report.", show_default=False),
    ] = None,
    images: _Images = "auto",
    texts: _Texts = None,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Fit and score several methods on the same splits.

    DATA needs labels; for --protocol judged, Q and qrels; for neighbours, only X.

    * after a value: significantly below the best code of that length (paired
    t-test over queries, 5 percent, Holm-corrected). Times are in seconds.
    """
    from structhash.cli.compare import compare as run

    run(
        data,
        methods=methods,
        bits=bits,
        protocol=protocol,
        seeds=seeds,
        n_queries=queries,
        n_train=train,
        measures=measures,
        out=out,
        page=page_options(report, out, images, texts),
        force=force,
        as_json=as_json,
        choices=choices,
    )


def report(
    result: Annotated[Path, argument("RESULT", "A comparison: what compare -o or --json wrote.")],
    out: Annotated[Path, output("The page to write (.html).")],
    data: Annotated[
        Path | None,
        data_option("The data of the comparison: shows what the rows look like."),
    ] = None,
    images: _Images = "auto",
    texts: _Texts = None,
    force: Force = False,
) -> None:
    """Show a comparison as a page in one file, for a browser.

    Tables with tests, quality against bytes and time, classes, hardest queries,
    and examples of what is found. The page loads nothing from anywhere.
    """
    from structhash.cli.report import report as run

    run(result, out, data=data, images=images, texts=texts, force=force)
