"""``structhash search``: the nearest codes of each query."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import counted
from structhash.cli._options import Rescoring
from structhash.cli._rescoring import open_rescored
from structhash.cli.console import say
from structhash.cli.display import bar, print_table
from structhash.cli.documents import to_json
from structhash.cli.encode import ROWS_AT_ONCE, coded
from structhash.cli.ids import read_ids
from structhash.cli.inputs import Choices, read_for
from structhash.cli.outputs import check_output
from structhash.codes import PreparedQueries
from structhash.estimators.base import HashEncoder
from structhash.estimators.contract import NEAR_READER
from structhash.estimators.loading import load_model
from structhash.estimators.reader import READERS, load_reader
from structhash.io import CODE_SUFFIXES, Codes, load_codes, map_array, number_note, suffix_of, suffixes
from structhash.io.container import atomic
from structhash.search import Index, holds_neighbour, load_index

__all__ = ["Asked", "nearest_hits", "print_answer", "query_codes", "search"]

_Queries = NDArray[np.uint8] | PreparedQueries
_Coder = Callable[[Any], _Queries]

_DEFAULT_K = 10
_QUERIES_SHOWN = 3  # on a terminal
_QUERIES_AT_ONCE = 1024  # a step of the progress bar


class _Hit(NamedTuple):
    """The results of one query, nearest first."""

    distances: NDArray[Any]
    ids: NDArray[Any]


class Asked(NamedTuple):
    """The queries of a search."""

    codes: _Queries
    rows: Any  # the vectors, or None where there are none
    ids: NDArray[Any] | None  # ids of the queries, where their file has them
    warnings: list[str]  # what may be wrong with them
    note: str | None = None  # what else to say of them
    code: _Coder | None = None  # how vectors become queries, where they are given


_Blocks = list[tuple[NDArray[Any], ...]]  # what a search returns for each block of queries
_SearchBlock = Callable[[slice], tuple[NDArray[Any], ...]]
_Answer = tuple[list[_Hit], dict[str, NDArray[Any]]]  # hits of each query; what a file gets


def search(
    index: Path,
    queries: Path,
    *,
    k: int | None,
    radius: float | None,
    model: Path | None,
    out: Path | None,
    force: bool,
    reader: str = "bits",
    among: Path | None = None,
    rescore: Rescoring | None = None,
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
    k, radius : int or None, float or None
        Number of neighbours a query, 10 by default; or find all codes within this distance.
    model : path or None
        The model that encodes the queries.
    out : path or None
        A .npz file to write.
    reader : str
        How vectors are read: as `HashEncoder.prepare_queries` says, or the file of a fitted reader.
    among : path or None
        A file of ids, as `read_ids` reads it, or of a mask in ascending order of ids: search only these codes.
    rescore : Rescoring or None
        Vectors that order the nearest codes; the model is needed.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to print JSON.
    choices : dict, optional
        How a data file of queries is read: keywords of `structhash.io.read`.

    Raises
    ------
    ValueError
        If options contradict each other, or the model or the queries do not fit the index.
    """
    files = [model, among, None if reader in (*READERS, NEAR_READER) else Path(reader), *_files_of(rescore)]
    check_output(out, index, queries, *files, makes="neighbours", force=force, suffix=".npz")
    _check_options(k, radius, model, rescore, among)
    searched = load_index(index)
    given = query_codes(queries, model, index, searched, choices, reader)
    search_block, asked = _ask(searched, given, k, radius, among, rescore)
    found = _in_blocks(len(given.codes), search_block)
    hits, arrays = nearest_hits(found) if radius is None else _within(found)
    if out is not None:
        _write(out, arrays if given.ids is None else {**arrays, "query_ids": _for_file(given.ids)})
    print_answer(asked, hits, given, out, as_json)


def _check_options(
    k: int | None, radius: float | None, model: Path | None, rescore: Rescoring | None, among: Path | None
) -> None:
    """Refuse options of `search` that do not go together."""
    if radius is not None and (k is not None or rescore is not None):
        other = "--rescore" if k is None else "-k"
        raise ValueError(f"{other} and --radius ask for different things; give one of them")
    if rescore is not None and model is None:
        raise ValueError("--rescore compares vectors: give them as QUERIES, and --model")
    if rescore is not None and rescore.recall is not None and among is not None:
        raise ValueError("--recall is measured among all codes, not those of --among; give --factor")


def _files_of(rescore: Rescoring | None) -> list[Path | None]:
    """The files that order codes by vectors."""
    return [] if rescore is None else [rescore.vectors, rescore.ids]


