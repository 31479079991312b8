"""From vectors to answers: fit, encode, index, search."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from structhash._numerics.validation import check_positive, join_names
from structhash.cli.console import bar, check_output, print_table, say, show, to_json
from structhash.cli.inputs import judgements, labels, methods, read_for
from structhash.estimators.loading import load_model
from structhash.evaluation.judged import embedding_of
from structhash.evaluation.methods import Method, bit_by_bit, prepare, takes_unlabeled
from structhash.io import Dataset, map_array, read, read_codes, suffixes, write_npy
from structhash.io.container import atomic
from structhash.pieces import classes, is_auto, spell
from structhash.search import load_index
from structhash.supervision import Neighbours, Qrels
from structhash.training.selection import alternatives, best, trials

BITS = 64  # of a code, unless told otherwise
SHOWN = 3  # queries in the table on a terminal


def fit(
    data: Path,
    out: Path,
    spec: str,
    bits: int | None,
    neighbours: bool,
    others: Path | None,
    limit: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn a model from a data file and save it."""
    check_output(out, data, others, refused=suffixes())
    method = trainable(spec)
    if limit is not None:
        check_tune(limit, method, neighbours, others)
    if bits and "n_bits=" in spec:
        raise ValueError(f"{spec!r} and --bits {bits}: give the length of the code once")
    n_bits = bits or (0 if method.own_length else BITS)
    dataset = read(data)
    if limit is None:
        y = supervision(method, dataset, data, neighbours)
    else:
        y = labels(dataset, data, "--tune judges by them")
    unlabeled = None if others is None else rows_beside(dataset, data, others, method)
    more: dict[str, Any] = {} if unlabeled is None else {"unlabeled": unlabeled}
    began, chosen = time.perf_counter(), ""
    tried: list[dict[str, Any]] = []
    if len(method.encoders) > 1:
        method = method._replace(on_database=unlabeled is not None)
        encoder, chosen = method.fit(dataset.X, y, n_bits, seed, unlabeled)
    else:
        encoder = prepare(method.encoders[0], n_bits, seed)
        if limit is not None:
            encoder, tried = tune(encoder, dataset.X, y, seed, limit)
            chosen = repr(encoder)
        learn(encoder, dataset.X, y, **more)
    seconds = time.perf_counter() - began
    encoder.column_names_ = dataset.names
    encoder.save(out)
    facts = {
        "method": chosen or spec,
        "embedding": spell(getattr(encoder, "embedding_", None)),
        "C": encoder.C_ if is_auto(getattr(encoder, "C", None)) else None,
        "rows": len(dataset.X),
        "features": dataset.X.shape[1],
        "bits": encoder.n_bits_,
        "seconds": seconds,
        "objective": encoder.history_[-1].get("objective") if encoder.history_ else None,
        "file": str(out),
    }
    if tried and as_json:
        facts["tried"] = tried
    elif tried:
        print_tried(tried)
    show({name: value for name, value in facts.items() if as_json or value is not None}, as_json)


def check_tune(limit: float, method: Method, neighbours: bool, others: Path | None) -> None:
    """ValueError unless --tune has a time, and a method with a grid around it that can be judged."""
    check_positive("--tune", limit)
    if not bit_by_bit(method.encoders[0]):
        raise ValueError(f"--tune: {method.name!r} has no grid; name structhash or cghash")
    if len(method.encoders) > 1:
        raise ValueError(f"--tune: {method.name!r} names its own alternatives; leave out the one or the other")
    if neighbours:
        raise ValueError("--tune judges by labels, and --neighbours takes none; leave out the one or the other")
    if others is not None:
        raise ValueError(
            "--tune judges by the classes that have labels, --unlabeled rows may be of others; leave out "
            "one of the two"
        )


def tune(
    encoder: Any, X: NDArray[Any], y: NDArray[Any], seed: int, limit: float
) -> tuple[Any, list[dict[str, Any]]]:
    """The best of the grid around an encoder, not fitted, and a line for each alternative, with its mAP."""
    grid = alternatives(encoder)
    encoders = [each for _, each in grid]
    tried = []
    with bar("tune", len(grid), "alternatives") as advance:
        for trial in trials(encoders, X, y, seed, limit):
            tried.append(trial)
            advance()
    chosen = best(tried)
    lines = [
        {"settings": words, "map": trial.score, "chosen": trial.encoder is chosen}
        for (words, _), trial in zip(grid, tried, strict=True)
    ]
    return chosen, lines


