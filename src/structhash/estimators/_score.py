"""Mean average precision of rows that retrieve the others of their label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.labels import read_labels, share_a_label
from structhash.metrics import average_precision, tie_blocks, without_self

QUERIES_AT_ONCE = 256  # their distances to all rows are held


def label_retrieval(distances: Callable[[slice], NDArray[Any]], n: int, y: Any) -> float:
    """Mean average precision; see `HashEncoder.score`.

    Parameters
    ----------
    distances : callable
        Takes a slice of rows; returns their distances (q, n), as queries, to all rows.
    n : int
        Number of rows.
    y : array (n,), (n, 1) or (n, L)
        Labels, see `read_labels`.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If `read_labels` refuses y, or no two rows share a label.
    """
    values, index, indicators = read_labels(y, n)
    if indicators is None and len(values) == n:
        raise ValueError(f"each of the {n} rows has a label of its own; at least one class needs 2 rows")
    found = []
    for rows in row_slices(n, QUERIES_AT_ONCE):
        if indicators is None:
            relevant = index[rows, None] == index
        else:
            relevant = share_a_label(indicators[rows], indicators)
        found.append(average_precision(tie_blocks(*without_self(distances(rows), relevant, rows.start))))
    precision = np.concatenate(found)
    if np.isnan(precision).all():
        raise ValueError(f"no two of the {n} rows have a label in common; give labels that repeat")
    return float(np.nanmean(precision))
