"""Models as files: the class, its settings and its fitted state in one container."""

from __future__ import annotations

import json
import numbers
from os import PathLike
from typing import Any

import numpy as np

from structhash._numerics.validation import describe
from structhash.io import container
from structhash.pieces import KINDS, classes, spell

MODEL = "model"  # the kind of container


def write_model(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model; see `HashEncoder.save`."""
    arrays, plain = model._to_arrays()
    settings = model.get_params(deep=False)
    if "random_state" in settings and not isinstance(settings["random_state"], numbers.Integral):
        settings["random_state"] = None  # a generator's state is not a setting
    settings = {name: _setting(name, value) for name, value in settings.items()}
    header = {"class": type(model).__name__, "params": settings, "fitted": plain, "arrays": sorted(arrays)}
    container.save(path, arrays, json.loads(json.dumps(header, default=_number)), MODEL)


def _setting(name: str, value: Any) -> Any:
    """A setting as a JSON value from which it can be restored."""
    if type(value) in {piece for kind in KINDS for piece in classes(kind).values()}:
        return spell(value)
    try:
        return json.loads(json.dumps(value, default=_number))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={describe(value)} cannot be saved: no name of `structhash.pieces.names` refers to it; "
            "put its class into the folder of its kind"
        ) from None


def _number(value: Any) -> Any:
    """JSON for numpy scalars."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is not a JSON value")
