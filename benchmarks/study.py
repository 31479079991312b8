"""What makes distilled codes better: choices judged on held-out training rows, never on queries.

    python benchmarks/study.py ../shared/data benchmarks/results/study.json

Seen classes: the 2,000 training rows of a split in three parts, each ranked among itself by codes learned from
the other two. Unseen classes: of the classes that the 4,000 training rows have, three quarters teach
(`unseen_classes` again); rows of the others, at most 4,000 (`few`: 1,000), from all of the data set, so that
they are as many as in a database, are ranked among themselves, and are what @database means. The classes that
the split itself searches have no part. 64 bits and their prefix of 32, plain Hamming distance, mean average
precision and precision at 10 of each row's ranking. `gain` and `p` are those of the 64 bits over the first
choice, by a t-test paired by row over all sets. PULL, NEAREST and TARGETS stand for what the embedding has
(TARGETS=hard: the labels' own), SOFT and SOFTER for how much less sharp than the probabilities the vectors of
`posterior` are from which bits are learned and those of rows, QUERIES for the power of those of queries
(alike: as rows).
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from unittest import mock

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from scipy.stats import ttest_1samp

from structhash.embeddings import posterior
from structhash.embeddings.posterior import Posterior
from structhash.evaluation.compare import code_blocks, float_blocks, retrieval, seen_classes, unseen_classes
from structhash.evaluation.methods import parse_method
from structhash.io import read
from structhash.metrics import without_self
from structhash.pieces import classes
from structhash.training.distillation import surer

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
SEEDS = (10,)  # of splits, none of which any other benchmark uses
SEEN = [
    "structhash",
    "structhash PULL=1",
    "structhash PULL=8",
    "structhash TARGETS=hard",
    "structhash QUERIES=alike",
    "structhash QUERIES=0.25",
    "structhash QUERIES=1",
    "structhash QUERIES=2",
    "structhash SOFT=4",
    "structhash SOFT=16",
    "structhash SOFTER=8",
    "structhash SOFTER=32",
    "structhash SOFTER=8 QUERIES=alike",
    "structhash SOFT=2 SOFTER=2 QUERIES=alike",
    "structhash:start=several",
    "structhash:ranking=sndcg",
    "sdh:n_anchors=2000",
]
UNSEEN = [
    "structhash@database:embedding=manifold",
    "structhash@database:embedding=manifold PULL=0",
    "structhash@database:embedding=manifold PULL=8",
    "structhash@database:embedding=metric",
    "structhash@database:embedding=metric PULL=0",
    "structhash:embedding=metric",
    "structhash@database:embedding=cosine",
    "structhash@database:embedding=cosine NEAREST=0",
    "structhash@database:embedding=posterior",
    "cca_itq",
    "itq@database",
    "agh@database",
    "float",
]
FEW = ["structhash@database:embedding=manifold", "structhash@database:embedding=metric"]
MEASURES = ("map", "precision@10")
HELD = {"unseen": 4000, "few": 1000}  # rows of unseen classes, at most


def hard(labels):
    """Targets spread evenly over the partners of the query's class, or over all where there are none."""

    def targets(self, Z, queries, partners, counts):
        same = (labels[partners] == labels[queries][:, None]).astype(float)
        same[same.sum(axis=1) == 0] = 1
        return same / same.sum(axis=1, keepdims=True)

    return targets


@contextlib.contextmanager
def changed(words, labels):
    """All embeddings with what the words say."""
    with contextlib.ExitStack() as stack:
        for word in words:
            key, _, value = word.partition("=")
            if key in ("SOFT", "SOFTER"):
                stack.enter_context(mock.patch.object(posterior, key, float(value)))
            elif key == "QUERIES":
                powers = () if value == "alike" else (float(value),)
                stack.enter_context(mock.patch.object(Posterior, "query_powers", powers))
            else:
                setting = hard(labels) if key == "TARGETS" else float(value) if key == "PULL" else int(value)
                for kind in classes("embeddings").values():
                    stack.enter_context(mock.patch.object(kind, key.lower(), setting))
        yield


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
    spec, *words = spec.split()
    method, rows, labels = parse_method(spec), data.X[held].astype(np.float32), data.y[held]

    def relevant(block):
        return labels[block, None] == labels

    if method.is_float:
        found = precision(numbered(float_blocks(rows, rows, relevant)))
        return found, found, 0.0
    began = time.perf_counter()
    X, y = data.X[train].astype(np.float32), data.y[train]
    with changed(words, y):
        encoder, _ = method.fit(X, y, 64, seed, rows)
        seconds = time.perf_counter() - began
        codes = [(encoder.encode_queries(rows, n), encoder.encode(rows, n)) for n in (64, 32)]
    return *(precision(numbered(code_blocks(*both, relevant))) for both in codes), seconds


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


def sureness(folder):
    """By set: how often a row that teaches is surer of its class than one held out, by `surer`."""
    found = {}
    for name in SETS:
        data = read(folder / f"{name}.npz")
        found[name] = {}
        for protocol in ("seen", "unseen"):
            train, held = splits(data.y, protocol, SEEDS[0])[0]
            X, others = (data.X[rows].astype(np.float32) for rows in (train, held))
            found[name][protocol] = round(surer(X, data.y[train], others)[0], 3)
    return found


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = run(folder, "seen", SEEN) + run(folder, "unseen", UNSEEN) + run(folder, "few", FEW)
    document = {"sets": SETS, "seeds": SEEDS, "surer": sureness(folder), "lines": lines}
    out.write_text(json.dumps(document, indent=1) + "\n")
