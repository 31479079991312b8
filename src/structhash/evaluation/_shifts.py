"""How far new rows are from training rows: in the means of bits, and in distances to the nearest row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from structhash.codes import unpack
from structhash.estimators.base import HashEncoder
from structhash.evaluation.scoring import float_blocks

__all__ = ["BitShift", "DistanceShift", "bit_shift", "distance_shift"]

_MAX_HELD = 1000  # training rows whose distances are compared, and new rows


class BitShift(NamedTuple):
    """The bit whose mean moved most.

    Attributes
    ----------
    bit : int
    training, new : float
        Its means over the training rows and over the new rows.
    at_least : float
        Lower confidence bound of the difference; it holds for all bits at once.
    """

    bit: int
    training: float
    new: float
    at_least: float


class DistanceShift(NamedTuple):
    """Distances to the nearest of the same training rows.

    Attributes
    ----------
    training, new : float
        Medians, of held-out training rows and of new rows.
    farther : float
        Share of pairs in which the new row is farther than the training row; a tie counts half. It is a half
        where nothing changed.
    at_least : float
        Lower confidence bound of `farther`.
    """

    training: float
    new: float
    farther: float
    at_least: float


def bit_shift(encoder: HashEncoder, training: NDArray[Any], new: NDArray[Any], level: float) -> BitShift:
    """Compare the means of all bits by two-proportion z-tests.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted, with codes that are bits.
    training, new : ndarrays (n, d), (m, d)
    level : float
        Probability that the bound of any bit is too high, by Bonferroni's inequality.

    Returns
    -------
    BitShift
    """
    before, after = (
        unpack(encoder.encode(rows), encoder.n_bits_).mean(axis=0, dtype=np.float64) for rows in (training, new)
    )
    errors = np.sqrt(before * (1 - before) / len(training) + after * (1 - after) / len(new))
    at_least = np.abs(after - before) - norm.isf(level / 2 / encoder.n_bits_) * errors
    bit = int(np.argmax(at_least))
    return BitShift(bit, float(before[bit]), float(after[bit]), max(0.0, float(at_least[bit])))


def distance_shift(
    training: NDArray[Any], new: NDArray[Any], level: float, rng: np.random.Generator
) -> DistanceShift:
    """Compare distances to the nearest training row by the Mann-Whitney statistic.

    Its variance is at most P (1 - P) / min(n, m): Birnbaum, Klose, Bounds for the variance of the Mann-Whitney
    statistic, 1957, https://doi.org/10.1214/aoms/1177706794.

    Parameters
    ----------
    training, new : ndarrays (n, d), (m, d)
    level : float
        Probability that the bound is too high.
    rng : Generator
        Draws the training rows that are held out, at most a quarter, and as many new rows.

    Returns
    -------
    DistanceShift
    """
    order = rng.permutation(len(training))
    n_held = min(_MAX_HELD, len(training) // 4)
    others = training[order[n_held:]]
    before = _nearest(training[order[:n_held]], others)
    after = _nearest(new[rng.permutation(len(new))[:_MAX_HELD]], others)
    ranks = rankdata(np.concatenate([after, before]))[: len(after)]
    farther = (ranks.mean() - (len(after) + 1) / 2) / len(before)
    error = np.sqrt(farther * (1 - farther) / min(len(before), len(after)))
    at_least = max(0.0, float(farther - norm.isf(level) * error))
    return DistanceShift(float(np.median(before)), float(np.median(after)), float(farther), at_least)


def _nearest(queries: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Euclidean distance of each query to the nearest row."""
    places = [
        place
        for block, _ in float_blocks(queries, rows, lambda numbers: np.empty(0))
        for place in block.argmin(1)
    ]
    apart = queries.astype(np.float64) - rows[places]
    return np.sqrt((apart**2).sum(axis=1))
