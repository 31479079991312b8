"""Kernel ridge regression of class indicators, with each row left out of its own fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from structhash._numerics.blocks import as_floats, normalize_rows, row_slices
from structhash._numerics.gaussian import similarities, squared_distances

MAX_TRIAL_ROWS = 700  # rows on which form and bandwidth are chosen
VARIANCES = (0.05, 0.1, 0.2, 0.4)  # sigma^2, in mean squared distances of two rows
FORMS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))  # shares of a row's direction, and of its position around the mean
POSTERIOR_RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LOG_SHARPNESS = (-1.0, 6.0)  # bounds of the logarithm of the factor in the softmax
MIN_KERNEL_EIGENVALUE = 1e-6  # of the kernel, as a share of the largest; smaller ones are left out
MAX_JUDGING_SCORES = 4_000_000  # scores of left-out rows by which the ridge is chosen
MIN_REST = 1e-6  # share of a row's score that must rest on other rows


class Regression(NamedTuple):
    """A regression of class indicators on the similarities to m anchors."""

    loss: float  # mean -log p of the true class of the left-out rows
    left_out: NDArray[np.float64]  # scores (k, n_classes) of these rows, by the other rows
    coef: NDArray[np.float64]  # (m, n_classes)
    sharpness: float  # the factor s in p = softmax(s * scores)


def kernel_rows(X: NDArray[Any], mean: NDArray[Any], units: Any) -> NDArray[np.float64]:
    """Rows (n, d) as the kernel compares them: directions and centred rows, each divided by its unit.

    A unit of 0 leaves its part out.
    """
    parts = [normalize_rows(X) / units[0]] if units[0] else []
    if units[1]:
        parts.append((as_floats(X).astype(np.float64) - mean) / units[1])
    return np.hstack(parts)


def choose_kernel(
    X: NDArray[Any], class_index: NDArray[np.int64], mean: NDArray[Any], rng: np.random.Generator
) -> tuple[tuple[float, float], float]:
    """The units of `kernel_rows` and the bandwidth that maximise the likelihood of sampled rows' labels."""
    drawn = rng.permutation(len(X))[:MAX_TRIAL_ROWS]
    classes = np.unique(class_index[drawn], return_inverse=True)[1]
    units_of_form = [
        _root_mean_square_distance(normalize_rows(X[drawn])),
        _root_mean_square_distance(as_floats(X[drawn]).astype(np.float64)),
    ]
    trials = []
    for form in FORMS:
        units = units_of_form[0] * form[0], units_of_form[1] * form[1]
        if not any(units):  # all rows have the same direction
            continue
        rows = kernel_rows(X[drawn], mean, units)
        for sigma in np.sqrt(np.multiply(VARIANCES, sum(form))):
            found = regress(rows.__getitem__, rows, classes, sigma, np.arange(len(drawn)))
            trials.append((found.loss, units, float(sigma)))
    _, units, sigma = min(trials)
    return units, sigma


def _root_mean_square_distance(rows: NDArray[np.float64]) -> float:
    """Root mean squared distance of two of the rows."""
    largest = np.abs(rows).max() or 1.0
    return float(largest * np.sqrt(2 * (rows / largest).var(axis=0).sum()))


def regress(
    rows: Callable[[Any], NDArray[np.float64]],
    anchors: NDArray[np.float64],
    class_index: NDArray[np.int64],
    sigma: float,
    left_out: NDArray[np.int64],
) -> Regression:
    """Fit the regression at the ridge that maximises the likelihood of the left-out rows' labels.

    In the coordinates of the fit, the rows A have A'A = diag(s). Their scores are H Y with H = A diag(1 / (s +
    ridge)) A'; those that leave row i out are (HY - h_ii Y)_i / (1 - h_ii). With many classes, only some
    left-out rows judge the ridge: time and memory grow with rows times classes.

    Parameters
    ----------
    rows : callable
        Training rows by slice or row numbers, as `kernel_rows` gives them: float64 (k, d).
    anchors : float64 (m, d)
    class_index : int64 (n,)
    sigma : float
        Bandwidth of the Gaussian kernel.
    left_out : int64 (k,)
        Training rows whose scores are wanted.

    Returns
    -------
    Regression
    """
    prior = np.bincount(class_index) / len(class_index)
    values, vectors = np.linalg.eigh(similarities(squared_distances(anchors, anchors), np.asarray(sigma)))
    kept = values > MIN_KERNEL_EIGENVALUE * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])

    def in_coordinates(part: Any) -> NDArray[np.float64]:
        return similarities(squared_distances(rows(part), anchors), np.asarray(sigma)) @ root

    def residual_indicators(part: Any) -> NDArray[np.float64]:
        return (class_index[part, None] == np.arange(len(prior))) - prior

    if len(anchors) == len(class_index):  # K is diagonal already
        s, AY = values[kept], (vectors[:, kept] * np.sqrt(values[kept])).T @ residual_indicators(slice(None))
    else:
        gram, AY = np.zeros((root.shape[1],) * 2), np.zeros((root.shape[1], len(prior)))
        for run in row_slices(len(class_index)):
            A = in_coordinates(run)
            gram += A.T @ A
            AY += A.T @ residual_indicators(run)
        s, turn = np.linalg.eigh(gram)
        root, AY = root @ turn, turn.T @ AY
    judges = _spread(len(left_out), MAX_JUDGING_SCORES // len(prior))
    A, Y, best = in_coordinates(left_out), residual_indicators(left_out), np.inf
    for ridge in POSTERIOR_RIDGES:
        shrunk = 1 / (np.maximum(s, 0) + ridge)
        scores = _scores_without_own(A[judges], shrunk, AY, Y[judges]) + prior
        loss, sharpness = _calibrate(scores, class_index[left_out[judges]])
        if loss < best:
            best, chosen = loss, (shrunk, sharpness)
    shrunk, sharpness = chosen
    scores = _scores_without_own(A, shrunk, AY, Y) + prior
    return Regression(best, scores, root @ (shrunk[:, None] * AY), sharpness)


def _spread(n: int, most: int) -> NDArray[np.int64]:
    """Numbers from 0 to n - 1, evenly spread: all, or `most` where there are more."""
    return np.linspace(0, n - 1, max(1, min(n, most))).astype(np.int64)


def _scores_without_own(
    A: NDArray[Any], shrunk: NDArray[Any], AY: NDArray[Any], Y: NDArray[Any]
) -> NDArray[np.float64]:
    """Scores (k, n_classes) around the prior of rows A, each without the effect of its own indicators Y."""
    own = np.minimum(A**2 @ shrunk, 1 - MIN_REST)[:, None]
    scores: NDArray[np.float64] = (A @ (shrunk[:, None] * AY) - own * Y) / (1 - own)
    return scores


def _calibrate(scores: NDArray[np.float64], class_index: NDArray[np.int64]) -> tuple[float, float]:
    """The least mean -log softmax(s * scores) at the true classes over s, and that s."""

    below = scores - scores.max(axis=1, keepdims=True)
    own = below[np.arange(len(below)), class_index].mean()

    def loss(exponent: float) -> float:
        sharpness = np.exp(exponent)
        return float(np.log(np.exp(sharpness * below).sum(axis=1)).mean() - sharpness * own)

    best = minimize_scalar(loss, bounds=LOG_SHARPNESS, method="bounded", options={"xatol": 1e-2})
    return float(best.fun), float(np.exp(best.x))
