"""Eigenfunctions of one-dimensional affinities, and which of them make a code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MIN_BINS, MAX_BINS, ROWS_PER_BIN = 20, 50, 10
CLIPPED_PERCENT = 2.5  # of the rows beyond either end of the bins
SMOOTHING = 0.1  # added to the share of each bin
MIN_DECAY = 0.999  # an axis whose least eigenvalue is above 1 - this has bins too wide for sigma


class Eigenfunctions(NamedTuple):
    """For each of k axes m eigenfunctions of the affinity, by falling eigenvalue, at m + 2 knots."""

    knots: NDArray[np.float64]  # (k, m + 2)
    values: NDArray[np.float64]  # (k, m, m + 2)
    eigenvalues: NDArray[np.float64]  # (k, m); the first of each axis is 1, that of the constant


def one_dimensional(V: NDArray[np.float64], sigma: float) -> Eigenfunctions:
    """Eigenfunctions of each column of V (n, k).

    With p the smoothed shares of the bins, W_ij = exp(-(c_i - c_j)^2 / (2 sigma^2)) of their centres,
    D = diag(W p) and P = diag(p), they solve W P phi = lambda D phi, scaled to phi' P D phi = 1. They are
    linear between bin centres, and from the outer ones on to the ends.
    """
    low, high = np.percentile(V, [CLIPPED_PERCENT, 100 - CLIPPED_PERCENT], axis=0, method="hazen")
    high = np.where(high > low, high, low + np.finfo(float).tiny + np.abs(low) * 1e-9)  # nearly all rows equal
    m = min(max(len(V) // ROWS_PER_BIN, MIN_BINS), MAX_BINS)
    width = (high - low) / m
    centres = low[:, None] + width[:, None] * (np.arange(m) + 0.5)
    bins = np.clip((V - low) / width, 0, m - 1).astype(np.int64)
    bins += m * np.arange(V.shape[1])
    p = np.bincount(bins.ravel(), minlength=m * V.shape[1]).reshape(-1, m) / len(V) + SMOOTHING
    p /= p.sum(axis=1, keepdims=True)
    W = np.exp(-0.5 * ((centres[:, :, None] - centres[:, None]) / sigma) ** 2)
    degree = np.einsum("kij,kj->ki", W, p)
    root = np.sqrt(p / degree)  # D^-1/2 P^1/2 W P^1/2 D^-1/2 is symmetric
    eigenvalues, vectors = np.linalg.eigh(root[:, :, None] * W * root[:, None])
    phi = np.swapaxes(vectors / np.sqrt(p * degree)[:, :, None], 1, 2)[:, ::-1]
    first = phi[..., :1] * 1.5 - phi[..., 1:2] * 0.5
    last = phi[..., -1:] * 1.5 - phi[..., -2:-1] * 0.5
    values = np.concatenate([first, phi, last], axis=2)
    values *= np.where(values[..., -1:] < 0, -1.0, 1.0)
    knots = np.concatenate([low[:, None], centres, high[:, None]], axis=1)
    return Eigenfunctions(knots, values, eigenvalues[:, ::-1])


def choose(
    functions: Eigenfunctions, n_bits: int, min_weight: float, sigma: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Choose the eigenfunctions that become bits: those of largest weight.

    Where fewer than n_bits have at least `min_weight`, these are used again with other thresholds.

    Parameters
    ----------
    functions : Eigenfunctions
    n_bits : int
    min_weight : float
    sigma : float

    Returns
    -------
    axis, number : int arrays (n_bits,)
        The axis of each bit, and which eigenfunction of the axis it is.
    thresholds, weights : ndarrays (n_bits,)

    Raises
    ------
    ValueError
        If sigma fits no axis.
    """
    eigenvalues = functions.eigenvalues.copy()
    m = eigenvalues.shape[1]
    trivial = eigenvalues > 1 - 1e-10
    eigenvalues[trivial | (eigenvalues.min(axis=1) > 1 - MIN_DECAY)[:, None]] = -np.inf
    if not eigenvalues.max() > 1e-9:
        raise ValueError(
            f"bandwidth={sigma:.3g} is too {'small' if np.isneginf(eigenvalues.max()) else 'large'} "
            "for the spread of the rows; leave it out, so that it is a quarter of their mean distance"
        )
    weights = eigenvalues.ravel() / eigenvalues.max()
    order = np.argsort(-weights, kind="stable")
    above = max(1, int((weights > min_weight).sum()))
    kept = order[: min(above, n_bits)]
    pool = functions.values[kept // m, kept % m, 1:-1]
    if above > n_bits:
        percents, times = np.array([50.0]), 1
    else:
        times = n_bits // above
        percents = 100 * np.arange(1, times + 2) / (times + 2)
        if 50 not in percents:
            percents[0] = 50
    levels = np.percentile(pool, percents, method="hazen")
    turns = np.arange(n_bits) // len(kept)
    chosen = kept[np.arange(n_bits) % len(kept)]
    return chosen // m, chosen % m, levels[turns], weights[chosen]
