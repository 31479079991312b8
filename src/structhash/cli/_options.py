"""Arguments and options that several commands share."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from structhash._numerics.addresses import as_path, is_address

USUAL_MEASURES = "ndcg_paper@100,precision@100,map,pr_area"  # structhash.evaluation.MEASURES imports numpy


def argument(name: str, what: str) -> Any:
    """A required argument."""
    return typer.Argument(metavar=name, help=what, show_default=False)


def data_argument(name: str, what: str) -> Any:
    """A required argument that is a file of vectors, maybe an address."""
    return typer.Argument(metavar=name, help=what, show_default=False, parser=as_path)


def data_option(what: str, metavar: str = "<path>") -> Any:
    """An option that is a file of vectors or judgements, maybe an address."""
    return typer.Option(help=what, metavar=metavar, show_default=False, parser=as_path)


def output(what: str, may_be_folder: bool = False) -> Any:
    """The option -o: a file, as a path, or what may be a folder, as text."""
    parser = _on_this_machine if may_be_folder else _file_of
    return typer.Option("--output", "-o", help=what, metavar="<path>", parser=parser, show_default=False)


def _file_of(text: str) -> Path:
    """The file that a text names; an error of usage if it ends in a slash, which a path does not keep."""
    if ends_in_slash(_on_this_machine(text)):
        raise typer.BadParameter(f"{text} names a folder; give the name of a file")
    return Path(text)


def _on_this_machine(text: str) -> str:
    """The same text; an error of usage if it is an address."""
    if is_address(text):
        raise typer.BadParameter(
            f"{as_path(text)} is an address; give a file of this machine, and copy it there"
        )
    return text


def ends_in_slash(text: str) -> bool:
    """Whether a name is that of a folder, even of one that is missing."""
    return text.endswith(("/", os.sep))


_FORMATS = (
    ".npy (X), .npz (X, y; Q and qrels for judged queries), .csv (labels in a column y or label), "
    ".parquet, .arrow or .feather (a column of vectors, or numbers as in a .csv)"
)
_NAMES = "ndcg@k, ndcg_paper@k, precision@k, recall@k, map, map@k, map_hits@k, auc, sndcg, mrr, pr_area"

VECTORS = (
    f"Vectors: a file {_FORMATS}; a folder or quoted pattern of such files; or an address (https://, s3://)."
)
Data = Annotated[Path, data_argument("DATA", VECTORS)]
Model = Annotated[Path, argument("MODEL", "A model that fit made.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random draws: one model on one kind of machine.")]
QUERIES_HELP = "Random rows used as queries, at most a quarter of all."
Queries = Annotated[int, typer.Option(min=1, help=QUERIES_HELP)]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "--measure",
        help=f"Names with commas between them, or repeat, such as {_NAMES}; k is a rank.",
        show_default=USUAL_MEASURES.replace(",", ", "),  # blanks let the help break the line
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Let -o replace a file of another kind or comparison.")]
IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="The column of a .csv of --ids.")]
Choices = dict[str, Any]  # keywords of `structhash.io.read`: how the command line says a data file is read


class Rescoring(NamedTuple):
    """What orders the nearest codes: options of search."""

    vectors: Path
    factor: int = 10
    metric: str = "cosine"
    ids: Path | None = None
    recall: float | None = None  # that the factor is chosen for


def rescoring(
    vectors: Path | None, factor: int | None, metric: str | None, ids: Path | None, recall: float | None
) -> Rescoring | None:
    """The options that go with --rescore; ValueError if there are some, but not it."""
    if factor is not None and recall is not None:
        raise ValueError("--factor and --recall contradict each other; give one of them")
    given = {"factor": factor, "metric": metric, "ids": ids, "recall": recall}
    given = {name: value for name, value in given.items() if value is not None}
    if vectors is not None:
        return Rescoring(vectors, **given)  # type: ignore[arg-type]
    if given:
        option = {"ids": "--rescore-ids"}.get(name := next(iter(given)), f"--{name}")
        raise ValueError(f"{option} goes with --rescore VECTORS; give that too")
    return None


class PageOptions(NamedTuple):
    """A page to write, and what the rows of its examples look like."""

    out: Path
    images: str
    texts: str | None


def page_options(report: Path | None, out: Path | None, images: str, texts: str | None) -> PageOptions | None:
    """The options that go with --report; ValueError if there are some without it, or -o names the same file."""
    if report is None and (texts is not None or images != "auto"):
        raise ValueError("--images and --texts show rows in the page of --report; give that too")
    if report is not None and report == out:
        raise ValueError(f"-o and --report both name {report}; give two names")
    return None if report is None else PageOptions(report, images, texts)


def choices(
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Labels: a column, or an array (.npz); none: no labels.",
            show_default="found by name",
        ),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The first line of a .csv names the columns.")
    ] = False,
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line of a .csv is a row.")] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Leave out a column of a table, such as ids; repeat. none: none."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of vectors of a .parquet, .arrow or .feather.",
            show_default="the one there is",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of ids of a .parquet, .arrow or .feather; none: no ids.",
            show_default="id",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of texts of a .csv, which --text-model embeds."),
    ] = None,
    text_model: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A model saved by sentence-transformers or model2vec."),
    ] = None,
) -> Choices:
    """How a data file is read, of the options that say so."""
    if header and no_header:
        raise ValueError("--header and --no-header contradict each other; give one of them")
    table = {"label": label, "ignore": tuple(ignore or ()), "column": column, "id": id, "text": text}
    table["text_model"] = None if text_model is None else str(text_model)
    return {"header": header if header or no_header else None, **table}


def judged_choices(
    query_file: Annotated[Path | None, data_option("Vectors of queries, in place of Q.", "FILE")] = None,
    qrels: Annotated[
        Path | None,
        data_option("Judgements by ids: TREC qrels, or a .parquet of queries, documents and grades.", "FILE"),
    ] = None,
) -> Choices:
    """Where queries and judgements are, of the options that say so."""
    return {"query_file": query_file, "qrels": qrels}


def reads_data(command: Callable[..., None], *more: Callable[..., Choices]) -> Callable[..., None]:
    """Give a command the options of `choices`, and of more such functions, in the place of `choices`."""
    own = inspect.signature(command, eval_str=True).parameters
    makers = {each: inspect.signature(each, eval_str=True).parameters for each in (*more, choices)}
    options = {name: option for each in makers.values() for name, option in each.items()}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        how: Choices = {}
        for make, names in makers.items():
            how |= make(**{name: given.pop(name) for name in names})
        command(**given, choices=how)

    shown = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.items()
        for each in (options.values() if name == "choices" else [parameter])
    ]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return run


def reads_judged_data(command: Callable[..., None]) -> Callable[..., None]:
    """As `reads_data`, with the options of `judged_choices`."""
    return reads_data(command, judged_choices)
