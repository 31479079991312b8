"""The command line: what each command is called, takes and says in its help; `structhash.cli` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash import __version__
from structhash.cli.console import Commands

app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)

DATA = "a file .npy (X), .npz (X, y; Q and qrels for judged queries) or .csv (labels in a column y or label)"
NAMES = "ndcg@k, ndcg_paper@k, precision@k, recall@k, map, map@k, map_hits@k, auc, sndcg, mrr, pr_area"
USUAL = "ndcg_paper@100,precision@100,map,pr_area"


def argument(name: str, what: str) -> typer.models.ArgumentInfo:
    """A required argument."""
    return typer.Argument(metavar=name, help=what, show_default=False)


def output(what: str) -> typer.models.OptionInfo:
    """The option -o; files are written whole or not at all, and replace a file of that name."""
    return typer.Option("--output", "-o", help=what, show_default=False)


Data = Annotated[Path, argument("DATA", f"Vectors: {DATA}.")]
Model = Annotated[Path, argument("MODEL", "A model that fit made.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, and nothing else there.")]
Bits = Annotated[int, typer.Option(min=1, help="Length of the code, in bits.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything drawn at random; same seed, same result.")]
Queries = Annotated[int, typer.Option(min=1, help="Random rows used as queries, at most a quarter of all.")]
LIST = f"Comma list, or repeat: {NAMES}; k is a rank."
Measures = Annotated[list[str] | None, typer.Option("--measures", "--measure", help=LIST, show_default=USUAL)]


def version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"structhash {__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with: structhash demo")
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn compact binary codes, search them, and measure how good they are.

    Results go to stdout, progress and warnings to stderr. Bad input ends with one
    line on stderr and exit status 2.
    """