def print_tried(tried: list[dict[str, Any]]) -> None:
    """The table of what --tune has tried."""
    rows = [
        (
            line["settings"],
            "no time left" if line["map"] is None else line["map"],
            "chosen" if line["chosen"] else "",
        )
        for line in tried
    ]
    print_table(("tried", "held-out mAP", ""), rows)


def rows_beside(dataset: Dataset, path: Path, others: Path, method: Method) -> NDArray[Any]:
    """The rows of a file of unlabeled ones, for a method that has a use for them."""
    if not all(takes_unlabeled(encoder) for encoder in method.encoders):
        raise ValueError(
            f"--unlabeled: {method.name!r} has no use for them; name structhash, without a ranking"
        )
    found = read(others)
    if dataset.names and found.names and found.names != dataset.names:
        raise ValueError(
            f"{others} has the columns {join_names(found.names)}, {path} has {join_names(dataset.names)}; "
            "give the same in the same order"
        )
    return found.X


def supervision(method: Method, dataset: Dataset, path: Path, neighbours: bool) -> Any:
    """What a method learns from: neighbours where they are asked for, else labels, else judgements."""
    any_kind = len(method.encoders) == 1 and bit_by_bit(method.encoders[0])
    if neighbours and not any_kind:
        raise ValueError(f"--neighbours: {method.name!r} cannot learn from them; name structhash or cghash")
    if neighbours:
        return Neighbours(n_near=method.encoders[0].n_near, n_far=method.encoders[0].n_far)
    qrels = None if embedding_of(method.encoders[0]) else dataset.qrels  # it learns from X alone
    if any_kind and dataset.y is None and qrels is not None:
        n_queries = len(dataset.X if dataset.Q is None else dataset.Q)  # which are rows of X without Q
        table = judgements(qrels, n_queries, len(dataset.X), path)
        return Qrels(table, dataset.Q, method.encoders[0].n_near, method.encoders[0].n_far)
    needed = get_tags(method.encoders[0]).target_tags.required or len(method.encoders) > 1
    if needed or (any_kind and dataset.y is not None):
        return labels(dataset, path, f"{method.name!r} learns from them")
    return dataset.y


def trainable(spec: str) -> Method:
    """The one method that a spec names, to be fitted on the rows at hand."""
    found = methods(spec)
    if len(found) > 1 or found[0].is_float or found[0].on_database:
        raise ValueError(f"--method {spec!r}: name one method that learns from DATA, such as structhash:C=30")
    return found[0]


def learn(encoder: Any, X: NDArray[Any], y: Any, **more: Any) -> None:
    """Fit an encoder, with a progress bar where it learns bit by bit."""
    if not bit_by_bit(encoder):
        encoder.fit(X, y)
        return
    with bar("fit", encoder.n_bits, "bits") as advance:
        for _ in encoder.steps(X, y, **more):
            advance()


def encode(model: Path, data: Path, out: Path, bits: int | None, queries: bool, as_json: bool) -> None:
    """Write the packed codes of the rows, or of the queries, of a data file."""
    check_output(out, model, data, suffix=".npy")
    encoder = load_model(model)
    dataset = read_for(encoder, data)
    if queries:
        codes = encoder.encode_queries(dataset.X if dataset.Q is None else dataset.Q, bits)
    else:
        codes = encoder.encode(dataset.X, bits)
    write_npy(out, codes)
    facts = {"rows": len(codes), "bits": bits or encoder.n_bits_, "bytes": codes.nbytes}
    show({**facts, "coded as": "queries" if queries else "database", "file": str(out)}, as_json)


