"""What readers find of the nearest rows, and how fast indexes search.

    python benchmarks/search.py readers ../shared/data benchmarks/results/search/readers.json
    python benchmarks/search.py rates ../shared/data benchmarks/results/search/rates.json

- readers: the share of the ten nearest documents, by the vectors, that a search for ten finds, and nDCG@10
  where there are judgements. Codes are learned without labels from the documents themselves. `auto` is what
  `fit_reader` chooses on held-out documents; no query takes part. Rows of glove have unit length, those of the
  others stay.
- rates: milliseconds a query for the 100 nearest of 1,000,000 codes, on one thread, of several indexes by
  turns, the best of five rounds. The codes are learned from SIFT descriptors. The million are the 100,000
  descriptors ten times, each time with other noise of a fifth of the standard deviation of a feature.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import faiss
import numpy as np

from structhash import DistilHash, fit_reader
from structhash.io.container import atomic
from structhash.pieces import load
from structhash.search import Exact, Flat

SETS = ("npl_minilm", "dbpedia5k_minilm", "glove6b50_100k", "sift_bsds100k")
READERS = ("bits", "real", "cells", "linear", "tables")
SEED, K = 0, 10
N_CODES, N_QUERIES, N_NEAREST, ROUNDS = 1_000_000, 64, 100, 5


def opened(folder: Path, name: str) -> dict[str, np.ndarray]:
    """A data set, with float32 rows and queries."""
    with np.load(folder / f"{name}.npz") as data:
        found = {key: data[key] for key in data if key in ("X", "Q", "qrels")}
    for key in ("X", "Q"):
        found[key] = found[key].astype(np.float32)
        if name.startswith("glove"):
            found[key] /= np.linalg.norm(found[key], axis=1, keepdims=True)
    return found


def true_nearest(X: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """The ten nearest rows of each query, in float64."""
    X, Q = X.astype(float), Q.astype(float)
    apart = (X**2).sum(axis=1) - 2 * Q @ X.T
    return np.argsort(apart, axis=1, kind="stable")[:, :K]


def figures(data: dict[str, np.ndarray], nearest: np.ndarray, ids: np.ndarray) -> dict[str, float]:
    """Recall of the nearest, and nDCG@10 of queries with a relevant document."""
    hits = [len(np.intersect1d(*each)) for each in zip(ids, nearest)]
    found = {"recall@10": float(np.mean(hits)) / K}
    if "qrels" in data:
        found["ndcg@10"] = float(np.nanmean(judged(data["qrels"], ids, len(data["X"]))))
    return found


def judged(qrels: np.ndarray, ids: np.ndarray, n: int) -> np.ndarray:
    """nDCG@10 (n_queries,) of ranked ids: gain 2^grade - 1, discount 1 / log2(1 + rank)."""
    scores = np.full(len(ids), np.nan)
    discount = 1 / np.log2(2 + np.arange(K))
    for q in range(len(ids)):
        gains = np.zeros(n)
        mine = qrels[qrels[:, 0] == q]
        gains[mine[:, 1]] = 2.0 ** mine[:, 2] - 1
        ideal = np.sort(gains)[::-1][:K] @ discount
        if ideal > 0:
            scores[q] = gains[ids[q]] @ discount / ideal
    return scores


def readers(folder: Path, bits: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each data set and length."""
    for name in SETS:
        data = opened(folder, name)
        nearest = true_nearest(data["X"], data["Q"])
        for n_bits in bits:
            found: dict[str, Any] = {"float": figures(data, nearest, nearest)}
            for method, encoder in (
                ("distilhash", DistilHash(n_bits, random_state=SEED)),
                ("itq", load("baselines", f"itq:n_bits={n_bits},random_state={SEED}")),
            ):
                encoder.fit(data["X"])
                index = Exact(n_bits)
                index.add(encoder.encode(data["X"]))
                own: dict[str, Any] = {}
                for reader in READERS:
                    fitted = fit_reader(encoder, data["X"], reader=reader)
                    own[reader] = figures(data, nearest, index.search(fitted.prepare(data["Q"]), K)[1])
                    own[reader]["bytes"] = fitted.nbytes
                chosen = fit_reader(encoder, data["X"])
                found[method] = {**own, "auto": chosen.name, "held-out recalls": chosen.recalls}
            yield f"{name} {n_bits}", found


def rates(folder: Path, bits: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and milliseconds a query of each length."""
    faiss.omp_set_num_threads(1)
    data, rng = opened(folder, "sift_bsds100k"), np.random.default_rng(SEED)
    X, Q = data["X"], data["Q"][:N_QUERIES]
    noise = X.std(axis=0) / 5
    rows = [X + noise * rng.standard_normal(X.shape, dtype=np.float32) for _ in range(N_CODES // len(X))]
    for n_bits in bits:
        encoder = DistilHash(n_bits, random_state=SEED).fit(X[::10])
        codes = np.concatenate([encoder.encode(part) for part in rows])
        yield f"sift x 10, {n_bits} bits", one_rate(encoder, codes, X, Q, rng)


def one_rate(
    encoder: DistilHash, codes: np.ndarray, X: np.ndarray, Q: np.ndarray, rng: np.random.Generator
) -> dict[str, Any]:
    """Milliseconds a query of each index and kind of query."""
    n_bits = encoder.n_bits_
    binary = faiss.IndexBinaryFlat(8 * codes.shape[1])
    binary.add(codes)
    exact, flat, weighted = Exact(n_bits), Flat(n_bits), Exact(n_bits, rng.random(n_bits) + 0.5)
    for index in (exact, flat, weighted):
        index.add(codes)
    packed, real = encoder.encode_queries(Q), encoder.prepare_queries(Q, reader="real")
    tables, tenth = fit_reader(encoder, X, reader="tables").prepare(Q), rng.random(len(codes)) < 0.1
    runs: dict[str, Callable[[], Any]] = {
        "faiss BinaryFlat": lambda: binary.search(packed, N_NEAREST),
        "Exact": lambda: exact.search(packed, N_NEAREST),
        "Flat": lambda: flat.search(packed, N_NEAREST),
        "Exact, weights": lambda: weighted.search(packed, N_NEAREST),
        "Exact, real": lambda: exact.search(real, N_NEAREST),
        "Flat, real": lambda: flat.search(real, N_NEAREST),
        "Exact, tables": lambda: exact.search(tables, N_NEAREST),
        "Exact, a tenth": lambda: exact.search(packed, N_NEAREST, among=tenth),
        "Exact, real, a tenth": lambda: exact.search(real, N_NEAREST, among=tenth),
    }
    best = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS + 1):  # the first compiles
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], (time.perf_counter() - start) * 1000 / len(Q))
    return {name: round(each, 3) for name, each in best.items()}


def main() -> None:
    """Measure, and write the output again after each line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("readers", "rates"))
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--bits", default="64,128", help="lengths, with commas between")
    given = parser.parse_args()
    bits = [int(each) for each in given.bits.split(",")]
    lines: dict[str, Any] = {}
    for name, found in {"readers": readers, "rates": rates}[given.part](given.data, bits):
        lines[name] = found
        print(name, json.dumps(found), flush=True)
        given.output.parent.mkdir(parents=True, exist_ok=True)
        with atomic(given.output) as temporary:
            temporary.write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
