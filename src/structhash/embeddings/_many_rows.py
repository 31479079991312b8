"""The regression of outcomes where there are more training rows than anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.blas import dsyrk

from structhash._numerics.blocks import row_slices, spread_rows
from structhash._numerics.gaussian import similarities_to
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS
from structhash.embeddings._outcomes import Outcomes
from structhash.embeddings._regression import RIDGES, Regression, judging_rows, without_own

MAX_SAMPLE_ROWS = 16_000  # on which directions and bandwidth are chosen
MAX_JUDGES = 2000  # left-out rows by which the ridge is chosen
TRIAL_ANCHORS = 1 / 3  # of the anchors, drawn at random
VARIANCE_SHARES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # of the rows, that the directions may retain
BANDWIDTH_FACTORS = (0.7, 1.4)  # candidates, besides the bandwidth itself
RIDGE_FACTORS = (0.3, 1.0, 3.0)  # of the ridge of the trial
MIN_RIDGE = 1e-12  # share of the trace that is added to the diagonal, above the rounding errors of the sum
AMBIGUOUS_SHARE = 0.5  # of the anchors

Rows = Callable[[Any], NDArray[np.float64]]


class Kernel(NamedTuple):
    """Gaussian similarities to anchors, along a few directions."""

    directions: NDArray[np.float64]  # (d, q)
    anchors: NDArray[np.float64]  # (m, q)
    sigma: float


class _Trial(NamedTuple):
    loss: float
    kernel: Kernel
    found: Regression


def regress_on_anchors(
    rows: Rows,
    outcomes: Outcomes,
    sigma: float,
    n_anchors: int,
    left_out: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[Kernel, Regression]:
    """Choose directions, bandwidth and anchors, and fit the regression on all rows.

    The directions are the leading principal directions of the rows. The others say little of the outcomes,
    blur the similarities, and cost time in each comparison. A regression on a sample of rows chooses how
    many are kept, and the bandwidth, by the likelihood of left-out outcomes. One half of the anchors are the
    rows that are alone in their class and the rows of which this regression is least sure. The other half is
    drawn at random.

    Parameters
    ----------
    rows : callable
        Training rows by slice or row numbers: float64 (k, d).
    outcomes : Outcomes
        Of the training rows.
    sigma : float
        Bandwidth from which the search starts.
    n_anchors : int
        Fewer than n.
    left_out : int64 (k,)
        Training rows whose scores are wanted.
    rng : Generator

    Returns
    -------
    kernel : Kernel
    found : Regression
    """
    order = rng.permutation(len(outcomes))
    sample = order[:MAX_SAMPLE_ROWS]
    kernel, found = _trial(rows(sample), outcomes.part(sample), sigma, n_anchors)

    def along(part: Any) -> NDArray[np.float64]:
        return rows(part) @ kernel.directions

    sureness = np.where(outcomes.alone, -np.inf, _sureness(along, kernel, found, outcomes))
    ambiguous = np.argsort(sureness, kind="stable")[: int(n_anchors * AMBIGUOUS_SHARE)]
    drawn = order[~np.isin(order, ambiguous)][: n_anchors - len(ambiguous)]
    kernel = kernel._replace(anchors=along(np.append(ambiguous, drawn)))
    ridges = [found.ridge * factor for factor in RIDGE_FACTORS]
    return kernel, fit_ridge(along, kernel, outcomes, left_out, ridges)


def _trial(
    rows: NDArray[np.float64],
    outcomes: Outcomes,
    sigma: float,
    n_anchors: int,
) -> tuple[Kernel, Regression]:
    """The kernel and the regression that are best on a sample of rows (n, d)."""
    variances, directions = np.linalg.eigh(np.atleast_2d(np.cov(rows.T)))
    shares = np.cumsum(variances[::-1]) / (variances.sum() or 1.0)
    m = max(2, int(n_anchors * TRIAL_ANCHORS))
    left_out = spread_rows(len(rows), MAX_JUDGES)

    def tried(n_directions: int, sigma: float) -> _Trial:
        kept = directions[:, ::-1][:, :n_directions]
        Z = rows @ kept
        kernel = Kernel(kept, Z[:m], sigma)
        found = fit_ridge(Z.__getitem__, kernel, outcomes, left_out, RIDGES)
        return _Trial(found.loss, kernel, found)

    trials = []
    for share in VARIANCE_SHARES:
        n_directions = min(int(np.searchsorted(shares, share)) + 1, len(shares))
        trials.append(tried(n_directions, sigma * float(np.sqrt(share))))
    best = min(trials, key=lambda each: each.loss)
    for factor in BANDWIDTH_FACTORS:
        trials.append(tried(best.kernel.directions.shape[1], best.kernel.sigma * factor))
    best = min(trials, key=lambda each: each.loss)
    return best.kernel, best.found


def _sureness(rows: Rows, kernel: Kernel, found: Regression, outcomes: Outcomes) -> NDArray[np.float64]:
    """How sure the regression is of each row, (n,)."""
    similar, sureness = similarities_to(kernel.anchors, kernel.sigma), np.empty(len(outcomes))
    for run in row_slices(len(outcomes), FEATURE_BLOCK_ROWS):
        sureness[run] = outcomes.sureness(similar(rows(run)) @ found.coef + outcomes.prior, found.link)
    return sureness


def fit_ridge(
    rows: Rows,
    kernel: Kernel,
    outcomes: Outcomes,
    left_out: NDArray[np.int64],
    ridges: Sequence[float],
) -> Regression:
    """Minimise ||K c - Y||^2 + ridge c'Ac at the ridge that maximises the likelihood of left-out outcomes.

    K are the similarities of n rows to m anchors, A those among the anchors, Y the indicators of the outcomes
    around their prior. With LL' = K'K + ridge A, row k_i has h_ii = ||L^(-1) k_i||^2, and its score that leaves
    row i out is (k_i c - h_ii y_i) / (1 - h_ii). It costs n m^2 products, and memory for three matrices (m, m).

    Parameters
    ----------
    rows : callable
        As in `regress_on_anchors`, along the directions.
    kernel : Kernel
    outcomes : Outcomes
        Of the training rows.
    left_out : int64 (k,)
    ridges : sequence of float
        Increasing; the search ends at the first that is worse than the one before.

    Returns
    -------
    Regression
    """
    similar = similarities_to(kernel.anchors, kernel.sigma)
    gram, KY = _products(lambda run: similar(rows(run)), outcomes, len(kernel.anchors))
    among = similar(kernel.anchors).T

    def solved(ridge: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """L, and the coefficients c."""
        matrix = among * ridge
        matrix += gram
        L, _ = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return L, cho_solve((L, True), KY, check_finite=False)

    def scores_of(numbers: NDArray[np.int64], L: NDArray[Any], coef: NDArray[Any]) -> NDArray[np.float64]:
        """Scores (k, n_outcomes) of these rows, each left out."""
        scores = np.empty((len(numbers), len(outcomes.prior)))
        for run in row_slices(len(numbers)):
            K, known = similar(rows(numbers[run])), outcomes.part(numbers[run])
            own = (solve_triangular(L, K.T, lower=True, check_finite=False) ** 2).sum(axis=0)
            own[known.alone] = 0.0
            scores[run] = without_own(K @ coef, own, known.centred()) + outcomes.prior
        return scores

    judges, best = left_out[judging_rows(outcomes.alone[left_out], MAX_JUDGES)], np.inf
    judging = outcomes.part(judges)
    for ridge in ridges:
        loss, link = judging.calibrate(scores_of(judges, *solved(ridge)))
        if loss > best:  # the loss has one minimum
            break
        best, chosen = loss, (ridge, link)
    L, coef = solved(chosen[0])
    return Regression(best, scores_of(left_out, L, coef), coef, chosen[1], chosen[0])


def _products(similar: Rows, outcomes: Outcomes, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """K'K (m, m), of which only the lower triangle is filled, and K'Y (m, n_outcomes)."""
    gram, KY = np.zeros((m, m), order="F"), np.zeros((m, len(outcomes.prior)))
    for run in row_slices(len(outcomes)):
        K = similar(run)
        gram = dsyrk(1.0, K.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        KY += K.T @ outcomes.part(run).centred()
    gram[np.diag_indices(m)] += MIN_RIDGE * gram.trace()
    return gram, KY
