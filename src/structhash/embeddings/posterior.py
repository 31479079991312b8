"""Class probabilities by kernel regression, for the classes that the training rows have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from structhash._numerics.blocks import as_floats, float_type, normalize_rows, row_slices, sample_rows
from structhash._numerics.gaussian import similarities, squared_distances
from structhash._numerics.scaling import ROWS, float_blocks, mean_and_scale
from structhash._numerics.validation import check_count
from structhash.embeddings._targets import dots
from structhash.pieces import Params

JUDGED = 4000  # rows by which the ridge is chosen, at most, where the points are others
TRIAL = 700  # rows on which form and bandwidth are chosen
BANDWIDTHS = (0.05, 0.1, 0.2, 0.4)  # sigma^2, in mean squared distances of two rows
FORMS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))  # shares of the direction of a row, and of the centred row
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SHARPNESS = (-1.0, 6.0)  # where the logarithm of the factor in the softmax is sought
FLOOR = 1e-6  # eigenvalues of the kernel below, as a share of the largest, are left out
LEAST = 1e-6  # of what a row's score may rest on other rows
SOFT = 8.0  # bits are learned from p to the power 1 / 8
SOFTER = 16.0  # the vectors, and those that rows are coded from at the softest, are p to the power 1 / 16
FEW, MANY = 10, 100  # training rows a class at which rows are coded at the power 1 / 8, and at 1 / 16


class _Regression(NamedTuple):
    """Kernel ridge regression of class indicators on the similarities to m anchors."""

    loss: float  # mean -log p of the true class of some of the rows, each being left out
    left_out: NDArray[np.float64]  # their scores (k, n_classes) by the other rows
    coef: NDArray[np.float64]  # (m, n_classes)
    sharpness: float


@dataclass(frozen=True)
class Posterior:
    """Class probabilities p(c | x), two rows being alike with chance sum_c p(c | x) p(c | y).

    To rank by the chance of a common class is the best that can be done with what the probabilities hold.
    Scores f are a ridge regression of class indicators on Gaussian similarities to training rows, and
    p = softmax(s f). Bandwidth, ridge, s, and whether rows are compared by their directions, by their places or
    by both are those under which the training labels are likeliest, each row being left out of its own
    regression, which is a closed form. The training rows enter with these left-out probabilities: those of a
    regression that has seen a row are too good to learn bits from.

    Bits are learned from softmax(s f / 8), an eighth as sharp as p, so that they can part what p is sure of.
    Rows are coded from vectors up to half as sharp again, so that what p is not sure of comes to lie between
    the classes, away from what it is sure of: half where a class has 100 training rows or more, not at all
    where it has 10, since then p is sure of little. Queries are coded from sharper ones, up to p itself: found
    first is what is surely of the likeliest class, not what is as unsure as the query.

    Parameters
    ----------
    anchors : int
        Training rows that similarities are measured to, >= 2; all where there are fewer.

    References
    ----------
    Rifkin, Lippert, Notes on regularized least squares, MIT-CSAIL-TR-2007-025,
    https://hdl.handle.net/1721.1/37318: what leaves a row out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> state, Z = Posterior().fit(X[:300], y[:300], None, np.arange(300), np.random.default_rng(0))
    >>> Z.shape, bool((Posterior().embed(X[300:], state).argmax(axis=1) == y[300:]).mean() > 0.9)
    ((300, 10), True)
    """

    labelled: ClassVar[bool] = True
    pull: ClassVar[float] = 0.0
    nearest: ClassVar[int] = 0
    sample: ClassVar[tuple[int, int]] = (4000, 512)
    query_powers: ClassVar[tuple[float, ...]] = (0.25, 0.5, 1.0)
    anchors: int = 2000

    def __post_init__(self) -> None:
        check_count("anchors", self.anchors, 2)

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, learned from rows X (n, d) with labels y (n,), and vectors (k, n_classes) of rows `points`.

        They are rows of `others` (m, d), or of X where it is None, and then left out.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        mean, scale = mean_and_scale(lambda: float_blocks(X))
        if scale == 0:
            raise ValueError(f"all {len(X)} training rows are the same; give rows that differ")
        index = np.unique(y, return_inverse=True)[1]
        units, sigma = choose(X, index, mean, rng)
        n_anchors = min(self.anchors, len(X))
        anchors = rng.permutation(len(X))[:n_anchors] if n_anchors < len(X) else slice(None)

        def rows(part: Any) -> NDArray[np.float64]:
            return places(X[part], mean, units)

        judged = points if others is None else sample_rows(len(X), JUDGED, rng)
        found = regress(rows, rows(anchors), index, sigma, judged)
        factor, dtype = found.sharpness / SOFTER, float_type(X.dtype)
        state = {
            "center": mean.astype(dtype),
            "units": np.array(units, dtype),
            "anchors": rows(anchors).astype(dtype),
            "bandwidth": np.asarray(sigma, dtype),
            "coef": (found.coef * factor).astype(dtype),
            "prior": (np.bincount(index) / len(index) * factor).astype(dtype),
        }
        if others is not None:
            return state, self.embed(others[points], state)
        return state, softmax(found.left_out * factor, axis=1).astype(dtype)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, n_classes) of rows X (n, d)."""
        out = np.empty((len(X), len(state["prior"])), float_type(X.dtype))
        for run in row_slices(len(X), ROWS):
            rows = places(X[run], state["center"], state["units"])
            K = similarities(squared_distances(rows, state["anchors"]), state["bandwidth"])
            out[run] = softmax(K @ state["coef"].astype(np.float64) + state["prior"], axis=1)
        return out

    def targets(
        self, Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Chances (q, m) of the partners (q, m) of each query (q,), all row numbers of Z, each row's sum 1."""
        P = powers(Z, SOFTER)
        out = dots(P.astype(np.float32), queries, partners)
        out += np.finfo(np.float32).tiny
        out *= counts
        return out / out.sum(axis=1, keepdims=True)

    def raised(self, Z: NDArray[Any], power: float | None = None) -> NDArray[Any]:
        """Vectors p to this power, by default 1 / 8, of rows with vectors Z (n, n_classes)."""
        power = 1 / SOFT if power is None else power
        return Z if power == 1 / SOFTER else powers(Z, SOFTER * power).astype(Z.dtype)

    def row_power(self, y: NDArray[Any]) -> float:
        """Power at which rows are coded, which falls as the training rows a class has, on average, grow.

        Examples
        --------
        >>> [round(1 / Posterior().row_power(np.arange(n) % 2), 1) for n in (10, 20, 60, 200, 1000)]
        [8.0, 8.0, 11.1, 16.0, 16.0]
        """
        share = np.clip(np.log(len(y) / len(np.unique(y)) / FEW) / np.log(MANY / FEW), 0, 1)
        return float(SOFT ** (share - 1) * SOFTER**-share)


def powers(Z: NDArray[Any], exponent: float) -> NDArray[np.float64]:
    """Chances (n, k) to this power, and so much sharper, each row's sum 1 again."""
    P = (Z / Z.max(axis=1, keepdims=True)).astype(np.float64) ** exponent
    return P / P.sum(axis=1, keepdims=True)


def places(X: NDArray[Any], mean: NDArray[Any], units: Any) -> NDArray[np.float64]:
    """Where the kernel sees rows (n, d): their directions and the centred rows, each divided by its unit.

    A unit of 0 leaves out its part.
    """
    parts = [normalize_rows(X) / units[0]] if units[0] else []
    if units[1]:
        parts.append((as_floats(X).astype(np.float64) - mean) / units[1])
    return np.hstack(parts)


def choose(
    X: NDArray[Any], index: NDArray[np.int64], mean: NDArray[Any], rng: np.random.Generator
) -> tuple[tuple[float, float], float]:
    """The units of `places`, and the bandwidth, by the likelihood of the labels of some rows."""
    drawn = rng.permutation(len(X))[:TRIAL]
    spreads = [root_spread(normalize_rows(X[drawn])), root_spread(as_floats(X[drawn]).astype(np.float64))]
    trials = []
    for form in FORMS:
        units = spreads[0] * form[0], spreads[1] * form[1]
        if not any(units):  # all rows have one direction
            continue
        rows = places(X[drawn], mean, units)
        for sigma in np.sqrt(np.multiply(BANDWIDTHS, sum(form))):
            found = regress(rows.__getitem__, rows, index[drawn], sigma, np.arange(len(drawn)))
            trials.append((found.loss, units, float(sigma)))
    _, units, sigma = min(trials)
    return units, sigma


def root_spread(rows: NDArray[np.float64]) -> float:
    """Root mean squared distance of two of the rows."""
    largest = np.abs(rows).max() or 1.0
    return float(largest * np.sqrt(2 * (rows / largest).var(axis=0).sum()))


def regress(
    rows: Callable[[Any], NDArray[np.float64]],
    anchors: NDArray[np.float64],
    index: NDArray[np.int64],
    sigma: float,
    points: NDArray[np.int64],
) -> _Regression:
    """The regression on `rows` of classes index (n,), at the ridge under which those of `points` are likeliest.

    In coordinates in which both the kernel of the anchors and the regression are diagonal: the rows A there
    have A'A = diag(s), their scores are H Y with H = A diag(1 / (s + ridge)) A', and those that leave out row i
    are (HY - h_ii Y)_i / (1 - h_ii).
    """
    prior = np.bincount(index) / len(index)
    K = similarities(squared_distances(anchors, anchors), np.asarray(sigma))
    values, vectors = np.linalg.eigh(K)
    kept = values > FLOOR * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])

    def turned(part: Any) -> NDArray[np.float64]:
        return similarities(squared_distances(rows(part), anchors), np.asarray(sigma)) @ root

    def wanted(part: Any) -> NDArray[np.float64]:
        return (index[part, None] == np.arange(len(prior))) - prior

    if len(anchors) == len(index):  # K has been turned already
        s, AY = values[kept], (vectors[:, kept] * np.sqrt(values[kept])).T @ wanted(slice(None))
    else:
        gram, AY = np.zeros((root.shape[1],) * 2), np.zeros((root.shape[1], len(prior)))
        for run in row_slices(len(index)):
            A = turned(run)
            gram += A.T @ A
            AY += A.T @ wanted(run)
        s, turn = np.linalg.eigh(gram)
        root, AY = root @ turn, turn.T @ AY
    A, Y = turned(points), wanted(points)
    squares, best = A**2, np.inf
    for ridge in RIDGES:
        shrunk = 1 / (np.maximum(s, 0) + ridge)
        own = np.minimum(squares @ shrunk, 1 - LEAST)[:, None]
        scores = (A @ (shrunk[:, None] * AY) - own * Y) / (1 - own) + prior
        loss, sharpness = calibrate(scores, index[points])
        if loss < best:
            best, found = loss, _Regression(loss, scores, root @ (shrunk[:, None] * AY), sharpness)
    return found


def calibrate(scores: NDArray[np.float64], index: NDArray[np.int64]) -> tuple[float, float]:
    """Mean -log of p = softmax(s scores) at the true classes, and the s at which it is least."""

    def loss(exponent: float) -> float:
        return -float(log_softmax(np.exp(exponent) * scores, axis=1)[np.arange(len(index)), index].mean())

    best = minimize_scalar(loss, bounds=SHARPNESS, method="bounded", options={"xatol": 1e-2})
    return float(best.fun), float(np.exp(best.x))
