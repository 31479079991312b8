"""Checksums of what fixed seeds learn. They show whether a change of the code has changed a bit.

    python benchmarks/fingerprints.py ../shared/data benchmarks/results/fingerprints.json

A line is a method of `METHODS` on a set. It holds the checksums of all codes, of the codes of the same rows
as queries and of the weights, and the mean average precision (`HashEncoder.score`) of rows not learned from.
Codes have 32 bits (12 with the hinge loss, whose programmes take longest) and are learned from 300 rows of
digits or 1,000 of usps. They depend on the processor and the linear algebra library that they are learned
with: `machine` names both.
"""

import json
import os
import platform
import sys
import zlib
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import scipy.linalg  # noqa: F401  (so that its library is loaded)
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info

from structhash import CGHash, DistilHash, Qrels, StructHash
from structhash.io import read

N_BITS, SEED = 32, 0
FAMILIES = ("linear", "rbf", "stump", "tree")
RANKINGS = ("auc", "average_precision", "ndcg", "precision", "reciprocal_rank", "sndcg")
LOSSES = ("squared_hinge", "logistic", "exponential")
SIZES = {"digits": (300, 1000), "usps": (1000, 2000)}  # rows learned from, and others


def distilhash(**settings):
    return DistilHash(N_BITS, random_state=SEED, **settings)


def structhash(**settings):
    return StructHash(N_BITS, random_state=SEED, **settings)


def cghash(**settings):
    return CGHash(**{"n_bits": N_BITS, "random_state": SEED, "tolerance": 1e-3} | settings)


def judgements(y, queries):
    """Rows (query, document, grade): the first 20 rows of its class are relevant to each query."""
    rows = [(q, d, 1) for q in queries for d in np.flatnonzero(y == y[q])[:20] if d != q]
    return np.array(rows)


def plain(encoder):
    return lambda X, y, others: encoder.fit(X, y)


METHODS = {
    **{f"cghash:family={f}": plain(cghash(family=f)) for f in FAMILIES},
    **{f"cghash:loss={loss}": plain(cghash(loss=loss)) for loss in LOSSES},
    "cghash:loss=hinge,n_bits=12": plain(cghash(loss="hinge", n_bits=12)),
    "cghash:regularizer=linf:bound=0.5": plain(cghash(regularizer="linf:bound=0.5")),
    "cghash:schedule=stagewise": plain(cghash(schedule="stagewise")),
    **{
        f"structhash:ranking={r},family={f}": plain(structhash(ranking=r, family=f))
        for r in RANKINGS
        for f in FAMILIES
    },
    "structhash:schedule=totally_corrective": plain(structhash(ranking="sndcg", schedule="totally_corrective")),
    "structhash:start=several": plain(structhash(ranking="sndcg", start="several")),
    "structhash of graded judgements": lambda X, y, others: structhash(ranking="ndcg").fit(
        X, Qrels(judgements(y, range(0, len(X), 5)))
    ),
    "distilhash": plain(distilhash()),
    "distilhash:embedding=metric": plain(distilhash(embedding="metric")),
    "distilhash:embedding=manifold": plain(distilhash(embedding="manifold")),
    "distilhash:embedding=centered": lambda X, y, others: distilhash(embedding="centered").fit(X),
    "distilhash:family=rbf": plain(distilhash(family="rbf")),
    "distilhash of unlabeled rows": lambda X, y, others: distilhash().fit(X, y, unlabeled=others),
    "distilhash of new classes": lambda X, y, others: distilhash().fit(X[y < 5], y[y < 5], unlabeled=others),
    "distilhash:embedding=metric of unlabeled rows": lambda X, y, others: distilhash(embedding="metric").fit(
        X, y, unlabeled=others
    ),
    "distilhash:embedding=manifold of unlabeled rows": lambda X, y, others: distilhash(
        embedding="manifold"
    ).fit(X, y, unlabeled=others),
    "distilhash of judgements": lambda X, y, others: distilhash().fit(
        X, Qrels(judgements(y, range(0, len(X), 2)))
    ),
    "distilhash of few judgements": lambda X, y, others: distilhash().fit(
        X, Qrels(judgements(y, range(0, len(X), 75)))
    ),
}


def rows(name, folder=None):
    """Rows and labels to learn from, then others."""
    n, m = SIZES[name]
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y, *_ = read(folder / f"{name}.npz")
        X = X.astype(np.float32)
    order = np.random.default_rng(SEED).permutation(len(X))
    return X[order[:n]], y[order[:n]], X[order[n : n + m]], y[order[n : n + m]]


def line(method, X, y, others, others_y):
    """What one method learns."""
    encoder = METHODS[method](X, y, others)
    every = np.concatenate([X, others])
    return {
        "rows": checksum(encoder.encode(every)),
        "queries": checksum(encoder.encode_queries(every)),
        "weights": checksum(encoder.weights_),
        "map": round(encoder.score(others, others_y), 4),
    }


def checksum(array):
    return f"{zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"


def machine():
    """Processor and linear algebra (of numpy and scipy, not of other libraries), on which codes depend too."""
    libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
    blas = [each for each in libraries if {"numpy.libs", "scipy.libs"} & set(Path(each["filepath"]).parts)]
    kinds = sorted({f"{each['internal_api']} {each['version']} {each.get('architecture')}" for each in blas})
    return {"processor": platform.machine(), "blas": kinds, "numpy": np.__version__}


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    table = {}
    for name in SIZES:
        data = rows(name, folder)
        for method in METHODS:
            table.setdefault(name, {})[method] = line(method, *data)
            print(name, method, json.dumps(table[name][method]), flush=True)
    document = {"bits": N_BITS, "seed": SEED, "machine": machine(), "lines": table}
    out.write_text(json.dumps(document, indent=1) + "\n")
