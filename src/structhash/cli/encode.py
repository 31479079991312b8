"""``structhash encode``: packed codes of the rows, or of the queries, of a data file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import BLOCK_ROWS, row_slices
from structhash.cli.console import say
from structhash.cli.display import bar, print_facts
from structhash.cli.inputs import Choices, check_columns
from structhash.cli.outputs import check_output
from structhash.estimators.base import HashEncoder
from structhash.estimators.loading import load_model
from structhash.io import CODE_SUFFIXES, Rows, read_rows, save_codes, suffixes

__all__ = ["ROWS_AT_ONCE", "coded", "encode", "write_codes"]

ROWS_AT_ONCE = 4 * BLOCK_ROWS  # a step of the progress bar; multiples of BLOCK_ROWS do not change codes


def encode(
    model: Path,
    data: Path,
    out: Path,
    *,
    bits: int | None,
    as_queries: bool,
    force: bool,
    as_json: bool,
    choices: Choices,
) -> None:
    """Write packed codes, a block of rows at a time.

    Parameters
    ----------
    model : path
        A model file.
    data : path
        A data file.
    out : path
        The file to write: a bare array if its name ends in .npy, else one that names the model and keeps ids.
    bits : int or None
        Length of the codes; None for all bits of the model.
    as_queries : bool
        Whether to encode queries: Q of the data, or X where there is no Q. Rows of X are encoded otherwise.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    check_output(out, model, data, makes="codes", force=force, refused=tuple({*suffixes()} - {*CODE_SUFFIXES}))
    encoder = load_model(model)
    rows = read_rows(data, as_queries, features=encoder.column_names_, **choices)
    check_columns(rows.names, data, encoder.column_names_, "the model")
    n_bits = write_codes(encoder, rows, out, bits, as_queries, force)
    n_rows = rows.shape[0]
    facts: dict[str, Any] = {"rows": n_rows, "bits": n_bits, "bytes": n_rows * -(-n_bits // 8)}
    if rows.ids is not None and out.suffix.lower() == ".npy":
        say(
            "warning",
            f"{out} is a bare array, which keeps no ids: give a name that ends in .parquet to keep them",
        )
    elif rows.ids is not None:
        facts["ids"] = rows.ids.name
    print_facts({**facts, "coded as": _word(as_queries), "file": str(out)}, as_json)


def write_codes(
    encoder: HashEncoder, rows: Rows, out: Path, bits: int | None, as_queries: bool, force: bool
) -> int:
    """Encode rows into a file of codes, which keeps their ids.

    Parameters
    ----------
    encoder : HashEncoder
    rows : Rows
    out : path
    bits : int or None
        Length of the codes; None for all bits of the model.
    as_queries, force : bool
        As of `encode`.

    Returns
    -------
    int
        Length of the codes.
    """
    n_rows, n_columns = rows.shape
    code = encoder.encode_queries if as_queries else encoder.encode
    code(np.zeros((1, n_columns), np.float32), bits)  # checks columns and bits
    n_bits = bits or encoder.n_bits_
    with bar("encode", n_rows, _word(as_queries), ROWS_AT_ONCE) as advance:
        save_codes(
            out,
            coded(code, rows.blocks, bits, advance),
            n_rows,
            n_bits,
            encoder.fingerprint(),
            coded_as=_word(as_queries),
            queries_differ=encoder.queries_differ(n_bits),
            weighted=encoder.search_weights_ is not None,
            ids=rows.ids,
            force=force,
        )
    return n_bits


def _word(as_queries: bool) -> str:
    """What is encoded."""
    return "queries" if as_queries else "rows"


def coded(
    code: Callable[[NDArray[Any], int | None], NDArray[np.uint8]],
    blocks: Iterable[NDArray[Any]],
    bits: int | None,
    advance: Callable[[int], None],
) -> Iterator[NDArray[np.uint8]]:
    """Encode blocks of rows, and report progress.

    Parameters
    ----------
    code : callable
        `HashEncoder.encode` or `HashEncoder.encode_queries`.
    blocks : iterable of ndarray (b, d)
    bits : int or None
        Length of the codes; None for all bits of the model.
    advance : callable
        Called with the number of rows after each step.

    Yields
    ------
    uint8 array (m, n_bytes)
        Codes, in the order of the rows.
    """
    for block in blocks:
        for part in row_slices(len(block), ROWS_AT_ONCE):
            yield code(block[part], bits)
            advance(part.stop - part.start)
