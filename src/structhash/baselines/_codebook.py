"""Codewords of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MIN_POOL = 4096  # codewords drawn to choose from, at least


def codebook(n_classes: int, n_bits: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """One-hot codewords padded with zeros, or distinct random ones far from each other where bits are few."""
    if n_bits >= n_classes:
        return np.eye(n_classes, n_bits, dtype=bool)
    least = (n_classes - 1).bit_length()
    if n_bits < least:
        raise ValueError(
            f"n_bits={n_bits!r} gives {2**n_bits} codes for {n_classes} classes; give at least {least} bits"
        )
    low = min(n_bits, 32)  # bits that make the words distinct
    size = min(2**low, max(_MIN_POOL, 4 * n_classes))
    numbers = rng.choice(2**low, size, replace=False)
    pool = numbers[:, None] >> np.arange(low) & 1 > 0
    pool = np.hstack([pool, rng.random((size, n_bits - low)) < 0.5])
    chosen = [0]
    nearest = np.full(size, n_bits + 1)
    for _ in range(n_classes - 1):  # the word farthest from those chosen
        nearest = np.minimum(nearest, (pool != pool[chosen[-1]]).sum(axis=1))
        chosen.append(int(nearest.argmax()))
    return pool[chosen]