def _ask(
    index: Index,
    given: Asked,
    k: int | None,
    radius: float | None,
    among: Path | None,
    rescore: Rescoring | None,
) -> tuple[_SearchBlock, dict[str, Any]]:
    """A function that searches for some of the queries, by their numbers; and what is asked, for JSON."""
    limit = {} if among is None else {"among": read_ids(among, as_text=index.id_kind == "text")}
    about, codes = {"bits": index.n_bits}, given.codes
    if radius is not None:
        return lambda part: index.radius(codes[part], radius, **limit), {**about, "radius": radius}
    k = min(k or _DEFAULT_K, max(1, len(index)))
    if rescore is None:
        return lambda part: index.search(codes[part], k, **limit), {**about, "k": k}
    assert given.code is not None  # there is a model
    rescored, chosen = open_rescored(index, rescore, k, given.rows.shape[1], given.code)
    return (
        lambda part: rescored.search(codes[part], given.rows[part], k, **limit),
        {**about, "k": k, **chosen},
    )


def _write(out: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays to a .npz file."""
    with atomic(out) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def nearest_hits(found: _Blocks) -> _Answer:
    """The k nearest codes of each query, and the arrays that a file gets."""
    distances, ids = (np.concatenate(each) for each in zip(*found, strict=True))
    there = holds_neighbour(ids)
    hits = [_Hit(d[at], i[at]) for d, i, at in zip(distances, ids, there, strict=True)]
    return hits, {"distances": distances, "ids": _for_file(ids)}


def _within(found: _Blocks) -> _Answer:
    """All codes within a radius of each query, and the arrays that a file gets."""
    counts, distances, ids = (
        np.concatenate(each) for each in zip(*((np.diff(lims), d, i) for lims, d, i in found), strict=True)
    )
    lims = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    hits = [_Hit(distances[first:end], ids[first:end]) for first, end in pairwise(lims)]
    return hits, {"lims": lims, "distances": distances, "ids": _for_file(ids)}


def _for_file(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as numpy writes them without pickle."""
    return ids.astype(str) if ids.dtype == object else ids


def _in_blocks(n_queries: int, search_block: _SearchBlock) -> _Blocks:
    """The answers to blocks of queries, at least one block, with a progress bar where there are several."""
    found = []
    with bar("search", n_queries, "queries", _QUERIES_AT_ONCE) as advance:
        for first in range(0, max(1, n_queries), _QUERIES_AT_ONCE):
            part = slice(first, min(first + _QUERIES_AT_ONCE, n_queries))
            found.append(search_block(part))
            advance(part.stop - first)
    return found


def query_codes(
    path: Path, model: Path | None, index: Path | str, searched: Index, choices: Choices | None, reader: str
) -> Asked:
    """Read queries for an index.

    Parameters
    ----------
    path : path
        A file of codes; with a model, a data file of vectors.
    model : path or None
    index : path or str
        What messages call the index, or the table of a store.
    searched : Index
        It says the length of the codes and their model.
    choices : dict or None
        How a data file is read.
    reader : str
        How vectors are read.

    Returns
    -------
    Asked
    """
    if model is None:
        if reader != "bits":
            raise ValueError(f"--reader {reader} reads vectors: give them as QUERIES, and --model")
        found = _read_codes(path, index, searched)
        doubts = _unnamed(found.source, path, index, searched)
        if found.coded_as == "rows" and found.queries_differ:
            doubts.append(
                f"{path} holds codes of rows, and its model codes queries differently: unless you look "
                "for near duplicates, encode queries with --queries"
            )
        return Asked(found.table, None, found.ids, doubts)
    encoder = load_model(model)
    source, n_made = encoder.fingerprint(), encoder.n_bits_
    _check_source(model, source, index, searched)
    if n_made < searched.n_bits:
        raise ValueError(
            f"{index} holds codes of {searched.n_bits} bits, {model} makes {n_made}; give the model that made "
            "the codes"
        )
    doubts = _unnamed(source, model, index, searched)
    if doubts and n_made > searched.n_bits:
        doubts.append(
            f"{index} holds codes of {searched.n_bits} bits, {model} makes {n_made}: only the first "
            f"{searched.n_bits} are used"
        )
    dataset = read_for(encoder, path, choices)
    rows, ids, note = dataset.Q, None, None
    if rows is None:
        rows, ids, note = dataset.X, dataset.ids, number_note(path, dataset.id_candidates)
    code = partial(_coded, encoder, index=index, n_bits=searched.n_bits, reader=reader)
    return Asked(code(rows), rows, ids, doubts, note, code)


def _coded(encoder: HashEncoder, rows: Any, index: Path | str, n_bits: int, reader: str) -> _Queries:
    """Vectors as queries: codes, or what a reader makes of them."""
    if reader != "bits":
        return _prepared(encoder, rows, index, n_bits, reader)
    with bar("encode", len(rows), "queries", ROWS_AT_ONCE) as advance:
        return np.concatenate(list(coded(encoder, [rows], len(rows), n_bits, advance, as_queries=True)))


def _prepared(encoder: HashEncoder, rows: Any, index: Path | str, n_bits: int, reader: str) -> PreparedQueries:
    """Queries as a reader, by name or from a file, prepares them."""
    if reader in READERS or not encoder.codes_are_bits:
        return encoder.prepare_queries(rows, n_bits, reader)
    if reader == NEAR_READER:
        raise ValueError(f"--reader {reader}: bits have no such reader, codes of AdditiveHash have; give auto")
    if not Path(reader).exists():
        raise ValueError(f"--reader {reader}: give one of {', '.join(READERS)}, or a file of a reader")
    fitted = load_reader(reader, encoder)
    if fitted.n_bits != n_bits:
        raise ValueError(
            f"{reader} reads codes of {fitted.n_bits} bits, {index} has {n_bits}; fit one for these"
        )
    return fitted.prepare(rows)


def _read_codes(path: Path, index: Path | str, searched: Index) -> Codes:
    """Read a file of codes that fit an index."""
    vectors = "for vectors, give --model MODEL too"
    if suffix_of(path) in {*suffixes()} - {*CODE_SUFFIXES}:
        raise ValueError(f"{path} is not a file of codes; {vectors}")
    if path.suffix.lower() == ".npy":
        array = map_array(path)
        if array.dtype != np.uint8 or array.ndim != 2:
            raise ValueError(
                f"{path} holds {array.dtype} of shape {array.shape}; {vectors}; codes are uint8 of shape "
                "(n, n_bytes)"
            )
    found = load_codes(path)
    if found.codes_are_bits is False or not searched.codes_are_bits:
        whose = index if found.codes_are_bits is None else path
        raise ValueError(
            f"{whose} holds codes that are numbers of centroids, and no query could share their bits: give the "
            "vectors, with --model MODEL and --reader auto"
        )
    _check_source(path, found.source, index, searched)
    if found.n_bits not in (None, searched.n_bits):
        raise ValueError(
            f"{path} holds codes of {found.n_bits} bits, {index} of {searched.n_bits}; give codes of one length"
        )
    n_bytes, needed = found.table.shape[1], -(-searched.n_bits // 8)
    if n_bytes != needed:
        raise ValueError(
            f"{path} holds {n_bytes} bytes a row, codes of {index} have {needed}; {vectors}, else give "
            f"codes of {searched.n_bits} bits"
        )
    return found


def _check_source(given: Path, source: str | None, index: Path | str, searched: Index) -> None:
    """Refuse queries of another model than the index, where both name theirs."""
    if source is not None and searched.source not in (None, source):
        raise ValueError(
            f"{index} was made with another model than {given}; give that one, or make {index} again from "
            "codes of the same model"
        )


def _unnamed(source: str | None, given: Path, index: Path | str, searched: Index) -> list[str]:
    """What to say where one of two files does not name its model, so that nothing was checked."""
    if (searched.source is None) == (source is None):
        return []
    unnamed, other = (given, index) if source is None else (index, given)
    return [
        f"{unnamed} does not say which model made its codes: that it is the model of {other} is not checked, "
        "and results are wrong otherwise"
    ]


def print_answer(
    about: dict[str, Any], hits: list[_Hit], given: Asked, out: Path | None, as_json: bool
) -> None:
    """Print what may be wrong, and the neighbours.

    Parameters
    ----------
    about : dict
        What was asked, for JSON, apart from the number of queries.
    hits : list
        The results of each query.
    given : Asked
        The queries.
    out : path or None
        The file that has all results.
    as_json : bool
        Whether to print JSON.
    """
    for warning in given.warnings:
        say("warning", warning)
    if given.note is not None:
        say("note", given.note)
    queries = list(range(len(hits))) if given.ids is None else given.ids.tolist()
    if as_json:
        results = [{"query": q, "ids": hit.ids, "distances": hit.distances} for q, hit in zip(queries, hits)]
        print(to_json({"queries": len(hits), **about, "results": results}))
    else:
        _print_hits(queries, hits, out)


def _print_hits(queries: list[Any], hits: list[_Hit], out: Path | None) -> None:
    """Print the table of neighbours: of all queries, but on a terminal, or with a file, of the first ones."""
    n_shown = len(hits) if out is None and not sys.stdout.isatty() else _QUERIES_SHOWN
    rows = [
        (q, rank, i, d)
        for q, hit in zip(queries, hits[:n_shown])
        for rank, (d, i) in enumerate(zip(hit.distances.tolist(), hit.ids.tolist(), strict=True), 1)
    ]
    print_table(("query", "rank", "id", "distance"), rows)
    if len(hits) > n_shown:
        print(f"... and {counted(len(hits) - n_shown, 'more query', 'more queries')}")
    if out is not None:
        print(f"wrote {counted(len(hits), 'query', 'queries')} to {out}")
