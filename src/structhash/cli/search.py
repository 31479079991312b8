"""``structhash search``: the nearest codes of each query."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.cli.console import say
from structhash.cli.display import print_table
from structhash.cli.documents import to_json
from structhash.cli.inputs import read_for
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.io import read_codes
from structhash.io.container import atomic
from structhash.search import Index, load_index

__all__ = ["search"]

_DEFAULT_K = 10
_QUERIES_SHOWN = 3  # on a terminal


class _Hit(NamedTuple):
    """The results of one query, nearest first."""

    distances: NDArray[Any]
    ids: NDArray[np.int64]


def search(
    index: Path,
    queries: Path,
    *,
    k: int | None,
    radius: float | None,
    model: Path | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Find the nearest codes of queries, print them, and write them where a file is named.

    Parameters
    ----------
    index : path
        An index file.
    queries : path
        A .npy file of codes; with a model, a data file of vectors.
    k : int or None
        Number of neighbours a query, 10 by default.
    radius : float or None
        Instead of k: find all codes within this distance.
    model : path or None
        The model that encodes the queries.
    out : path or None
        A .npz file to write.
    force : bool
        Whether `out` may replace a file of another kind.
    as_json : bool
        Whether to print JSON.

    Raises
    ------
    ValueError
        If both k and a radius are given, or the model or the queries do not fit the index.
    """
    check_output(out, index, queries, model, makes="neighbours", force=force, suffix=".npz")
    if k is not None and radius is not None:
        raise ValueError("-k and --radius ask for different things; give one of them")
    searched = load_index(index)
    codes = _query_codes(queries, model, searched)
    asked: dict[str, Any]
    if radius is None:
        asked = {"k": min(k or _DEFAULT_K, max(1, len(searched)))}
        hits, arrays = _nearest(searched, codes, asked["k"])
    else:
        asked = {"radius": radius}
        hits, arrays = _within(searched, codes, radius)
    if out is not None:
        with atomic(out) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    if as_json:
        results = [{"query": q, "ids": hit.ids, "distances": hit.distances} for q, hit in enumerate(hits)]
        print(to_json({"queries": len(codes), "bits": searched.n_bits, **asked, "results": results}))
        return
    _print_hits(hits, every=out is None and not sys.stdout.isatty())
    if out is not None:
        print(f"wrote {len(codes)} queries to {out}")


def _nearest(index: Index, codes: NDArray[np.uint8], k: int) -> tuple[list[_Hit], dict[str, NDArray[Any]]]:
    """The k nearest codes of each query, and the arrays that a file gets."""
    distances, ids = index.search(codes, k)
    hits = [_Hit(d[i >= 0], i[i >= 0]) for d, i in zip(distances, ids, strict=True)]
    return hits, {"distances": distances, "ids": ids}


def _within(
    index: Index, codes: NDArray[np.uint8], radius: float
) -> tuple[list[_Hit], dict[str, NDArray[Any]]]:
    """All codes within a radius of each query, and the arrays that a file gets."""
    lims, distances, ids = index.radius(codes, radius)
    hits = [_Hit(distances[first:end], ids[first:end]) for first, end in pairwise(lims)]
    return hits, {"lims": lims, "distances": distances, "ids": ids}


def _query_codes(path: Path, model: Path | None, index: Index) -> NDArray[np.uint8]:
    """Codes from a file of codes, or of the vectors in a data file: Q, or X where there is no Q."""
    if model is None:
        if path.suffix.lower() != ".npy":
            raise ValueError(f"{path} is not a .npy file of codes; for vectors, give --model too")
        return read_codes(path)
    encoder = load_model(model)
    if index.source not in (None, encoder.fingerprint()):
        raise ValueError(f"the index was made with another model than {model}; give that one")
    if index.source is None and encoder.n_bits_ > index.n_bits:
        say(
            "warning",
            f"{model} has {encoder.n_bits_} bits, the index {index.n_bits}: right only where it holds prefixes",
        )
    dataset = read_for(encoder, path)
    return encoder.encode_queries(dataset.X if dataset.Q is None else dataset.Q, index.n_bits)


def _print_hits(hits: list[_Hit], every: bool) -> None:
    """Print the table of neighbours, of all queries or of the first ones."""
    n_shown = len(hits) if every else _QUERIES_SHOWN
    rows = [
        (q, rank, i, d)
        for q, hit in enumerate(hits[:n_shown])
        for rank, (d, i) in enumerate(zip(hit.distances.tolist(), hit.ids.tolist(), strict=True), 1)
    ]
    print_table(("query", "rank", "id", "distance"), rows)
    if len(hits) > n_shown:
        print(f"... and {len(hits) - n_shown} more queries")
