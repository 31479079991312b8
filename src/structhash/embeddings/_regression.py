"""Kernel ridge regression of outcomes, with each row left out of its own fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats, normalize_rows, spread_rows
from structhash._numerics.gaussian import similarities, squared_distances
from structhash.embeddings._outcomes import Link, Outcomes

MAX_TRIAL_ROWS = 700  # rows on which form and bandwidth are chosen
VARIANCES = (0.05, 0.1, 0.2, 0.4)  # sigma^2, in mean squared distances of two rows
FORMS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))  # shares of a row's direction, and of its position around the mean
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MIN_KERNEL_EIGENVALUE = 1e-6  # of the kernel, as a share of the largest; smaller ones are left out
MAX_JUDGING_SCORES = 4_000_000  # scores of left-out rows by which the ridge is chosen
MIN_REST = 1e-6  # share of a row's score that must rest on other rows


class Regression(NamedTuple):
    """A regression of outcomes on the similarities to m anchors."""

    loss: float  # mean -log p of what is true of the left-out rows
    left_out: NDArray[np.float64]  # scores (k, n_outcomes) of these rows, by the other rows
    coef: NDArray[np.float64]  # (m, n_outcomes)
    link: Link  # from scores to logits
    ridge: float


def kernel_rows(X: NDArray[Any], mean: NDArray[Any], units: Any) -> NDArray[np.float64]:
    """Rows (n, d) as the kernel compares them: directions and centred rows, each divided by its unit.

    A unit of 0 leaves its part out.
    """
    parts = [normalize_rows(X) / units[0]] if units[0] else []
    if units[1]:
        parts.append((as_floats(X).astype(np.float64) - mean) / units[1])
    return np.hstack(parts)


def rows_a_class(sizes: NDArray[np.int64]) -> float:
    """Training rows a class, as the harmonic mean of all sizes, in which a rare class counts most."""
    return float(len(sizes) / (1 / sizes).sum())


def choose_kernel(
    X: NDArray[Any], outcomes: Outcomes, mean: NDArray[Any], scale: float, rng: np.random.Generator
) -> tuple[tuple[float, float], float]:
    """The units of `kernel_rows` and the bandwidth that maximise the likelihood of sampled rows' outcomes.

    If all sampled rows are the same, positions are compared, in units of the scale of all rows.
    """
    drawn = rng.permutation(len(X))[:MAX_TRIAL_ROWS]
    sampled = outcomes.sample(drawn)
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
            found = regress(rows, sampled, sigma, np.arange(len(drawn)))
            trials.append((found.loss, units, float(sigma)))
    _, units, sigma = min(trials, default=(0.0, (0.0, scale), 1.0))
    return units, sigma


def _root_mean_square_distance(rows: NDArray[np.float64]) -> float:
    """Root mean squared distance of two of the rows."""
    largest = np.abs(rows).max() or 1.0
    return float(largest * np.sqrt(2 * (rows / largest).var(axis=0).sum()))


def regress(
    rows: NDArray[np.float64],
    outcomes: Outcomes,
    sigma: float,
    left_out: NDArray[np.int64],
) -> Regression:
    """Fit the regression with all rows as anchors, at the ridge of the highest likelihood of left-out outcomes.

    In the coordinates of the fit, the rows A have A'A = diag(s). Their scores are H Y with H = A diag(1 / (s +
    ridge)) A'; those that leave row i out are (HY - h_ii Y)_i / (1 - h_ii). With many outcomes, only some
    left-out rows judge the ridge: time and memory grow with rows times outcomes. Rows that are `alone` are
    not left out.

    Parameters
    ----------
    rows : float64 (n, d)
        Training rows, as `kernel_rows` gives them.
    outcomes : Outcomes
        Of the training rows.
    sigma : float
        Bandwidth of the Gaussian kernel.
    left_out : int64 (k,)
        Training rows whose scores are wanted.

    Returns
    -------
    Regression
    """
    prior, known = outcomes.prior, outcomes.part(left_out)
    values, vectors = np.linalg.eigh(similarities(squared_distances(rows, rows), np.asarray(sigma)))
    kept = values > MIN_KERNEL_EIGENVALUE * values[-1]
    root, s = vectors[:, kept] / np.sqrt(values[kept]), values[kept]
    AY = (vectors[:, kept] * np.sqrt(s)).T @ outcomes.centred()
    judges = judging_rows(known.alone, MAX_JUDGING_SCORES // len(prior))
    A = similarities(squared_distances(rows[left_out], rows), np.asarray(sigma)) @ root
    Y, best = known.centred(), np.inf
    judging_A, judging_Y, judging = A[judges], Y[judges], known.part(judges)
    for ridge in RIDGES:
        shrunk = 1 / (s + ridge)
        loss, link = judging.calibrate(_scores_without_own(judging_A, shrunk, AY, judging_Y) + prior)
        if loss < best:
            best, chosen = loss, (shrunk, link, ridge)
    shrunk, link, ridge = chosen
    scores = _scores_without_own(A, shrunk, AY, Y, known.alone) + prior
    return Regression(best, scores, root @ (shrunk[:, None] * AY), link, ridge)


def judging_rows(alone: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """At most `most` of the left-out rows, evenly spread, without rows alone unless there are no others."""
    judges = spread_rows(len(alone), most)
    return judges if alone[judges].all() else judges[~alone[judges]]


def _scores_without_own(
    A: NDArray[Any], shrunk: NDArray[Any], AY: NDArray[Any], Y: NDArray[Any], alone: Any = False
) -> NDArray[np.float64]:
    """Scores (k, n_outcomes) around the prior of rows A, without the effect of their own indicators Y.

    Rows `alone` keep that effect.
    """
    return without_own(A @ (shrunk[:, None] * AY), np.where(alone, 0.0, A**2 @ shrunk), Y)


def without_own(
    scores: NDArray[np.float64], own: NDArray[np.float64], Y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores (k, n_outcomes) of rows without the effect `own` (k,) of their own indicators Y."""
    own = np.minimum(own, 1 - MIN_REST)[:, None]
    return (scores - own * Y) / (1 - own)
