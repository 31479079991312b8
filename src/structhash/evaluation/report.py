"""Results of a comparison as a table for people and as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from structhash.evaluation.compare import Result

LEVEL = 0.05  # of the paired tests


class Line(NamedTuple):
    """One method, distance and length: means over seeds."""

    method: str
    distance: str
    n_bits: int
    seeds: list[int]
    chosen: list[str]
    mean: dict[str, float]
    by_seed: dict[str, list[float]]
    per_query: dict[str, NDArray[np.float64]]  # seeds one after another
    p_value: dict[str, float]  # against the best line of the same length; 1 for the best itself
    fit_seconds: float
    encode_seconds: float


def summarise(results: Iterable[Result]) -> list[Line]:
    """Lines in the order of first appearance, with paired tests against the best line of each length.

    Each other line is compared with the best one by a paired t-test over queries (those of all seeds
    together; doi:10.1145/1321440.1321528), Holm-corrected over the lines. It speaks of other queries to the
    same models, not of other training runs: see the seeds for those. The float line is not tested.

    Raises
    ------
    ValueError
        If lines of one length have different seeds: their queries are not the same.
    """
    grouped: dict[tuple[str, str, int], list[Result]] = {}
    for result in results:
        grouped.setdefault((result.method, result.distance, result.n_bits), []).append(result)
    lines = [_line(group) for group in grouped.values()]
    for n_bits in sorted({line.n_bits for line in lines if line.n_bits}):
        _test([line for line in lines if line.n_bits == n_bits])
    return lines


def table(lines: Sequence[Line]) -> str:
    """Plain text, a row a line; ``*`` behind a value: significantly below the best of its length."""
    measures = list(lines[0].mean) if lines else []
    head = ["method", "distance", "bits", *measures, "fit s", "encode s"]
    rows = [head]
    for line in lines:
        cells = [f"{line.mean[m]:.3f}{'*' if line.p_value[m] < LEVEL else ' '}" for m in measures]
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
    """What `json.dump` takes: `about` (data, command, versions), then the lines without per-query scores."""
    keep = [field for field in Line._fields if field != "per_query"]
    return {**about, "lines": [{field: getattr(line, field) for field in keep} for line in lines]}


def from_json(document: dict[str, Any]) -> list[Line]:
    """The lines of `as_json`, without per-query scores, for `table`."""
    return [Line(**line, per_query={}) for line in document["lines"]]


def _line(group: list[Result]) -> Line:
    first = group[0]
    measures = list(first.scores.mean)
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
    )


def _test(lines: list[Line]) -> None:
    """Fill in the p-values of lines of one length."""
    for line in lines:
        if line.seeds != lines[0].seeds:
            raise ValueError(
                f"{line.method} has the seeds {line.seeds}, {lines[0].method} {lines[0].seeds}; "
                "compare lines of the same seeds"
            )
    for measure in lines[0].mean:
        best = max(lines, key=lambda line: line.mean[measure])
        others = [line for line in lines if line is not best]
        raw = [_paired(best.per_query[measure], line.per_query[measure]) for line in others]
        running = 0.0
        for rank, index in enumerate(
            np.argsort(raw)
        ):  # Holm: the smallest times all, the next times all but one
            running = max(running, min(1.0, raw[index] * (len(raw) - rank)))
            others[index].p_value[measure] = running


def _paired(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """p-value of the paired t-test; 1 where the two do not differ at all."""
    valid = ~(np.isnan(a) | np.isnan(b))
    difference = a[valid] - b[valid]
    if len(difference) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) <= 1e-12 * np.abs(difference).max():  # but for rounding, all differ alike
        return 0.0
    return float(ttest_rel(a[valid], b[valid]).pvalue)
