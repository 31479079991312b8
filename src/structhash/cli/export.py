"""``structhash export``: a model as a file that encodes without structhash."""

from __future__ import annotations

from pathlib import Path

from structhash.cli.display import print_facts
from structhash.cli.outputs import check_output
from structhash.estimators.loading import load_model
from structhash.export import ENCODERS, export_model, write_export

__all__ = ["export"]


def export(model: Path, out: Path, *, to: str, bits: int | None, force: bool, as_json: bool) -> None:
    """Write a model in a format, and say what reads it.

    Parameters
    ----------
    model : path
        A model file.
    out : path
        The file to write.
    to : str
        One of `structhash.export.FORMATS`.
    bits : int or None
        Length of the codes; None for all bits of the model.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    """
    check_output(out, model, makes="export", force=force)
    exported = export_model(load_model(model), bits)
    write_export(exported, out, to)
    about = exported.about
    facts = {name: about[name] for name in ("class", "fingerprint")}
    facts |= {
        "bits": about["n_bits"],
        "features": about["n_features"],
        "queries differ": about["queries_differ"],
    }
    facts |= {"encoder": ENCODERS[to]} if to in ENCODERS else {}
    print_facts({**facts, "bytes": out.stat().st_size, "file": str(out)}, as_json)
