"""Class probabilities from labelled rows and from the random walk, for classes with few labels.

`Posterior` compares rows with labelled rows alone. A second regression, on the walk vectors of `Manifold`,
knows how the searched rows lie between them. Left-out labelled rows say how much each of the two counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from structhash._numerics.blocks import spread_rows
from structhash._numerics.program import Program
from structhash.embeddings._outcomes import centred_indicators
from structhash.embeddings._regression import rows_a_class, without_own
from structhash.pieces import Params

FEW_WALK_ROWS, MANY_WALK_ROWS = 10, 20  # labelled rows a class between which the walk loses its part
WALK_RIDGES = np.geomspace(0.003, 100, 10)
ASSUMED_RIDGE = 5  # number of the ridge where no class has two rows to judge by
ASSUMED_ROWS = 0.2  # left-out rows that count as much as the assumed weights do
MAX_ROW_WEIGHT, MAX_WALK_WEIGHT, MAX_RARITY_WEIGHT = 4.0, 50.0, 2.0
LEAST_WEIGHT = 0.005
MAX_WEIGHING_SCORES = 400_000  # scores of left-out rows by which weights and ridge are chosen


class WalkClasses(NamedTuple):
    """How class probabilities of rows and the walk are joined.

    Attributes
    ----------
    state : dict of arrays
        For `join_walk`.
    left_out : float64 (k, n_classes)
        Joined probabilities of the left-out rows, by the other rows.
    """

    state: Params
    left_out: NDArray[np.float64]


def fit_walk_classes(
    P: NDArray[Any],
    left_out: NDArray[np.int64],
    walk: NDArray[Any],
    class_index: NDArray[np.int64],
    temperature: float,
) -> WalkClasses:
    """Learn p(c | x), in proportion to p_rows(c | x)^a exp(b f_c(x)) n_c^-t, from left-out rows.

    f is a ridge regression of class indicators on the walk, and n_c are the labelled rows of a class. The
    weights a, b and t maximise the likelihood of the left-out rows' labels, where each class counts the same:
    the searched rows need not be divided among the classes as the labels are. The ridge is the largest that is
    within one standard error of the best, so that few labels smooth more. Between 10 and 20 labelled rows a
    class (harmonic mean) the walk loses its part, and p becomes p_rows.

    Parameters
    ----------
    P : ndarray (k, n_classes)
        Left-out probabilities of `Posterior`, at the temperature.
    left_out : int64 (k,)
        Their row numbers.
    walk : ndarray (n, v)
        Vectors of the labelled rows.
    class_index : int64 (n,)
    temperature : float

    Returns
    -------
    WalkClasses
    """
    sizes = np.bincount(class_index)
    part = _walk_part(sizes)
    if part == 0:
        return WalkClasses(without_walk(walk.shape[1], len(sizes)), P.astype(np.float64))
    rarity = -np.log(sizes / sizes.mean())
    by_rows, classes = temperature * _logarithms(P), class_index[left_out]
    fits = list(_regressions(walk.astype(np.float64), class_index, left_out))
    chosen, weights = _choose(by_rows, [scores for scores, _ in fits], rarity, classes, sizes)
    (by_walk, coef), (a, b, t) = fits[chosen], weights
    a, b, t = 1 - part + part * a, part * b, part * t
    state = {
        "row_weight": np.asarray(a),
        "walk_coef": b * coef / temperature,
        "walk_offset": (b * sizes / sizes.sum() + t * rarity) / temperature,
    }
    joined = softmax((a * by_rows + b * by_walk + t * rarity) / temperature, axis=1)
    return WalkClasses(state, joined)


def join_walk(P: NDArray[Any], walk: NDArray[Any], state: Params) -> NDArray[np.float64]:
    """Joined probabilities (n, n_classes) of rows with probabilities P and walk vectors (n, v)."""
    scores = state["row_weight"] * _logarithms(P) + walk @ state["walk_coef"] + state["walk_offset"]
    joined: NDArray[np.float64] = softmax(scores, axis=1)
    return joined


def express_joined_walk(program: Program, P: str, walk: str, state: Params) -> str:
    """`join_walk` as steps of a program."""
    logs = program.step("log", program.step("maximum", P, np.finfo(np.float32).tiny))
    below = program.step("subtract", logs, program.step("row_max", logs))
    scores = program.step("multiply", below, state["row_weight"])
    scores = program.step("add", scores, program.step("matmul", walk, state["walk_coef"]))
    return program.softmax(program.step("add", scores, state["walk_offset"]))


def without_walk(n_vectors: int, n_classes: int) -> Params:
    """The state by which probabilities stay as they are."""
    return {
        "row_weight": np.ones(()),
        "walk_coef": np.zeros((n_vectors, n_classes)),
        "walk_offset": np.zeros(n_classes),
    }


def _walk_part(sizes: NDArray[np.int64]) -> float:
    """The part of the walk, from 1 to 0, by the labelled rows of each class."""
    share = np.log(MANY_WALK_ROWS / rows_a_class(sizes)) / np.log(MANY_WALK_ROWS / FEW_WALK_ROWS)
    return float(np.clip(share, 0, 1))


def _logarithms(P: NDArray[Any]) -> NDArray[np.float64]:
    """Logarithms of probabilities (n, c), less the largest of each row."""
    logs = np.log(np.maximum(P.astype(np.float64), np.finfo(np.float32).tiny))
    below: NDArray[np.float64] = logs - logs.max(axis=1, keepdims=True)
    return below


def _regressions(
    walk: NDArray[np.float64], class_index: NDArray[np.int64], left_out: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Left-out scores (k, n_classes) and coefficients (v, n_classes) of each ridge."""
    prior = np.bincount(class_index) / len(class_index)
    Y = centred_indicators(class_index, prior)
    values, vectors = np.linalg.eigh(walk.T @ walk)
    A = walk @ vectors
    AY, A, Y = A.T @ Y, A[left_out], Y[left_out]
    for ridge in WALK_RIDGES:
        shrunk = 1 / (np.maximum(values, 0) + ridge)
        coef = shrunk[:, None] * AY
        yield without_own(A @ coef, A**2 @ shrunk, Y) + prior, vectors @ coef


