"""Choose C for ``C="auto"``."""

from __future__ import annotations

import logging
from numbers import Integral
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from structhash._numerics.randomness import generator
from structhash.training.selection import best, trials

stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MAX_C = 1e8  # above it, the linear programmes of the master lose precision
MAX_SECONDS = 60.0  # after which no further value is tried


def values_around(C: float) -> list[float]:
    """C, then a tenth of it (faster to learn with), then ten times it."""
    return [value for value in (C, C / 10, C * 10) if 0 < value <= MAX_C]


def choose_C(encoder: BaseEstimator, usual: float, X: NDArray[Any], y: NDArray[Any]) -> float:
    """The value around the usual C under which held-out rows are retrieved best.

    Parameters
    ----------
    encoder : estimator with the settings C, random_state and warm_start
        It does not change: copies are fitted.
    usual : float
    X : ndarray (n, d)
    y : ndarray (n,)

    Returns
    -------
    float
    """
    stages.info("choosing C on held-out rows")
    seed = encoder.random_state
    drawn = generator(seed)  # refuses an invalid seed
    if not isinstance(seed, Integral):
        seed = int(drawn.integers(2**31))
    alike = clone(encoder).set_params(random_state=seed, warm_start=False)
    encoders = [clone(alike).set_params(C=value) for value in values_around(usual)]
    return float(best(trials(encoders, X, y, seed, MAX_SECONDS)).C)
