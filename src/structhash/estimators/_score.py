"""Mean average precision of rows that retrieve the others of their label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash.codes import code_distances
from structhash.metrics import average_precision, tie_blocks, without_self
from structhash.supervision import is_indicator

QUERIES_AT_ONCE = 256  # their distances to all rows are held


def label_retrieval(
    queries: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    y: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> float:
    """Mean average precision; see `HashEncoder.score`.

    Parameters
    ----------
    queries, codes : uint8 (n, n_bytes)
        Each row as a query and as a document.
    y : ndarray (n,) or (n, L)
        A label a row, or 0/1 indicators.
    weights : float64 (n_bits,) or None
        Of the bits; None for plain Hamming distance.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If labels and rows differ in number, or no two rows share a label.
    """
    several = is_indicator(y)
    if len(y.shape) == 0 or len(y) != len(codes) or not (several or y.ndim == 1):
        raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(codes)} rows")
    if not several and len(np.unique(y)) == len(y):
        raise ValueError(f"each of the {len(y)} rows has a label of its own; at least one class needs 2 rows")
    found = []
    for rows in row_slices(len(codes), QUERIES_AT_ONCE):
        distances = code_distances(queries[rows], codes, weights)
        if several:
            relevant = y[rows].astype(np.float32) @ y.T.astype(np.float32) > 0
        else:
            relevant = y[rows, None] == y[None]
        found.append(average_precision(tie_blocks(*without_self(distances, relevant, rows.start))))
    precision = np.concatenate(found)
    if np.isnan(precision).all():
        raise ValueError(f"no two of the {len(y)} rows have a label in common; give labels that repeat")
    return float(np.nanmean(precision))
