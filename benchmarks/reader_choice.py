"""Whether the reader that a fit chooses on its own rows is the one that rows it never saw would choose.

    python benchmarks/reader_choice.py ../shared/data benchmarks/results/reader_choice.json

A `fit` without labels lets up to 500 of its rows search among the others, by bits and by real values, and
takes what finds more of the ten nearest. Here half of the rows of a data set, at most 10,000, are for the fit.
As many rows of the other half are tried afterwards: as many queries, and an index of the same size. The fit has
seen none of them. `lost` is the recall of the better reader on unseen rows less that of the chosen one. Codes
have 64 bits. Rows of glove have unit length, those of the others stay. Labels have no part.
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from structhash import DistilHash
from structhash.evaluation import nearest_rows
from structhash.pieces import load
from structhash.search import Exact

TEXTS = ("npl_minilm", "dbpedia5k_minilm", "banking77_minilm", "glove6b50_100k")
SETS = (*TEXTS, "sift_bsds100k", "usps", "isolet", "mnist", "cifar10_gist512")
SEED, BITS, MOST_ROWS, N_QUERIES, N_NEAREST = 0, 64, 10_000, 500, 10
READERS = ("bits", "real")


def halves(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Two samples of as many rows (n, d), float32, without a row in common."""
    with np.load(folder / f"{name}.npz") as data:
        X = data["X"]
    n = min(MOST_ROWS, len(X) // 2)
    rows = X[np.random.default_rng(SEED).permutation(len(X))[: 2 * n]].astype(np.float32)
    if name.startswith("glove"):
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[:n], rows[n:]


def recalls(encoder: Any, rows: np.ndarray) -> list[float]:
    """Share of the nearest rows that each reader finds when the first rows search among the others."""
    queries, others = rows[:N_QUERIES].astype(float), rows[N_QUERIES:].astype(float)
    near = nearest_rows(queries, others, N_NEAREST)(slice(None))
    index, shares = Exact(BITS), []
    index.add(encoder.encode(others))
    for reader in READERS:
        _, ids = index.search(encoder.prepare_queries(queries, reader=reader), N_NEAREST)
        shares.append(round(float(np.take_along_axis(near, ids, axis=1).mean()), 4))
    return shares


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """A line a data set and method."""
    for name in SETS:
        seen, unseen = halves(folder, name)
        for method in ("distilhash", "itq"):
            itq = load("baselines", f"itq:n_bits={BITS},random_state={SEED}")
            encoder = (itq if method == "itq" else DistilHash(BITS, random_state=SEED)).fit(seen)
            others, chosen = recalls(encoder, unseen), READERS.index(encoder.default_reader())
            own = encoder.reader_recalls_.round(4).tolist()
            yield {
                "set": name,
                "method": method,
                "rows": len(seen),
                "seen": dict(zip(READERS, own, strict=True)),
                "unseen": dict(zip(READERS, others, strict=True)),
                "chosen": READERS[chosen],
                "lost": round(max(others) - others[chosen], 4),
            }


def main() -> None:
    """Measure, and write the output again after each line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for line in lines(given.data):
        found.append(line)
        print(json.dumps(line), flush=True)
        rows = ",\n  ".join(json.dumps(each) for each in found)
        given.output.write_text(f'{{"bits": {BITS}, "seed": {SEED}, "lines": [\n  {rows}\n]}}\n')


if __name__ == "__main__":
    main()
