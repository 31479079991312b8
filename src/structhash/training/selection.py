"""A choice among settings by what each does for rows that it is not fitted on, within a time limit."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structhash._numerics.randomness import generator
from structhash.masters.schedules.stagewise import Stagewise
from structhash.pieces import is_auto, load

logger = logging.getLogger("structhash.training.selection")

HELD_OUT = 0.25  # share of the training rows on which alternatives are judged
LARGEST_C = 1e8  # beyond, the linear programmes of the master lose their digits
LIMIT = 60.0  # seconds after which C="auto" tries no further value
COMPARING = [{"family": "rbf"}]  # what the grid changes, line by line, after values `around` C
DISTILLING = [  # the same where an embedding is distilled, and C has no use
    {"start": "several"},
    {"ranking": "sndcg", "family": "rbf"},
]


class Trial(NamedTuple):
    """One alternative, not fitted, and its mAP on the held-out rows: None where time did not suffice."""

    encoder: Any
    score: float | None


def split(n: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the rows to learn from and of those, a quarter of n drawn at random, to judge by."""
    order = np.random.default_rng(seed).permutation(n)
    held = int(HELD_OUT * n)
    return order[held:], order[:held]


def trials(
    encoders: Iterable[Any],
    X: NDArray[Any],
    y: NDArray[Any],
    seed: int,
    limit: float = np.inf,
    clock: Callable[[], float] = time.perf_counter,
    **more: Any,
) -> Iterator[Trial]:
    """Fit each of several encoders on three quarters of the rows, judge it by `score` on the others.

    Parameters
    ----------
    encoders : iterable of HashEncoder
        Alternatives in the order in which they are tried. They stay as they are: copies are fitted.
    X, y : arrays (n, d) and (n,)
        Rows and labels.
    seed : int
        Of the `split`.
    limit : float
        Seconds. The first alternative is tried whatever it takes; none is begun when the time so far, and as
        much again as the longest trial but the first took, is above the limit, nor is any after that.
    clock : callable
        Seconds since some moment.
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
    if len(np.unique(y[judge])) == len(judge):
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
    """The encoder with the highest score; of equal ones the first."""
    return max(tried, key=lambda trial: -np.inf if trial.score is None else trial.score).encoder


def as_good(values: list[NDArray[np.float64]], errors: float = 1.0) -> int:
    """The first of several lists of paired values as good, on average, as the best but for standard errors."""
    best = max(values, key=np.sum)
    short = [best - each for each in values]
    spread = [np.linalg.norm(each - each.sum() / max(1, len(each))) for each in short]  # errors of the sums
    return next(i for i, each in enumerate(short) if best.sum() - values[i].sum() <= errors * spread[i])


def around(C: float) -> list[float]:
    """C, then the values to try beside it: the small one first, since it is learned faster."""
    return [value for value in (C, C / 10, C * 10) if 0 < value <= LARGEST_C]


def choose_C(encoder: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """The value around the usual one of the class, `usual_C`, under which held-out rows are retrieved best."""
    drawn, seed = generator(encoder.random_state), encoder.random_state  # which refuses what is no seed
    if not isinstance(seed, Integral):
        seed = int(drawn.integers(2**31))
    alike = clone(encoder).set_params(random_state=seed, warm_start=False)
    encoders = [clone(alike).set_params(C=value) for value in around(encoder.usual_C)]
    return float(best(trials(encoders, X, y, seed, LIMIT)).C)


def distils(encoder: Any) -> bool:
    """Whether a `StructHash` distils where it is given labels, one a row, or none; a `CGHash` never does."""
    auto = is_auto(getattr(encoder, "ranking", None))
    return auto and isinstance(load("schedules", encoder.schedule), Stagewise)


def alternatives(encoder: Any) -> list[tuple[str, Any]]:
    """The grid around a `CGHash` or `StructHash`: each alternative, and in words what it changes.

    First comes the encoder as it is; then the lines of `DISTILLING` where it `distils`, else values `around` a
    C that is a number, and the lines of `COMPARING`. A line that changes what is not as by default is left out;
    where an embedding is named, so is one with a ranking, which has no use for it.

    Examples
    --------
    >>> from structhash import CGHash
    >>> [words for words, _ in alternatives(CGHash(C=50))]
    ['as set', 'C=5', 'C=500', 'family=rbf']
    """
    usual = {name: each.default for name, each in inspect.signature(type(encoder)).parameters.items()}
    named = not is_auto(getattr(encoder, "embedding", "auto"))
    lines = DISTILLING if distils(encoder) else COMPARING
    values = [] if is_auto(encoder.C) or distils(encoder) else around(encoder.C)[1:]
    grid = [("as set", clone(encoder))]
    grid += [(f"C={value:g}", clone(encoder).set_params(C=value)) for value in values]
    for line in lines:
        as_usual = all(getattr(encoder, name) == usual[name] for name in line)
        if as_usual and not (named and "ranking" in line):
            words = ",".join(f"{name}={value}" for name, value in line.items())
            grid.append((words, clone(encoder).set_params(**line)))
    return grid
