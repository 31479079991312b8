"""How the default settings were chosen: on a split of the training rows of four data sets.

A model with each setting is fitted to 1,400 of the 2,000 training rows of the seen-class split, and judged by
its mean average precision among the other 600. No query and no other row of the database has a part.

    python benchmarks/settings.py ../shared/data benchmarks/results/settings.json
"""

import json
import sys
from pathlib import Path

import numpy as np

from structhash import StructHash
from structhash.evaluation import seen_classes
from structhash.io import read

SETS = ("usps", "isolet", "mnist", "cifar10_gist512")
BASE = {"C": 30, "start": "spectral:ridge=1", "family": "linear:max_iter=50,sharpness=2"}
CHANGES = [
    {},
    {"C": 10},
    {"C": 100},
    {"start": "spectral:ridge=0.1"},
    {"start": "spectral:ridge=10"},
    {"start": "spectral:ridge=100"},
    {"family": "linear:max_iter=50,sharpness=1"},
    {"family": "linear:max_iter=50,sharpness=4"},
    {"family": "linear:max_iter=20,sharpness=2"},
]
SEED = 10


def judge(folder: Path, name: str, change: dict, ranking: str) -> float:
    data = read(folder / f"{name}.npz")
    rows = seen_classes(data.y, SEED).train
    X, y = data.X[rows].astype(np.float32), data.y[rows]
    encoder = StructHash(64, ranking=ranking, random_state=SEED, **BASE | change)
    return encoder.fit(X[:1400], y[:1400]).score(X[1400:], y[1400:])


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = []
    for change in CHANGES:
        for ranking in ("auc", "sndcg"):
            scores = {name: round(judge(folder, name, change, ranking), 4) for name in SETS}
            lines.append({"change": change, "ranking": ranking, **scores})
            print(json.dumps(lines[-1]), flush=True)
    document = {"base": BASE, "measure": "map among 600 held-out rows", "lines": lines}
    out.write_text(json.dumps(document, indent=1))
