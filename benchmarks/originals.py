"""Authors' own code beside ours: the same split, features and evaluator.

    python benchmarks/originals.py export ../shared/data usps usps.mat
    (run the original on that file; it writes 0/1 arrays `query` and `database`, a row a point)
    python benchmarks/originals.py score ../shared/data usps sdh --bits 32 --codes seed0.mat seed1.mat \\
        --repository owner/name --commit abc1234 --settings "anchors 1000, ..."

`export` writes `Xtrain`, `Xquery`, `Xdatabase` (raw rows, float64) and `ytrain` (classes 1, 2, ...) of the
seen-class split of seed 0. `score` takes one file of codes for each run of the original, and fits ours as
often, with random states 0, 1, ... Codes are searched by plain Hamming distance, or by weighted Hamming
distance where a file holds `weights` (n_bits,). The mean of each measure goes to
benchmarks/results/originals/METHOD.json.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from scipy.io import loadmat, savemat

from structhash.codes import pack
from structhash.evaluation import code_blocks, parse_method, retrieval, same_label, seen_classes
from structhash.evaluation.methods import prepare
from structhash.io import read
from structhash.io.container import atomic

MEASURES = ("ndcg_paper@100", "map")
RESULTS = Path(__file__).parent / "results" / "originals"
SEED = 0  # of the split


def mean_of(runs):
    return {name: round(float(np.mean([run[name] for run in runs])), 4) for name in MEASURES} | {
        "map_of_runs": [round(run["map"], 4) for run in runs]
    }


def export(data, split, out):
    _, ytrain = np.unique(data.y[split.train], return_inverse=True)
    parts = zip(("Xtrain", "Xquery", "Xdatabase"), (split.train, split.queries, split.database))
    arrays = {name: data.X[rows].astype(np.float64) for name, rows in parts}
    savemat(out, arrays | {"ytrain": ytrain[:, None] + 1.0}, do_compression=True)


def score(data, split, given):
    relevance = same_label(data.y[split.queries], data.y[split.database])

    def measure(queries, database, weights):
        return retrieval(code_blocks(queries, database, relevance, weights), MEASURES).mean

    theirs, ours = [], []
    for run, path in enumerate(given.codes):
        found = loadmat(path)
        bits = [found[name] > 0 for name in ("query", "database")]
        expected = [(len(rows), given.bits) for rows in (split.queries, split.database)]
        if [part.shape for part in bits] != expected:
            raise ValueError(f"{path}: codes have shapes {[part.shape for part in bits]}, not {expected}")
        weights = found["weights"].ravel().astype(np.float64) if "weights" in found else None
        theirs.append(measure(*map(pack, bits), weights))
        encoder = prepare(parse_method(given.ours or given.method).encoders[0], given.bits, run)
        encoder.fit(data.X[split.train], data.y[split.train])
        codes = [encoder.encode(data.X[rows]) for rows in (split.queries, split.database)]
        ours.append(measure(*codes, encoder.search_weights_))
    return {
        "original": mean_of(theirs),
        "ours": mean_of(ours) | {"method": given.ours or given.method},
        "repository": given.repository,
        "commit": given.commit,
        "settings": given.settings,
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("export", "score"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("data")
        if name == "export":
            command.add_argument("out", type=Path)
            continue
        command.add_argument("method", help="name of the baseline and of the result file")
        command.add_argument("--bits", type=int, required=True)
        command.add_argument("--codes", type=Path, nargs="+", required=True)
        command.add_argument("--ours", help="the method with settings, where they are not the default")
        command.add_argument("--variant", default="", help="added to the name of the line")
        for word in ("repository", "commit", "settings"):
            command.add_argument(f"--{word}", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    data = read(given.folder / f"{given.data}.npz")
    split = seen_classes(data.y, SEED)
    if given.command == "export":
        export(data, split, given.out)
    else:
        out = RESULTS / f"{given.method}.json"
        lines = json.loads(out.read_text()) if out.exists() else {}
        key = " ".join(filter(None, [given.data, str(given.bits), "bits", given.variant]))
        lines[key] = score(data, split, given)
        out.parent.mkdir(exist_ok=True)
        with atomic(out) as temporary:
            temporary.write_text(json.dumps(dict(sorted(lines.items())), indent=1) + "\n")
        print(key, json.dumps(lines[key], indent=1))
