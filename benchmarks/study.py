"""What makes distilled codes better: choices judged on held-out training rows, never on queries.

    python benchmarks/study.py ../shared/data benchmarks/results/study.json

Seen classes: the 2,000 training rows of a split in three parts, each ranked among itself by codes learned from
the other two. Unseen classes: the 4,000 training rows, of whose classes three quarters teach (`unseen_classes`
again); the rows of the others are ranked among themselves, and are what @database means. 64 bits and their
prefix of 32, plain Hamming distance, mean average precision of each row's ranking. `gain` and `p` are those of
the 64 bits over the first choice, by a t-test paired by row over all sets. PULL, NEAREST and TARGETS stand for
what the embedding has (TARGETS=hard: the labels' own).
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

from structhash.evaluate import code_blocks, float_blocks, retrieval, seen_classes, unseen_classes
from structhash.io import read
from structhash.methods import parse_method
from structhash.pieces import classes

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
SEEDS = (10,)  # of splits, none of which any other benchmark uses
SEEN = [
    "structhash",
    "structhash PULL=0",
    "structhash PULL=8",
    "structhash TARGETS=hard",
    "structhash:start=several",
    "structhash:ranking=sndcg",
    "sdh:n_anchors=2000",
]
UNSEEN = [
    "structhash@database:embedding=metric",
    "structhash@database:embedding=metric PULL=0",
    "structhash@database:embedding=metric PULL=32",
    "structhash:embedding=metric",
    "structhash@database:embedding=cosine",
    "structhash@database:embedding=cosine NEAREST=0",
    "structhash@database",
    "cca_itq",
    "itq@database",
    "float",
]


def hard(labels):
    """Targets spread evenly over the partners of the query's class, or over all where there are none."""

    def targets(self, Z, queries, partners):
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
            for kind in classes("embeddings").values():
                setting = hard(labels) if key == "TARGETS" else float(value) if key == "PULL" else int(value)
                stack.enter_context(mock.patch.object(kind, key.lower(), setting))
        yield


def precision(blocks, y):
    """Average precision of every row among the others."""
    found = []
    for first, (distances, relevance) in blocks:
        others = np.ones(distances.shape, bool)
        others[np.arange(len(distances)), first + np.arange(len(distances))] = False
        shape = len(distances), len(y) - 1
        cut = distances[others].reshape(shape), relevance[others].reshape(shape)
        found.append(retrieval([cut], ["map"]).per_query["map"])
    return np.concatenate(found)


def numbered(blocks):
    """Blocks and the number of their first row."""
    first = 0
    for block in blocks:
        yield first, block
        first += len(block[0])


def scores(spec, X, y, train, held, seed):
    """Average precision of the held-out rows at 64 and at 32 bits, and seconds to fit."""
    spec, *words = spec.split()
    method, rows, labels = parse_method(spec), X[held], y[held]

    def relevant(block):
        return labels[block, None] == labels

    if method.is_float:
        found = precision(numbered(float_blocks(rows, rows, relevant)), labels)
        return found, found, 0.0
    began = time.perf_counter()
    with changed(words, y[train]):
        encoder, _ = method.fit(X[train], y[train], 64, seed, rows)
    seconds = time.perf_counter() - began
    found = []
    for n_bits in (64, 32):
        codes = encoder.encode(rows, n_bits)
        found.append(precision(numbered(code_blocks(codes, codes, relevant)), labels))
    return *found, seconds


def splits(y, protocol, seed):
    """Numbers of the rows that teach and of those held out, among the training rows."""
    if protocol == "unseen":
        inner = unseen_classes(y, seed + 100)
        return [(inner.train, np.concatenate([inner.queries, inner.database]))]
    parts = np.array_split(np.random.default_rng(seed).permutation(len(y)), 3)
    return [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]


def run(folder, protocol, specs):
    lines, first = [], {}
    for spec in specs:
        line, gains = {"protocol": protocol, "choice": spec}, []
        for name in SETS:
            data = read(folder / f"{name}.npz")
            found, seconds = [], []
            for seed in SEEDS:
                rows = (seen_classes if protocol == "seen" else unseen_classes)(data.y, seed).train
                X, y = data.X[rows].astype(np.float32), data.y[rows]
                for train, held in splits(y, protocol, seed):
                    *both, took = scores(spec, X, y, train, held, seed)
                    found.append(both)
                    seconds.append(took)
            at64, at32 = (np.concatenate(parts) for parts in zip(*found, strict=True))
            line[name] = {
                "map@64 bits": round(float(np.nanmean(at64)), 4),
                "map@32 bits": round(float(np.nanmean(at32)), 4),
                "seconds": round(float(np.mean(seconds)), 1),
            }
            first.setdefault(name, at64)
            gains.append(at64 - first[name])
        gain = np.concatenate(gains)
        gain = gain[~np.isnan(gain)]
        line["gain"] = round(float(gain.mean()), 4)
        line["p"] = float(f"{ttest_1samp(gain, 0).pvalue:.2g}") if gain.any() else 1.0
        lines.append(line)
        print(json.dumps(line), flush=True)
    return lines


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = run(folder, "seen", SEEN) + run(folder, "unseen", UNSEEN)
    out.write_text(json.dumps({"sets": SETS, "seeds": SEEDS, "lines": lines}, indent=1) + "\n")
