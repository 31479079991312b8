"""Labels in plenty: what more labels and more anchors give, and what they cost.

    python benchmarks/plenty.py ../shared/data benchmarks/results/plenty.json

Codes have 64 bits. Each line is one fit on the training rows of the seen-class split of seed 0, with that many
labels. `accuracy` is the share of queries whose likeliest class, by the floats that are distilled, is their own;
SDH has none. `encode` is the time for 20,000 rows. Seconds are by the wall's and by the processor's clock; `load`
is how many processes the machine ran meanwhile. Fits run one after the other, in one thread of linear algebra.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash import DistilHash
from structhash.baselines import SDH
from structhash.embeddings.posterior import Posterior
from structhash.evaluation import code_blocks, retrieval, seen_classes
from structhash.io import read

SIZES = {"mnist": (2000, 20_000, 60_000), "cifar10_gist512": (2000, 50_000)}
N_ANCHORS = (2000, 4000)  # besides the default, at the largest size
BITS, SEED, ENCODED = 64, 0, 20_000
MEASURES = ("map", "ndcg@100")


def contenders(largest: bool) -> dict:
    """Encoders by name."""
    found = {"distilhash": DistilHash(BITS, random_state=SEED)}
    found["posterior"] = DistilHash(BITS, embedding="posterior", random_state=SEED)
    for n_anchors in N_ANCHORS if largest else ():
        name = f"posterior:n_anchors={n_anchors}"
        found[name] = DistilHash(BITS, embedding=name, random_state=SEED)
    return found | {"sdh:n_anchors=2000": SDH(BITS, n_anchors=2000, random_state=SEED)}


def clocked(run) -> tuple:
    """What a function returns, and its seconds by the wall and by the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    returned = run()
    seconds = time.perf_counter() - wall, time.process_time() - processor
    return returned, [round(each, 2) for each in seconds]


def accuracy(X, class_index, queries, class_of_queries) -> tuple[float, int]:
    """Share of queries whose likeliest class is right, and the number of anchors."""
    piece = Posterior()
    state = piece.fit(X, class_index, None, np.arange(2), np.random.default_rng(SEED)).state
    right = piece.embed(queries, state).argmax(axis=1) == class_of_queries
    return round(float(right.mean()), 4), len(state["anchors"])


def line(encoder, data, split) -> dict:
    """Measures and seconds of one encoder on one split."""
    X, y = data.X.astype(np.float32), data.y
    _, fit = clocked(lambda: encoder.fit(X[split.train], y[split.train]))
    _, encode = clocked(lambda: encoder.encode(X[:ENCODED]))
    queries, codes = encoder.encode_queries(X[split.queries]), encoder.encode(X[split.database])
    wanted, found = y[split.queries], y[split.database]
    scores = retrieval(code_blocks(queries, codes, lambda rows: wanted[rows, None] == found), MEASURES)
    measures = {measure: round(scores.mean[measure], 4) for measure in MEASURES}
    return {**measures, "fit": fit, "encode": encode, "load": round(os.getloadavg()[0], 1)}


def run(folder: Path, out: Path) -> None:
    lines = []
    for name, sizes in SIZES.items():
        data = read(folder / f"{name}.npz")
        for n in sizes:
            split = seen_classes(data.y, SEED, n_train=n)
            for method, encoder in contenders(n == sizes[-1]).items():
                lines.append({"set": name, "labels": n, "method": method, **line(encoder, data, split)})
                print(json.dumps(lines[-1]), flush=True)
                about = {"bits": BITS, "seed": SEED, "encoded": ENCODED, "seconds": ["wall", "processor"]}
                out.write_text(json.dumps({**about, "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
