"""One run: fit a method on one split, score prefixes of its codes, and keep what training cost."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.threads import n_threads
from structhash.codes import code_distances
from structhash.evaluation import (
    Method,
    Scores,
    code_blocks,
    nearest_rows,
    parse_method,
    retrieval,
    same_label,
    seen_classes,
)
from structhash.evaluation.scoring import Relevance
from structhash.reproduce.plan import METHODS, Run
from structhash.reproduce.sets import Loaded
from structhash.supervision import Neighbours

__all__ = ["DEPTHS", "EXAMPLE_METHOD", "MEASURES", "Drawn", "draw", "perform"]

MEASURES = ("ndcg_paper@100", "precision@100", "map", "pr_area", "map_hits@10000")
DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)  # of precision at N, on the large sets
EXAMPLE_METHOD = "StructH-N"  # whose rankings are shown as images

_TESTED = ("ndcg_paper@100", "precision@100", "map", "pr_area")  # measures kept for each query
_RELEVANT_SHARE = 0.02  # of the database, where there are no labels
_DIGITS = 5
_N_FOUND = 10  # retrieved rows of a ranking example
_N_HARDEST = 4  # queries with the least precision among the ranking examples
_WARM_UP_ROWS, _WARM_UP_BITS = 300, 4
_TIMED_FITS = 2  # of a run that is made to be timed; the faster one counts


class Drawn(NamedTuple):
    """One split of a data set."""

    X: NDArray[Any]  # training rows
    y: NDArray[Any] | None  # their labels
    queries: NDArray[Any]
    database: NDArray[Any]
    relevance: Relevance
    query_rows: NDArray[np.int64]  # numbers of the queries among the rows of the data set
    database_rows: NDArray[np.int64]


def draw(data: Loaded, seed: int) -> Drawn:
    """The split of one seed, as in Section 5 of the paper; a run trains on the first rows of `X`.

    With labels 2,000 rows are queries. Without labels the queries are those of the file, and the nearest 2
    percent of the database by L2 are relevant.
    """
    if data.y is not None and data.info.labelled:
        train, queries, database = seen_classes(data.y, seed, n_train=len(data.X))
        relevance = same_label(data.y[queries], data.y[database])
        return Drawn(
            data.X[train], data.y[train], data.X[queries], data.X[database], relevance, queries, database
        )
    assert data.Q is not None  # `load_set`
    order = np.random.default_rng(seed).permutation(len(data.X))
    relevance = nearest_rows(data.Q, data.X, max(1, int(_RELEVANT_SHARE * len(data.X))))
    return Drawn(data.X[order], None, data.Q, data.X, relevance, np.arange(0), np.arange(len(data.X)))


def perform(run: Run, data: Loaded, drawn: Drawn) -> dict[str, Any]:
    """Fit and score one method.

    Parameters
    ----------
    run : Run
    data : Loaded
        The data set of the run.
    drawn : Drawn
        Its split of the run's seed.

    Returns
    -------
    dict
        Values that `json` takes: ``fit_seconds``, ``load`` (of the machine, or None), ``chosen``, ``history``
        (rounds and seconds of each bit, or None), ``scores`` (a dict a length and distance), ``per_query`` (by
        distance and measure, at the full length) and ``examples``.
    """
    method, kind = parse_method(METHODS[run.method].spec), METHODS[run.method]
    if kind.costs:  # nothing may be compiled while these are measured
        _fit(method, drawn, _WARM_UP_ROWS, _WARM_UP_BITS, 0)
    fits = [
        _fit(method, drawn, run.n_train, run.n_bits, run.seed) for _ in range(1 if run.lengths else _TIMED_FITS)
    ]
    seconds, encoder, chosen = min(fits, key=lambda fit: fit[0])
    history = encoder.history_ if kind.costs else None  # of each bit
    record = {
        "fit_seconds": seconds,
        "load": _load(),
        "chosen": chosen,
        "history": history and {name: [each[name] for each in history] for name in ("rounds", "seconds")},
        **_scores(encoder, run, kind.distance, data, drawn),
    }
    shown = data.info.image_shape is not None and run.method == EXAMPLE_METHOD and run.seed == 0
    wanted = shown and run.n_bits in run.lengths
    precision = record["per_query"][kind.distance]["precision@100"] if wanted else []
    record["examples"] = _examples(encoder, data, drawn, precision, kind.distance) if wanted else []
    return record


def _load() -> float | None:
    """Mean number of processes that wanted a core in the last minute; None where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _scores(encoder: Any, run: Run, own: str, data: Loaded, drawn: Drawn) -> dict[str, Any]:
    """The entries ``scores`` and ``per_query`` of a record: by the own distance of a method, and at the full
    length by plain Hamming distance too. Large databases are sorted by several threads.
    """
    wanted = [(n_bits, own) for n_bits in run.lengths]
    if run.n_bits in run.lengths and own != "plain":
        wanted.append((run.n_bits, "plain"))
    depths = [] if data.info.labelled else [f"precision@{depth}" for depth in DEPTHS]

    def score(n_bits: int, distance: str) -> Scores:
        measures = [*MEASURES, *(depths if n_bits == run.n_bits else [])]
        queries, codes = encoder.encode_queries(drawn.queries, n_bits), encoder.encode(drawn.database, n_bits)
        weights = _weights(encoder, n_bits, distance)
        return retrieval(code_blocks(queries, codes, drawn.relevance, weights), measures)

    with ThreadPoolExecutor(n_threads(-1)) as pool:
        found = list(pool.map(lambda each: score(*each), wanted))
    lines, per_query = [], {}
    for (n_bits, distance), scores in zip(wanted, found):
        lines.append({"n_bits": n_bits, "distance": distance, "mean": scores.mean})
        if n_bits == run.n_bits:
            kept = {name: np.round(scores.per_query[name], _DIGITS).tolist() for name in _TESTED}
            per_query[distance] = kept
    return {"scores": lines, "per_query": per_query}


