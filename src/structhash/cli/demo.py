"""The whole job on scikit-learn's 1,797 handwritten digits: learn, encode, index, search, compare."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from structhash import StructHash
from structhash.cli.codes import learn
from structhash.cli.console import print_table, to_json, write_json
from structhash.cli.inputs import methods
from structhash.cli.scores import LEGEND, run, stamp
from structhash.evaluation import report
from structhash.evaluation.compare import Result, every_distance, retrieval, same_label, seen_classes
from structhash.io import write_npy
from structhash.search import Exact

OTHERS = "cghash,one_hot,itq,lsh,float"
N_QUERIES, N_TRAIN = 300, 800
FILES = {
    "model.structhash": "the model; open it with structhash.load_model or `structhash encode`",
    "codes.npy": "packed codes of the database, a row of bytes for each digit; numpy.load",
    "index.structhash": "those codes ready for queries; structhash.search.load_index or `structhash search`",
    "results.json": "the table above, with options and versions",
}


def demo(folder: Path, bits: int, seed: int, as_json: bool) -> None:
    """Run the demonstration, say what happens, and save what it made."""
    say: Callable[..., None] = (lambda *words, **more: None) if as_json else print
    check_folder(folder)
    X, y = load_digits(return_X_y=True)
    train, asked, stored = seen_classes(y, seed, N_QUERIES, N_TRAIN)  # row numbers

    say(f"1. Learn {bits} bits from {len(train)} labelled digits of {X.shape[1]} pixels each.")
    encoder = StructHash(n_bits=bits, random_state=seed)
    began = time.perf_counter()
    learn(encoder, X[train], y[train])
    fitted = time.perf_counter()
    codes = encoder.encode(X[stored])
    encoded = time.perf_counter()
    say(f"   The {len(codes)} digits of the database: {X[stored].nbytes:,} bytes, {codes.nbytes:,} as codes.")

    say("\n2. Search it: four digits that it does not hold, and the five nearest codes of each.")
    index = Exact(bits)
    index.add(codes)
    query_codes = encoder.encode_queries(X[asked])
    shown = np.unique(y[asked], return_index=True)[1][::3]  # a 0, a 3, a 6 and a 9
    distances, ids = index.search(query_codes[shown], k=5)
    if not as_json:
        print_neighbours(y[asked][shown], y[stored][ids], distances)

    say(f"\n3. Compare {len(asked)} queries: digits that show the same as the query are relevant.")
    relevance = same_label(y[asked], y[stored])
    results = [
        Result("structhash", distance, bits, seed, "", retrieval(blocks), fitted - began, encoded - fitted)
        for distance, blocks in every_distance(encoder, X[asked], X[stored], relevance, codes)
    ]
    results += run(methods(OTHERS), X, y, bits=[bits], seeds=[seed], n_queries=N_QUERIES, n_train=N_TRAIN)
    lines = report.summarise(results)
    say(report.table(lines), end="")
    say(LEGEND)

    folder.mkdir(exist_ok=True)
    encoder.save(folder / "model.structhash")
    write_npy(folder / "codes.npy", codes)
    index.save(folder / "index.structhash")
    document = report.as_json(lines, data="digits", protocol="seen", bits=bits, seed=seed, **stamp())
    write_json(folder / "results.json", document)
    say(f"\n4. Saved in {folder}:")
    for name, what in FILES.items():
        say(f"   {name:<17} {what}")
    if as_json:
        print(to_json({**document, "folder": str(folder), "files": list(FILES)}))


def print_neighbours(
    queries: NDArray[np.int64], found: NDArray[np.int64], distances: NDArray[np.int32]
) -> None:
    """Which digit each query shows, which ones its neighbours show, and how many bits lie between."""
    rows = [(f"   {query}", *map(list_words, pair)) for query, *pair in zip(queries, found, distances)]
    print_table(("   query", "neighbours", "distances in bits"), rows)


def list_words(values: NDArray[np.integer]) -> str:
    """Values with blanks between them."""
    return " ".join(map(str, values))


def check_folder(folder: Path) -> None:
    """Refuse before the work a folder that cannot be there after it."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"cannot write into {folder}: it is no folder")
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            f"cannot create {folder}: the folder {folder.parent} does not exist; create it first"
        )
