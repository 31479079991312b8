"""Compact binary codes learned by column generation: DistilHash, StructHash, CGHash, search, evaluation.

Where to look: `estimators` (what users call), `training` (builds a problem and generates bits), `masters`
(weights), `families` (bits), `embeddings` (what is distilled), `objectives` (losses and ranking measures),
`codes`, `search`, `evaluation`. docs/architecture.md draws how a row passes through `fit` and `encode`.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "AdditiveHash": "estimators.additivehash",
    "CGHash": "estimators.cghash",
    "DistilHash": "estimators.distilhash",
    "HashEncoder": "estimators.base",
    "Labels": "supervision",
    "Neighbours": "supervision",
    "Qrels": "supervision",
    "StructHash": "estimators.structhash",
    "Triplets": "supervision",
    "fit_reader": "estimators.reader",
    "load_model": "estimators.loading",
    "load_reader": "estimators.reader",
}

__version__ = "0.1.0"
__all__ = [
    "AdditiveHash",
    "CGHash",
    "DistilHash",
    "HashEncoder",
    "Labels",
    "Neighbours",
    "Qrels",
    "StructHash",
    "Triplets",
    "fit_reader",
    "load_model",
    "load_reader",
]


def __getattr__(name: str) -> Any:
    """Public names on first use (PEP 562), so that the import stays light."""
    if name in _HOME:
        return getattr(importlib.import_module(f"structhash.{_HOME[name]}"), name)
    raise AttributeError(f"module 'structhash' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