def index(
    codes: Path, out: Path, bits: int | None, backend: str, ids: Path | None, model: Path | None, as_json: bool
) -> None:
    """Put codes into an index and save it."""
    check_output(out, codes, ids, model, refused=suffixes())
    known: dict[str, Any] = dict(classes("indexes"))
    if backend not in known:
        raise ValueError(f"--backend {backend!r}: give one of {', '.join(known)}")
    table = read_codes(codes)
    n_bits, weights = bits or 8 * table.shape[1], None
    if model is not None:
        encoder = load_model(model)
        n_bits = bits or encoder.n_bits_
        weights = None if encoder.search_weights_ is None else encoder.weights_at(n_bits)
    if weights is not None and not known[backend].takes_weights:
        able = ", ".join(name for name, each in known.items() if each.takes_weights)
        raise ValueError(
            f"{model} weighs its bits, which {backend} cannot; "
            f"use --backend {able}, or give --bits and no --model"
        )
    made = known[backend](n_bits) if weights is None else known[backend](n_bits, weights)
    made.source = None if model is None else encoder.fingerprint()
    made.add(table, None if ids is None else np.asarray(map_array(ids)))
    made.save(out)
    facts = {"codes": len(made), "bits": n_bits, "backend": backend, "weighted": weights is not None}
    show({**facts, "file": str(out)}, as_json)


def search(
    path: Path,
    queries: Path,
    k: int | None,
    radius: float | None,
    model: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find the neighbours of queries, print them, and write them where a file is named."""
    check_output(out, path, queries, model, suffix=".npz")
    if k is not None and radius is not None:
        raise ValueError("-k and --radius ask for different things; give one of them")
    found = load_index(path)
    codes = query_codes(queries, model, found)
    if radius is None:
        k = min(k or 10, max(1, len(found)))
        distances, ids = found.search(codes, k)
        arrays = {"distances": distances, "ids": ids}
        hits = [(d[i >= 0], i[i >= 0]) for d, i in zip(distances, ids, strict=True)]
    else:
        lims, distances, ids = found.radius(codes, radius)
        arrays = {"lims": lims, "distances": distances, "ids": ids}
        hits = list(zip(np.split(distances, lims[1:-1]), np.split(ids, lims[1:-1]), strict=True))[: len(codes)]
    if out is not None:
        with atomic(out) as temporary, open(temporary, "wb") as file:
            np.savez(file, **arrays)
    if as_json:
        results = [{"query": q, "ids": i, "distances": d} for q, (d, i) in enumerate(hits)]
        asked = {"k": k} if radius is None else {"radius": radius}
        print(to_json({"queries": len(codes), "bits": found.n_bits, **asked, "results": results}))
    else:
        print_hits(hits, every=out is None and not sys.stdout.isatty())
        if out is not None:
            print(f"wrote {len(codes)} queries to {out}")


def query_codes(path: Path, model: Path | None, index: Any) -> NDArray[np.uint8]:
    """Codes as they are in a file, or of its vectors (Q where it has them, else X)."""
    if model is None:
        if path.suffix.lower() != ".npy":
            raise ValueError(f"{path} is no .npy file of codes; for vectors give --model too")
        return read_codes(path)
    encoder = load_model(model)
    if index.source not in (None, encoder.fingerprint()):
        raise ValueError(f"the index was made with another model than {model}; give that one")
    if index.source is None and encoder.n_bits_ > index.n_bits:
        say(
            "warning",
            f"{model} has {encoder.n_bits_} bits, the index {index.n_bits}: right only for prefixes",
        )
    dataset = read_for(encoder, path)
    return encoder.encode_queries(dataset.X if dataset.Q is None else dataset.Q, index.n_bits)


def print_hits(hits: list[tuple[NDArray[Any], NDArray[Any]]], every: bool) -> None:
    """The table of neighbours, of the first queries or of all."""
    shown = len(hits) if every else SHOWN
    rows = [
        (q, rank, i, d)
        for q, (distances, ids) in enumerate(hits[:shown])
        for rank, (d, i) in enumerate(zip(distances.tolist(), ids.tolist(), strict=True), 1)
    ]
    print_table(("query", "rank", "id", "distance"), rows)
    if len(hits) > shown:
        print(f"... and {len(hits) - shown} more queries")
