"""All worlds: methods under every protocol, on several data sets.

    python benchmarks/worlds.py ../shared/data benchmarks/results/worlds

Each world and data set has a file SET_WORLD.json, the result of `structhash compare -o`. A run that was
interrupted goes on where it stopped: finished files are skipped, and fits of an unfinished one are kept beside
it. Methods that fail are lines with an error, and are tried again. Delete a file to run it again. One process,
one BLAS thread.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

from structhash.cli.compare import compare
from structhash.cli.console import Unfinished
from structhash.cli.inputs import split_methods
from structhash.evaluation import find_protocol

WORLDS = (
    "seen",
    "unseen",
    "mixed-known",
    "mixed-new",
    "coarse",
    "few-1",
    "few-2",
    "few-5",
    "few-20",
    "tail",
    "instances",
)
SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
METHODS = (
    "distilhash",
    "distilhash@database",
    "additivehash@database",
    "itq@database",
    "predicted_class",
    "predicted_class:confidence_bits=4",
    "float",
)
MEASURES = ["ndcg_paper@100", "precision@10", "map"]  # where the protocol has none of its own


def measures_of(world):
    """What is measured in a world."""
    return list(find_protocol(world).measures) if find_protocol(world).inside_class else MEASURES


def finished(out, asked):
    """Whether a file holds all methods, lengths and seeds, without a failure."""
    if not out.exists():
        return False
    document = json.loads(out.read_text())
    failed = any(line["error"] for line in document["lines"])
    return not failed and all(set(values) <= set(document["options"][name]) for name, values in asked.items())


def run(path, world, out, methods, bits, seeds):
    """One world on one data set, unless its file is finished."""
    target = out / f"{path.stem}_{world}.json"
    asked = {
        "methods": [method.name for method in split_methods(methods)],
        "bits": [int(word) for word in bits.split(",")],
        "seeds": [int(word) for word in seeds.split(",")],
    }
    if finished(target, asked):
        return
    try:
        compare(
            path,
            methods=methods,
            bits=bits,
            protocol=world,
            seeds=seeds,
            n_queries=2000,
            n_train=None,
            measures=measures_of(world),
            out=target,
            force=False,
            as_json=False,
            choices={},
        )
    except Unfinished as failure:
        print(f"{target.name}: {failure}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--worlds", default=",".join(WORLDS), help="protocols, comma-separated")
    parser.add_argument("--sets", default=",".join(SETS), help="names, comma-separated")
    parser.add_argument(
        "--methods", default=",".join(METHODS), help="specs, comma-separated, in place of these"
    )
    parser.add_argument("--more", default="", help="specs, comma-separated, besides these")
    parser.add_argument("--bits", default="32,64")
    parser.add_argument("--seeds", default="0,1,2")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    methods = ",".join(filter(None, (given.methods, given.more)))
    worlds, paths = given.worlds.split(","), [given.data / f"{name}.npz" for name in given.sets.split(",")]
    split_methods(methods)  # bad words are refused before the first fit
    for world in worlds:
        find_protocol(world)
    given.out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        for world in worlds:
            run(path, world, given.out, methods, given.bits, given.seeds)