def _fit(method: Method, drawn: Drawn, n_train: int, n_bits: int, seed: int) -> tuple[float, Any, str]:
    """Seconds of a fit on the first rows, the encoder, and the alternative that was chosen.

    Without labels, a method that takes a supervision learns from the nearest rows, and any other from nothing.
    """
    y: Any = None
    if drawn.y is not None:
        y = drawn.y[:n_train]
    elif method.encoders[0].takes_supervision:
        y = Neighbours()
    began = time.perf_counter()
    encoder, chosen = method.fit(drawn.X[:n_train], y, n_bits, seed)
    return time.perf_counter() - began, encoder, chosen


def _weights(encoder: Any, n_bits: int, distance: str) -> NDArray[np.float64] | None:
    """Weights of the bits of a prefix; None for plain Hamming distance."""
    return encoder.weights_at(n_bits) if distance == "weighted" else None


def _examples(
    encoder: Any, data: Loaded, drawn: Drawn, precision: list[float], distance: str
) -> list[dict[str, Any]]:
    """Queries and the rows that they retrieve first: the first query of each class, then the worst queries.

    Of equal distances the lower row of the database comes first. `query` and `found` number the rows of the
    data set.
    """
    assert data.y is not None  # images have labels
    y = data.y[drawn.query_rows]
    first = [int(np.flatnonzero(y == label)[0]) for label in np.unique(y)]
    hardest = np.argsort(precision, kind="stable")
    chosen = [*first, *(int(q) for q in hardest[:_N_HARDEST] if q not in first)]
    queries, codes = encoder.encode_queries(drawn.queries[chosen]), encoder.encode(drawn.database)
    weights = _weights(encoder, encoder.n_bits_, distance)
    nearest = np.argsort(code_distances(queries, codes, weights), axis=1, kind="stable")[:, :_N_FOUND]
    rows = drawn.database_rows[nearest]
    return [
        {
            "query": int(drawn.query_rows[q]),
            "hard": place >= len(first),
            "found": rows[place].tolist(),
            "right": (data.y[rows[place]] == y[q]).tolist(),
        }
        for place, q in enumerate(chosen)
    ]
