"""``structhash demo``: the whole job on scikit-learn's 1,797 handwritten digits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.cli.compare import LEGEND, collect_results
from structhash.cli.display import print_table
from structhash.cli.documents import stamp, to_json, write_json
from structhash.cli.fit import learn
from structhash.cli.inputs import split_methods
from structhash.cli.outputs import check_folder
from structhash.evaluation import report
from structhash.evaluation.compare import Result, compare
from structhash.evaluation.scoring import every_distance, retrieval, same_label
from structhash.evaluation.splits import Split, seen_classes
from structhash.io import write_npy
from structhash.search import Exact

__all__ = ["demo"]

_METHOD = "distilhash"
_PEERS = "structhash,cghash,one_hot,itq,lsh,float"
_SIZES: dict[str, Any] = {"n_queries": 300, "n_train": 800}
_FILES = {
    "model.structhash": "the model; open it with structhash.load_model or `structhash encode`",
    "codes.npy": "packed codes of the database, a row of bytes for each digit; numpy.load",
    "index.structhash": "those codes ready for queries; structhash.search.load_index or `structhash search`",
    "results.json": "the table above, with options and versions",
}


def demo(folder: Path, *, bits: int, seed: int, as_json: bool) -> None:
    """Learn, encode, index, search and compare; print each step, and save the results.

    Parameters
    ----------
    folder : path
        Folder for the files; it is made where it is missing.
    bits : int
        Length of the code.
    seed : int
        Of everything that is drawn at random.
    as_json : bool
        Whether to print one JSON document in place of the text.
    """
    tell: Callable[..., None] = (lambda *words, **more: None) if as_json else print
    check_folder(folder)
    X, y = load_digits(return_X_y=True)
    split = seen_classes(y, seed, **_SIZES)

    tell(f"1. Learn {bits} bits from {len(split.train)} labelled digits of {X.shape[1]} pixels each.")
    encoder = DistilHash(n_bits=bits, random_state=seed)
    times = [time.perf_counter()]
    learn(encoder, X[split.train], y[split.train])
    times.append(time.perf_counter())
    codes = encoder.encode(X[split.database])
    times.append(time.perf_counter())
    sizes = f"{X[split.database].nbytes:,} bytes, {codes.nbytes:,} as codes"
    tell(f"   The {len(codes)} digits of the database: {sizes}.")

    tell("\n2. Search it: four digits that it does not hold, and the five nearest codes of each.")
    index = Exact(bits)
    index.add(codes)
    if not as_json:
        _print_searches(encoder, index, X, y, split)

    tell(f"\n3. Compare {len(split.queries)} queries: digits that show the same as the query are relevant.")
    results = _own_results(encoder, codes, X, y, split, seed, np.diff(times).tolist())
    peers = split_methods(_PEERS)
    results += collect_results(compare, X, y, methods=peers, bits=[bits], seeds=[seed], **_SIZES)
    lines = report.summarise(results)
    tell(report.as_table(lines), end="")
    tell(LEGEND)

    folder.mkdir(exist_ok=True)
    encoder.save(folder / "model.structhash")
    write_npy(folder / "codes.npy", codes)
    index.save(folder / "index.structhash")
    document = report.as_json(lines, data="digits", protocol="seen", bits=bits, seed=seed, **stamp())
    write_json(folder / "results.json", document)
    tell(f"\n4. Saved in {folder}:")
    for name, what in _FILES.items():
        tell(f"   {name:<17} {what}")
    if as_json:
        print(to_json({**document, "folder": str(folder), "files": list(_FILES)}))


def _own_results(
    encoder: DistilHash,
    codes: NDArray[np.uint8],
    X: NDArray[Any],
    y: NDArray[Any],
    split: Split,
    seed: int,
    seconds: list[float],
) -> list[Result]:
    """Results of the encoder that was learned already, as `compare` would give them."""
    relevance = same_label(y[split.queries], y[split.database])
    scored = every_distance(encoder, X[split.queries], X[split.database], relevance, codes)
    return [
        Result(_METHOD, distance, encoder.n_bits_, seed, "", retrieval(blocks), seconds[0], seconds[1])
        for distance, blocks in scored
    ]


def _print_searches(
    encoder: DistilHash, index: Exact, X: NDArray[Any], y: NDArray[np.int64], split: Split
) -> None:
    """Print which digit each query shows, which ones its neighbours show, and how many bits differ."""
    asked = split.queries[np.unique(y[split.queries], return_index=True)[1][::3]]  # a 0, a 3, a 6 and a 9
    distances, ids = index.search(encoder.encode_queries(X[asked]), k=5)
    found = y[split.database][ids]
    rows = [
        (f"   {query}", *(" ".join(map(str, values)) for values in pair))
        for query, *pair in zip(y[asked], found, distances, strict=True)
    ]
    print_table(("   query", "neighbours", "distances in bits"), rows)
