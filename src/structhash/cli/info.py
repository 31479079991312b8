"""``structhash info``: what a file is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from structhash.cli.display import print_facts
from structhash.io import container, facts, holds_codes, load_codes, parts_of, suffix_of, suffixes
from structhash.io.codes import CODES
from structhash.io.manifest import MANIFEST

if TYPE_CHECKING:
    from structhash.cli.inputs import Choices

__all__ = ["print_info"]


def print_info(path: Path, as_json: bool, choices: Choices | None = None) -> None:
    """Print what a model, index, codes or data file is.

    Parameters
    ----------
    path : path
    as_json : bool
        Whether to print JSON.
    choices : dict, optional
        How a data file is read: keywords of `structhash.io.read`.
    """
    print_facts({"file": str(path), **_facts(path, choices or {})}, as_json)


def _facts(path: Path, choices: Choices) -> dict[str, Any]:
    """Facts of a file of any kind."""
    suffix = suffix_of(path)
    if path.is_dir() and (path / MANIFEST).exists():
        return {"kind": CODES, **_codes_facts(path)}
    if suffix == ".parquet" and path.is_file() and path.stat().st_size and holds_codes(path):
        return {"kind": CODES, **_codes_facts(path)}
    is_data = suffix in suffixes() or parts_of(path) is not None
    return facts(path, **choices) if is_data else _container_facts(path)


def _container_facts(path: Path) -> dict[str, Any]:
    """Facts of a model, an index or codes."""
    try:
        header = container.header(path)
    except ValueError as error:
        raise ValueError(f"{error}; data files end in {', '.join(suffixes())}") from None
    kind = header["kind"]
    tell = {"model": _model_facts, CODES: _codes_facts, "reader": _reader_facts}.get(kind, _index_facts)
    return {"kind": kind, **tell(path)}


def _model_facts(path: Path) -> dict[str, Any]:
    """Class and sizes of a model, what it learned, and its settings."""
    from structhash.estimators.loading import load_model  # a second of imports

    model = load_model(path)
    recalls = model.recalls_by_reader()
    return {
        "class": type(model).__name__,
        "bits": model.n_bits_,
        "features": model.n_features_in_,
        **model.about(),
        "weighted": model.search_weights_ is not None,
        "reader": model.default_reader(),
        **({"recalls": recalls} if recalls else {}),
        "fingerprint": model.fingerprint(),
        "parameters": model.get_params(deep=False),
    }


def _reader_facts(path: Path) -> dict[str, Any]:
    """How a reader reads, what it found of held-out rows, and its size."""
    arrays, header = container.load(path, "reader")
    return {
        "reader": header.get("reader"),
        "bits": header.get("n_bits"),
        "model": header.get("source"),
        "recalls": header.get("recalls"),
        "bytes": sum(array.nbytes for array in arrays.values()),
    }


def _codes_facts(path: Path) -> dict[str, Any]:
    """Sizes of codes, which model made them, and how."""
    codes = load_codes(path)
    return {
        "rows": len(codes.table),
        "bits": codes.n_bits,
        "ids": None if codes.ids is None else "text" if codes.ids.dtype == object else "numbers",
        "model": codes.source,
        "coded as": codes.coded_as,
        "queries differ": codes.queries_differ,
        "weighted": codes.weighted,
    }


def _index_facts(path: Path) -> dict[str, Any]:
    """Class and sizes of an index."""
    from structhash.search import load_index
    from structhash.search.base import given_settings

    index = load_index(path, mmap=True)
    return {
        "class": type(index).__name__,
        "bits": index.n_bits,
        "codes": len(index),
        "ids": index.id_kind,
        "weighted": index.weights is not None,
        **given_settings(index),
        "codes are": "bits" if index.codes_are_bits else "numbers of centroids",
        "model": index.source,
    }