def _choose(
    by_rows: NDArray[np.float64],
    by_walk: list[NDArray[np.float64]],
    rarity: NDArray[np.float64],
    classes: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[int, NDArray[np.float64]]:
    """The number of the ridge, and the weights (3,), by scores (k, n_classes) of left-out rows."""
    judges = np.flatnonzero(sizes[classes] > 1)
    if not len(judges):
        return ASSUMED_RIDGE, _assumed(WALK_RIDGES[ASSUMED_RIDGE])
    judges = judges[spread_rows(len(judges), MAX_WEIGHING_SCORES // len(sizes))]
    classes = classes[judges]
    share = 1 / sizes[classes]
    share /= share.sum()
    n_effective = 1 / (share**2).sum()
    trials = []
    for ridge, scores in zip(WALK_RIDGES, by_walk, strict=True):
        parts = np.stack(np.broadcast_arrays(by_rows[judges], scores[judges], rarity))
        weights = _weigh(parts, classes, share, _assumed(ridge), ASSUMED_ROWS / n_effective)
        trials.append((_losses(parts, classes, weights), weights))
    losses = np.array([each for each, _ in trials])
    worse = losses - losses[(losses @ share).argmin()]
    mean = worse @ share
    error = np.sqrt((worse - mean[:, None]) ** 2 @ share / n_effective)
    chosen = int(np.flatnonzero(mean <= error).max())
    return chosen, trials[chosen][1]


def _assumed(ridge: float) -> NDArray[np.float64]:
    """The weights where left-out rows say little: a larger ridge shrinks scores, so its weight is larger."""
    return np.array([1.0, 8 + 4 * ridge, 0.5])


def _losses(
    parts: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """-log p of the true classes (k,), where the parts (3, k, n_classes) of the scores have these weights."""
    logs = log_softmax(np.tensordot(weights, parts, 1), axis=1)
    losses: NDArray[np.float64] = -logs[np.arange(len(classes)), classes]
    return losses


def _weigh(
    parts: NDArray[np.float64],
    classes: NDArray[np.int64],
    share: NDArray[np.float64],
    assumed: NDArray[np.float64],
    strength: float,
) -> NDArray[np.float64]:
    """Weights (3,) of least mean loss, plus strength times their squared distance to the assumed ones.

    The first two weights are positive, and their logarithms count in the distance.
    """
    own = parts[:, np.arange(len(classes)), classes]
    start = np.append(np.log(assumed[:2]), assumed[2])

    def objective(t: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, away = np.append(np.exp(t[:2]), t[2]), t - start
        logs = log_softmax(np.tensordot(weights, parts, 1), axis=1)
        loss = -logs[np.arange(len(classes)), classes] @ share + strength * away @ away
        slope = (np.einsum("ijk,jk->ij", parts, np.exp(logs)) - own) @ share
        return float(loss), slope * np.append(weights[:2], 1) + 2 * strength * away

    low, high = np.log(LEAST_WEIGHT), np.log([MAX_ROW_WEIGHT, MAX_WALK_WEIGHT])
    bounds = [(low, high[0]), (low, high[1]), (0, MAX_RARITY_WEIGHT)]
    t = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.append(np.exp(t[:2]), t[2])
