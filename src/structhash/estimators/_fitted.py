"""The fitted attributes of an estimator, as they come from a file: all declared, and as declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structhash._numerics.validation import describe
from structhash.estimators.contract import EncoderContract
from structhash.io.fields import Field, check_fields

_COMMON = (
    Field("n_bits_", kind="int", least=1),
    Field("n_features_in_", kind="int", least=1),
    Field("feature_names_in_", ("n_features",), "names", optional=True),
    Field("column_names_", ("n_features",), "names", optional=True),
    Field("weights_", ("n_bits",), least=0),
    Field("history_", ("n_records",), "records"),
    Field("row_lengths_", ("two",), least=0, optional=True),
    Field("reader_recalls_", ("two",), least=0, most=1, optional=True),
)  # what every estimator has


def check_attributes(encoder: type[EncoderContract], values: Mapping[str, Any]) -> None:
    """ValueError unless these are the fitted attributes of a class: what all have, and its `fitted_fields`.

    A class without a declaration may have any attributes whose names no method or property has.
    """
    sizes: dict[str, int] = {}
    for name, size in (("n_bits_", "n_bits"), ("n_features_in_", "n_features")):
        value = values.get(name)
        if type(value) is not int or value < 1:
            raise ValueError(f"{name}={describe(value)}: an integer of at least 1 is allowed")
        sizes[size] = value
    sizes |= {"n_bytes": -(-sizes["n_bits"] // 8), "n_values": 256, "two": 2}
    if encoder.fitted_fields is not None:
        check_fields((*_COMMON, *encoder.fitted_fields), values, sizes)
        return
    common = {field.name for field in _COMMON}
    check_fields(_COMMON, {name: value for name, value in values.items() if name in common}, sizes)
    own = {name: value for name, value in values.items() if name not in common}
    for name in own:
        attribute = name.partition("/")[0]
        taken = hasattr(encoder, attribute) and attribute not in vars(EncoderContract)
        if taken or not attribute.endswith("_") or attribute.startswith("_"):
            raise ValueError(f"it holds {name!r}, which is no fitted attribute of {encoder.__name__}")
    check_fields(None, own, sizes)
