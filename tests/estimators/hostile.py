"""Run by `test_fitted.py` in a process of its own: loads hostile copies of models, prints what it accepts."""

import sys
from pathlib import Path

import numpy as np

from structhash import load_model
from structhash.io import container

RNG = np.random.default_rng(0)


def changed_arrays(array):
    """What is wrong, and the array with that."""
    yield "one dimension more", array[None]
    if array.size and array.ndim:
        yield "one dimension less", array[0]
    yield "another kind of number", array.astype(np.float64 if array.dtype.kind in "bi" else np.int64)
    yield "unsigned", np.abs(np.nan_to_num(array, posinf=1)).astype(np.uint8)
    if array.dtype.kind == "f" and array.size:
        yield "NaN", np.full_like(array, np.nan)
        one = array.copy()
        one.reshape(-1)[-1] = np.nan
        yield "one NaN", one
        yield "infinity, with a NaN", np.where(one == one, np.inf, one).astype(array.dtype)
    if array.dtype.kind == "i":
        for number in (np.iinfo(array.dtype).min, -2):
            one = array.copy()
            one.reshape(-1)[-1] = number
            yield f"number {number}", one


def resized_arrays(array):
    """The array with another size along each axis."""
    for axis in range(array.ndim):
        yield np.concatenate([array, array], axis=axis)
        yield np.take(array, range(max(0, array.shape[axis] - 1)), axis=axis)
        yield np.take(array, [], axis=axis)


def load(path, arrays, header):
    """The model with this content, or None where it is refused with a ValueError."""
    container.save(path, arrays, header, "model")
    try:
        return load_model(path)
    except ValueError as error:
        if str(path) not in str(error):
            print("no path in:", error)
        return None


def check(path):
    """Print each hostile copy of a model that is accepted and gives other codes than the model."""
    model, (arrays, header) = load_model(path), container.load(path, "model")
    rows = RNG.normal(size=(7, model.n_features_in_)).astype(np.float32)
    codes, copy = model.encode(rows), path.with_suffix(".hostile")
    for name, array in arrays.items():
        for what, changed in changed_arrays(array):
            if load(copy, {**arrays, name: changed}, header) is not None:
                print(path.name, name, what)
        places = name.endswith(("feature", "axis_"))
        for number in (model.n_features_in_, np.iinfo(array.dtype).max) if places else ():
            one = array.copy()
            one.reshape(-1)[0] = number
            if load(copy, {**arrays, name: one}, header) is not None:
                print(path.name, name, number)
        for changed in resized_arrays(array):
            found = load(copy, {**arrays, name: changed}, header)
            if found is not None and not np.array_equal(found.encode(rows), codes):
                print(path.name, name, "of shape", changed.shape)
        less = {key: each for key, each in arrays.items() if key != name}
        # a manifold without a matrix is one without labels; a model without lengths only judges no unit
        optional = name.endswith(("embedding_state/matrix", "row_lengths_"))
        if load(copy, less, {**header, "arrays": sorted(less)}) is not None and not optional:
            print(path.name, name, "missing")
    weights = {**arrays, "weights_": -1 - arrays["weights_"]}
    if load(copy, weights, header) is not None:
        print(path.name, "negative weights")
    for name, value in header["fitted"].items():
        for changed in (None, "text", -1, 0.5, [0], {}):
            wrong = {**header, "fitted": {**header["fitted"], name: changed}}
            if type(changed) is not type(value) and load(copy, arrays, wrong) is not None:
                print(path.name, name, changed)
    for name in ("encode", "n_features_out_", "search_weights_", "__class__", "surprise_"):
        wrong = {**header, "fitted": {**header["fitted"], name: 1}}
        if load(copy, arrays, wrong) is not None:
            print(path.name, "has", name)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        check(Path(each))
        print("checked", each, file=sys.stderr)  # where a crash comes from
