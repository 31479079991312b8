"""``structhash store``: codes in databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structhash.cli.display import print_facts
from structhash.cli.inputs import Choices
from structhash.cli.search import nearest_hits, print_answer, query_codes
from structhash.pieces import classes, snake
from structhash.search import Exact, load_index
from structhash.stores import Store

__all__ = ["export", "search"]


def export(index: Path, to: str, *, table: str, replace: bool, append: bool = False, as_json: bool) -> None:
    """Put the codes of an index into a store.

    Parameters
    ----------
    index : path
        An index file.
    to : str
        Kind of the store, a colon, and its place.
    table : str
    replace, append, as_json : bool
        Whether to replace a table that an export made, or to add to it; whether to report as JSON.

    Raises
    ------
    ValueError
        If there is no such kind, the index weighs its bits, or the table may not be made or does not fit.
    """
    if replace and append:
        raise ValueError("--replace and --append contradict each other; give one of them")
    store, opened = _store(to, table), load_index(index, mmap=True)
    if opened.weights is not None:
        raise ValueError(
            f"{index} weighs its bits, a store does not; make an index without --model, or search {index}"
        )
    codes, ids = opened.table()[0], opened.ids
    how: dict[str, Any] = {"source": opened.source, "codes_are_bits": opened.codes_are_bits}
    facts: dict[str, Any] = {"codes": len(opened)}
    if append:
        store.append(codes, opened.n_bits, ids, **how)
        facts = {"added": len(opened), "codes": store.info().ntotal}
    else:
        store.export(codes, opened.n_bits, ids, **how, replace=replace)
    facts |= {"bits": opened.n_bits, "ids": opened.id_kind}
    facts |= {"store": snake(type(store).__name__), "table": table}
    print_facts(facts, as_json)


def search(
    place: str,
    queries: Path,
    *,
    k: int,
    model: Path | None,
    reader: str,
    table: str,
    choices: Choices | None,
    as_json: bool,
) -> None:
    """Find the nearest codes of queries in a store, and print them.

    Parameters
    ----------
    place : str
        Kind of the store, a colon, and its place.
    queries : path
        A file of codes; with a model, a data file of vectors.
    k : int
    model : path or None
        The model that encodes the queries.
    reader : str
        How vectors are read, as in `structhash.cli.search.search`.
    table : str
    choices : dict or None
        How a data file of queries is read.
    as_json : bool

    Raises
    ------
    ValueError
        If there is no such store, or the model or the queries do not fit it.
    """
    store = _store(place, table)
    about = store.info()
    like = Exact(about.n_bits)
    like.source, like.codes_are_bits = about.source, about.codes_are_bits
    given = query_codes(queries, model, f"table {table}", like, choices, reader)
    k = min(k, max(1, about.ntotal))
    hits, _ = nearest_hits([store.search(given.codes, k)])
    print_answer({"bits": about.n_bits, "k": k}, hits, given, None, as_json)


def _store(text: str, table: str) -> Store:
    """The store that a text such as duckdb:codes.db names."""
    known, (kind, colon, place) = classes("stores"), text.partition(":")
    if kind not in known or not colon or place.startswith("//"):
        given = f"{kind}://" if place.startswith("//") else kind  # the rest may hold a password
        raise ValueError(
            f"{given!r} is no store; give one of {', '.join(known)}, a colon and its place: duckdb:codes.db, "
            "postgres:postgresql://me@host/base"
        )
    found: Store = known[kind](place, table)
    return found
