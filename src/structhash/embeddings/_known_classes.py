"""The chance that a row is of a class that has labels, from labelled rows and rows that are searched.

The labelled rows are a sample of the known classes alone. Where searched rows are as dense as labelled rows, up
to one factor, they are of known classes. Where they are denser, the excess is of new classes. See Elkan, Noto,
Learning classifiers from only positive and unlabeled data, KDD 2008, https://doi.org/10.1145/1401890.1401920.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.isotonic import IsotonicRegression

from structhash._numerics.program import Program
from structhash.embeddings._regression import without_own
from structhash.pieces import Params

RIDGES = np.geomspace(0.01, 1000, 11)
LEAST_CHANCE = 1e-4  # that a row of some score is labelled, and that it is not
N_SURE = 3  # numbers that say how sure class probabilities are
ROUNDS = 3  # of estimating how many searched rows of each class there are, and the chances
MIN_DEVIATION = 3.0  # standard errors from which on a class is not labelled as often as it is searched
KNOWN_QUANTILE = 0.5  # the odds at this quantile of the labelled rows are those of rows of known classes


class Chances(NamedTuple):
    """The chance of a known class.

    Attributes
    ----------
    state : dict of arrays
        For `chance_of_known_class`.
    of_labelled : float64 (n,)
    of_searched : float64 (u,)
        Each row is left out of its own chance.
    """

    state: Params
    of_labelled: NDArray[np.float64]
    of_searched: NDArray[np.float64]


def fit_known_classes(
    labelled: tuple[NDArray[Any], NDArray[np.float64]],
    searched: tuple[NDArray[Any], NDArray[np.float64]],
    class_index: NDArray[np.int64],
    of_class: NDArray[np.float64],
    by_sureness: bool = True,
) -> Chances:
    """Learn the chance that a row is of a class that the labelled rows have.

    A ridge regression tells labelled from searched rows. An isotonic regression turns its scores into odds that
    a row is labelled. Rows of known classes all have the same odds, so the chance is the odds as a share of
    these. Labelled rows of a class weigh more where the class is more frequent among the searched rows, and
    less where it is rarer, by more than chance explains.

    Parameters
    ----------
    labelled : ndarrays (n, m), (n, c)
        Vectors of rows of known classes, and their class probabilities by the other rows.
    searched : ndarrays (u, m), (u, c)
        The same of rows of known and maybe of new classes.
    class_index : int64 (n,)
        Of the labelled rows.
    of_class : float64 (u, c)
        The best class probabilities of the searched rows, by which those of a class are counted.
    by_sureness : bool
        Whether the chance depends on how sure the class probabilities are. Give False where classes have so few
        rows that leaving one out makes its probabilities less sure.

    Returns
    -------
    Chances
    """
    n, sure = len(class_index), _sureness(labelled[1])
    units = sure.mean(axis=0), sure.std(axis=0) + np.finfo(np.float32).eps
    rows = np.vstack([_features(*each, *units) for each in (labelled, searched)])
    if not by_sureness:
        rows[:, -N_SURE:] = 0
    of_searched = np.ones(len(rows) - n)
    for _ in range(ROUNDS):
        weights = _as_searched(class_index, of_searched @ of_class)
        fitted, chances = _chances(rows, weights)
        of_searched = chances[n:]
    return Chances({"sure_mean": units[0], "sure_scale": units[1], **fitted}, chances[:n], of_searched)


def constant_chance(n_vectors: int) -> Params:
    """The state by which every row is of a known class."""
    m = n_vectors + N_SURE
    return {
        "sure_mean": np.zeros(N_SURE),
        "sure_scale": np.ones(N_SURE),
        "known_mean": np.zeros(m),
        "known_coef": np.zeros(m),
        "known_scores": np.zeros(1),
        "known_chances": np.ones(1),
    }


def chance_of_known_class(vectors: NDArray[Any], P: NDArray[np.float64], state: Params) -> NDArray[np.float64]:
    """The chance (n,) of a known class, from vectors (n, m) and class probabilities (n, c)."""
    features = _features(vectors, P, state["sure_mean"], state["sure_scale"])
    scores = (features - state["known_mean"]) @ state["known_coef"]
    return np.interp(scores, state["known_scores"], state["known_chances"])


def express_chance(program: Program, vectors: str, P: str, state: Params) -> str:
    """`chance_of_known_class` as steps of a program, a value (n, 1)."""
    tiny = np.finfo(np.float64).tiny
    squares = program.step("row_sum", program.step("multiply", P, P))
    logs = program.step("log", program.step("maximum", P, tiny))
    entropy = program.step("row_sum", program.step("multiply", program.step("multiply", P, logs), -1.0))
    sure = program.step("concatenate", program.step("row_max", P), squares, entropy)
    sure = program.step("divide", program.step("subtract", sure, state["sure_mean"]), state["sure_scale"])
    features = program.step("subtract", program.step("concatenate", vectors, sure), state["known_mean"])
    scores = program.step("matmul", features, state["known_coef"][:, None])
    return program.interpolated(scores, state["known_scores"], state["known_chances"])


def _sureness(P: NDArray[np.float64]) -> NDArray[np.float64]:
    """How sure class probabilities (n, c) are: the largest, the sum of squares, and the entropy (n, 3)."""
    return np.column_stack([P.max(axis=1), (P**2).sum(axis=1), entr(P).sum(axis=1)])


def _features(
    vectors: NDArray[Any], P: NDArray[np.float64], mean: NDArray[Any], scale: NDArray[Any]
) -> NDArray[np.float64]:
    """What the chance depends on, (n, m + 3)."""
    features: NDArray[np.float64] = np.hstack([vectors, (_sureness(P) - mean) / scale]).astype(np.float64)
    return features


def _as_searched(class_index: NDArray[np.int64], searched: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n,) of labelled rows, 1 on average, that give each class its share of the searched rows (c,)."""
    sizes, n = np.bincount(class_index, minlength=len(searched)), len(class_index)
    m = min(searched.sum(), n)
    labelled, searched = sizes / n, searched / searched.sum()
    pooled = (n * labelled + m * searched) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    differs = np.abs(searched - labelled) > MIN_DEVIATION * error
    weights: NDArray[np.float64] = np.where(differs, searched / np.maximum(labelled, 1 / n), 1)[class_index]
    return weights / weights.mean()


