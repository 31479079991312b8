"""How sure class probabilities are of rows, and what that says of new classes.

A row of a class without labels lies between the known ones, so its largest class probability is small more
often. Left-out training rows say how often it is small for rows of known classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import spread_rows

__all__ = ["judged_rows", "least_new_share", "spread_sureness"]

_MAX_JUDGED_ROWS = 1000  # of the training rows, and of the others
_LOG_RISK = np.log(100)  # a bound is wrong once in a hundred times
_DIGITS = 2  # of a probability: what is surer than .995 counts as sure
_MAX_KNOWN_QUANTILE = 0.9  # beyond it, few rows are left to take the share of


def spread_sureness(P: NDArray[Any]) -> NDArray[np.float32]:
    """Sorted sureness of the rows of P (n, c); of more than 1,000 rows, 1,000 values, evenly spread."""
    return judged_rows(_sorted_sureness(P))


def judged_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """At most 1,000 of the rows, evenly spread."""
    return rows[spread_rows(len(rows), _MAX_JUDGED_ROWS)] if len(rows) else rows


def least_new_share(known: NDArray[Any], P: NDArray[Any]) -> float:
    """A lower bound on the share of rows that are of no known class, with 99 percent confidence.

    Let F be the distribution of the sureness of rows of known classes, and G that of all rows. If a share s is
    of new classes, G <= (1 - s) F + s, so s >= (G - F) / (1 - F) everywhere. Both are known up to the error of
    Massart, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, 1990,
    https://doi.org/10.1214/aop/1176990746.

    Parameters
    ----------
    known : ndarray (k,)
        Sureness of rows of known classes, sorted.
    P : ndarray (n, c)
        Class probabilities of the rows in question.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> known, sure, unsure = np.linspace(0.5, 1, 1000), [[0.9, 0.1]], [[0.4, 0.6]]
    >>> least_new_share(known, np.array(sure * 500 + unsure * 500)) < 0.5
    True
    """
    sureness = _sorted_sureness(P)
    if not len(known) or not len(sureness):
        return 0.0
    F = np.searchsorted(known, sureness, "right") / len(known)
    G = np.searchsorted(sureness, sureness, "right") / len(sureness)
    error = np.sqrt(_LOG_RISK / 2 / len(known)) + np.sqrt(_LOG_RISK / 2 / len(sureness))
    bounds = ((G - F - error) / (1 - F + error))[F < _MAX_KNOWN_QUANTILE]
    return float(np.clip(bounds.max(initial=0), 0, 1))


def _sorted_sureness(P: NDArray[Any]) -> NDArray[np.float32]:
    """Sorted largest probabilities (n,), in steps that rounding errors of embeddings cannot move far."""
    return np.sort(np.round(P.max(axis=1).astype(np.float64), _DIGITS).astype(np.float32))
