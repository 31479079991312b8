"""The commands: names, arguments and help. Each imports the module that does its work when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash import __version__
from structhash.cli._about_commands import demo, info, pieces
from structhash.cli._compare_commands import compare, report
from structhash.cli._encode_command import encode
from structhash.cli._export_command import export_command
from structhash.cli._index_commands import index, merge
from structhash.cli._options import (
    Choices,
    Data,
    Force,
    IdColumn,
    Json,
    Measures,
    Model,
    Queries,
    Seed,
    argument,
    data_argument,
    data_option,
    output,
    reads_data,
    reads_judged_data,
    rescoring,
)
from structhash.cli._quality_commands import drift_command, recall_command
from structhash.cli._reader_command import fit_reader_command
from structhash.cli._reproduce_command import reproduce_command
from structhash.cli._store_commands import store
from structhash.cli.console import Commands

__all__ = ["app"]

app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)

_Neighbours = Annotated[
    bool,
    typer.Option(
        "--neighbours",
        help="Learn from the nearest 2 percent by L2, not from labels (structhash, cghash).",
    ),
]
_Tune = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="First try settings for this time, scored on a quarter of the rows. The final fit takes more time "
        "(distilhash, structhash, cghash).",
    ),
]
_Recall = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="In place of --factor: choose the least one that finds this share of the nearest vectors, for 200 "
        "rows of the index that are held out.",
    ),
]


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"structhash {__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with: structhash demo")
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Learn compact binary codes, search them, and measure how good they are.

    Results go to stdout, progress and warnings to stderr. Bad input ends with one
    line on stderr and exit status 2, work that could not be finished with status 1.
    A file is written whole or not at all.
    """


