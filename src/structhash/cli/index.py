"""``structhash index``: an index of packed codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from structhash.cli.display import print_facts
from structhash.cli.outputs import check_output
from structhash.estimators.base import HashEncoder
from structhash.estimators.loading import load_model
from structhash.io import map_array, read_codes, suffixes
from structhash.pieces import classes
from structhash.search import Index

__all__ = ["index"]


def index(
    codes: Path,
    out: Path,
    *,
    bits: int | None,
    backend: str,
    ids: Path | None,
    model: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Put codes into an index and save it.

    Parameters
    ----------
    codes : path
        A .npy file of packed codes.
    out : path
        The index file to write.
    bits : int or None
        Length of the codes; None for that of the model, or 8 a byte.
    backend : str
        Name of an index.
    ids : path or None
        A .npy file of ids; None for row numbers.
    model : path or None
        The model that made the codes. It gives their length and, where it weighs its bits, the weights.
    force : bool
        Whether `out` may replace a file of another kind.
    as_json : bool
        Whether to report as JSON.

    Raises
    ------
    ValueError
        If there is no such index, or it cannot weigh bits as the model does.
    """
    check_output(out, codes, ids, model, makes="index", force=force, refused=suffixes())
    known: dict[str, type[Index]] = classes("indexes")
    if backend not in known:
        raise ValueError(f"--backend {backend!r}: give one of {', '.join(known)}")
    table = read_codes(codes)
    encoder = None if model is None else load_model(model)
    n_bits = bits or (8 * table.shape[1] if encoder is None else encoder.n_bits_)
    if encoder is None or encoder.search_weights_ is None:
        made = known[backend](n_bits)
    elif known[backend].takes_weights:
        made = known[backend](n_bits, encoder.weights_at(n_bits))
    else:
        able = ", ".join(name for name, each in known.items() if each.takes_weights)
        raise ValueError(
            f"{model} weighs its bits, which {backend} cannot; use --backend {able}, or give --bits and no "
            "--model"
        )
    made.source = _fingerprint(encoder)
    made.add(table, None if ids is None else np.asarray(map_array(ids)))
    made.save(out)
    facts = {"codes": len(made), "bits": n_bits, "backend": backend, "weighted": made.weights is not None}
    print_facts({**facts, "file": str(out)}, as_json)


def _fingerprint(encoder: HashEncoder | None) -> str | None:
    """The facts that an index file stores about the model that made its codes."""
    return None if encoder is None else encoder.fingerprint()
