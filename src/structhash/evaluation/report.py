"""Results of a comparison: means over seeds, paired tests, a text table and a JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from scipy.stats import ttest_rel

from structhash.evaluation._collectors import is_mean_of_queries
from structhash.evaluation.compare import Result
from structhash.evaluation.methods import with_traits

__all__ = [
    "SIGNIFICANCE_LEVEL",
    "Line",
    "as_json",
    "as_table",
    "from_json",
    "paired_interval",
    "paired_test",
    "summarise",
]

SIGNIFICANCE_LEVEL = 0.05  # of the paired tests

_ROUNDING = 1e-12  # differences whose range is smaller, relative to the largest, are equal


class Line(NamedTuple):
    """The results of one method, distance and code length over all seeds.

    Attributes
    ----------
    method : str
    distance : str
    n_bits : int
        0 for float vectors.
    seeds : list of int
    chosen : list of str
        The alternative that was chosen for each seed; empty where there was only one.
    mean : dict of float
        Mean of each measure over the seeds.
    by_seed : dict of list of float
        Each measure for each seed.
    per_query : dict of ndarray
        Each measure for each query, the seeds one after another.
    p_value : dict of float
        Each measure's test against the best code of the same length; 1 for the best code itself.
    fit_seconds, encode_seconds : float
        Means over the seeds.
    error : str
        Why there are no scores; ``""`` where there are. `seeds` are then those that failed.
    query_seconds : float or None
        Mean over the seeds; None where it was not timed.
    sizes : sequence of sequences of int
        Numbers of training rows, queries and database rows for each seed; empty where they are not known.
    reads_floats, one_hot : bool
        See `structhash.evaluation.methods.code_traits`.
    above_vectors : dict of (float, float) or None
        `paired_interval` of each measure against the float vectors, above 0 where the line is better. A measure
        whose mean is not the mean of its values is missing: pr_area, or all where seeds have different numbers
        of queries. None where there are no float vectors.
    """

    method: str
    distance: str
    n_bits: int
    seeds: list[int]
    chosen: list[str]
    mean: dict[str, float]
    by_seed: dict[str, list[float]]
    per_query: dict[str, NDArray[np.float64]]
    p_value: dict[str, float]
    fit_seconds: float
    encode_seconds: float
    error: str = ""
    query_seconds: float | None = None
    sizes: Sequence[Sequence[int]] = ()
    reads_floats: bool = False
    one_hot: bool = False
    above_vectors: dict[str, tuple[float, float]] | None = None

    @property
    def is_code(self) -> bool:
        """Whether rows are compared by their codes, not by float vectors or class probabilities."""
        return bool(self.n_bits) and not self.reads_floats


def summarise(results: Iterable[Result]) -> list[Line]:
    """Average results over seeds, and test each line against the best line of its length.

    The test is a paired t-test over the queries of all seeds (Smucker, Allan, Carterette,
    https://doi.org/10.1145/1321440.1321528), Holm-corrected over the lines. It tests whether the same models
    would differ on other queries. It does not cover other training runs: `by_seed` shows those. Lines that
    compare floats are not tested. A method that failed for one seed has a single line at that length, with the
    error.

    Raises
    ------
    ValueError
        If lines of one length have different seeds, so that their queries cannot be paired.
    """
    grouped: dict[tuple[str, str, int], list[Result]] = {}
    found = list(results)
    failed = {(result.method, result.n_bits) for result in found if result.error}
    for result in found:
        if not result.error and failed & {(result.method, result.n_bits), (result.method, 0)}:
            continue  # a mean over the other seeds could not be compared
        grouped.setdefault((result.method, result.distance, result.n_bits), []).append(result)
    lines = [_average(group) for group in grouped.values()]
    for n_bits in {line.n_bits for line in lines if line.n_bits}:
        same = [place for place, line in enumerate(lines) if line.n_bits == n_bits and not line.error]
        places = [place for place in same if lines[place].is_code]
        if not places:
            continue
        for place, p_value in zip(places, _p_values([lines[place] for place in places])):
            lines[place] = lines[place]._replace(p_value=p_value)
    vectors = next((line for line in lines if not line.n_bits and not line.error), None)
    if vectors is None:
        return lines
    return [line._replace(above_vectors=_above(line, vectors)) if line.n_bits else line for line in lines]


def as_table(lines: Sequence[Line]) -> str:
    """Format lines as plain text, a row each; ``*`` marks a value significantly below the best of its length.

    Examples
    --------
    >>> from structhash.evaluation import as_table
    >>> print(as_table([]), end="")
    method  distance  bits  fit s  encode s
    ------  --------  ----  -----  --------
    """
    measures = list(lines[0].mean) if lines else []
    head = ["method", "distance", "bits", *measures, "fit s", "encode s"]
    rows = [head]
    for line in lines:
        cells = [f"{line.mean[m]:.3f}{'*' if line.p_value[m] < SIGNIFICANCE_LEVEL else ' '}" for m in measures]
        if line.error:
            cells = ["failed "] * len(measures)
        bits = str(line.n_bits) if line.n_bits else "-"
        times = [f"{line.fit_seconds:.2f}", f"{line.encode_seconds:.2f}"]
        rows.append([line.method, line.distance, bits, *cells, *times])
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    text = []
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        text.append("  ".join(left + right).rstrip())
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text) + "\n"


def as_json(lines: Sequence[Line], **about: Any) -> dict[str, Any]:
    """Turn lines into a document for `json.dump`, without per-query scores.

    Parameters
    ----------
    lines : sequence of Line
    **about
        Further entries of the document, such as data, command and versions.

    Returns
    -------
    dict
        The entries of `about`, and the lines as dicts under ``"lines"``.
    """
    keep = [field for field in Line._fields if field != "per_query"]
    return {**about, "lines": [{field: getattr(line, field) for field in keep} for line in lines]}


def from_json(document: dict[str, Any]) -> list[Line]:
    """Turn a document of `as_json` back into lines, without per-query scores."""
    return [Line(**with_traits(line), per_query={}) for line in document["lines"]]


def _average(group: list[Result]) -> Line:
    """The line of results that differ in the seed only."""
    first = group[0]
    measures = list(first.scores.mean)
    timed = [result.query_seconds for result in group if result.query_seconds is not None]
    by_seed = {m: [result.scores.mean[m] for result in group] for m in measures}
    return Line(
        method=first.method,
        distance=first.distance,
        n_bits=first.n_bits,
        seeds=[result.seed for result in group],
        chosen=[result.chosen for result in group if result.chosen],
        mean={m: float(np.mean(values)) for m, values in by_seed.items()},
        by_seed=by_seed,
        per_query={m: np.concatenate([r.scores.per_query[m] for r in group]) for m in measures},
        p_value=dict.fromkeys(measures, 1.0),
        fit_seconds=float(np.mean([result.fit_seconds for result in group])),
        encode_seconds=float(np.mean([result.encode_seconds for result in group])),
        error=first.error,
        query_seconds=float(np.mean(timed)) if len(timed) == len(group) else None,
        sizes=[result.sizes for result in group] if all(result.sizes for result in group) else [],
        reads_floats=first.reads_floats,
        one_hot=first.one_hot,
    )


def _p_values(lines: list[Line]) -> list[dict[str, float]]:
    """The p-value of each measure for each of the lines of one length."""
    for line in lines:
        if line.seeds != lines[0].seeds:
            raise ValueError(
                f"{line.method} has the seeds {line.seeds}, {lines[0].method} {lines[0].seeds}; "
                "compare lines of the same seeds"
            )
    found: list[dict[str, float]] = [{} for _ in lines]
    for measure in lines[0].mean:
        best = max(range(len(lines)), key=lambda place: lines[place].mean[measure])
        others = [place for place in range(len(lines)) if place != best]
        values = [line.per_query[measure] for line in lines]
        corrected = _holm([_p_below(values[place], values[best]) for place in others])
        found[best][measure] = 1.0
        for place, p_value in zip(others, corrected):
            found[place][measure] = p_value
    return found


def _p_below(line: NDArray[np.float64], best: NDArray[np.float64]) -> float:
    """`paired_test` of a line and the best one, or 1 where the values of the line are not below in the mean.

    That can be: the best line has the largest mean over seeds, and seeds may have different numbers of queries.
    """
    return paired_test(best, line) if np.nansum(best - line) > 0 else 1.0


def _holm(p_values: list[float]) -> list[float]:
    """Holm's correction: the smallest of m p-values times m, the next one times m - 1, and none below another.

    >>> [round(p, 3) for p in _holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected = list(p_values)
    highest = 0.0
    for rank, place in enumerate(np.argsort(p_values)):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def _above(line: Line, vectors: Line) -> dict[str, tuple[float, float]]:
    """`Line.above_vectors` of a line; empty where it failed, or its queries are not those of the vectors."""
    if line.error or line.seeds != vectors.seeds:
        return {}
    found = {
        measure: paired_interval(values, vectors.per_query[measure])
        for measure, values in line.per_query.items()
        if is_mean_of_queries(measure)
    }
    return {
        measure: interval
        for measure, interval in found.items()
        if interval is not None
        and np.isclose(np.mean(interval), line.mean[measure] - vectors.mean[measure], rtol=0, atol=1e-9)
    }


def paired_test(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """p-value of the paired t-test over the queries that both have a value for.

    It is 1 where no query differs, and 0 where all differ by the same amount.
    """
    valid = ~(np.isnan(a) | np.isnan(b))
    difference = a[valid] - b[valid]
    if len(difference) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) <= _ROUNDING * np.abs(difference).max():
        return 0.0
    return float(ttest_rel(a[valid], b[valid]).pvalue)


def paired_interval(
    a: NDArray[np.float64], b: NDArray[np.float64], level: float = 0.95
) -> tuple[float, float] | None:
    """Confidence interval of the mean of a - b, over the queries that both have a value for.

    It is the interval of the paired t-test, from m - t s / sqrt(n) to m + t s / sqrt(n). The n differences have
    the mean m and the standard deviation s; t is the quantile (1 + level) / 2 of Student's distribution with
    n - 1 degrees of freedom (Student 1908, https://doi.org/10.2307/2331554). It covers other queries for the
    same models, as `paired_test` does. It does not cover other training runs.

    Parameters
    ----------
    a, b : ndarrays (n_queries,)
        Values of the same queries in the same order; nan where a query has none.
    level : float
        The probability that the interval covers the mean.

    Returns
    -------
    (float, float) or None
        None for fewer than two queries.

    Examples
    --------
    >>> low, high = paired_interval(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.6, 0.4]))
    >>> round(low, 3), round(high, 3)
    (0.052, 0.548)
    """
    difference = a - b
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if n < 2:
        return None
    mean = difference.mean()
    half = student.ppf((1 + level) / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n)
    return float(mean - half), float(mean + half)
