"""Choose how much a sub-linear index looks at, for a wanted recall."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_positive, counted, describe
from structhash.codes import PreparedQueries
from structhash.search._checks import check_k
from structhash.search._sublinear import SublinearIndex
from structhash.search._tuned import OperatingPoint, Tuned
from structhash.search.exact import Exact

__all__ = ["tune"]

_LARGEST = 1 << 14  # value of a setting that is tried


def tune(
    index: SublinearIndex, queries: NDArray[np.uint8] | PreparedQueries, k: int, recall: float = 0.95
) -> Tuned:
    """Choose `n_probe` of an `IVF`, or `ef` of an `HNSW`, on queries whose exact answers are computed.

    Values double until the recall is reached; then the range between the last two is halved a few times.
    The recall of other queries differs by chance: with 500 queries usually by less than a percent.

    Parameters
    ----------
    index : IVF or HNSW
        With codes. It does not change.
    queries : uint8 array (n_queries, ceil(n_bits / 8)), or PreparedQueries
        Like those to come, and none of those that quality is reported on.
    k : int
    recall : float
        Wanted share of the k nearest codes. A code counts if it is as near as the k-th of the exact answer, so
        that ties count as found.

    Returns
    -------
    Tuned
        ``chosen`` is an index of the same codes with about the smallest value that reaches the recall.

    Raises
    ------
    TypeError, ValueError
        If the index misses nothing or has no codes, there are no queries, or the recall is not reached.

    Examples
    --------
    >>> from structhash.search import IVF
    >>> codes = np.random.default_rng(0).integers(0, 8, (20_000, 4), dtype=np.uint8)
    >>> index = IVF(n_bits=32)
    >>> index.add(codes[:19_900])
    >>> tuned = tune(index, codes[19_900:], k=10, recall=0.9)
    >>> tuned.setting, tuned.chosen.n_probe == tuned.value, tuned.points[0].value
    ('n_probe', True, 1)
    """
    setting = _check(index, queries, recall)
    k = min(check_k(k, len(queries), len(index)), len(index))
    exact = Exact(index.n_bits, index.weights)
    exact.merge(index)
    distances, exact_time = _timed(exact, queries, k)
    tried: dict[int, OperatingPoint] = {}

    def reaches(value: int) -> bool:
        found, milliseconds = _timed(index.with_settings(**{setting: value}), queries, k)
        share = float((found <= distances[:, -1:]).mean())
        tried[value] = OperatingPoint(value, share, milliseconds, milliseconds / exact_time)
        return share >= recall

    value = _smallest(reaches)
    if value is None:
        last = tried[max(tried)]
        raise ValueError(
            f"recall={recall}: {setting}={last.value} has {last.recall:.4f}; give a lower recall, or use Exact"
        )
    points = tuple(tried[each] for each in sorted(tried))
    return Tuned(index.with_settings(**{setting: value}), setting, value, points)


def _smallest(reaches: Callable[[int], bool]) -> int | None:
    """About the smallest number that reaches, found by doubling and halving; None if it is large."""
    low, high = 0, 1
    while not reaches(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return None
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _check(index: SublinearIndex, queries: Any, recall: float) -> str:
    """The name of the setting to choose, if the arguments are valid."""
    setting = index.tuned_setting if isinstance(index, SublinearIndex) else None
    if setting is None:
        raise TypeError(f"index={describe(index)}: give an IVF or an HNSW; other indexes miss nothing")
    check_positive("recall", recall, most=1)
    if not len(index) or not len(queries):
        raise ValueError(
            f"{counted(len(index), 'code')} and {counted(len(queries), 'query', 'queries')}; give some of both"
        )
    return setting


def _timed(index: Any, queries: Any, k: int) -> tuple[NDArray[Any], float]:
    """Distances (n_queries, k) that a search finds, and its milliseconds a query."""
    index.search(queries[:1], k)  # makes the structure
    start = time.perf_counter()
    distances, _ = index.search(queries, k)
    return distances, (time.perf_counter() - start) * 1000 / len(queries)
