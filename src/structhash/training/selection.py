"""Choices among settings: each is judged on held-out rows, within a time limit."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

__all__ = ["Trial", "best", "first_as_good", "split", "trials"]

logger = logging.getLogger("structhash")

HELD_OUT_SHARE = 0.25  # of the training rows, on which alternatives are judged


class Scored(Protocol):
    """An estimator that is fitted and scored with rows and labels, and whose settings can be copied."""

    def fit(self, X: Any, y: Any, /) -> Any: ...

    def score(self, X: Any, y: Any, /) -> float: ...


class Trial(NamedTuple):
    """An unfitted alternative and its mAP on held-out rows, or None if there was no time for it."""

    encoder: Scored
    score: float | None


def split(n: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers to learn from, and those of a random quarter of n rows to judge by."""
    order = np.random.default_rng(seed).permutation(n)
    held = int(HELD_OUT_SHARE * n)
    return order[held:], order[:held]


def trials(
    encoders: Iterable[Scored],
    X: NDArray[Any],
    y: NDArray[Any],
    seed: int,
    limit: float = np.inf,
    clock: Callable[[], float] = time.perf_counter,
    **more: Any,
) -> Iterator[Trial]:
    """Fit each of several encoders on three quarters of the rows and score it on the others.

    Parameters
    ----------
    encoders : iterable of HashEncoder
        Alternatives in the order in which they are tried. They do not change: copies are fitted.
    X, y : arrays (n, d) and (n,) or (n, L)
        Rows and labels, or indicators of several labels a row.
    seed : int
        Of the `split`.
    limit : float
        Seconds. The first alternative is always tried. Another one is started only if it would probably end
        within the limit: the time so far plus that of the longest trial, the first one excepted. Once one is
        not started, no later one is.
    clock : callable
        Gives seconds since a fixed moment.
    **more
        Given to every `fit`, such as unlabeled rows.

    Yields
    ------
    Trial
        One an encoder, in order.

    Raises
    ------
    ValueError
        If no two of the held-out rows have the same label, or an alternative cannot be fitted or scored.
    """
    learn, judge = split(len(X), seed)
    if np.ndim(y) == 1 and len(np.unique(y[judge])) == len(judge):
        raise ValueError(
            f"alternatives are judged on a quarter of the {len(X)} rows, but no two of these {len(judge)} have "
            "the same label; give more rows of each class, or one setting, such as a number for C"
        )
    began, longest, late = clock(), 0.0, False
    for number, encoder in enumerate(encoders):
        begins = clock()
        late = late or (number > 0 and begins - began + longest > limit)
        if late:
            yield Trial(encoder, None)
            continue
        try:
            score = clone(encoder).fit(X[learn], y[learn], **more).score(X[judge], y[judge])
        except ValueError as error:
            raise ValueError(
                f"{error} (so ended {encoder!r}, tried on {len(learn)} of the {len(X)} rows)"
            ) from error
        longest = max(longest, clock() - begins) if number else 0.0  # the first one may compile
        logger.info("held-out mAP %.4f: %r", score, encoder)
        yield Trial(encoder, score)


def best(tried: Iterable[Trial]) -> Any:
    """The encoder with the highest score; the first one of equal ones."""
    return max(tried, key=lambda trial: -np.inf if trial.score is None else trial.score).encoder


def first_as_good(values: Sequence[NDArray[np.float64]], errors: float = 1.0) -> int:
    """Number of the first alternative whose mean is within some standard errors of the best.

    Parameters
    ----------
    values : sequence of float64 (n,)
        Of each alternative, paired.
    errors : float
        Standard errors of the mean paired difference that are allowed.

    Returns
    -------
    int
    """
    best = max(values, key=np.sum)
    short = [best - each for each in values]
    of_sums = [np.linalg.norm(each - each.sum() / max(1, len(each))) for each in short]
    return next(i for i, each in enumerate(short) if best.sum() - values[i].sum() <= errors * of_sums[i])
