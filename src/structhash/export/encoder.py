"""Encode with a model that ``structhash export --to npz`` wrote. Needs NumPy only; copy this file.

python encoder.py model.npz rows.npy codes.npy
"""

import json
import sys
from typing import Any

import numpy as np

__all__ = ["Encoder"]

_OF_NUMPY = "add subtract multiply divide minimum maximum power greater matmul exp log sqrt abs"
_OPERATIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in _OF_NUMPY.split()},
    "row_sum": lambda a: a.sum(axis=1, keepdims=True),
    "row_max": lambda a: a.max(axis=1, keepdims=True),
    "kth_largest": lambda a, k: np.partition(a, -int(k), axis=1)[:, [-int(k)]],
    "columns": lambda a, places: a[:, places.astype(int)],
    "concatenate": lambda *parts: np.hstack(parts),
}


class Encoder:
    """A model; `about` has n_bits, n_features, the model's fingerprint and the steps."""

    def __init__(self, path: Any) -> None:
        with np.load(path, allow_pickle=False) as file:
            self.arrays = {name: file[name].astype(float) for name in file.files if name != "about"}
            self.about: dict[str, Any] = json.loads(str(file["about"]))

    def encode(self, X: Any, queries: bool = False) -> Any:
        """Codes, uint8 (n, ceil(n_bits / 8)) in little bit order, of rows or of queries X (n, n_features)."""
        return np.packbits(self.values(X, queries) > 0, axis=1, bitorder="little")

    def values(self, X: Any, queries: bool = False) -> Any:
        """Real values (n, n_bits); a bit is 1 where its value is above 0."""
        X, width = np.asarray(X, float), self.about["n_features"]
        if X.ndim != 2 or X.shape[1] != width or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape}: give finite numbers (n, {width})")
        blocks = [X[first : first + 256] for first in range(0, max(1, len(X)), 256)]
        return np.concatenate([self._value("query_values" if queries else "values", each) for each in blocks])

    def coefficients(self, Q: Any) -> Any:
        """Numbers (q, n_bits) of queries. Their sum over the bits of a code that are 1 orders codes."""
        z, weights = self.values(Q, queries=True), self.about["weights"]
        mean = np.abs(z).mean(axis=1, keepdims=True)
        return -z / np.where(mean > 0, mean, 1) * (1.0 if weights is None else np.array(weights))

    def _value(self, wanted: str, X: Any) -> Any:
        found = {**self.arrays, "X": X}
        for operation, name, *inputs in self.about["steps"][wanted]:
            found[name] = _OPERATIONS[operation](*(found[each] for each in inputs)) * 1.0  # not booleans
        return found[name][:, : self.about["n_bits"]]


if __name__ == "__main__":
    np.save(sys.argv[3], Encoder(sys.argv[1]).encode(np.load(sys.argv[2])))
