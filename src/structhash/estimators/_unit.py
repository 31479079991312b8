"""Tell when rows are in another unit than the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices

FAR = 2.0  # times as long as the longest training row, or as short as the shortest
_N_JUDGED = 100  # rows, if there are so many; always fewer than twice as many


def extreme_lengths(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The Euclidean lengths (2,) of the shortest and the longest of rows (n, d); 0 and 0 if none counts.

    Rows of length 0 do not count, nor those whose squares are beyond float64.
    """
    lengths = np.concatenate([_lengths(rows[block]) for block in row_slices(len(rows))])
    return np.array([lengths.min(), lengths.max()] if len(lengths) else [0.0, 0.0])


def doubt_unit(name: str, rows: NDArray[Any], training: NDArray[np.float64] | None) -> str:
    """Why rows (n, d) seem to be in another unit than training rows of these `extreme_lengths`, or "".

    Parameters
    ----------
    name : str
        What the rows are called.
    rows : ndarray (n, d)
        The median length of 100 to 199 of them, evenly spread, decides; of all where they are fewer.
    training : ndarray (2,) or None
        None where they are not known.
    """
    lengths = _lengths(rows[:: judged_step(len(rows))])
    if training is None or not training.any() or not len(lengths):
        return ""
    typical, (shortest, longest) = np.median(lengths), training.tolist()
    if typical > FAR * longest:
        return f"most rows of {name} are over {FAR:g} times as long as the longest training row ({longest:.3g})"
    if typical < shortest / FAR:
        return f"most rows of {name} are under 1/{FAR:g} as long as the shortest training row ({shortest:.3g})"
    return ""


def judged_step(n: int) -> int:
    """How far apart the rows are that decide for n rows; those at its multiples decide as all rows do."""
    return max(1, n // _N_JUDGED)


def _lengths(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Euclidean lengths of those rows for which they are above 0 and finite."""
    with np.errstate(all="ignore"):
        lengths: NDArray[np.float64] = np.linalg.norm(rows.astype(np.float64), axis=1)
    return lengths[(lengths > 0) & np.isfinite(lengths)]
