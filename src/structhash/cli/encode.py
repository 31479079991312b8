"""``structhash encode``: packed codes of the rows, or of the queries, of a data file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import BLOCK_ROWS, row_slices
from structhash.cli.display import bar, print_facts
from structhash.cli.inputs import Choices, check_columns
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.io import read_rows, save_codes, suffixes

__all__ = ["ROWS_AT_ONCE", "coded", "encode"]

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
        The file to write: a bare array if its name ends in .npy, else one that names the model.
    bits : int or None
        Length of the codes; None for all bits of the model.
    as_queries : bool
        Whether to encode queries: Q of the data, or X where there is no Q. Rows of X are encoded otherwise.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    check_output(out, model, data, makes="codes", force=force, refused=tuple({*suffixes()} - {".npy"}))
    encoder = load_model(model)
    rows = read_rows(data, as_queries, features=encoder.column_names_, **choices)
    check_columns(rows.names, data, encoder.column_names_, "the model")
    n_rows, n_columns = rows.shape
    code = encoder.encode_queries if as_queries else encoder.encode
    n_bytes = code(np.zeros((1, n_columns), np.float32), bits).shape[1]  # also checks columns and bits
    n_bits = bits or encoder.n_bits_
    coded_as = "queries" if as_queries else "rows"
    with bar("encode", n_rows, coded_as, ROWS_AT_ONCE) as advance:
        save_codes(
            out,
            coded(code, rows.blocks, bits, advance),
            n_rows,
            n_bits,
            encoder.fingerprint(),
            coded_as=coded_as,
            queries_differ=encoder.queries_differ(n_bits),
            weighted=encoder.search_weights_ is not None,
            force=force,
        )
    facts = {"rows": n_rows, "bits": n_bits, "bytes": n_rows * n_bytes}
    print_facts({**facts, "coded as": coded_as, "file": str(out)}, as_json)


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
