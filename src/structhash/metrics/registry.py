"""Find metrics by text names such as ``"ndcg@10"``.

A metric is a module of this folder with a dict ``NAMES``: text name -> function of tie blocks. A name that
ends in ``@k`` takes the cut k from the text.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["canonical", "names", "parse"]

_PACKAGE = __name__.rpartition(".")[0]
_NO_METRICS = ("base", "registry", "tie_blocks")


def names() -> list[str]:
    """Sorted text names of all metrics.

    >>> from structhash.metrics import names
    >>> names()[:3]
    ['auc', 'map', 'map@k']
    """
    return sorted(_named())


def canonical(name: str) -> str:
    """The name of a metric as `names` spells it, of a name in any capitals.

    ValueError if there is no such metric, or if several differ in capitals alone and none is spelled so.

    >>> from structhash.metrics import canonical
    >>> canonical("mAP"), canonical("nDCG@10")
    ('map', 'ndcg@10')
    """
    word, at, k = name.partition("@") if isinstance(name, str) else ("", "", "")
    form, known = word + "@k" if at else word, names()
    found = [form] if form in known else [each for each in known if each.lower() == form.lower()]
    if len(found) != 1 or (at and not (k.isdecimal() and int(k) > 0)):
        raise ValueError(f"metric={describe(name)}: give one of {', '.join(known)}, with an integer k >= 1")
    return f"{found[0].removesuffix('k')}{int(k)}" if at else found[0]


def parse(name: str) -> Callable[[TieBlocks], NDArray[np.float64]]:
    """Return the metric with this text name, in any capitals: a function of tie blocks.

    "ndcg@10" has the standard discount and "ndcg_paper@10" the paper's; both have the ideal normaliser. "map"
    divides by the relevant documents, "map_hits@10" by the hits among the first 10. "mrr" is
    `reciprocal_rank`. "pr_area" is `pr_area_per_query`. ValueError if there is no such name.

    Examples
    --------
    >>> from structhash.metrics import parse, tie_blocks
    >>> parse("precision@2")(tie_blocks([[1, 2, 3]], [[0, 1, 0]]))
    array([0.5])
    """
    word, at, k = canonical(name).partition("@")
    function = _named()[word + "@k" if at else word]
    return partial(function, k=int(k)) if at else function


def _named() -> dict[str, Callable[..., NDArray[np.float64]]]:
    """All text names and their functions; ValueError if two modules use one name."""
    found: dict[str, Any] = {}
    for entry in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__):
        if entry.name in _NO_METRICS or entry.name.startswith("_"):
            continue
        for name, function in importlib.import_module(f"{_PACKAGE}.{entry.name}").NAMES.items():
            if name in found:
                raise ValueError(f"two metrics are called {name!r}; give each a name of its own")
            found[name] = function
    return found
