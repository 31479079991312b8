"""Models as files: the class, its settings and its fitted state in one container."""

from __future__ import annotations

import json
import numbers
import zlib
from os import PathLike
from typing import Any

import numpy as np

from structhash._numerics.validation import describe
from structhash.io import container
from structhash.io.container import Arrays, Header
from structhash.pieces import KINDS, classes, spell, spell_checked

MODEL = "model"  # the kind of container
NOT_WHOLE = (
    LookupError,
    ArithmeticError,
    TypeError,
    ValueError,
    AttributeError,
    MemoryError,
    RecursionError,
)  # what `restore_model` raises on content that is not a model


def write_model(model: Any, path: str | PathLike[str], force: bool) -> None:
    """Write a fitted model, after a check that it can be loaded; see `HashEncoder.save`."""
    kind = type(model)
    if kind not in classes("baselines").values() and not kind.__module__.startswith("structhash.estimators."):
        raise ValueError(
            f"{kind.__name__} cannot be saved: `load_model` does not know the class; put it into the folder of "
            "baselines, or save a model of its base class"
        )
    arrays, plain = model._to_arrays()
    settings = model.get_params(deep=False)
    if "random_state" in settings and not isinstance(settings["random_state"], numbers.Integral):
        settings["random_state"] = None  # a generator's state is not a setting
    settings = {name: _setting(name, value) for name, value in settings.items()}
    fitted = {name: _plain(name, value) for name, value in plain.items()}
    header = {"class": kind.__name__, "params": settings, "fitted": fitted, "arrays": sorted(arrays)}
    try:
        restore_model(kind, {name: np.asarray(array) for name, array in arrays.items()}, header)
    except NOT_WHOLE as error:
        raise ValueError(
            f"cannot write {path}: {kind.__name__} could not be loaded again ({error}); "
            "fit it again with the settings that it has now"
        ) from error
    container.save(path, arrays, header, MODEL, force)


def restore_model(encoder: type[Any], arrays: Arrays, header: Header) -> Any:
    """A fitted estimator of a class, of the content of a file.

    Parameters
    ----------
    encoder : class
    arrays : dict of str to array
    header : dict

    Returns
    -------
    HashEncoder

    Raises
    ------
    Exception
        One of `NOT_WHOLE`, if the content is not what the class stores.
    """
    model = encoder(**header["params"])
    if (known := sorted(model.get_params(deep=False))) != sorted(header["params"]):
        raise ValueError(f"it has the settings {sorted(header['params'])}, not {known}")
    model.check_settings()
    if sorted(arrays) != header["arrays"]:
        raise ValueError(f"it holds the arrays {sorted(arrays)}, not {header['arrays']}")
    model._store({}, model._from_arrays(arrays, header["fitted"]))
    with np.errstate(all="ignore"):
        model._try_row(np.zeros((1, model.n_features_in_), np.float32))  # fails if a part is missing
    return model


def checksum(model: Any) -> str:
    """A text that identifies what a model does; see `HashEncoder.fingerprint`."""
    arrays, plain = model._to_arrays()
    settings = {name: spell(value) for name, value in model.get_params(deep=False).items()}
    about_rows = ("column_names_", "feature_names_in_", "row_lengths_", "reader_recalls_")
    names = (*about_rows, "history_", "random_state", "n_jobs")
    arrays = {name: array for name, array in arrays.items() if name not in names}
    about = [
        type(model).__name__,
        {name: value for name, value in settings.items() if name not in names},
        {name: value for name, value in plain.items() if name not in names},
        {name: (np.asarray(array).dtype.str, np.shape(array)) for name, array in arrays.items()},
    ]
    total = zlib.crc32(json.dumps(about, sort_keys=True, default=_number_or_text).encode())
    for _, array in sorted(arrays.items()):
        total = zlib.crc32(np.ascontiguousarray(array).tobytes(), total)
    return f"{total:08x}"


def _setting(name: str, value: Any) -> Any:
    """A setting as a JSON value from which it can be restored."""
    for kind in KINDS:
        if type(value) in classes(kind).values():
            return spell_checked(kind, value)
    try:
        return json.loads(json.dumps(value, default=_number, allow_nan=False))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={describe(value)} cannot be saved: no name of `structhash.pieces.names` refers to it; "
            "put its class into the folder of its kind"
        ) from None


def _plain(name: str, value: Any) -> Any:
    """A fitted value as a JSON value."""
    try:
        return json.loads(json.dumps(value, default=_number, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} cannot be saved: {error}; use pieces of `structhash.pieces.names`, and labels that are "
            "numbers, strings or booleans"
        ) from None


def _number(value: Any) -> Any:
    """JSON for numpy scalars."""
    if isinstance(value, np.bool_ | np.number) and not isinstance(value, np.longdouble):
        return value.item()
    raise TypeError(f"it holds {describe(value)}, which has no text that could be read again")


def _number_or_text(value: Any) -> Any:
    """JSON for numpy scalars, and a text for other values."""
    return _number(value) if isinstance(value, np.bool_ | np.number) else repr(value)
