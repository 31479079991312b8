"""Labels in plenty: what more labels and more anchors give, and what they cost.

    python benchmarks/plenty.py ../shared/data benchmarks/results/plenty.json

Each line is one fit of a method with 64 bits on the seen-class split of seed 0, with that many labels.
`accuracy` is the share of queries whose likeliest class is their own, by the probabilities that `posterior`
distils. `encode` is the time for 20,000 rows. Times are seconds of the wall's and of the processor's clock.
`load` is the load average of the machine at the end. Fits run one after the other, with one thread of linear
algebra. Lines that the file has already are not measured again.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash.embeddings.posterior import Posterior
from structhash.evaluation import code_blocks, parse_method, retrieval, seen_classes
from structhash.io import read

SIZES = {"mnist": (60_000, 20_000, 2000), "cifar10_gist512": (50_000, 2000)}
POSTERIOR = "distilhash:embedding=posterior"
METHODS = (POSTERIOR, "distilhash", "sdh:n_anchors=2000")
FEWER_ANCHORS = (f"{POSTERIOR}:n_anchors=4000", f"{POSTERIOR}:n_anchors=2000")  # at the largest size
BITS, SEED, ENCODED = 64, 0, 20_000
MEASURES = ("map", "ndcg@100")


def clocked(run) -> tuple[Any, dict[str, float]]:
    """What a function returns, and its seconds."""
    began = time.perf_counter(), time.process_time()
    returned = run()
    ended = time.perf_counter(), time.process_time()
    seconds = (round(end - begin, 2) for begin, end in zip(began, ended, strict=True))
    return returned, dict(zip(("wall", "processor"), seconds, strict=True))


def measure(name: str, n: int, method: str, folder: Path) -> dict[str, Any]:
    """The line of one fit."""
    data = read(folder / f"{name}.npz")
    split = seen_classes(data.y, SEED, n_train=n)
    train, queries, database = (data.X[rows].astype(np.float32) for rows in split)
    of_train, of_queries, of_database = (data.y[rows] for rows in split)
    (encoder, _), fit = clocked(lambda: parse_method(method).fit(train, of_train, BITS, SEED, None))
    _, encode = clocked(lambda: encoder.encode(database[:ENCODED]))
    codes = encoder.encode_queries(queries), encoder.encode(database)
    scores = retrieval(code_blocks(*codes, lambda rows: of_queries[rows, None] == of_database), MEASURES)
    line = {"set": name, "labels": n, "method": method}
    line |= {measure: round(value, 4) for measure, value in scores.mean.items()}
    if method.startswith(POSTERIOR):
        state = encoder.hash_function_.embedding_state
        likeliest = np.unique(of_train)[Posterior().embed(queries, state).argmax(axis=1)]
        line |= {"accuracy": round(float((likeliest == of_queries).mean()), 4)}
        line |= {"anchors": len(state["anchors"]), "directions": state["directions"].shape[1]}
    return line | {"fit": fit, "encode": encode, "load": round(os.getloadavg()[0], 1)}


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = json.loads(out.read_text())["lines"] if out.exists() else []
    measured = {(line["set"], line["labels"], line["method"]) for line in lines}
    for name, sizes in SIZES.items():
        for n in sizes:
            for method in METHODS + (FEWER_ANCHORS if n == sizes[0] else ()):
                if (name, n, method) not in measured:
                    lines.append(measure(name, n, method, folder))
                    print(json.dumps(lines[-1]), flush=True)
                    document = {"bits": BITS, "seed": SEED, "encoded": ENCODED, "lines": lines}
                    out.write_text(json.dumps(document, indent=1) + "\n")
