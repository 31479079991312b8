"""What lies behind the means of a comparison: results of each class, hardest queries, examples of rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.evaluation.compare import Result
from structhash.evaluation.report import Line

__all__ = ["best_lines", "details"]

_N_METHODS = 6
_N_HARDEST = 20  # queries in the list
_N_EXAMPLES = 4  # queries drawn at random, and as many of the hardest


def best_lines(lines: Sequence[Line], measure: str, most: int) -> list[int]:
    """Places of the best line of each method, at any distance and length, the best method first.

    Parameters
    ----------
    lines : sequence of Line
    measure : str
        What is compared; a line without a value is left out.
    most : int
        Number of methods.

    Returns
    -------
    list of int
    """
    means = {place: each.mean[measure] for place, each in enumerate(lines) if not each.error}
    ordered = sorted(
        (place for place, mean in means.items() if np.isfinite(mean)), key=lambda place: -means[place]
    )
    best: dict[str, int] = {}
    for place in ordered:
        best.setdefault(lines[place].method, place)
    return list(best.values())[:most]


def details(
    lines: Sequence[Line],
    results: Sequence[Result],
    labels: NDArray[Any] | None = None,
    query_labels: NDArray[Any] | None = None,
    ids: NDArray[Any] | None = None,
) -> dict[str, Any]:
    """Results of each class, hardest queries and examples, for the best line of each method.

    Parameters
    ----------
    lines : sequence of Line
        What `summarise` made of `results`.
    results : sequence of Result
    labels, query_labels : ndarrays (n,), (q,), optional
        Labels of the rows of the database and of the queries, by the row numbers of `Found`.
    ids : ndarray (n,), optional
        Ids of the rows of the database.

    Returns
    -------
    dict
        Values for `json.dump`; empty where the results do not say what was found. A measure nan is None.
        `lines`: places of the lines. `measure`: what the hardest queries are hard by, the first one.
        `classes`: their `labels`, numbers of `queries`, and `values` by measure, line and class.
        `hardest`: `seed`, `query`, `label`, and `values` by line, of the queries with the least mean.
        `examples`: the same, with `hard`, and `found`: (row, grade) by line and rank. `labels`, `ids`: of the
        rows found. Random examples are drawn among the queries of the first seed.
    """
    measures = list(lines[0].mean) if lines else []
    shown = best_lines(lines, measures[0], _N_METHODS) if measures else []
    groups = [_results_of(lines[place], results) for place in shown]
    asked = [[(each.seed, query) for each in group for query in each.found.queries] for group in groups]
    if not asked or not asked[0] or any(each != asked[0] for each in asked):
        return {}
    values = {name: np.array([lines[place].per_query[name] for place in shown]) for name in measures}
    named = None if query_labels is None else [str(query_labels[query]) for _, query in asked[0]]
    hardest = _hardest(values[measures[0]])
    drawn = np.random.default_rng(0).permutation(len(groups[0][0].found.queries))[:_N_EXAMPLES].tolist()
    hard = [place for place in hardest if place not in drawn][:_N_EXAMPLES]
    about = [
        {"seed": seed, "query": query, "label": named and named[place], "values": _plain(each)}
        for place, ((seed, query), each) in enumerate(zip(asked[0], values[measures[0]].T, strict=True))
    ]
    found = [_found(group) for group in groups]
    examples = [
        {**about[place], "hard": place in hard, "found": [each[place] for each in found]}
        for place in drawn + hard
        if all(found)
    ]
    rows = sorted({row for each in examples for ranking in each["found"] for row, _ in ranking})
    return {
        "lines": shown,
        "measure": measures[0],
        "classes": named and _by_class(values, np.array(named)),
        "hardest": [about[place] for place in hardest],
        "examples": examples,
        "labels": _texts(labels, rows),
        "ids": _texts(ids, rows),
    }


def _texts(values: NDArray[Any] | None, rows: list[int]) -> dict[str, str]:
    """Values of some rows as text."""
    return {} if values is None else {str(row): str(values[row]) for row in rows}


def _results_of(line: Line, results: Sequence[Result]) -> list[Result]:
    """The results that a line is the mean of, in its order."""
    key = line.method, line.distance, line.n_bits
    return [each for each in results if (each.method, each.distance, each.n_bits) == key]


def _found(group: list[Result]) -> list[list[tuple[int, int]]]:
    """Row and grade of what each query of a line found first, the best first."""
    pairs = (pair for each in group for pair in zip(each.found.documents, each.found.grades, strict=True))
    return [list(zip(documents, grades, strict=True)) for documents, grades in pairs]


def _hardest(values: NDArray[np.float64]) -> list[int]:
    """Places of the queries with the least mean over the lines (lines, queries)."""
    scored = np.flatnonzero(np.isfinite(values).all(axis=0))
    return scored[np.argsort(values[:, scored].mean(axis=0), kind="stable")][:_N_HARDEST].tolist()


def _by_class(values: dict[str, NDArray[np.float64]], labels: NDArray[Any]) -> dict[str, Any]:
    """Mean of each measure over the queries of each class that have a value."""
    classes, index, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = {}
    for name, table in values.items():
        valid = np.isfinite(table)
        sums = [np.bincount(index, np.where(ok, row, 0), len(classes)) for ok, row in zip(valid, table)]
        sizes = [np.bincount(index, ok, len(classes)) for ok in valid]
        means[name] = [
            _plain(np.divide(total, size, out=np.full(len(classes), np.nan), where=size > 0))
            for total, size in zip(sums, sizes)
        ]
    return {"labels": classes.tolist(), "queries": counts.tolist(), "values": means}


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Values with six digits; None for nan."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]
