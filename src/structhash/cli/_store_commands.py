"""Arguments and help of the commands about codes in databases: store export, store search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structhash.cli._options import Choices, Json, argument, data_argument, reads_data

__all__ = ["store"]

store = typer.Typer(help="Put the codes of an index into a database, and search them there.")

_PLACE = "duckdb:FILE, sqlite:FILE, or postgres: or pgvector: and an address such as postgresql://me@host/base"
_Table = Annotated[str, typer.Option(help="Name of the table.")]


@store.command("export", epilog="Example: structhash store export i.structhash --to duckdb:codes.db")
def _export(
    index: Annotated[Path, argument("INDEX", "An index that index made.")],
    to: Annotated[str, typer.Option(metavar="STORE", help=f"{_PLACE}.", show_default=False)],
    table: _Table = "codes",
    replace: Annotated[bool, typer.Option("--replace", help="Replace the table if an export made it.")] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Add to the table; no id may be there already.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a table with the ids and codes of an index.

    The table gets all codes, or none of them. Leave a password out of
    the address: PostgreSQL reads PGPASSWORD and ~/.pgpass.
    """
    from structhash.cli.store import export

    export(index, to, table=table, replace=replace, append=append, as_json=as_json)


@store.command("search", epilog="Example: structhash store search duckdb:codes.db x.npy --model m.structhash")
@reads_data
def _search(
    place: Annotated[str, argument("STORE", f"{_PLACE}.")],
    queries: Annotated[Path, data_argument("QUERIES", "Codes that encode made; with --model, vectors.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Neighbours of each query.")] = 10,
    model: Annotated[Path | None, typer.Option(help="The model that encodes the queries.")] = None,
    reader: Annotated[
        str, typer.Option(help="bits, real, auto, near, or a reader file (of cells; sqlite: of any reader).")
    ] = "bits",
    table: _Table = "codes",
    *,
    choices: Choices,
    as_json: Json = False,
) -> None:
    """Find the rows whose codes are nearest to each query, as search does.

    A line a neighbour: query (its id or number), rank, id, distance. Equal
    distances come by id.
    """
    from structhash.cli.store import search

    search(place, queries, k=k, model=model, reader=reader, table=table, choices=choices, as_json=as_json)
