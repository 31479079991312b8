"""Every baseline, and the methods of this package, on every data set of a folder, a fit at a time.

    python benchmarks/peers.py ../shared/data benchmarks/results/peers --bits 16,32,64 --protocol seen

A baseline says itself how it is run (`Baseline.specs`): method specs as for `structhash compare`.

Each data set and protocol has a file SET_PROTOCOL.json with a line a fit, written after each: a run that was
interrupted goes on where it stopped, and tries again what failed. Times are wall clock, one BLAS thread.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash.cli.inputs import learns_without_labels
from structhash.evaluation import (
    JUDGED_MEASURES,
    MEASURES,
    PROTOCOLS,
    compare,
    compare_judged,
    parse_method,
    split_specs,
)
from structhash.io import read
from structhash.io.container import atomic
from structhash.pieces import classes

OWN_SPECS = [  # the methods of this package, and the vectors themselves
    "cghash",
    "distilhash",
    "distilhash:embedding=metric",
    "float",
    "structhash:ranking=auc",
    "structhash:ranking=ndcg",
    "structhash",
    "structhash:family=rbf",
]


def every_spec():
    """Method specs of all that is compared by default."""
    return [*OWN_SPECS, *(spec for baseline in classes("baselines").values() for spec in baseline.specs())]


def suits(path, protocol):
    """Whether a file holds what the protocol needs."""
    with np.load(path) as found:
        needed = {"Q", "qrels"} if protocol == "judged" else {"y"}
        return needed <= set(found.files)


def results(data, protocol, spec, n_bits, seed):
    lengths = [n_bits or 1]  # one number where the method has a length of its own, or none
    if protocol == "judged":
        return compare_judged([spec], data.X, data.Q, data.qrels, lengths, [seed], JUDGED_MEASURES)
    return compare([spec], data.X, data.y, protocol, lengths, [seed], MEASURES)


def fit(data, protocol, spec, n_bits, seed):
    """One line of the file: the scores of a fit by each of its distances, or how it failed."""
    line = {"method": spec, "bits": n_bits, "seed": seed}
    began = time.perf_counter()
    try:
        found = list(results(data, protocol, spec, n_bits, seed))
    except (ValueError, TypeError, MemoryError, NotImplementedError, np.linalg.LinAlgError) as error:
        return line | {"error": f"{type(error).__name__}: {error}"}
    line |= {
        "seconds": {
            "fit": round(found[0].fit_seconds, 4),
            "encode": round(found[0].encode_seconds, 4),
            "all": round(time.perf_counter() - began, 4),
        }
    }
    for result in found:
        scores = {name: round(value, 4) for name, value in result.scores.mean.items()}
        line[result.distance] = {"n_bits": result.n_bits, **scores}
    return line


def key(line):
    return line["method"], line["bits"], line["seed"]


def write(path, about, lines):
    text = ",\n  ".join(json.dumps(line) for line in lines)
    with atomic(path) as temporary:
        temporary.write_text(f'{json.dumps(about)[:-1]},\n "lines": [\n  {text}\n ]}}\n')


def run(path, out, protocol, specs, lengths, seeds):
    """All fits of a data set that its file does not hold yet."""
    target = out / f"{path.stem}_{protocol}.json"
    held = json.loads(target.read_text())["lines"] if target.exists() else []
    lines = {key(line): line for line in held if "error" not in line}
    data, about = read(path), {"data": path.name, "protocol": protocol}
    for seed in seeds:
        for spec in specs:
            method = parse_method(spec)
            if protocol == "judged" and not learns_without_labels(method):
                continue  # there all documents are what a method without labels is fitted on
            for n_bits in method.lengths(lengths):
                if (spec, n_bits, seed) in lines:
                    continue
                line = fit(data, protocol, spec, n_bits, seed)
                lines[key(line)] = line
                write(target, about, lines.values())
                print(path.stem, protocol, json.dumps(line), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--protocol", choices=[*PROTOCOLS, "judged"], default="seen")
    parser.add_argument("--bits", default="16,32,64")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--sets", help="names, comma-separated; by default all that suit the protocol")
    parser.add_argument("--methods", help="specs, comma-separated; by default `every_spec`")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    specs = split_specs(given.methods) if given.methods else every_spec()
    for spec in specs:  # bad words are refused before the first fit
        parse_method(spec)
    names = given.sets.split(",") if given.sets else sorted(path.stem for path in given.data.glob("*.npz"))
    paths = [given.data / f"{name}.npz" for name in names]
    lengths, seeds = ([int(word) for word in text.split(",")] for text in (given.bits, given.seeds))
    given.out.mkdir(parents=True, exist_ok=True)
    list(compare(["lsh"], np.eye(8), np.arange(8) % 2, bits=[8], seeds=[0]))  # so that no fit waits for numba
    for path in paths:
        if suits(path, given.protocol):
            run(path, given.out, given.protocol, specs, lengths, seeds)
