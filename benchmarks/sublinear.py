"""What sub-linear indexes find of the 100 nearest of 1,000,000 learned codes, and how fast.

    python benchmarks/sublinear.py run ../shared/data benchmarks/results/search/sublinear.json
    python benchmarks/sublinear.py first ../shared/data benchmarks/results/search/first_search.json
    python benchmarks/sublinear.py draw benchmarks/results/search/sublinear.json benchmarks/results/search

The codes are learned from SIFT descriptors. The million are the 100,000 descriptors ten times, each time with
other noise of a fifth of the standard deviation of a feature. Each index is searched with several values of its
setting, all by turns in one process, on one thread and on two; the best of the rounds counts. With two
threads, each has half of the queries. A code counts as found if it is as near as the 100th of the exact answer.
Queries a CPU second are those of one thread: other work on the machine counts least in them.

- IVF, HNSW, MultiHash, Exact, Flat: ours. "real": queries with real values, and recall by their distances.
- faiss IVF, faiss HNSW: its binary indexes, the graph being the one that our HNSW has made.
- usearch: its graph of b1 vectors, where it is installed; the extra `benchmarks` brings it.

Bytes a code are those of codes, structure and ids: arrays that an index of ours holds, the size of a file of
faiss, the memory that usearch says it uses.

`first` takes 100,000 of the codes from a file: CPU seconds of the first search, which makes lists, chunks or
the graph, and of the second; megabytes of the file, and of the graph if faiss wrote it.

`draw` writes sublinear.png: queries a second against what is missed (matplotlib comes with the same extra).
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import itertools

import faiss
import numpy as np
from search import opened

from structhash import DistilHash
from structhash.codes import hamming, prepared_distances
from structhash.io.container import atomic
from structhash.search import HNSW, IVF, Exact, Flat, MultiHash, load_index

SEED, N_BITS, N_COPIES, N_QUERIES, K, ROUNDS = 0, 64, 10, 500, 100, 2
N_LISTS, N_LINKS, N_FIRST = 1000, 16, 100_000
PROBES, WALKS = (1, 2, 4, 8, 16, 32, 64, 128), (100, 150, 250, 500, 1000)

Search = Callable[[Any], np.ndarray]  # queries to the ids that are found


def learned(folder: Path) -> tuple[np.ndarray, np.ndarray, Any]:
    """Codes of the million rows; queries as codes, and with their real values."""
    data, rng = opened(folder, "sift_bsds100k"), np.random.default_rng(SEED)
    X, Q = data["X"], data["Q"][:N_QUERIES]
    noise = X.std(axis=0) / 5
    encoder = DistilHash(N_BITS, random_state=SEED).fit(X[::10])
    rows = (X + noise * rng.standard_normal(X.shape, dtype=np.float32) for _ in range(N_COPIES))
    codes = np.concatenate([encoder.encode(part) for part in rows])
    return codes, encoder.encode_queries(Q), encoder.prepare_queries(Q, reader="real")


def held(index: Any, codes: np.ndarray) -> float:
    """Bytes a code of an index of ours: its codes, and the arrays of its structure that are no views."""
    structure = index._structure(index._blocks[0].codes) if hasattr(index, "_structure") else ()
    if not isinstance(structure, tuple):
        return codes.shape[1] + len(faiss.serialize_index_binary(structure)) / len(codes)
    own = [each for each in structure if isinstance(each, np.ndarray) and each.base is None]
    return codes.shape[1] + sum(each.nbytes for each in own) / len(codes)


def built(name: str, make: Callable[[], Any], lines: dict[str, Any]) -> Any:
    """An index, and a line with the CPU seconds that it took."""
    start = time.process_time()
    made = make()
    lines[name] = {"CPU seconds to build": round(time.process_time() - start, 1), "points": []}
    print(name, lines[name], flush=True)
    return made


def ours(
    codes: np.ndarray, packed: np.ndarray, lines: dict[str, Any]
) -> tuple[dict[tuple[str, int], Search], Any]:
    """Searches by our indexes, and the graph of one of them."""
    runs: dict[tuple[str, int], Search] = {}
    made: dict[str, Any] = {"IVF": IVF(N_BITS, n_lists=N_LISTS), "HNSW": HNSW(N_BITS, n_links=N_LINKS)}
    made |= {"MultiHash": MultiHash(N_BITS), "Exact": Exact(N_BITS), "Flat": Flat(N_BITS)}
    for name, index in made.items():

        def make(index: Any = index) -> Any:
            index.add(codes)
            index.search(packed[:1], 1)
            return index

        built(name, make, lines)
        lines[name]["bytes a code"] = round(held(index, codes), 1)
        setting = getattr(index, "tuned_setting", None)
        for value in {"n_probe": PROBES, "ef": WALKS}.get(setting, (0,)):
            tuned = index.with_settings(**{setting: value}) if setting else index
            runs[name, value] = lambda queries, tuned=tuned: tuned.search(queries, K)[1]
            if name in ("IVF", "Exact", "Flat"):
                lines.setdefault(f"{name}, real", {**lines[name], "points": []})
                runs[f"{name}, real", value] = runs[name, value]
    graph = made["HNSW"]
    return runs, graph._structure(graph._blocks[0].codes)


def of_faiss(codes: np.ndarray, graph: Any, lines: dict[str, Any]) -> dict[tuple[str, int], Search]:
    """Searches by faiss."""
    quantizer = faiss.IndexBinaryFlat(N_BITS)
    lists = faiss.IndexBinaryIVF(quantizer, N_BITS, N_LISTS)

    def make_lists() -> None:
        lists.train(codes[:: len(codes) // (40 * N_LISTS)])
        lists.add(codes)

    built("faiss IVF", make_lists, lines)
    lines["faiss HNSW"] = {**lines["HNSW"], "points": []}
    runs: dict[tuple[str, int], Search] = {}
    lists.quantizer_kept = quantizer  # faiss does not keep it alive
    for name, index, values, Words, word in (
        ("faiss IVF", lists, PROBES, faiss.SearchParametersIVF, "nprobe"),
        ("faiss HNSW", graph, WALKS, faiss.SearchParametersHNSW, "efSearch"),
    ):
        lines[name]["bytes a code"] = round(len(faiss.serialize_index_binary(index)) / len(codes), 1)
        for value in values:
            words = Words(**{word: value})
            runs[name, value] = lambda queries, index=index, words=words: index.search(
                queries, K, params=words
            )[1]
    return runs


def of_usearch(codes: np.ndarray, lines: dict[str, Any]) -> dict[tuple[str, int], Search]:
    """Searches by usearch, where it is installed."""
    try:
        from usearch.index import Index
    except ImportError:
        return {}
    index = Index(ndim=N_BITS, metric="hamming", dtype="b1", connectivity=N_LINKS, expansion_add=40)
    built("usearch", lambda: index.add(np.arange(len(codes)), codes, threads=1), lines)
    lines["usearch"]["bytes a code"] = round(index.memory_usage / len(codes), 1)

    def search(queries: np.ndarray, value: int) -> np.ndarray:
        index.expansion_search = value
        return index.search(queries, K, threads=1).keys.astype(np.int64)

    return {("usearch", value): lambda queries, value=value: search(queries, value) for value in WALKS}


def seconds(run: Search, queries: Any, n_threads: int) -> tuple[float, float]:
    """Seconds, and CPU seconds, of a search of all queries, each thread with its part."""
    bounds = np.linspace(0, len(queries), n_threads + 1).astype(int)
    parts = [queries[first:stop] for first, stop in itertools.pairwise(bounds)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(len, parts))  # the threads begin before the clock
        start, begun = time.perf_counter(), time.process_time()
        list(pool.map(run, parts))
        return time.perf_counter() - start, time.process_time() - begun


def measured(folder: Path) -> dict[str, Any]:
    """Lines by index: CPU seconds to build it, bytes a code, and what each value of its setting finds."""
    codes, packed, real = learned(folder)
    lines: dict[str, Any] = {}
    runs, graph = ours(codes, packed, lines)
    runs |= of_faiss(codes, graph, lines) | of_usearch(codes, lines)
    exact = Exact(N_BITS)
    exact.add(codes)
    reach = {id(queries): exact.search(queries, K)[0][:, -1:] for queries in (packed, real)}
    best: dict[tuple[str, int, int, str], float] = {}
    for _ in range(ROUNDS + 1):  # the first compiles
        for (name, value), run in runs.items():
            for n_threads in (1, 2):
                taken = seconds(run, real if "real" in name else packed, n_threads)
                for clock, each in zip(("seconds", "CPU seconds"), taken):
                    key = (name, value, n_threads, clock)
                    best[key] = min(best.get(key, np.inf), each)
    for (name, value), run in runs.items():
        queries = real if "real" in name else packed
        ids = run(queries)
        apart = [
            (prepared_distances(queries[q : q + 1], codes[found]) if "real" in name else
             hamming(queries[q : q + 1], codes[found]))[0]
            for q, found in enumerate(ids)
        ]  # fmt: skip
        recall = float((np.array(apart) <= reach[id(queries)]).mean())
        rates = [round(N_QUERIES / best[name, value, n_threads, "seconds"]) for n_threads in (1, 2)]
        point = {
            "value": value,
            "recall@100": round(recall, 4),
            "queries a CPU second": round(N_QUERIES / best[name, value, 1, "CPU seconds"]),
            "queries a second": rates,
        }
        lines[name]["points"].append(point)
        print(name, point, flush=True)
    return {"codes": len(codes), "bits": N_BITS, "threads": [1, 2], "indexes": lines}


def first_searches(folder: Path) -> dict[str, Any]:
    """Lines by index: what its first search after loading takes."""
    codes, lines = learned(folder)[0], {}
    for name, Index in {"IVF": IVF, "HNSW": HNSW, "MultiHash": MultiHash, "Exact": Exact}.items():
        for n in (N_FIRST // 10, N_FIRST):  # the first time compiles
            index, path = Index(N_BITS), Path(tempfile.mkdtemp()) / "index"
            index.add(codes[:n])
            index.save(path)
            index, took = load_index(path), []
            for query in (codes[-1:], codes[-2:-1]):
                start = time.process_time()
                index.search(query, K)
                took.append(round(time.process_time() - start, 4))
        lines[name] = {
            "CPU seconds of the first and second search": took,
            "megabytes": path.stat().st_size / 1e6,
        }
        if name == "HNSW":
            graph = index._structure(index._blocks[0].codes)
            lines[name]["megabytes of the graph"] = round(len(faiss.serialize_index_binary(graph)) / 1e6, 1)
        print(name, lines[name], flush=True)
    return {"codes": N_FIRST, "bits": N_BITS, "indexes": lines}


def draw(source: Path, folder: Path) -> None:
    """Queries a second against what is missed, on one thread and on two, packed queries and real ones."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    lines = json.loads(source.read_text())["indexes"]
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    for axes, place, real, title in zip(
        panels, (None, 1, None), (False, False, True), ("one thread", "two threads", "real queries, one thread")
    ):
        for number, (name, line) in enumerate(each for each in lines.items() if ("real" in each[0]) == real):
            missed = [max(1 - point["recall@100"], 1e-4) for point in line["points"]]
            rates = [
                point["queries a CPU second"] if place is None else point["queries a second"][place]
                for point in line["points"]
            ]
            style = "--" if name.startswith(("faiss", "usearch")) else "-"
            axes.loglog(missed, rates, f"o{style}", color=f"C{number}", label=name, markersize=4)
        axes.set(xlabel="share missed of the 100 nearest", title=title)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper left")
    panels[0].set_ylabel("queries a CPU second")
    panels[1].set_ylabel("queries a second")
    figure.savefig(folder / "sublinear.png", dpi=90)


def main() -> None:
    """Measure, or draw what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("run", "first", "draw"))
    parser.add_argument("source", type=Path, help="folder of data, or for draw the file that run made")
    parser.add_argument("output", type=Path, help="file to write, or folder for the picture")
    given = parser.parse_args()
    if given.part == "draw":
        return draw(given.source, given.output)
    found = {"run": measured, "first": first_searches}[given.part](given.source)
    with atomic(given.output) as temporary:
        temporary.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
