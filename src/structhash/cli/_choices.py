"""The options that say how a data file is read."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Labels: a column (.csv) or an array (.npz); none: no labels.",
        show_default="found by name",
    ),
]
Header = Annotated[bool, typer.Option("--header", help="The first line of a .csv names the columns.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of a .csv is a row.")]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave out a column of a .csv, such as ids; repeat. none: none."),
]


def choices(label: str | None, header: bool, no_header: bool, ignore: list[str] | None) -> dict[str, Any]:
    """How a data file is read: keywords of `structhash.io.read`."""
    if header and no_header:
        raise ValueError("--header and --no-header contradict each other; give one of them")
    return {"label": label, "header": header if header or no_header else None, "ignore": tuple(ignore or ())}
