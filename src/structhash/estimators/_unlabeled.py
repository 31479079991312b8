"""Rows like those to be searched, checked beside the training rows."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite

from structhash._numerics.blocks import as_floats, float_type, row_slices
from structhash.estimators._input import CheckedInput, open_beside

logger = logging.getLogger("structhash")

MIN_ROWS = 50  # fewer describe the rows to be searched too poorly
MAX_RATIO = 1e30  # of the largest unlabeled number to the largest of X; above it, the units must differ


def check_unlabeled(estimator: BaseEstimator, checked: CheckedInput, unlabeled: Any) -> NDArray[Any]:
    """Refuse unlabeled rows that are not finite, all the same, or in another unit than X.

    Parameters
    ----------
    estimator : HashEncoder
    checked : CheckedInput
        The training rows.
    unlabeled : array (m, d)

    Returns
    -------
    ndarray (m, d)
        The rows as they are.
    """
    rows = open_beside(estimator, checked, unlabeled, "unlabeled")
    same, first, largest = True, as_floats(rows[:1]), 0.0
    for block in row_slices(len(rows)):
        X = as_floats(rows[block])
        with np.errstate(over="ignore", invalid="ignore"):
            assert_all_finite(X, input_name="unlabeled")
        same = same and bool((first == X).all())
        largest = max(largest, float(np.abs(X).max()))
    if same:
        raise ValueError(f"unlabeled has {len(rows)} rows, all the same; give rows that differ, or none")
    if len(rows) < MIN_ROWS:
        logger.warning(
            "unlabeled has %d rows, too few to describe a database; give some hundreds or more, or none and "
            "embedding='metric'",
            len(rows),
        )
    own = max(float(np.abs(as_floats(checked.X[block])).max()) for block in row_slices(len(checked.X)))
    if largest / MAX_RATIO > max(own, np.finfo(float_type(checked.X.dtype)).tiny):
        raise ValueError(
            f"unlabeled reaches {largest:.3g} where X reaches {own:.3g}; give both in the same unit"
        )
    return rows
