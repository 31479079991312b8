"""Queries of known and of new classes, where only labels were given.

    python benchmarks/queries_as_rows.py ../shared/data benchmarks/results/queries_as_rows.json

Three quarters of the classes have labels, and the database holds rows of all (the protocols `mixed-known` and
`mixed-new`). `DistilHash` learns 64 bits from labelled rows alone. One model codes the queries twice: by
`encode_queries` and by `encode`. `AdditiveHash` learns from the same labels, and ITQ from the same rows.
Figures are means over queries and three splits.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash import AdditiveHash, DistilHash
from structhash.baselines import ITQ
from structhash.evaluation import code_blocks, prepared_blocks, retrieval, same_label
from structhash.evaluation.splits import mixed_known_classes, mixed_new_classes

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
SEEDS, BITS, MEASURES = (0, 1, 2), 64, ("map", "precision@10")


def readers(X, y, train, database, seed):
    """What reads queries, by name: a function of queries and their relevance that gives blocks of distances."""
    bits = DistilHash(BITS, random_state=seed).fit(X[train], y[train])
    sums = AdditiveHash(BITS, random_state=seed).fit(X[train], y[train])
    itq = ITQ(BITS, random_state=seed).fit(X[train])
    codes, of_sums, of_itq = (each.encode(X[database]) for each in (bits, sums, itq))
    return {
        "encode_queries": lambda Q, relevance: code_blocks(bits.encode_queries(Q), codes, relevance),
        "encode": lambda Q, relevance: code_blocks(bits.encode(Q), codes, relevance),
        "additivehash": lambda Q, relevance: prepared_blocks(sums.prepare_queries(Q), of_sums, relevance),
        "itq": lambda Q, relevance: code_blocks(itq.encode(Q), of_itq, relevance),
    }


def scores(X, y, seed):
    """Scores of one split, by how queries are read and by their classes."""
    train, known, database = mixed_known_classes(y, seed)
    found = {}
    for name, blocks in readers(X, y, train, database, seed).items():
        found[name] = {}
        for classes, queries in (("known", known), ("new", mixed_new_classes(y, seed)[1])):
            mean = retrieval(blocks(X[queries], same_label(y[queries], y[database])), MEASURES).mean
            found[name][classes] = [mean[measure] for measure in MEASURES]
    return found


def main():
    """Measure, and write the output again after each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "many of these rows are like no class")
    lines = []
    for name in SETS:
        with np.load(given.data / f"{name}.npz") as data:
            X, y = data["X"], data["y"]
        splits = [scores(X, y, seed) for seed in SEEDS]
        for method, by_class in splits[0].items():
            means = {each: np.mean([split[method][each] for split in splits], axis=0) for each in by_class}
            line = {each: dict(zip(MEASURES, mean.round(4).tolist())) for each, mean in means.items()}
            lines.append({"set": name, "queries": method, **line})
            print(json.dumps(lines[-1]), flush=True)
        rows = ",\n  ".join(map(json.dumps, lines))
        given.output.write_text(f'{{"bits": {BITS}, "seeds": {list(SEEDS)}, "lines": [\n  {rows}\n]}}\n')


if __name__ == "__main__":
    main()