@app.command(epilog='Example: structhash fit train.npz -o m.structhash --method "structhash:ranking=ndcg,C=30"')
def fit(
    data: Data,
    out: Annotated[Path, output("The model file to write.")],
    method: Annotated[
        str, typer.Option(help="A name and its settings, NAME:key=value,...; a|b tries both on held-out rows.")
    ] = "structhash",
    bits: Annotated[
        int | None,
        typer.Option(min=1, help="Length of the code, in bits.", show_default="64, or the method's own"),
    ] = None,
    neighbours: Annotated[
        bool, typer.Option("--neighbours", help="Learn from the nearest 2 percent by L2, not from labels.")
    ] = False,
    unlabeled: Annotated[
        Path | None,
        typer.Option(
            help="Rows like those to be searched, as the database, maybe of new classes; structhash only."
        ),
    ] = None,
    tune: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Try settings on a held-out quarter of the rows so long, then learn; structhash, cghash.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn a model from the rows of DATA, which need labels unless the method learns without, as itq does.

    Where DATA has no labels, structhash and cghash learn from judgements, Q and qrels; structhash from X alone,
    too. With --unlabeled it sees whether these rows are of classes that the labels lack, and learns for them.
    All rows are used. A few thousand are enough as a rule; time grows with them.
    With --tune it then learns by the settings that found held-out rows best, by mAP, from all rows.
    """
    from structhash.cli import codes

    codes.fit(data, out, method, bits, neighbours, unlabeled, tune, seed, as_json)


@app.command(epilog="Example: structhash encode m.structhash database.npy -o codes.npy")
def encode(
    model: Model,
    data: Data,
    out: Annotated[Path, output("The .npy file to write: uint8, a row of ceil(bits / 8) bytes a vector.")],
    bits: Annotated[
        int | None, typer.Option(min=1, help="Only the first bits.", show_default="all the model has")
    ] = None,
    queries: Annotated[
        bool,
        typer.Option("--queries", help="As queries, whose codes may be others: Q of DATA, else X."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Turn vectors into packed codes."""
    from structhash.cli import codes

    codes.encode(model, data, out, bits, queries, as_json)


@app.command(epilog="Example: structhash index codes.npy -o index.structhash --model m.structhash")
def index(
    codes: Annotated[Path, argument("CODES", "Codes that encode made.")],
    out: Annotated[Path, output("The index file to write.")],
    bits: Annotated[
        int | None, typer.Option(min=1, help="Bits of a code.", show_default="as the model, or 8 a byte")
    ] = None,
    backend: Annotated[
        str,
        typer.Option(
            help="exact (plain and weighted), flat (faiss; plain, quicker), or other `pieces indexes`."
        ),
    ] = "exact",
    ids: Annotated[
        Path | None, typer.Option(help="A .npy file, a whole number a code.", show_default="row numbers")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Take the bits and, if it weighs them, the weights (exact only).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make an index of packed codes; distances are bits that differ, or the sum of their weights."""
    from structhash.cli import codes as commands

    commands.index(codes, out, bits, backend, ids, model, as_json)


@app.command(epilog="Example: structhash search index.structhash queries.npy --model m.structhash -k 5")
def search(
    index: Annotated[Path, argument("INDEX", "An index that index made.")],
    queries: Annotated[
        Path, argument("QUERIES", "Codes .npy (encode --queries), or with --model vectors (Q, else X).")
    ],
    k: Annotated[int | None, typer.Option("-k", min=1, help="Neighbours a query.", show_default="10")] = None,
    radius: Annotated[
        float | None,
        typer.Option(min=0, help="Instead of -k: all within this distance (bits, or sum of weights)."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Encode QUERIES by this model.")] = None,
    out: Annotated[
        Path | None,
        output("Write distances and ids (with --radius also where each query begins, lims) to this .npz."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the nearest codes of each query: a line each with query, rank, id, distance; ties by id.

    On a terminal, or with -o, the first three queries are shown; in a pipe all are.
    """
    from structhash.cli import codes

    codes.search(index, queries, k, radius, model, out, as_json)


@app.command(
    epilog="Example: structhash evaluate m.structhash test.npz --measure map,precision@10 -o scores.json"
)
def evaluate(
    model: Model,
    data: Data,
    queries: Queries = 2000,
    seed: Seed = 0,
    measures: Measures = None,
    ties: Annotated[
        str, typer.Option(help="Equal distances: expected (mean over all orders) or id (order of rows).")
    ] = "expected",
    out: Annotated[Path | None, output("Also write the result to this JSON file.")] = None,
    as_json: Json = False,
) -> None:
    """Score a model by retrieval. DATA must NOT be the rows the model was fitted on: give rows it has not seen.

    With Q and qrels in DATA: judged (graded) retrieval of all of Q among X.
    Else by labels: random queries, all other rows the database.
    A line for plain Hamming distance and, if the model weighs bits, a weighted one;
    another for a method with a distance of its own.
    """
    from structhash.cli import scores

    scores.evaluate(model, data, queries, seed, measures, ties, as_json, out)


@app.command(
    epilog='Example: structhash compare data.npz --methods "structhash,itq,lsh" --bits 32 -o result.json'
)
def compare(
    data: Data,
    methods: Annotated[
        str,
        typer.Option(
            help="Comma list as for fit --method. NAME@database: fitted on the database; float: the vectors "
            "themselves, by L2; all: every method, those without labels on training and database rows."
        ),
    ] = "structhash,cghash,one_hot,itq@database,lsh,float",
    bits: Annotated[str, typer.Option(help="Lengths of the codes, in bits; comma list.")] = "16,32,64",
    protocol: Annotated[
        str,
        typer.Option(
            help="seen: queries are of classes trained on; unseen: of other classes; "
            "judged: Q by qrels, in 5 parts, each tested by a model of the others."
        ),
    ] = "seen",
    seeds: Annotated[str, typer.Option(help="A split and a model each; comma list.")] = "0,1,2",
    queries: Queries = 2000,
    train: Annotated[
        int | None, typer.Option(min=1, help="Training rows.", show_default="2000 seen, 4000 unseen")
    ] = None,
    measures: Measures = None,
    out: Annotated[Path | None, output("Also write the result, with versions, to this JSON file.")] = None,
    as_json: Json = False,
) -> None:
    """Fit and score several methods on the same splits of DATA, which needs labels (judged: Q and qrels).

    * behind a value: significantly below the best code of that length (paired
    t-test over queries, 5 percent, Holm-corrected). Times are in seconds.
    """
    from structhash.cli import scores

    scores.compare(data, methods, bits, protocol, seeds, queries, train, measures, out, as_json)


@app.command(epilog="Example: structhash demo -o demo-output")
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; made if missing.")
    ] = Path("demo-output"),
    bits: Bits = 32,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Do the whole job on 1,797 handwritten digits: learn, encode, index, search, compare. Below a minute."""
    from structhash.cli import demo

    demo.demo(folder, bits, seed, as_json)


@app.command(epilog="Example: structhash pieces rankings")
def pieces(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Such as rankings.", show_default="all kinds")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what a method is made of: rankings, losses, families and so on, with a line on each."""
    from structhash.cli import about

    about.pieces(kind, as_json)


@app.command(epilog="Example: structhash info m.structhash")
def info(
    file: Annotated[Path, argument("FILE", "Model, index, codes or data.")],
    as_json: Json = False,
) -> None:
    """Say what a file is: kind, class, bits, features, rows, parameters."""
    from structhash.cli import about

    about.info(file, as_json)
