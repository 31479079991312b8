"""What makes distilled codes better: choices judged on held-out training rows, never on queries.

    python benchmarks/study.py ../shared/data benchmarks/results/study.json

A choice is a method spec, or `HARD`, whose targets are those of the labels.

Seen classes: the 2,000 training rows of a split are cut into three parts. Each part is ranked among itself by
codes learned from the other two. Unseen classes: three quarters of the classes of the 4,000 training rows are
learned from. Rows of the other classes are ranked among themselves, and are what @database means: at most
4,000 (`few`: 1,000) rows, drawn from the whole data set, so that they are as many as in a database. The
classes that the split itself searches have no part.

Codes have 64 bits and a prefix of 32, and are compared by plain Hamming distance. The measures are the mean
average precision and the precision at 10 of each row's ranking. `gain` and `p` compare 64 bits with the first
choice, by a t-test paired by row over all sets. `new_class_evidence` is what `embedding="auto"` decides by.
"""

import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from scipy.stats import ttest_1samp

from structhash import DistilHash
from structhash.embeddings.posterior import Posterior
from structhash.evaluation import (
    code_blocks,
    float_blocks,
    parse_method,
    retrieval,
    seen_classes,
    unseen_classes,
)
from structhash.io import read
from structhash.metrics import without_self
from structhash.training.distillation import embed_points
from structhash.training.embedding_choice import new_class_evidence

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
SEEDS = (10,)  # of splits, none of which any other benchmark uses
HARD = "distilhash with hard targets"
POSTERIOR, DATABASE = "distilhash:embedding=posterior", "distilhash@database:embedding"
SEEN = [
    "distilhash",
    f"{POSTERIOR}:self_weight=1",
    f"{POSTERIOR}:self_weight=8",
    HARD,
    f"{POSTERIOR}:query_candidates=()",
    f"{POSTERIOR}:query_candidates=4",
    f"{POSTERIOR}:query_candidates=1",
    f"{POSTERIOR}:query_candidates=0.5",
    f"{POSTERIOR}:temperature=4",
    f"{POSTERIOR}:temperature=16",
    f"{POSTERIOR}:max_row_temperature=8",
    f"{POSTERIOR}:max_row_temperature=32",
    f"{POSTERIOR}:max_row_temperature=8,query_candidates=()",
    f"{POSTERIOR}:temperature=2,max_row_temperature=2,query_candidates=()",
    "distilhash:start=several",
    "structhash",
    "sdh:n_anchors=2000",
]
UNSEEN = [
    f"{DATABASE}=manifold",
    f"{DATABASE}=manifold:self_weight=0",
    f"{DATABASE}=manifold:self_weight=8",
    f"{DATABASE}=metric",
    f"{DATABASE}=metric:self_weight=0",
    "distilhash:embedding=metric",
    f"{DATABASE}=centered",
    f"{DATABASE}=centered:n_nearest=0",
    f"{DATABASE}=posterior",
    "cca_itq",
    "itq@database",
    "agh@database",
    "float",
]
FEW = [f"{DATABASE}=manifold", f"{DATABASE}=metric"]
MEASURES = ("map", "precision@10")
HELD = {"unseen": 4000, "few": 1000}  # rows of unseen classes, at most


@dataclass(frozen=True)
class HardTargets(Posterior):
    """`Posterior` with targets spread evenly over the partners of the query's class, or over all partners.

    Its points must be all training rows, in their order: at most `n_points` rows.
    """

    labels: Any = field(default=None, compare=False)

    def targets(self, vectors, queries, partners, multiplicities, state):
        same = (self.labels[partners] == self.labels[queries][:, None]).astype(float)
        same[same.sum(axis=1) == 0] = 1
        return same / same.sum(axis=1, keepdims=True)


def precision(blocks):
    """Each measure of every row among the others: (2, n)."""
    found = []
    for first, (distances, relevance) in blocks:
        per_query = retrieval([without_self(distances, relevance, first)], MEASURES).per_query
        found.append([per_query[measure] for measure in MEASURES])
    return np.concatenate(found, axis=1)


