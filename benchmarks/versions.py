"""Whether two versions of structhash learn equally good codes: a paired test over queries of the same splits.

PYTHONPATH=OTHER_CLONE/src python benchmarks/versions.py score ../shared/data before.npz
python benchmarks/versions.py score ../shared/data after.npz
python benchmarks/versions.py compare before.npz after.npz benchmarks/results/versions.json
"""

import argparse
import json
import os
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from scipy.stats import ttest_rel

from structhash.evaluation import compare, parse_method
from structhash.io import read
from structhash.io.container import atomic

SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
METHODS = ("structhash", "structhash:ranking=ndcg", "cghash")
MEASURES = ("ndcg_paper@100", "map")
BITS, SEEDS = 32, (0, 1)


def score(folder, out):
    """Scores of every query of each data set, method and measure, seeds one after another."""
    found = {}
    for name in SETS:
        data = read(folder / f"{name}.npz")
        methods = [parse_method(spec) for spec in METHODS]
        for result in compare(methods, data.X, data.y, bits=[BITS], seeds=SEEDS, measures=MEASURES):
            for measure, scores in result.scores.per_query.items():
                found.setdefault(f"{name} {result.method} {result.distance} {measure}", []).append(scores)
            print(name, result.method, result.distance, result.seed, result.scores.mean, flush=True)
    np.savez(out, **{key: np.concatenate(scores) for key, scores in found.items()})


def judge(before, after, out):
    """Means of both, and the p-value of their difference, Holm-corrected over all lines."""
    before, after = np.load(before), np.load(after)
    lines = []
    for key in before.files:
        name, method, distance, measure = key.split(" ")
        old, new = before[key], after[key]
        lines.append(
            {"data": name, "method": method, "distance": distance, "measure": measure}
            | {"before": round(float(np.nanmean(old)), 4), "after": round(float(np.nanmean(new)), 4)}
            | {"p": float(ttest_rel(old, new, nan_policy="omit").pvalue)}
        )
    running = 0.0
    for rank, line in enumerate(sorted(lines, key=lambda line: line["p"])):
        running = line["p"] = round(max(running, min(1.0, line["p"] * (len(lines) - rank))), 4)
    about = {"bits": BITS, "seeds": SEEDS, "queries": "2,000 a seed, 2,000 training rows, seen classes"}
    with atomic(out) as temporary:
        temporary.write_text(json.dumps(about | {"lines": lines}, indent=1) + "\n")
    for line in lines:
        print(*(f"{value:<26}" if isinstance(value, str) else f"{value:8.4f}" for value in line.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, names in (("score", ("folder", "out")), ("compare", ("before", "after", "out"))):
        sub = commands.add_parser(command)
        for name in names:
            sub.add_argument(name, type=Path)
    given = parser.parse_args()
    if given.command == "score":
        score(given.folder, given.out)
    else:
        judge(given.before, given.after, given.out)
