"""What a regression predicts of rows: the class of each, or which labels each has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit

from structhash._numerics.blocks import spread_rows

LEAST_SLOPE = 0.01  # of log-odds over scores around the prior, whose root mean square is 1
LOG_SHARPNESS = (-1.0, 6.0)  # bounds of the logarithm of the factor in the softmax
MAX_LINK_SCORES = 400_000  # by which the log-odds of labels are calibrated
NEWTON_STEPS, MAX_HALVINGS = 25, 30
MIN_UNIT = 1e-9  # root mean square of a feature
NEWTON_TOLERANCE = 1e-9  # share of the loss


class Link(NamedTuple):
    """How scores become logits: sharpness * scores + offset."""

    sharpness: float
    offset: NDArray[np.float64] | float = 0.0


class Outcomes:
    """Which of m outcomes are true of each of n training rows.

    Attributes
    ----------
    alone : bool (n,)
        Rows that are never left out of the fit.
    prior : float64 (m,)
        Score of each outcome before a row is seen.
    """

    alone: NDArray[np.bool_]
    prior: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.alone)

    def part(self, rows: Any) -> Self:
        """The outcomes of these rows, with the prior of all."""
        raise NotImplementedError

    def sample(self, rows: NDArray[np.int64]) -> Self:
        """The outcomes of these rows, as if there were no others."""
        raise NotImplementedError

    def centred(self) -> NDArray[np.float64]:
        """Indicators (n, m) of the outcomes, around the prior."""
        raise NotImplementedError

    def calibrate(self, scores: NDArray[np.float64]) -> tuple[float, Link]:
        """The loss of the best link, and this link.

        The loss is the mean over rows of -log p of what is true of them, by their scores (n, m).
        """
        raise NotImplementedError

    def sureness(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
        """How sure scores (k, m) of any rows are, (k,)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Classes(Outcomes):
    """One class a row."""

    class_index: NDArray[np.int64]  # (n,)
    alone: NDArray[np.bool_]
    prior: NDArray[np.float64]

    @classmethod
    def of(cls, class_index: NDArray[np.int64]) -> Self:
        """The classes of all training rows."""
        alone = rows_alone(class_index)
        return cls(class_index, alone, class_prior(class_index, alone))

    def part(self, rows: Any) -> Self:
        """See `Outcomes.part`."""
        return replace(self, class_index=self.class_index[rows], alone=self.alone[rows])

    def sample(self, rows: NDArray[np.int64]) -> Self:
        """See `Outcomes.sample`. Classes without a row are left out; rows that are alone stay so."""
        class_index, alone = np.unique(self.class_index[rows], return_inverse=True)[1], self.alone[rows]
        return type(self)(class_index, alone, class_prior(class_index, alone))

    def centred(self) -> NDArray[np.float64]:
        """See `Outcomes.centred`."""
        return centred_indicators(self.class_index, self.prior)

    def calibrate(self, scores: NDArray[np.float64]) -> tuple[float, Link]:
        """See `Outcomes.calibrate`; p is a softmax."""
        below = scores - scores.max(axis=1, keepdims=True)
        own = below[np.arange(len(below)), self.class_index].mean()

        def loss(exponent: float) -> float:
            sharpness = np.exp(exponent)
            return float(np.log(np.exp(sharpness * below).sum(axis=1)).mean() - sharpness * own)

        best = minimize_scalar(loss, bounds=LOG_SHARPNESS, method="bounded", options={"xatol": 1e-2})
        return float(best.fun), Link(float(np.exp(best.x)))

    def sureness(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
        """By how much the best score of each row exceeds the second best."""
        scores = np.sort(scores, axis=1)
        sure: NDArray[np.float64] = scores[:, -1] - scores[:, -2:][:, 0]
        return sure


@dataclass(frozen=True)
class LabelSets(Outcomes):
    """Any number of labels a row."""

    labels: NDArray[np.bool_]  # (n, m)
    alone: NDArray[np.bool_]
    prior: NDArray[np.float64]

    @classmethod
    def of(cls, labels: NDArray[np.bool_]) -> Self:
        """The labels of all training rows."""
        shares = (labels.sum(axis=0) + 0.5) / (len(labels) + 1)  # never 0 or 1
        return cls(labels, np.zeros(len(labels), bool), shares)

    def part(self, rows: Any) -> Self:
        """See `Outcomes.part`."""
        return replace(self, labels=self.labels[rows], alone=self.alone[rows])

    def sample(self, rows: NDArray[np.int64]) -> Self:
        """See `Outcomes.sample`."""
        return self.of(self.labels[rows])

    def centred(self) -> NDArray[np.float64]:
        """See `Outcomes.centred`."""
        return self.labels - self.prior

    def calibrate(self, scores: NDArray[np.float64]) -> tuple[float, Link]:
        """See `Outcomes.calibrate`.

        The log-odds of a label are a (score - prior) + b logit(prior) + c, with the same a, b and c for all
        labels. The loss of a row is the sum over the labels. It is convex in the three numbers. Scores of noise
        ask for a < 0: a row that is left out has lower scores for its own labels. That would turn what the fit
        says of a row into its opposite, so a is then `LEAST_SLOPE` over the typical score, and the log-odds
        hardly depend on the row.
        """
        judges = spread_rows(len(scores), max(1, MAX_LINK_SCORES // len(self.prior)))
        scores, labels, odds = scores[judges], self.labels[judges], logit(self.prior)
        features = np.empty((3, scores.size))
        features[0] = np.tile(odds, len(scores))
        features[1] = 1.0
        features[2] = (scores - self.prior).ravel()
        loss, (b, c, a) = _logistic_regression(features, labels.ravel())
        least = LEAST_SLOPE / max(float(np.sqrt((features[2] ** 2).mean())), MIN_UNIT)
        if a < least:
            a, (loss, (b, c)) = least, _logistic_regression(features[:2], labels.ravel(), least * features[2])
        return loss / len(scores), Link(a, b * odds + c - a * self.prior)

    def sureness(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
        """The expected log-probability of the labels of each row."""
        logits = link.sharpness * scores + link.offset
        p = expit(logits)
        surely: NDArray[np.float64] = (p * log_expit(logits) + (1 - p) * log_expit(-logits)).sum(axis=1)
        return surely


def _logistic_regression(
    features: NDArray[np.float64], true: NDArray[np.bool_], offset: NDArray[np.float64] | float = 0.0
) -> tuple[float, NDArray[np.float64]]:
    """The least sum over k of -log p(true_k), where logit p = w'features (m, k) + offset (k,); and w.

    Newton's method begins at w = (1, 0, ...) and halves a step until the loss falls. Where the loss has no
    minimum, because w separates what is true, the search ends after `NEWTON_STEPS`.
    """
    signs = np.where(true, 1.0, -1.0)
    units = np.sqrt((features**2).mean(axis=1))
    units[units < MIN_UNIT] = 1.0  # of features that say nothing
    scaled = features / units[:, None]

    def at(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = w @ scaled + offset
        losses = np.maximum(-signs * logits, 0) + np.log1p(np.exp(-np.abs(logits)))  # faster than log_expit
        return float(losses.sum()), logits

    w = np.eye(len(features))[0] * units
    loss, logits = at(w)
    for _ in range(NEWTON_STEPS):
        p = expit(logits)
        gradient = scaled @ (p - true)
        step = np.linalg.lstsq((scaled * (p * (1 - p))) @ scaled.T, gradient)[0]
        if gradient @ step <= NEWTON_TOLERANCE * loss:  # twice the gain that the step promises
            break
        for halvings in range(MAX_HALVINGS):
            tried = at(w - step / 2**halvings)
            if tried[0] < loss:
                break
        else:
            break
        w, (loss, logits) = w - step / 2**halvings, tried
    return loss, w / units


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


def centred_indicators(class_index: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class indicators (n, n_classes) around the shares of the classes."""
    return (class_index[:, None] == np.arange(len(prior))) - prior
