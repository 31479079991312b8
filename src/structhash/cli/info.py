"""``structhash info``: what a file is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structhash.cli.display import print_facts
from structhash.io import container, facts, suffixes

__all__ = ["print_info"]


def print_info(path: Path, as_json: bool) -> None:
    """Print what a model, index, codes or data file is."""
    tell = facts if path.suffix.lower() in suffixes() else _container_facts
    print_facts({"file": str(path), **tell(path)}, as_json)


def _container_facts(path: Path) -> dict[str, Any]:
    """Facts of a model or an index."""
    try:
        header = container.header(path)
    except ValueError as error:
        raise ValueError(f"{error}; data files end in {', '.join(suffixes())}") from None
    kind = header["kind"]
    return {"kind": kind, **(_model_facts(path, header["params"]) if kind == "model" else _index_facts(path))}


def _model_facts(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Class and sizes of a model, what it learned, and its settings."""
    from structhash.estimators.loading import load_model  # a second of imports

    model = load_model(path)
    return {
        "class": type(model).__name__,
        "bits": model.n_bits_,
        "features": model.n_features_in_,
        **model.about(),
        "weighted": model.search_weights_ is not None,
        "parameters": settings,
    }


def _index_facts(path: Path) -> dict[str, Any]:
    """Class and sizes of an index."""
    from structhash.search import load_index

    index = load_index(path)
    return {
        "class": type(index).__name__,
        "bits": index.n_bits,
        "codes": len(index),
        "weighted": index.weights is not None,
    }
