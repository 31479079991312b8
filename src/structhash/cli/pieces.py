"""``structhash pieces``: what a method can be made of."""

from __future__ import annotations

import inspect
import re
from typing import Any

from structhash.cli.documents import to_json
from structhash.pieces import KINDS, classes

__all__ = ["PAPER", "describe_piece", "print_pieces"]

PAPER = "doi:10.1007/s11263-016-0984-4"  # the source of a piece whose docstring cites the paper and no other
_OF_THE_PAPER = re.compile(r"\bpaper|\beq\.\s|\bSection \d")
_ADDRESS = r"doi:\S+|https?://\S+"


def print_pieces(kind: str | None, as_json: bool) -> None:
    """Print the pieces of one kind, or of all: settings with their defaults, what each is, and its source."""
    kinds = list(KINDS) if kind is None else [kind]
    found = {kind: {name: describe_piece(piece) for name, piece in classes(kind).items()} for kind in kinds}
    if as_json:
        print(to_json(found))
        return
    for kind, members in found.items():
        print(f"{kind}:")
        for name, each in members.items():
            settings = ",".join(f"{key}={value}" for key, value in each["settings"].items())
            print(f"  {name}{':' if settings else ''}{settings}")
            print(f"      {each['what']} [{each['source']}]")


def describe_piece(piece: type) -> dict[str, Any]:
    """Description (`what`) of a piece, its `settings` with their defaults, and its `source`."""
    text = inspect.getdoc(piece) or ""
    source = re.search(_ADDRESS, text)
    settings = {
        key: "(needed)" if each.default is each.empty else each.default
        for key, each in inspect.signature(piece).parameters.items()
    }
    return {
        "what": text.partition("\n")[0],
        "settings": settings,
        "source": source.group().rstrip(".,:;)") if source else PAPER if _OF_THE_PAPER.search(text) else "-",
    }
