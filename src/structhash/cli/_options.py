"""Options of commands."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Force", "Neighbours", "Tune"]

Force = Annotated[bool, typer.Option("--force", help="Let -o replace a file of another kind.")]
Neighbours = Annotated[
    bool,
    typer.Option(
        "--neighbours",
        help="Learn from the nearest 2 percent by L2, not from labels (structhash, cghash).",
    ),
]
Tune = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="First try settings on a quarter of the rows for this time (distilhash, structhash, cghash).",
    ),
]
