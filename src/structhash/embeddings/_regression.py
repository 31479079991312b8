"""Kernel ridge regression of class indicators, with each row left out of its own fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from structhash._numerics.blocks import as_floats, normalize_rows, spread_rows
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
    ridge: float


def kernel_rows(X: NDArray[Any], mean: NDArray[Any], units: Any) -> NDArray[np.float64]:
    """Rows (n, d) as the kernel compares them: directions and centred rows, each divided by its unit.

    A unit of 0 leaves its part out.
    """
    parts = [normalize_rows(X) / units[0]] if units[0] else []
    if units[1]:
        parts.append((as_floats(X).astype(np.float64) - mean) / units[1])
    return np.hstack(parts)


def rows_alone(class_index: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row (n,) is the only one of its class; False everywhere if all are.

    Such a row is never recognised when it is left out of the fit, so it does not judge settings.
    """
    alone: NDArray[np.bool_] = (np.bincount(class_index) == 1)[class_index]
    return alone & ~alone.all()


def class_prior(class_index: NDArray[np.int64], alone: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Score (n_classes,) of each class before a row is seen: its share of the rows.

    A class with one row counts as much as the largest class. With its true share, rows like that one row would
    be given the largest class: one row adds less to the score of its class than the lower prior takes from it.
    """
    counts = np.bincount(class_index)
    counts[class_index[alone]] = counts.max()
    prior: NDArray[np.float64] = counts / counts.sum()
    return prior


def rows_a_class(sizes: NDArray[np.int64]) -> float:
    """Training rows a class, as the harmonic mean of all sizes, in which a rare class counts most."""
    return float(len(sizes) / (1 / sizes).sum())


def choose_kernel(
    X: NDArray[Any], class_index: NDArray[np.int64], mean: NDArray[Any], scale: float, rng: np.random.Generator
) -> tuple[tuple[float, float], float]:
    """The units of `kernel_rows` and the bandwidth that maximise the likelihood of sampled rows' labels.

    If all sampled rows are the same, positions are compared, in units of the scale of all rows.
    """
    drawn = rng.permutation(len(X))[:MAX_TRIAL_ROWS]
    classes, alone = np.unique(class_index[drawn], return_inverse=True)[1], rows_alone(class_index)[drawn]
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
            found = regress(rows, classes, alone, sigma, np.arange(len(drawn)))
            trials.append((found.loss, units, float(sigma)))
    _, units, sigma = min(trials, default=(0.0, (0.0, scale), 1.0))
    return units, sigma


def _root_mean_square_distance(rows: NDArray[np.float64]) -> float:
    """Root mean squared distance of two of the rows."""
    largest = np.abs(rows).max() or 1.0
    return float(largest * np.sqrt(2 * (rows / largest).var(axis=0).sum()))


def regress(
    rows: NDArray[np.float64],
    class_index: NDArray[np.int64],
    alone: NDArray[np.bool_],
    sigma: float,
    left_out: NDArray[np.int64],
) -> Regression:
    """Fit the regression with all rows as anchors, at the ridge of the highest likelihood of left-out labels.

    In the coordinates of the fit, the rows A have A'A = diag(s). Their scores are H Y with H = A diag(1 / (s +
    ridge)) A'; those that leave row i out are (HY - h_ii Y)_i / (1 - h_ii). With many classes, only some
    left-out rows judge the ridge: time and memory grow with rows times classes. A row alone in its class
    is not left out.

    Parameters
    ----------
    rows : float64 (n, d)
        Training rows, as `kernel_rows` gives them.
    class_index : int64 (n,)
    alone : bool (n,)
        See `rows_alone`.
    sigma : float
        Bandwidth of the Gaussian kernel.
    left_out : int64 (k,)
        Training rows whose scores are wanted.

    Returns
    -------
    Regression
    """
    prior, alone_out = class_prior(class_index, alone), alone[left_out]
    values, vectors = np.linalg.eigh(similarities(squared_distances(rows, rows), np.asarray(sigma)))
    kept = values > MIN_KERNEL_EIGENVALUE * values[-1]
    root, s = vectors[:, kept] / np.sqrt(values[kept]), values[kept]
    AY = (vectors[:, kept] * np.sqrt(s)).T @ indicators(class_index, prior)
    judges = judging_rows(alone_out, MAX_JUDGING_SCORES // len(prior))
    A = similarities(squared_distances(rows[left_out], rows), np.asarray(sigma)) @ root
    Y, best = indicators(class_index[left_out], prior), np.inf
    judging_A, judging_Y, classes = A[judges], Y[judges], class_index[left_out[judges]]
    for ridge in POSTERIOR_RIDGES:
        shrunk = 1 / (s + ridge)
        loss, sharpness = calibrate(_scores_without_own(judging_A, shrunk, AY, judging_Y) + prior, classes)
        if loss < best:
            best, chosen = loss, (shrunk, sharpness, ridge)
    shrunk, sharpness, ridge = chosen
    scores = _scores_without_own(A, shrunk, AY, Y, alone_out) + prior
    return Regression(best, scores, root @ (shrunk[:, None] * AY), sharpness, ridge)


def indicators(class_index: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class indicators (n, n_classes) around the shares of the classes."""
    return (class_index[:, None] == np.arange(len(prior))) - prior


def judging_rows(alone: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """At most `most` of the left-out rows, evenly spread, without rows alone unless there are no others."""
    judges = spread_rows(len(alone), most)
    return judges if alone[judges].all() else judges[~alone[judges]]


def _scores_without_own(
    A: NDArray[Any], shrunk: NDArray[Any], AY: NDArray[Any], Y: NDArray[Any], alone: Any = False
) -> NDArray[np.float64]:
    """Scores (k, n_classes) around the prior of rows A, without the effect of their own indicators Y.

    Rows `alone` keep that effect.
    """
    return without_own(A @ (shrunk[:, None] * AY), np.where(alone, 0.0, A**2 @ shrunk), Y)


def without_own(
    scores: NDArray[np.float64], own: NDArray[np.float64], Y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores (k, n_classes) of rows without the effect `own` (k,) of their own indicators Y."""
    own = np.minimum(own, 1 - MIN_REST)[:, None]
    return (scores - own * Y) / (1 - own)


def calibrate(scores: NDArray[np.float64], class_index: NDArray[np.int64]) -> tuple[float, float]:
    """The least mean -log softmax(s * scores) at the true classes over s, and that s."""
    below = scores - scores.max(axis=1, keepdims=True)
    own = below[np.arange(len(below)), class_index].mean()

    def loss(exponent: float) -> float:
        sharpness = np.exp(exponent)
        return float(np.log(np.exp(sharpness * below).sum(axis=1)).mean() - sharpness * own)

    best = minimize_scalar(loss, bounds=LOG_SHARPNESS, method="bounded", options={"xatol": 1e-2})
    return float(best.fun), float(np.exp(best.x))
