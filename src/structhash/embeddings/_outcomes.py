"""What a regression predicts of rows: the class of each, or which labels each has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit

from structhash._numerics.blocks import spread_rows

LOG_SHARPNESS = (-1.0, 6.0)  # bounds of the logarithm of the factor in the softmax
MAX_LINK_SCORES = 400_000  # by which the log-odds of labels are calibrated
NEWTON_STEPS = 25
MAX_NEWTON_STEP = 2.0  # of each of the three numbers that make scores of labels log-odds


class Link(NamedTuple):
    """How scores become logits: sharpness * scores + offset."""

    sharpness: float
    offset: NDArray[np.float64] | float = 0.0


class Outcomes:
    """What is known of n training rows: one column an outcome, each row's true ones known.

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
        """The least mean -log p of what is true of the rows, by scores (n, m), of all links; and that link."""
        raise NotImplementedError

    def margins(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
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
        return replace(self, class_index=class_index, alone=alone, prior=class_prior(class_index, alone))

    def centred(self) -> NDArray[np.float64]:
        """See `Outcomes.centred`."""
        return indicators(self.class_index, self.prior)

    def calibrate(self, scores: NDArray[np.float64]) -> tuple[float, Link]:
        """See `Outcomes.calibrate`; p is a softmax."""
        below = scores - scores.max(axis=1, keepdims=True)
        own = below[np.arange(len(below)), self.class_index].mean()

        def loss(exponent: float) -> float:
            sharpness = np.exp(exponent)
            return float(np.log(np.exp(sharpness * below).sum(axis=1)).mean() - sharpness * own)

        best = minimize_scalar(loss, bounds=LOG_SHARPNESS, method="bounded", options={"xatol": 1e-2})
        return float(best.fun), Link(float(np.exp(best.x)))

    def margins(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
        """By how much the best score of each row exceeds the second best."""
        scores = np.sort(scores, axis=1)
        margins: NDArray[np.float64] = scores[:, -1] - scores[:, -2:][:, 0]
        return margins


@dataclass(frozen=True)
class LabelSets(Outcomes):
    """Any number of labels a row."""

    labels: NDArray[np.bool_]  # (n, m)
    alone: NDArray[np.bool_]
    prior: NDArray[np.float64]

    @classmethod
    def of(cls, labels: NDArray[np.bool_]) -> Self:
        """The labels of all training rows."""
        shares = (labels.sum(axis=0) + 0.5) / (len(labels) + 1)  # a label of no row, or of all, may be wrong
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

        The log-odds of a label are a (score - prior) + b logit(prior) + c. Newton's method finds a, b and c,
        the same for all labels. The loss of a row is the sum over the labels.
        """
        judges = spread_rows(len(scores), max(1, MAX_LINK_SCORES // len(self.prior)))
        scores, labels = scores[judges], self.labels[judges]
        features = np.stack(
            [scores - self.prior, np.broadcast_to(logit(self.prior), scores.shape), np.ones(scores.shape)]
        )
        flat, signs = features.reshape(3, -1), np.where(labels, 1.0, -1.0).ravel()
        weights = np.array([1 / max(scores.std(), 1e-6), 1.0, 0.0])
        for _ in range(NEWTON_STEPS):
            p = expit(weights @ flat)
            gradient = flat @ (p - (signs > 0))
            hessian = (flat * (p * (1 - p))) @ flat.T
            step = np.linalg.lstsq(hessian, gradient)[0]
            bound = MAX_NEWTON_STEP * np.maximum(1.0, np.abs(weights))
            weights -= np.clip(step, -bound, bound)
            if np.abs(step).max() < 1e-4 * np.abs(weights).max():
                break
        a, b, c = weights
        loss = float(-log_expit(signs * (weights @ flat)).sum() / len(scores))
        return loss, Link(float(a), b * logit(self.prior) + c - a * self.prior)

    def margins(self, scores: NDArray[np.float64], link: Link) -> NDArray[np.float64]:
        """The expected log-probability of the labels of each row."""
        logits = link.sharpness * scores + link.offset
        p = expit(logits)
        surely: NDArray[np.float64] = (p * log_expit(logits) + (1 - p) * log_expit(-logits)).sum(axis=1)
        return surely


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


def indicators(class_index: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class indicators (n, n_classes) around the shares of the classes."""
    return (class_index[:, None] == np.arange(len(prior))) - prior
