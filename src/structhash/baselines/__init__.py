"""Methods to compare with, each a `HashEncoder`: ``from structhash.baselines import ITQ, LSH, OneHot``.

A new baseline is one new file here; see `structhash.baselines.base.Baseline`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Baseline", "SupervisedBaseline"]  # and each baseline by its class name, see `__getattr__`


def __getattr__(name: str) -> Any:
    """A baseline by its class name, from the module of this package that defines it."""
    from structhash.pieces import classes, snake

    if name in __all__:
        from structhash.baselines import base

        return getattr(base, name)
    if name.startswith("_") or (found := classes("baselines").get(snake(name))) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    from structhash.pieces import classes

    return sorted([*__all__, *(found.__name__ for found in classes("baselines").values())])
