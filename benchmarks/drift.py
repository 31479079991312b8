"""Verdicts of `judge_drift` on real data: new rows like the old ones, of other classes, or turned.

    python benchmarks/drift.py ../shared/data benchmarks/results/drift.json

Each seed draws 2,000 training rows and 2,000 new rows of the same data ("same"), or, where there are labels, of
the classes that are not trained on ("other classes"). "turned" is the new rows after a random rotation, as from
another encoder. Models have 16 bits and see no labels. A line counts the verdicts over its seeds; gains are the
lower bounds of what a refit gains.
"""

import json
import sys
from pathlib import Path

import numpy as np

from structhash import DistilHash
from structhash.evaluation import judge_drift

SETS = ("usps", "banking77_minilm", "glove6b50_100k")
N, BITS = 2000, 16
SEEDS = {"same": 20, "other classes": 5, "turned": 5}


def draw(X, y, change, rng):
    """Training rows and new rows."""
    if change == "other classes":
        classes = rng.permutation(np.unique(y))
        known = np.isin(y, classes[: len(classes) // 2])
        return (X[rng.permutation(np.flatnonzero(mask))[:N]] for mask in (known, ~known))
    old, new = X[rng.permutation(len(X))[: 2 * N]].reshape(2, N, -1)
    if change == "turned":
        new = new @ np.linalg.qr(rng.standard_normal((X.shape[1],) * 2))[0].astype(X.dtype)
    return old, new


def main(folder, out):
    """Count verdicts, and write them after each line."""
    lines = []
    for name in SETS:
        file = np.load(folder / f"{name}.npz")
        X, y = file["X"].astype(np.float32), file.get("y")
        for change, n_seeds in SEEDS.items():
            if y is None and change == "other classes":
                continue
            found = []
            for seed in range(n_seeds):
                old, new = draw(X, y, change, np.random.default_rng(seed))
                model = DistilHash(BITS, random_state=seed).fit(old)
                found.append(judge_drift(model, new, random_state=seed))
            refits = sum(each.verdict == "refit" for each in found)
            gains = [round(each.gain.at_least, 4) for each in found]
            lines.append(
                {"data": name, "change": change, "seeds": n_seeds, "refit": refits, "gain_at_least": gains}
            )
            print(lines[-1], flush=True)
            out.write_text(json.dumps({"n": N, "n_bits": BITS, "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
