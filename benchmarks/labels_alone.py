"""Known and new classes, where only labels were given: no row of a new class, and no database.

    python benchmarks/labels_alone.py ../shared/data benchmarks/results/labels_alone.json

Three quarters of the classes have labels. Queries of these and of the other classes are searched in rows of all
classes (the protocols `mixed-known` and `mixed-new`), and queries of the other classes in rows of these alone
(`only new`). One `DistilHash` codes the queries twice: by `encode_queries` and by `encode`. All methods learn
64 bits from the same labelled rows. Figures are means over queries and three splits.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash import AdditiveHash, DistilHash
from structhash.baselines import CCA_ITQ, ITQ
from structhash.evaluation import code_blocks, prepared_blocks, retrieval, same_label
from structhash.evaluation.splits import mixed_known_classes, mixed_new_classes

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
SEEDS, BITS, MEASURES = (0, 1, 2), 64, ("map", "precision@10")


def models(X, y, seed):
    """What is learned from labelled rows, by name; and how it reads queries, by name of a line."""
    how = {"n_bits": BITS, "random_state": seed}
    bits = DistilHash(**how).fit(X, y)
    directions = DistilHash(embedding="class_directions", **how).fit(X, y)
    sums = AdditiveHash(**how).fit(X, y)
    cca, itq = CCA_ITQ(**how).fit(X, y), ITQ(**how).fit(X)
    return {
        "encode_queries": (bits, bits.encode_queries),
        "encode": (bits, bits.encode),
        "class_directions": (directions, directions.encode),
        "additivehash": (sums, sums.prepare_queries),
        "cca_itq": (cca, cca.encode),
        "itq": (itq, itq.encode),
    }


def scores(X, y, seed):
    """Scores of one split, by line and by the classes of queries and rows."""
    train, known, database = mixed_known_classes(y, seed)
    new = mixed_new_classes(y, seed)[1]
    of_new = database[np.isin(y[database], y[new])]
    worlds = {"known": (known, database), "new": (new, database), "only new": (new, of_new)}
    found = {}
    for line, (model, read) in models(X[train], y[train], seed).items():
        blocks = prepared_blocks if line == "additivehash" else code_blocks
        found[line] = {}
        for world, (queries, rows) in worlds.items():
            relevance = same_label(y[queries], y[rows])
            mean = retrieval(blocks(read(X[queries]), model.encode(X[rows]), relevance), MEASURES).mean
            found[line][world] = [mean[measure] for measure in MEASURES]
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
        for method, by_world in splits[0].items():
            means = {each: np.mean([split[method][each] for split in splits], axis=0) for each in by_world}
            line = {each: dict(zip(MEASURES, mean.round(4).tolist())) for each, mean in means.items()}
            lines.append({"set": name, "queries": method, **line})
            print(json.dumps(lines[-1]), flush=True)
        rows = ",\n  ".join(map(json.dumps, lines))
        given.output.write_text(f'{{"bits": {BITS}, "seeds": {list(SEEDS)}, "lines": [\n  {rows}\n]}}\n')


if __name__ == "__main__":
    main()
