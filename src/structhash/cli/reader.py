"""``structhash reader``: fit how queries of a model are read."""

from __future__ import annotations

from pathlib import Path

from structhash.cli.display import print_facts, print_table
from structhash.cli.inputs import Choices, read_for
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.estimators.reader import fit_reader
from structhash.io import suffixes

__all__ = ["reader"]


def reader(
    model: Path,
    rows: Path,
    out: Path,
    *,
    name: str,
    bits: int | None,
    seed: int,
    force: bool,
    as_json: bool,
    choices: Choices | None = None,
) -> None:
    """Choose and fit a reader, write it, and report what each finds.

    Parameters
    ----------
    model : path
        A model file.
    rows : path
        A data file of rows like those in the index.
    out : path
        The file to write; ``structhash search --reader`` takes it.
    name : str
        As `fit_reader` takes it.
    bits : int or None
        Length of the codes in the index; None for all bits of the model.
    seed : int
        Draws rows.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to print JSON.
    choices : dict, optional
        How the data file is read: keywords of `structhash.io.read`.
    """
    check_output(out, model, rows, makes="reader", force=force, refused=suffixes())
    encoder = load_model(model)
    fitted = fit_reader(encoder, read_for(encoder, rows, choices).X, bits, name, seed)
    fitted.save(out, force)
    facts = {"reader": fitted.name, "bits": fitted.n_bits, "bytes": fitted.nbytes, "file": str(out)}
    if as_json:
        print_facts({**facts, "recalls": fitted.recalls}, as_json)
        return
    if fitted.recalls:
        print_table(("reader", "recall of the ten nearest"), sorted(fitted.recalls.items()))
        print()
    print_facts(facts, as_json)
