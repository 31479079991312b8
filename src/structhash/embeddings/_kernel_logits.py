"""Logits of classes or labels, by a kernel regression that chooses its own settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices, sample_rows
from structhash._numerics.gaussian import similarities_to
from structhash._numerics.program import Program
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS, check_rows_differ, float_blocks, mean_and_scale
from structhash.embeddings._many_rows import regress_on_anchors
from structhash.embeddings._outcomes import Outcomes
from structhash.embeddings._regression import choose_kernel, kernel_rows, regress
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

MAX_LEFT_OUT = 4000  # training rows by which the ridge is chosen, where the points are other rows
ALL_ANCHORS = 2000  # training rows up to which each is an anchor

LOGIT_FIELDS: Fields = (
    Field("center", ("n_features",)),
    Field("units", ("n_units",), least=0),
    Field("directions", ("n_kernel_features", "n_directions_or_0")),
    Field("anchors", ("n_anchors", "n_anchor_features")),
    Field("bandwidth", positive=True),
    Field("coef", ("n_anchors", "n_classes")),
    Field("prior", ("n_classes",)),
)


class Logits(NamedTuple):
    """A fitted regression."""

    state: dict[str, NDArray[Any]]  # `LOGIT_FIELDS`
    left_out: NDArray[np.int64]  # numbers (k,) of training rows
    of_left_out: NDArray[np.float64]  # logits (k, n_outcomes) of these, each left out of its own fit


def rows_to_leave_out(
    outcomes: Outcomes, points: NDArray[np.int64], unlabeled: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Training rows whose left-out logits are wanted: the points, unless these are unlabeled rows."""
    if unlabeled is None:
        return points
    beside_others = np.flatnonzero(~outcomes.alone)
    return beside_others[sample_rows(len(beside_others), MAX_LEFT_OUT, rng)]


def fit_logits(
    X: NDArray[Any],
    outcomes: Outcomes,
    points: NDArray[np.int64],
    unlabeled: NDArray[Any] | None,
    most_anchors: int,
    temperature: float,
    rng: np.random.Generator,
) -> Logits:
    """Fit a ridge regression of outcomes on Gaussian similarities, and calibrate it.

    Parameters
    ----------
    X : ndarray (n, d)
        Training rows.
    outcomes : Outcomes
        Of these rows.
    points, unlabeled
        As in `Embedding.fit`.
    most_anchors : int
        Training rows that similarities are measured to, at most.
    temperature : float
        Divides the logits.
    rng : Generator

    Returns
    -------
    Logits

    Raises
    ------
    ValueError
        If all rows are the same.
    """
    check_rows_differ(X)
    mean, scale = mean_and_scale(lambda: float_blocks(X))
    units, sigma = choose_kernel(X, outcomes, mean, scale, rng)
    left_out = rows_to_leave_out(outcomes, points, unlabeled, rng)
    n_anchors = min(most_anchors, anchors_for(len(X)))
    if n_anchors == len(X):
        anchors = kernel_rows(X, mean, units)
        directions = np.empty((anchors.shape[1], 0))  # all
        found = regress(anchors, outcomes, sigma, left_out)
    else:
        (directions, anchors, sigma), found = regress_on_anchors(
            lambda part: kernel_rows(X[part], mean, units), outcomes, sigma, n_anchors, left_out, rng
        )
    factor, offset = found.link.sharpness / temperature, found.link.offset / temperature
    state = {
        "center": mean,
        "units": np.array(units),
        "directions": directions,
        "anchors": anchors,
        "bandwidth": np.asarray(sigma),
        "coef": found.coef * factor,
        "prior": outcomes.prior * factor + offset,
    }
    return Logits(state, left_out, found.left_out * factor + offset)


def anchors_for(n: int) -> int:
    """How many of n training rows are anchors."""
    return n if n <= ALL_ANCHORS else int(np.sqrt(ALL_ANCHORS * n))


def logit_blocks(X: NDArray[Any], state: Params) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Runs of rows X (n, d), and their logits (k, n_outcomes)."""
    similar, coef = similarities_to(state["anchors"], state["bandwidth"]), state["coef"].astype(np.float64)
    for block in row_slices(len(X), FEATURE_BLOCK_ROWS):
        rows = kernel_rows(X[block], state["center"], state["units"])
        if state["directions"].size:
            rows = rows @ state["directions"].astype(np.float64)
        yield block, similar(rows) @ coef + state["prior"]


def express_logits(program: Program, X: str, state: Params) -> str:
    """The logits of a value X as steps of a program."""
    units, parts = [float(unit) for unit in state["units"]], []
    if units[0]:
        parts.append(program.step("divide", program.normalized(X), units[0]))
    if units[1]:
        parts.append(program.step("divide", program.step("subtract", X, state["center"]), units[1]))
    rows = program.step("concatenate", *parts)
    if state["directions"].size:
        rows = program.step("matmul", rows, state["directions"])
    similar = program.similarities(rows, state["anchors"], state["bandwidth"])
    return program.step("add", program.step("matmul", similar, state["coef"]), state["prior"])
