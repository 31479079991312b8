"""Peers given the kernel features that StructHash has by default, on seen classes.

    python benchmarks/kernel_peers.py ../shared/data/usps.npz benchmarks/results/kernel/usps.json

As `structhash compare` with 32 and 64 bits and seeds 0, 1, 2. Methods that end in " of K" learn from, and
encode, Gaussian similarities to all training rows, form and bandwidth being those that `posterior` chooses for
these; `sdh`, `fsdh` and `ksh` compute such similarities themselves and get as many anchors, `ksh` half as many,
with which it takes a second a bit. A third word, `quick`, leaves out it and `fast_hash`.
"""

import os
import sys
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash._numerics.blocks import row_slices
from structhash._numerics.gaussian import similarities, squared_distances
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS
from structhash.cli.console import write_json
from structhash.cli.scores import LEGEND, stamp
from structhash.embeddings.posterior import choose, places
from structhash.evaluation import report
from structhash.evaluation.compare import compare, seen_classes
from structhash.io import read

OURS, SLOW = ["structhash"], ("ksh", "fast_hash")
OWN = ["sdh:n_anchors=2000", "fsdh:n_anchors=2000", "ksh:n_anchors=1000"]
OF_K = ["cca_itq", "cosdish", "fast_hash"]
BITS, SEEDS = (32, 64), (0, 1, 2)
MEASURES = ("ndcg_paper@100", "precision@10", "map")


def kernel(X, y, seed):
    """Similarities (n, 2000) of all rows to the training rows of the split of this seed."""
    train = seen_classes(y, seed).train
    center = X[train].mean(axis=0, dtype=np.float64)
    index = np.unique(y[train], return_inverse=True)[1]
    units, sigma = choose(X[train], index, center, np.random.default_rng(seed))
    anchors, K = places(X[train], center, units), np.empty((len(X), len(train)), np.float32)
    for run in row_slices(len(X), FEATURE_BLOCK_ROWS):
        K[run] = similarities(squared_distances(places(X[run], center, units), anchors), np.asarray(sigma))
    return K


def run(X, y, own, of_kernel):
    """All results of one data set."""
    results = []
    for seed in SEEDS:
        fits = {"bits": BITS, "seeds": [seed], "measures": MEASURES}
        results += compare(OURS + own, X, y, **fits)
        K = kernel(X, y, seed)
        results += (each._replace(method=f"{each.method} of K") for each in compare(of_kernel, K, y, **fits))
    return results


if __name__ == "__main__":
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    left_out = SLOW if "quick" in sys.argv[3:] else ()
    own, of_kernel = ([name for name in names if not name.startswith(left_out)] for names in (OWN, OF_K))
    found = read(data)
    lines = report.summarise(run(found.X.astype(np.float32), found.y, own, of_kernel))
    options = {"methods": OURS + own + [f"{name} of K" for name in of_kernel], "bits": BITS, "seeds": SEEDS}
    about = {"data": data.name, "rows": len(found.X), "features": found.X.shape[1], "protocol": "seen"}
    write_json(out, report.as_json(lines, **about, options={**options, "measures": MEASURES}, **stamp()))
    print(report.table(lines) + LEGEND)
