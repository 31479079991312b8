"""Models from files."""

from __future__ import annotations

from os import PathLike

import numpy as np

from structhash.estimators._model_file import MODEL
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
}  # by the name that method specs call them


def load_model(path: str | PathLike[str]) -> HashEncoder:
    """Open what `HashEncoder.save` wrote: a fitted estimator of the class that was saved.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, damaged, or not a model.
    """
    arrays, header = container.load(path, MODEL)
    every = (*ESTIMATORS.values(), *classes("baselines").values())
    known = {each.__name__: each for each in every}
    try:
        model: HashEncoder = known[header["class"]](**header["params"])
        if sorted(arrays) != header["arrays"]:
            raise ValueError(f"it holds the arrays {sorted(arrays)}, not {header['arrays']}")
        model._store({}, model._from_arrays(arrays, header["fitted"]))
        probe = np.zeros((1, model.n_features_in_), np.float32)
        model._encode_opened(probe, model.n_bits_)  # fails if a part is missing
        if model.weights_.shape != (model.n_bits_,):
            raise ValueError(f"it holds weights of shape {model.weights_.shape} for {model.n_bits_} bits")
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, MemoryError) as error:
        raise ValueError(f"{path}: not a whole structhash model ({error!r}); save it again") from error
    return model
