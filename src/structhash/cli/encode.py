"""``structhash encode``: packed codes of the rows, or of the queries, of a data file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from structhash.cli.display import print_facts
from structhash.cli.inputs import Choices, check_columns
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.io import read_rows, save_codes, suffixes

__all__ = ["encode"]


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
    save_codes(out, (code(block, bits) for block in rows.blocks), n_rows, n_bits, encoder.fingerprint())
    facts = {"rows": n_rows, "bits": n_bits, "bytes": n_rows * n_bytes}
    print_facts({**facts, "coded as": "queries" if as_queries else "rows", "file": str(out)}, as_json)
