"""Rows like those to be searched, checked beside the training rows."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from structhash._numerics.blocks import as_floats, row_slices
from structhash._numerics.matrices import check_finite_rows
from structhash._numerics.validation import counted
from structhash.estimators._input import CheckedInput, open_beside, training_rows
from structhash.estimators._unit import doubt_unit

logger = logging.getLogger("structhash")

MIN_ROWS = 50  # fewer describe the rows to be searched too poorly
MAX_RATIO = 1000.0  # of typical sizes in X and unlabeled, the larger to the smaller; above it, an error


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
        The rows, as `training_rows` gives them.
    """
    rows = training_rows(open_beside(estimator, checked, unlabeled, "unlabeled"), keep=True)
    same, first = True, as_floats(rows[:1])
    for block in row_slices(len(rows)):
        X = as_floats(rows[block])
        check_finite_rows(X, "unlabeled", block.start)
        same = same and bool((first == X).all())
    if same:
        number = counted(len(rows), "row") + (", all the same" if len(rows) > 1 else "")
        raise ValueError(f"unlabeled has {number}; give rows that differ, or none")
    if len(rows) < MIN_ROWS:
        logger.warning(
            "unlabeled has %d rows, too few to describe a database; give some hundreds or more, or none",
            len(rows),
        )
    _refuse_other_unit(_typical_size(rows), _typical_size(checked.X))
    if doubt := doubt_unit("unlabeled", rows, checked.columns["row_lengths_"]):
        logger.warning("%s; check that both are in the same unit", doubt)
    return rows


def _refuse_other_unit(size: float, own: float) -> None:
    """Refuse unlabeled rows whose typical size is very far from that of X."""
    apart = max(size, own) / max(min(size, own), np.finfo(float).tiny)
    if apart > MAX_RATIO:
        raise ValueError(
            f"a typical row of unlabeled reaches {size:.3g} where one of X reaches {own:.3g}; give both in the "
            "same unit"
        )


def _typical_size(rows: NDArray[Any]) -> float:
    """Median over the rows that are not zero of the largest magnitude in a row."""
    sizes = np.concatenate([np.abs(as_floats(rows[block])).max(axis=1) for block in row_slices(len(rows))])
    return float(np.median(sizes[sizes > 0])) if sizes.any() else 0.0
