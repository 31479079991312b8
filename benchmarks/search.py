"""What readers find of the nearest rows, and how fast indexes search.

    python benchmarks/search.py readers ../shared/data benchmarks/results/search/readers.json
    python benchmarks/search.py rates ../shared/data benchmarks/results/search/rates.json

- readers: the share of the ten nearest documents, by the vectors, that a search for ten finds, and nDCG@10
  where there are judgements. Codes are learned without labels from the documents themselves. `auto` is what
  `fit_reader` chooses on held-out documents; no query takes part. Rows of glove have unit length, those of the
  others stay.
- rates: time a query for the 100 nearest of 1,000,000 codes, beside `IndexBinaryFlat` of faiss on the same
  codes and queries. Each round runs all by turns; `ms` is the median over rounds, and `rate` the median of the
  rate divided by that of faiss in the same round. The codes are learned from SIFT descriptors. The million are
  the 100,000 descriptors ten times, each time with other noise of a fifth of the standard deviation of a
  feature. A tenth: `among` is a mask of a random tenth. Bytes a code: what an index holds after its searches.
"""

import argparse
import json
import os
import time
import tracemalloc
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
N_CODES, N_QUERIES, N_SINGLE, N_NEAREST, ROUNDS = 1_000_000, 64, 16, 100, 9


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
    """Name and rates of each length."""
    data, rng = opened(folder, "sift_bsds100k"), np.random.default_rng(SEED)
    X, Q = data["X"], data["Q"][:N_QUERIES]
    noise = X.std(axis=0) / 5
    rows = [X + noise * rng.standard_normal(X.shape, dtype=np.float32) for _ in range(N_CODES // len(X))]
    for n_bits in bits:
        encoder = DistilHash(n_bits, random_state=SEED).fit(X[::10])
        codes = np.concatenate([encoder.encode(part) for part in rows])
        weights, among = rng.random(n_bits) + 0.5, rng.random(len(codes)) < 0.1
        queries = {
            "bits": encoder.encode_queries(Q),
            "real": encoder.prepare_queries(Q, reader="real"),
            "tables": fit_reader(encoder, X, reader="tables").prepare(Q),
        }
        yield f"sift x 10, {n_bits} bits", rates_of(codes, n_bits, queries, weights, among)


def rates_of(
    codes: np.ndarray, n_bits: int, queries: dict[str, Any], weights: np.ndarray, among: np.ndarray
) -> dict[str, Any]:
    """Rates of batches and of single queries, on one thread and on two, and bytes a code."""
    binary = faiss.IndexBinaryFlat(8 * codes.shape[1])
    binary.add(codes)
    indexes = {"Exact": (Exact(n_bits), Exact(n_bits, weights)), "Flat": (Flat(n_bits), Flat(n_bits, weights))}
    for each in (*indexes["Exact"], *indexes["Flat"]):
        each.add(codes)
    found: dict[str, Any] = {}
    for name, n_threads, size, n_queries in (
        ("Exact", 1, "batches", N_QUERIES),
        ("Exact", 1, "single queries", 1),
        ("Flat", 2, "batches", N_QUERIES),
    ):
        faiss.omp_set_num_threads(n_threads)
        plain, weighted = indexes[name]
        runs = {"faiss": lambda part: binary.search(queries["bits"][part], N_NEAREST)}
        for form, index, of in (
            ("bits", plain, queries["bits"]),
            ("weights", weighted, queries["bits"]),
            ("real", plain, queries["real"]),
            ("tables", plain, queries["tables"]),
        ):
            for words, limit in (("", None), (", a tenth", among)):
                runs[form + words] = lambda part, index=index, of=of, limit=limit: index.search(
                    of[part], N_NEAREST, among=limit
                )
        found[f"{name}, {size}, {n_threads} thread{'s' * (n_threads > 1)}"] = by_turns(runs, n_queries)
    found["bytes a code"] = bytes_a_code(codes, n_bits, queries)
    return found


def by_turns(runs: dict[str, Callable[[slice], Any]], n_queries: int) -> dict[str, dict[str, float]]:
    """Milliseconds a query and the rate beside the first run, medians over rounds."""
    parts = [slice(i, i + n_queries) for i in range(0, N_QUERIES if n_queries > 1 else N_SINGLE, n_queries)]
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS + 1):  # the first compiles
        for name, run in runs.items():
            start = time.perf_counter()
            for part in parts:
                run(part)
            times[name].append((time.perf_counter() - start) * 1000 / (len(parts) * n_queries))
    spent = {name: np.array(each[1:]) for name, each in times.items()}
    first = next(iter(spent.values()))
    return {
        name: {"ms": round(float(np.median(each)), 3), "rate": round(float(np.median(first / each)), 2)}
        for name, each in spent.items()
    }


def bytes_a_code(codes: np.ndarray, n_bits: int, queries: dict[str, Any]) -> dict[str, float]:
    """What an index holds after searches with each kind of query."""
    found = {}
    for form, asked in queries.items():
        tracemalloc.start()
        index = Exact(n_bits)
        index.add(codes)
        index.search(asked, N_NEAREST)
        found[form] = round(tracemalloc.get_traced_memory()[0] / len(codes), 1)
        tracemalloc.stop()
    return found


def main() -> None:
    """Measure, and write the output again after each line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("readers", "rates"))
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--bits", default="64,128,256", help="lengths, with commas between")
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
