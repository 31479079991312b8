"""Fit and score several methods on vectors alone: which of the nearest rows do they find?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.matrices import read_matrix
from structhash._numerics.validation import check_count
from structhash.evaluation.compare import Fit, Request, Result, Task, check_request, measure_task, run_fits
from structhash.evaluation.judged import read_vectors
from structhash.evaluation.methods import Method, as_method
from structhash.evaluation.scoring import Relevance, float_blocks
from structhash.evaluation.splits import seen_classes

__all__ = ["NEIGHBOUR_MEASURES", "check_unlabelled_method", "compare_neighbours", "nearest_rows"]

NEIGHBOUR_MEASURES = ("recall@10", "recall@100")


def compare_neighbours(
    methods: Iterable[str | Method],
    X: Any,
    Q: Any = None,
    bits: Iterable[int] = (64,),
    seeds: Iterable[int] = (0, 1, 2),
    measures: Iterable[str] = NEIGHBOUR_MEASURES,
    n_queries: int = 2000,
    n_train: int | None = None,
    ties: str = "expected",
    failures: str = "raise",
    finished: Iterable[Result] = (),
    on_fit: Callable[[list[Result]], None] | None = None,
) -> Iterator[Result]:
    """Fit and score several methods without labels: the ten nearest rows of a query are relevant.

    The nearest rows are those at the least Euclidean distance; among rows of equal norm they also have the
    largest cosine. So ``recall@10`` is the share of the ten nearest that a search for ten finds, and
    ``recall@100`` the share that a search for a hundred finds.

    Parameters
    ----------
    methods : iterable of str or Method
        Specs of `parse_method`. `check_unlabelled_method` refuses some.
    X : array (n, d)
    Q : array (q, d), optional
        Queries; all of X is then the database. By default, each seed draws rows of X as queries, and the other
        rows are the database.
    bits, seeds
        See `compare`.
    n_queries : int
        Of those that are drawn, at most a quarter of the rows.
    n_train : int, optional
        Number of database rows that methods are fitted on, in random order; all by default.
    measures, ties, failures, finished, on_fit
        See `compare`.

    Returns
    -------
    iterator of Result
        See `compare`.

    Raises
    ------
    ValueError, TypeError
        If a method needs labels, or a name or a number is not allowed.

    Examples
    --------
    >>> next(compare_neighbours(["float"], np.arange(80)[:, None] ** 3)).scores.mean
    {'recall@10': 1.0, 'recall@100': 1.0}
    """
    request = check_request(methods, bits, seeds, measures, ties, failures, finished, on_fit)
    for method in request.methods:
        check_unlabelled_method(method)
    check_count("n_queries", n_queries)
    check_count("n_train", 1 if n_train is None else n_train)
    X, Q = (read_matrix(X), None) if Q is None else read_vectors(X, Q)
    return run_fits(request, _fits(request, X, Q, n_queries, n_train))


def check_unlabelled_method(method: str | Method) -> None:
    """Refuse a method that `compare_neighbours` cannot fit: one that needs labels, or that has alternatives.

    Raises
    ------
    ValueError, TypeError
        Naming the method and the reason.
    """
    method = as_method(method)
    if len(method.encoders) > 1:
        raise ValueError(f"{method.name!r}: alternatives are chosen by labels; name one setting here")
    if method.on_database:
        raise ValueError(f"{method.name!r}: all methods are fitted on database rows here; drop @database")
    if any(encoder.needs_y() for encoder in method.encoders):
        raise ValueError(f"{method.name!r} learns from labels, and there are none here; leave it out")


def nearest_rows(queries: NDArray[Any], rows: NDArray[Any], k: int = 10) -> Relevance:
    """Relevance by vectors: the k rows that are nearest to a query are relevant.

    Parameters
    ----------
    queries, rows : ndarrays (q, d), (n, d)
        Compared by Euclidean distance. Of equal distances the lower row numbers come first.
    k : int
        With fewer rows, all are relevant.

    Returns
    -------
    callable
        Takes a slice or an array of query numbers and returns bools (q, n).

    Examples
    --------
    >>> nearest_rows(np.array([[0.9]]), np.array([[0.0], [1.0], [2.0]]), k=2)(slice(0, 1))
    array([[ True,  True, False]])
    """
    nearest = np.empty((len(queries), min(k, len(rows))), np.int64)
    done = 0
    for distances, _ in float_blocks(queries, rows, lambda numbers: np.empty(0)):
        for each in distances:
            nearest[done] = _first(each, nearest.shape[1])
            done += 1

    def relevance(numbers: Any) -> NDArray[np.bool_]:
        wanted = nearest[numbers]
        relevant = np.zeros((len(wanted), len(rows)), bool)
        np.put_along_axis(relevant, wanted, True, axis=1)
        return relevant

    return relevance


def _first(distances: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Places of the k least distances; of equal ones the first."""
    within = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
    return within[np.argsort(distances[within], kind="stable")[:k]]


def _fits(
    request: Request, X: NDArray[Any], Q: NDArray[Any] | None, n_queries: int, n_train: int | None
) -> Iterator[Fit]:
    """The fits of `compare_neighbours`."""
    for seed in request.seeds:
        task = _draw_task(X, Q, seed, n_queries, n_train)
        for method in request.methods:
            for n_bits in method.lengths(request.lengths):
                run = partial(measure_task, method, n_bits, task, request.measures, request.ties)
                yield Fit(method, n_bits, seed, run)


def _draw_task(X: NDArray[Any], Q: NDArray[Any] | None, seed: int, n_queries: int, n_train: int | None) -> Task:
    """The split of one seed. Without a number of training rows, the whole database trains."""
    if Q is None:
        _, asked, database = seen_classes(X[:, 0], seed, n_queries)
        X, Q = X[database], X[asked]
        train = X[:n_train]
    else:
        asked, database = np.arange(len(Q)), np.arange(len(X))
        train = X if n_train is None else X[np.sort(np.random.default_rng(seed).permutation(len(X))[:n_train])]
    return Task(train, None, Q, X, nearest_rows(Q, X), iter, seed, asked, database)