@app.command("fit", epilog="Example: structhash fit train.npz -o m.structhash --bits 32")
@reads_judged_data
def _fit(
    data: Data,
    out: Annotated[Path, output("The model file to write.")],
    method: Annotated[
        str,
        typer.Option(
            help="Name and settings, such as structhash:ranking=ndcg,C=30. C=3|30 tries both on held-out rows."
        ),
    ] = "distilhash",
    bits: Annotated[
        int | None,
        typer.Option(min=1, help="Length of the code, in bits.", show_default="64, or the method's own"),
    ] = None,
    neighbours: _Neighbours = False,
    unlabeled: Annotated[
        Path | None,
        data_option(
            "Rows like those to be searched, maybe of classes without labels (distilhash, additivehash)."
        ),
    ] = None,
    tune: _Tune = None,
    seed: Seed = 0,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Learn a model, and report what was learned and why.

    distilhash, the default, learns from labels. Where DATA has none, it
    learns from judgements (Q and qrels) if they help, else from X alone. With
    --unlabeled it finds out whether those rows are of classes without labels.

    structhash and cghash, the methods of the paper, learn from labels,
    judgements or --neighbours; other methods from labels or from X alone.
    additivehash learns sums of vectors, with labels or without: no bits.

    All rows are used; time grows with them, and a few thousand are usually enough.
    """
    from structhash.cli.fit import fit

    fit(
        data,
        out,
        method,
        bits=bits,
        neighbours=neighbours,
        unlabeled=unlabeled,
        tune=tune,
        seed=seed,
        force=force,
        as_json=as_json,
        choices=choices,
    )


app.command("encode", epilog="Example: structhash encode m.structhash database.npy -o codes.structhash")(
    reads_data(encode)
)
app.command("index", epilog="Example: structhash index codes.structhash -o i.structhash --model m.structhash")(
    index
)
app.command("merge", epilog="Example: structhash merge a.structhash b.structhash -o all.structhash")(merge)


@app.command(
    "search", epilog="Example: structhash search index.structhash queries.npy --model m.structhash -k 5"
)
@reads_data
def _search(
    index: Annotated[Path, argument("INDEX", "An index that index made.")],
    queries: Annotated[
        Path, data_argument("QUERIES", "Codes (encode --queries), or with --model vectors (Q, else X).")
    ],
    k: Annotated[int | None, typer.Option("-k", min=1, help="Neighbours a query.", show_default="10")] = None,
    radius: Annotated[
        float | None,
        typer.Option(min=0, help="Instead of -k: all rows within this distance (bits, or sum of weights)."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Encode QUERIES with this model.")] = None,
    reader: Annotated[str, typer.Option(help="bits, real, auto, near, or a fitted reader's file.")] = "bits",
    among: Annotated[
        Path | None, typer.Option(help="Search only these: ids as for index, or a .npy mask.")
    ] = None,
    rescore: Annotated[
        Path | None, typer.Option(help="Order the nearest rows by these vectors: a .npy, a vector a row.")
    ] = None,
    factor: Annotated[
        int | None, typer.Option(min=1, help="Rows a neighbour that --rescore orders.", show_default="10")
    ] = None,
    recall: _Recall = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Of --rescore: cosine, inner_product or euclidean.", show_default="cosine"),
    ] = None,
    rescore_ids: Annotated[
        Path | None, typer.Option(help="The id of each vector, as for index.", show_default="row numbers")
    ] = None,
    out: Annotated[
        Path | None,
        output("Write distances and ids to this .npz; query_ids if queries have ids, lims with --radius."),
    ] = None,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Find the rows whose codes are nearest to each query.

    A line a neighbour: query (its id or number), rank, id, distance. Equal
    distances come by id.
    On a terminal, or with -o, only the first three queries are shown.
    """
    from structhash.cli.search import search

    search(
        index,
        queries,
        k=k,
        radius=radius,
        model=model,
        reader=reader,
        among=among,
        rescore=rescoring(rescore, factor, metric, rescore_ids, recall),
        out=out,
        force=force,
        as_json=as_json,
        choices=choices,
    )


@app.command("dedup", epilog="Example: structhash dedup codes.structhash --radius 3 -o groups.csv")
def _dedup(
    codes: Annotated[Path, argument("CODES", "Codes that encode made.")],
    radius: Annotated[
        int, typer.Option(min=0, help="Codes that differ in at most so many bits are near.", show_default=False)
    ],
    max_pairs: Annotated[
        int, typer.Option(min=1, help="Give up when more pairs of different codes are near.")
    ] = 100_000_000,
    ids: Annotated[
        Path | None,
        typer.Option(
            help="The id of each code, for the file: a .npy, a .csv with --id, or a text file, one a line.",
            show_default="those of CODES, if any",
        ),
    ] = None,
    id_column: IdColumn = None,
    out: Annotated[
        Path | None,
        output(
            "Write a line row,group[,id,group_id] to this .csv for each row that has near duplicates; group is "
            "the lowest row of its group."
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find near-duplicates: rows that are connected by pairs of near codes.

    No pair is missed. Keep the lowest row of each group, where row equals group
    in the file: then no two kept rows are within the radius.
    """
    from structhash.cli.dedup import dedup

    dedup(
        codes,
        radius,
        max_pairs=max_pairs,
        ids=ids,
        id_column=id_column,
        out=out,
        force=force,
        as_json=as_json,
    )


app.command("reader", epilog="Example: structhash reader m.structhash rows.npy -o r.reader")(fit_reader_command)


@app.command(
    "evaluate",
    epilog="Example: structhash evaluate m.structhash test.npz --measure map,precision@10 -o scores.json",
)
@reads_judged_data
def _evaluate(
    model: Model,
    data: Data,
    queries: Queries = 2000,
    seed: Seed = 0,
    measures: Measures = None,
    ties: Annotated[str, typer.Option(help="Equal distances: expected (mean over orders) or id.")] = "expected",
    reader: Annotated[
        Path | None, typer.Option(help="The file of a fitted reader: add a line for queries read by it.")
    ] = None,
    out: Annotated[Path | None, output("Also write the result to this JSON file.")] = None,
    force: Force = False,
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Score a model by retrieval on rows that it has NOT been fitted on.

    With Q and qrels in DATA: graded retrieval of all of Q among X. Otherwise by
    labels: queries are random rows, and all other rows are the database.

    There is a line for plain Hamming distance, others if the model weighs its
    bits or has its own distance, one for queries read by real values, and with
    --reader one for queries that it reads.
    """
    from structhash.cli.evaluate import evaluate

    evaluate(
        model,
        data,
        n_queries=queries,
        seed=seed,
        measures=measures,
        ties=ties,
        reader=reader,
        out=out,
        force=force,
        as_json=as_json,
        choices=choices,
    )


app.command(
    "compare",
    epilog='Example: structhash compare data.npz --methods "distilhash,itq,lsh" --bits 32 -o result.json',
)(compare)
app.command("report", epilog="Example: structhash report result.json --data data.npz -o report.html")(report)
app.command("recall", epilog="Example: structhash recall vectors.npy --bits 32,64,128")(recall_command)
app.command("drift", epilog="Example: structhash drift m.structhash new.npy --training train.npz")(
    drift_command
)
app.command("export", epilog="Example: structhash export m.structhash --to onnx -o m.onnx")(export_command)
app.add_typer(store, name="store")
app.command("reproduce", epilog="Example: structhash reproduce --data ../shared/data --quick")(
    reproduce_command
)
app.command("demo", epilog="Example: structhash demo -o demo-output")(demo)
app.command("pieces", epilog="Example: structhash pieces rankings")(pieces)
app.command("info", epilog="Example: structhash info m.structhash")(info)
