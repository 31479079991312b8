"""What there is: the pieces of the package, and what a file holds."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.cli.console import show, to_json
from structhash.cli.inputs import read_array
from structhash.estimators.base import load_model
from structhash.io import container as files
from structhash.io import read, unreadable
from structhash.pieces import KINDS, classes, is_auto, spell
from structhash.search import load_index
from structhash.training.judgements import RANKING

ADDRESS = r"doi:\S+|https?://\S+"
PAPER = "doi:10.1007/s11263-016-0984-4"  # the source of what names no other


def pieces(kind: str | None, as_json: bool) -> None:
    """Every piece by kind: its settings with their defaults, the first line of its docstring, its source."""
    kinds = list(KINDS) if kind is None else [kind]
    found = {kind: {name: facts(piece) for name, piece in classes(kind).items()} for kind in kinds}
    if as_json:
        print(to_json(found))
        return
    for kind, members in found.items():
        print(f"{kind}:")
        for name, each in members.items():
            settings = ",".join(f"{key}={value}" for key, value in each["settings"].items())
            print(f"  {name}{':' if settings else ''}{settings}")
            print(f"      {each['what']} [{each['source']}]")


def facts(piece: type) -> dict[str, Any]:
    """What a piece is, its settings with their defaults, and where it comes from."""
    text = inspect.getdoc(piece) or ""
    source = re.search(ADDRESS, text)
    settings = {key: each.default for key, each in inspect.signature(piece).parameters.items()}
    return {
        "what": text.partition("\n")[0],
        "settings": settings,
        "source": source.group().rstrip(".,:;)") if source else PAPER,
    }


def info(path: Path, as_json: bool) -> None:
    """What a model, index, codes or data file is."""
    tell = {".npy": npy_facts, ".npz": npz_facts, ".csv": data_facts}.get(path.suffix.lower(), own_facts)
    show({"file": str(path), **tell(path)}, as_json)


def own_facts(path: Path) -> dict[str, Any]:
    """Facts of a model or an index."""
    kind = files.header(path)["kind"]
    if kind != "model":
        index = load_index(path)
        facts = {"kind": kind, "class": type(index).__name__, "bits": index.n_bits, "codes": len(index)}
        return {**facts, "weighted": getattr(index, "weights", None) is not None}
    model = load_model(path)
    params = files.header(path)["params"]
    facts = {
        "kind": kind,
        "class": type(model).__name__,
        "bits": model.n_bits_,
        "features": model.n_features_in_,
    }
    if getattr(model, "embedding_", None) is not None:  # it was distilled
        facts["embedding"] = spell(model.embedding_)
        facts["queries"] = "codes of their own" if model._query_power(model.n_bits_) else "coded alike"
    elif "ranking" in params:  # of judgements, the one of two that other queries found more by
        facts["ranking"] = RANKING if is_auto(params["ranking"]) else params["ranking"]
    if is_auto(getattr(model, "C", None)) and model.C_ is not None:
        facts["C"] = model.C_
    return {**facts, "weighted": model.search_weights_ is not None, "parameters": params}


def npy_facts(path: Path) -> dict[str, Any]:
    """Facts of a .npy file, from its first bytes."""
    array = read_array(path)
    facts = {"kind": "array", "dtype": str(array.dtype), "shape": list(array.shape)}
    if array.ndim == 2 and array.dtype == np.uint8:
        return {**facts, "kind": "codes", "rows": len(array), "bits": 8 * array.shape[1]}
    return (
        {**facts, "kind": "data", "rows": len(array), "features": array.shape[1]} if array.ndim == 2 else facts
    )


def npz_facts(path: Path) -> dict[str, Any]:
    """Facts of a .npz file: a data set, or other arrays such as the answers of `search`."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        with np.load(path, allow_pickle=False) as found:
            if "X" not in found.files:
                return {"kind": "arrays"} | {name: layout(found[name]) for name in found.files}
    except Exception as error:  # numpy and zipfile raise a dozen kinds
        raise unreadable(path, ".npz", error) from None
    return data_facts(path)


def layout(array: NDArray[Any]) -> str:
    """Dtype and shape."""
    return f"{array.dtype} {list(array.shape)}"


def data_facts(path: Path) -> dict[str, Any]:
    """Facts of a data set."""
    data = read(path)
    facts: dict[str, Any] = {"kind": "data", "rows": len(data.X), "features": data.X.shape[1]}
    facts["dtype"] = str(data.X.dtype)
    if data.y is not None:
        facts |= {"labels": str(data.y.dtype), "classes": len(np.unique(data.y))}
    if data.Q is not None:
        facts["queries"] = len(data.Q)
    if data.qrels is not None:
        facts["judgements"] = len(data.qrels)
    return facts