def _chances(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[Params, NDArray[np.float64]]:
    """The fitted arrays, and the left-out chances, of rows (n + u, m) of which the first n are labelled."""
    n, is_labelled = len(weights), np.arange(len(rows)) < len(weights)
    weights = np.append(weights, np.ones(len(rows) - n))
    scores, mean, coef = _leave_one_out(rows, is_labelled.astype(np.float64), weights)
    found = IsotonicRegression(y_min=LEAST_CHANCE, y_max=1 - LEAST_CHANCE).fit(scores, is_labelled, weights)
    labelled_chance = found.predict(scores[:n])
    odds = labelled_chance / (1 - labelled_chance)
    known_odds = np.quantile(odds, KNOWN_QUANTILE, weights=weights[:n], method="inverted_cdf")
    steps = np.minimum(found.y_thresholds_ / (1 - found.y_thresholds_) / known_odds, 1)
    fitted = {
        "known_mean": mean,
        "known_coef": coef,
        "known_scores": found.X_thresholds_,
        "known_chances": steps,
    }
    return fitted, np.interp(scores, found.X_thresholds_, steps)


def _leave_one_out(
    rows: NDArray[np.float64], wanted: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weighted ridge regression of n numbers on rows (n, m), at the ridge of least leave-one-out error.

    Returns the left-out scores (n,) around the mean of `wanted`, the mean of the rows (m,) and the coefficients
    (m,).
    """
    mean, y = np.average(rows, axis=0, weights=weights), wanted - np.average(wanted, weights=weights)
    centred = rows - mean
    values, vectors = np.linalg.eigh((weights[:, None] * centred).T @ centred)
    A = centred @ vectors
    Ay, best = A.T @ (weights * y), np.inf
    for ridge in RIDGES:
        shrunk = 1 / (np.maximum(values, 0) + ridge)
        own = weights * (A**2 @ shrunk + 1 / weights.sum())
        scores = without_own((A @ (shrunk * Ay))[:, None], own, y[:, None])[:, 0]
        error = (weights * (scores - y) ** 2).mean()
        if error < best:
            best, found = error, (scores, mean, vectors @ (shrunk * Ay))
    return found
