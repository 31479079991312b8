"""Gaussian similarities of rows to anchors, as several kernel methods use them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.gaussian import similarities, squared_distances
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

KERNEL_FIELDS: Fields = (
    Field("kernel_/anchors", ("n_anchors", "n_features")),
    Field("kernel_/center", ("n_features",)),
    Field("kernel_/unit", positive=True),
    Field("kernel_/bandwidth", positive=True),
)  # the state of `gauss_kernel`, in the attribute "kernel_"


def gauss_kernel(
    X: NDArray[Any], anchors: NDArray[Any], squared_bandwidth: float | None = None
) -> tuple[Params, NDArray[np.float64]]:
    """State of the similarity k_a(x) = exp(-||x - a||^2 / (2 sigma^2)), and its values for the training rows.

    Parameters
    ----------
    X : float array (n, d)
    anchors : float array (m, d)
    squared_bandwidth : float, optional
        sigma^2; by default the mean squared distance between rows and anchors, as in Liu et al.'s code (KSH).

    Returns
    -------
    state : dict of arrays
        ``anchors`` (m, d) minus ``center`` (d,); ``bandwidth``, sigma; ``unit``, a number that rows are divided
        by.
    K : float64 (n, m)
    """
    center = X.mean(axis=0, dtype=np.float64)
    away = anchors - center
    unit = max(np.abs(away).max(), np.finfo(float).tiny)  # so that squares neither overflow nor vanish
    D = squared_distances((X - center) / unit, away / unit)
    sigma = unit * np.sqrt(D.mean()) if squared_bandwidth is None else np.sqrt(squared_bandwidth)
    state = {"anchors": away, "center": center, "unit": np.asarray(unit), "bandwidth": np.asarray(sigma)}
    return state, similarities(D, sigma / unit)


def gauss_features(X: NDArray[Any], state: Params) -> NDArray[np.float64]:
    """Similarities k(x) (n, m) of other rows X (n, d)."""
    unit = state["unit"]
    D = squared_distances((X - state["center"]) / unit, state["anchors"] / unit)
    return similarities(D, state["bandwidth"] / unit)
