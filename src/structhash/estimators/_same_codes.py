"""Warn where a fitted encoder gives rows one code that should not share it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import spread_rows
from structhash._numerics.validation import counted

logger = logging.getLogger("structhash")

MAX_CHECKED_ROWS = 1000  # spread over the training rows
MAX_CHECKED_CLASSES = 1000  # a row of each


def warn_about_same_codes(
    encode: Callable[[NDArray[Any]], NDArray[np.uint8]],
    n_bits: int,
    X: NDArray[Any],
    class_index: NDArray[np.int64] | None,
) -> None:
    """Encode some training rows; log a warning where they all share a code, or where classes must share one.

    Parameters
    ----------
    encode : callable
        Packed codes of rows.
    n_bits : int
        Length of the codes.
    X : ndarray (n, d)
        Training rows, not all the same.
    class_index : int64 (n,) or None
        Class number of each row; None or empty where there are no classes.
    """
    rows, n_classes = spread_rows(len(X), MAX_CHECKED_ROWS), 0
    if class_index is not None and len(class_index):
        first = np.unique(class_index, return_index=True)[1][:MAX_CHECKED_CLASSES]
        rows = np.union1d(rows, first)
        n_classes = len(np.unique(class_index[rows]))
    with np.errstate(over="ignore", under="ignore"):  # rows of any scale
        n_codes = len(np.unique(encode(X[rows]), axis=0))
    what = f"{len(rows)} training rows" + (f" of {n_classes} classes" if n_classes else "")
    if n_codes == 1 and len(np.unique(X[rows], axis=0)) > 1:
        logger.warning("%s all have the same code: search cannot tell them apart", what)
    elif n_codes < n_classes <= 2 ** (n_bits / 2):  # fewer bits cannot be expected to separate all classes
        logger.warning(
            "%s have only %s: some classes share one; give more bits or more rows a class",
            what,
            counted(n_codes, "code"),
        )
