"""Methods to compare with, each a `HashEncoder`: ``from structhash.baselines import ITQ, LSH, OneHot``."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Any baseline by its class name, from whichever module of this package has it."""
    from structhash.pieces import classes, snake

    if name.startswith("_") or (found := classes("baselines").get(snake(name))) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    from structhash.pieces import classes

    return sorted(found.__name__ for found in classes("baselines").values())
