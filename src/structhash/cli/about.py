"""What there is: the pieces of the package, and what a file holds."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from structhash.cli.console import show, to_json
from structhash.estimators.loading import load_model
from structhash.io import container as files
from structhash.io import facts as data_facts
from structhash.io import suffixes
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
    settings = {
        key: "(needed)" if each.default is each.empty else each.default
        for key, each in inspect.signature(piece).parameters.items()
    }
    return {
        "what": text.partition("\n")[0],
        "settings": settings,
        "source": source.group().rstrip(".,:;)") if source else PAPER,
    }


def info(path: Path, as_json: bool) -> None:
    """What a model, index, codes or data file is."""
    tell = data_facts if path.suffix.lower() in suffixes() else own_facts
    show({"file": str(path), **tell(path)}, as_json)


def own_facts(path: Path) -> dict[str, Any]:
    """Facts of a model or an index."""
    try:
        kind = files.header(path)["kind"]
    except ValueError as error:
        raise ValueError(f"{error}; data files end in {', '.join(suffixes())}") from None
    if kind != "model":
        index = load_index(path)
        facts = {"kind": kind, "class": type(index).__name__, "bits": index.n_bits, "codes": len(index)}
        return {**facts, "weighted": index.weights is not None}
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
