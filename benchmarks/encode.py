"""How fast vectors become codes: 64 bits, next to the bare product and to the encoders of faiss.

    python benchmarks/encode.py benchmarks/results/encode.json

Every contender takes the same random float32 rows in one thread and gives packed codes. The bare product
gives none: it is X V' of a block of rows and 64 planes, the least that each of them must do. Runs are
interleaved, so that other work on the machine slows all of them alike. Rates are by the wall clock and by the
clock of the processor. A ratio is the median of the quotients of one round, by the clock of the processor. An
offset of 100 puts the rows a hundred times their spread from the origin. Ours take rows of other types as
they are; the others take float32.
"""

import json
import os
import sys
import time
from pathlib import Path

for library in ("OPENBLAS", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import faiss  # noqa: E402
import numpy as np  # noqa: E402

from structhash import StructHash  # noqa: E402
from structhash.baselines import ITQ, LSH  # noqa: E402

N, BITS, ROUNDS = 100_000, 64, 5
CASES = (("float32", 256, 0), ("float32", 784, 0), ("float32", 1536, 0), ("float32", 784, 100))
CASES += (("float16", 784, 0), ("float64", 784, 0))


def contenders(X, dtype):
    """A function of no argument for each contender; faiss takes float32 only."""
    sample, rows = X[:2000], X.astype(dtype)
    normals = np.random.default_rng(1).standard_normal((BITS, X.shape[1]), dtype=np.float32)
    scores = np.empty((len(X), BITS), np.float32)

    def bare():
        for first in range(0, len(X), 1024):
            np.matmul(X[first : first + 1024], normals.T, out=scores[first : first + 1024])

    learned = StructHash(BITS, family="linear:max_iter=0", n_near=2, n_far=2, random_state=0)
    learned.fit(sample[:300], np.arange(300) % 10)
    index = faiss.IndexLSH(X.shape[1], BITS)
    rotation = faiss.ITQTransform(X.shape[1], BITS, X.shape[1] > BITS)
    rotation.train(sample)
    chain = faiss.IndexPreTransform(rotation, faiss.IndexLSH(BITS, BITS, False, False))
    lsh, itq = LSH(BITS, random_state=0).fit(sample), ITQ(BITS, max_iter=2, random_state=0).fit(sample)
    return {
        "product": bare,
        "structhash": lambda: learned.encode(rows),
        "lsh": lambda: lsh.encode(rows),
        "itq": lambda: itq.encode(rows),
        "faiss LSH": lambda: index.sa_encode(X),
        "faiss ITQ": lambda: chain.sa_encode(X),
    }


def measure(functions):
    """Seconds (rounds, contenders) by the processor's and by the wall's clock."""
    clocks = (time.process_time, time.perf_counter)
    seconds = np.empty((2, ROUNDS, len(functions)))
    for function in functions.values():
        function()
    for turn in range(ROUNDS):
        for place, function in enumerate(functions.values()):
            began = [clock() for clock in clocks]
            function()
            seconds[:, turn, place] = [clock() - start for clock, start in zip(clocks, began)]
    return seconds


def lines(dtype, d, offset):
    """One line a contender: rows a second, and how that compares."""
    X = np.random.default_rng(0).standard_normal((N, d), dtype=np.float32) + np.float32(offset)
    functions = contenders(X, dtype)
    processor, wall = measure(functions)
    names = list(functions)
    for place, name in enumerate(names):
        line = {"dtype": dtype, "d": d, "offset": offset, "name": name}
        line["rows_per_second"] = round(N / float(np.median(wall[:, place])))
        line["rows_per_cpu_second"] = round(N / float(np.median(processor[:, place])))
        for other in ("product", "faiss LSH", "faiss ITQ"):
            quotient = processor[:, names.index(other)] / processor[:, place]
            line[f"rate / {other}"] = round(float(np.median(quotient)), 3)
        yield line


if __name__ == "__main__":
    faiss.omp_set_num_threads(1)
    found = []
    for case in CASES:
        for line in lines(*case):
            print(json.dumps(line), flush=True)
            found.append(line)
    about = {"rows": N, "bits": BITS, "rounds": ROUNDS, "threads": 1, "numpy": np.__version__}
    about["faiss"] = faiss.__version__
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps({**about, "lines": found}, indent=1) + "\n")
