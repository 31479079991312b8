"""``structhash encode``: packed codes of the rows, or of the queries, of a data file."""

from __future__ import annotations

from pathlib import Path

from structhash.cli.display import print_facts
from structhash.cli.inputs import read_for
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.io import write_npy

__all__ = ["encode"]


def encode(
    model: Path, data: Path, out: Path, *, bits: int | None, as_queries: bool, force: bool, as_json: bool
) -> None:
    """Write packed codes.

    Parameters
    ----------
    model : path
        A model file.
    data : path
        A data file.
    out : path
        The .npy file to write.
    bits : int or None
        Length of the codes; None for all bits of the model.
    as_queries : bool
        Whether to encode queries: Q of the data, or X where there is no Q. Rows of X are encoded otherwise.
    force : bool
        Whether `out` may replace a file of another kind.
    as_json : bool
        Whether to report as JSON.
    """
    check_output(out, model, data, makes="codes", force=force, suffix=".npy")
    encoder = load_model(model)
    dataset = read_for(encoder, data)
    if as_queries:
        codes = encoder.encode_queries(dataset.X if dataset.Q is None else dataset.Q, bits)
    else:
        codes = encoder.encode(dataset.X, bits)
    write_npy(out, codes)
    facts = {"rows": len(codes), "bits": bits or encoder.n_bits_, "bytes": codes.nbytes}
    print_facts({**facts, "coded as": "queries" if as_queries else "rows", "file": str(out)}, as_json)
