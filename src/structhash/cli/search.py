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
from structhash.cli.inputs import Choices, read_for
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.io import load_codes, suffixes
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
    choices: Choices | None = None,
) -> None:
    """Find the nearest codes of queries, print them, and write them where a file is named.

    Parameters
    ----------
    index : path
        An index file.
    queries : path
        A file of codes; with a model, a data file of vectors.
    k : int or None
        Number of neighbours a query, 10 by default.
    radius : float or None
        Instead of k: find all codes within this distance.
    model : path or None
        The model that encodes the queries.
    out : path or None
        A .npz file to write.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to print JSON.
    choices : dict, optional
        How a data file of queries is read: keywords of `structhash.io.read`.

    Raises
    ------
    ValueError
        If both k and a radius are given, or the model or the queries do not fit the index.
    """
    check_output(out, index, queries, model, makes="neighbours", force=force, suffix=".npz")
    if k is not None and radius is not None:
        raise ValueError("-k and --radius ask for different things; give one of them")
    searched = load_index(index)
    codes, source = _query_codes(queries, model, index, searched, choices)
    asked: dict[str, Any] = {"radius": radius}
    if radius is None:
        asked = {"k": min(k or _DEFAULT_K, max(1, len(searched)))}
        hits, arrays = _nearest(searched, codes, asked["k"])
    else:
        hits, arrays = _within(searched, codes, radius)
    if out is not None:
        _write(out, arrays)
    if (searched.source is None) != (source is None):
        _warn_unnamed(*((queries, index) if source is None else (index, model or queries)))
    if as_json:
        results = [{"query": q, "ids": hit.ids, "distances": hit.distances} for q, hit in enumerate(hits)]
        print(to_json({"queries": len(codes), "bits": searched.n_bits, **asked, "results": results}))
        return
    _print_hits(hits, every=out is None and not sys.stdout.isatty())
    if out is not None:
        print(f"wrote {len(codes)} queries to {out}")


def _write(out: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays to a .npz file."""
    with atomic(out) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


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


def _query_codes(
    path: Path, model: Path | None, index: Path, searched: Index, choices: Choices | None
) -> tuple[NDArray[np.uint8], str | None]:
    """Codes from a file of codes, or of vectors in a data file (Q, else X), and their model's fingerprint."""
    if model is None:
        if path.suffix.lower() in {*suffixes()} - {".npy"}:
            raise ValueError(f"{path} is not a file of codes; for vectors, give --model too")
        codes, n_bits, source = load_codes(path)
        _check_source(path, source, searched)
        if n_bits not in (None, searched.n_bits):
            raise ValueError(
                f"{path} holds codes of {n_bits} bits, {index} of {searched.n_bits}; give codes of one length"
            )
        return codes, source
    encoder = load_model(model)
    source = encoder.fingerprint()
    _check_source(model, source, searched)
    if encoder.n_bits_ < searched.n_bits:
        raise ValueError(
            f"{index} holds codes of {searched.n_bits} bits, {model} makes {encoder.n_bits_}; give the model "
            "that made the codes"
        )
    dataset = read_for(encoder, path, choices)
    return encoder.encode_queries(dataset.X if dataset.Q is None else dataset.Q, searched.n_bits), source


def _check_source(given: Path, source: str | None, searched: Index) -> None:
    """Refuse queries of another model than the index, where both name theirs."""
    if source is not None and searched.source not in (None, source):
        raise ValueError(f"the index was made with another model than {given}; give that one")


def _warn_unnamed(unnamed: Path, other: Path) -> None:
    """Say that one of the two files does not name its model, so that nothing was checked."""
    say(
        "warning",
        f"{unnamed} does not say which model made its codes: that it is the model of {other} is not checked, "
        "and results are wrong otherwise",
    )


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