def numbered(blocks):
    """Blocks and the number of their first row."""
    first = 0
    for block in blocks:
        yield first, block
        first += len(block[0])


def scores(spec, data, train, held, seed):
    """Measures of the held-out rows at 64 and at 32 bits, and seconds to fit."""
    rows, labels = data.X[held].astype(np.float32), data.y[held]

    def relevant(block):
        return labels[block, None] == labels

    if spec == "float":
        found = precision(numbered(float_blocks(rows, rows, relevant)))
        return found, found, 0.0
    began = time.perf_counter()
    encoder = fitted(spec, data.X[train].astype(np.float32), data.y[train], seed, rows)
    seconds = time.perf_counter() - began
    codes = [(encoder.encode_queries(rows, n), encoder.encode(rows, n)) for n in (64, 32)]
    return *(precision(numbered(code_blocks(*both, relevant))) for both in codes), seconds


def fitted(spec, X, y, seed, database):
    """The encoder of a choice, with 64 bits."""
    if spec == HARD:
        return DistilHash(64, embedding=HardTargets(labels=y), random_state=seed).fit(X, y)
    return parse_method(spec).fit(X, y, 64, seed, database)[0]


def splits(y, protocol, seed):
    """Numbers of the rows that teach and of those held out."""
    if protocol in HELD:
        rows = unseen_classes(y, seed).train
        inner = unseen_classes(y[rows], seed + 100)
        held = np.flatnonzero(np.isin(y, y[rows[inner.queries]]))
        return [(rows[inner.train], np.random.default_rng(seed).permutation(held)[: HELD[protocol]])]
    rows = seen_classes(y, seed).train
    parts = np.array_split(np.random.default_rng(seed).permutation(len(rows)), 3)
    return [(rows[np.setdiff1d(np.arange(len(rows)), part)], rows[part]) for part in parts]


def run(folder, protocol, specs):
    lines, first = [], {}
    for spec in specs:
        line, gains = {"protocol": protocol, "choice": spec}, []
        for name in SETS:
            data = read(folder / f"{name}.npz")
            found, seconds = [], []
            for seed in SEEDS:
                for train, held in splits(data.y, protocol, seed):
                    *both, took = scores(spec, data, train, held, seed)
                    found.append(both)
                    seconds.append(took)
            both = [np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)]
            line[name] = {
                f"{measure}@{n_bits} bits": round(float(np.nanmean(values)), 4)
                for n_bits, table in zip((64, 32), both, strict=True)
                for measure, values in zip(MEASURES, table, strict=True)
            }
            line[name]["seconds"] = round(float(np.mean(seconds)), 1)
            first.setdefault(name, both[0])
            gains.append(both[0] - first[name])
        for measure, gain in zip(MEASURES, np.concatenate(gains, axis=1), strict=True):
            known = gain[~np.isnan(gain)]
            p = float(f"{ttest_1samp(known, 0).pvalue:.2g}") if known.any() else 1.0
            line[f"gain {measure}"] = {"mean": round(float(known.mean()), 4), "p": p}
        lines.append(line)
        print(json.dumps(line), flush=True)
    return lines


def evidence(folder):
    """By set: how often a left-out training row has a larger class probability than a held-out row."""
    found = {}
    for name in SETS:
        data = read(folder / f"{name}.npz")
        found[name] = {}
        for protocol in ("seen", "unseen"):
            train, held = splits(data.y, protocol, SEEDS[0])[0]
            X, others = (data.X[rows].astype(np.float32) for rows in (train, held))
            class_index = np.unique(data.y[train], return_inverse=True)[1]
            points = embed_points(Posterior(), X, class_index, others, np.random.default_rng(0))
            found[name][protocol] = round(new_class_evidence(points, others)[0], 3)
    return found


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = run(folder, "seen", SEEN) + run(folder, "unseen", UNSEEN) + run(folder, "few", FEW)
    document = {"sets": SETS, "seeds": SEEDS, "new_class_evidence": evidence(folder), "lines": lines}
    out.write_text(json.dumps(document, indent=1) + "\n")
