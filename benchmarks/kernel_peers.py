"""Peers that are given the kernel features that DistilHash has by default, on seen classes.

    python benchmarks/kernel_peers.py ../shared/data/usps.npz benchmarks/results/kernel/usps.json

As `structhash compare` with 32 and 64 bits and seeds 0, 1, 2. A method whose name ends in " of K" learns
from, and encodes, Gaussian similarities to all training rows. Their form and bandwidth are those that the
embedding `posterior` chooses for these rows. `sdh`, `fsdh` and `ksh` compute such similarities themselves.
They get as many anchors; `ksh` gets half as many, with which it takes a second a bit. A third word, `quick`,
leaves out `ksh` and `fast_hash`.
"""

import json
import os
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

from structhash.embeddings.posterior import Posterior
from structhash.evaluation import as_json, as_table, compare, seen_classes, summarise
from structhash.io import read
from structhash.io.container import atomic

OURS, SLOW = ["distilhash"], ("ksh", "fast_hash")
OWN = ["sdh:n_anchors=2000", "fsdh:n_anchors=2000", "ksh:n_anchors=1000"]
OF_K = ["cca_itq", "cosdish", "fast_hash"]
BITS, SEEDS = (32, 64), (0, 1, 2)
MEASURES = ("ndcg_paper@100", "precision@10", "map")
PACKAGES = ("structhash", "numpy", "scipy", "scikit-learn", "numba")


def kernel(X, y, seed):
    """Similarities (n, 2000) of all rows to the training rows of the split of this seed."""
    train = seen_classes(y, seed).train
    class_index = np.unique(y[train], return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    state = Posterior(n_anchors=len(train)).fit(X[train], class_index, None, np.arange(2), rng).state
    parts = [normalize(X), X - state["center"]]  # directions and positions
    rows = np.hstack([part / unit for part, unit in zip(parts, state["units"], strict=True) if unit])
    return rbf_kernel(rows, state["anchors"], gamma=0.5 / float(state["bandwidth"]) ** 2)


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
    lines = summarise(run(found.X.astype(np.float32), found.y, own, of_kernel))
    options = {"methods": OURS + own + [f"{name} of K" for name in of_kernel], "bits": BITS, "seeds": SEEDS}
    about = {"data": data.name, "rows": len(found.X), "features": found.X.shape[1], "protocol": "seen"}
    about |= {"options": {**options, "measures": MEASURES}, "date": datetime.now(UTC).isoformat("T", "seconds")}
    document = as_json(lines, **about, versions={name: version(name) for name in PACKAGES})
    with atomic(out) as temporary:
        temporary.write_text(json.dumps(document, indent=2) + "\n")
    print(as_table(lines), end="")
