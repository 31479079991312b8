"""Models from files."""

from __future__ import annotations

from os import PathLike

from structhash.estimators._model_file import MODEL, NOT_WHOLE, restore_model
from structhash.estimators.additivehash import AdditiveHash
from structhash.estimators.base import HashEncoder
from structhash.estimators.cghash import CGHash
from structhash.estimators.distilhash import DistilHash
from structhash.estimators.structhash import StructHash
from structhash.io import container
from structhash.pieces import classes

__all__ = ["ESTIMATORS", "load_model"]

ESTIMATORS: dict[str, type[HashEncoder]] = {
    "distilhash": DistilHash,
    "structhash": StructHash,
    "cghash": CGHash,
    "additivehash": AdditiveHash,
}  # by the name that method specs call them


def load_model(path: str | PathLike[str]) -> HashEncoder:
    """Open what `HashEncoder.save` wrote: a fitted estimator of the class that was saved.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, damaged, or not a model.
    """
    arrays, header = container.load(path, MODEL)
    known = {each.__name__: each for each in (*ESTIMATORS.values(), *classes("baselines").values())}
    try:
        model: HashEncoder = restore_model(known[header["class"]], arrays, header)
    except NOT_WHOLE as error:
        raise ValueError(f"{path}: not a whole structhash model ({error!r}); fit and save it again") from error
    return model
