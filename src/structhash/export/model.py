"""What an exported file holds: constants, steps, and facts about the model."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structhash._numerics.program import Program
from structhash._numerics.validation import check_count
from structhash.codes import unpack
from structhash.estimators.base import HashEncoder
from structhash.export.encoder import Encoder

__all__ = ["MAX_ROUNDED_VALUE", "Exported", "export_model", "npz_bytes"]

MAX_ROUNDED_VALUE = 1e-6  # of the mean size of a row's values; a bit of a smaller value may differ
_N_PROBES = 32


class Exported(NamedTuple):
    """A model as steps.

    Attributes
    ----------
    about : dict
        Facts for JSON: ``n_features``, ``n_bits``, ``bit_order``, ``fingerprint``, ``class``,
        ``queries_differ``, ``weights`` (a number a bit, or None), and ``steps`` to the ``values`` and to the
        ``query_values``.
    arrays : dict of str to array
        Constants, float32 or float64.
    """

    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def export_model(encoder: HashEncoder, n_bits: int | None = None) -> Exported:
    """Turn a fitted model into steps, and check these on drawn rows.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    n_bits : int, optional
        Length of the codes; all bits by default. Codes of rows are prefixes of longer ones. Codes of queries
        are too, unless the model codes queries differently for each length.

    Returns
    -------
    Exported

    Raises
    ------
    ValueError
        If a part of the model has no such steps, or they give other codes than `encode`.
    """
    check_is_fitted(encoder)
    if n_bits is None:
        n_bits = encoder.n_bits_
    check_count("n_bits", n_bits, most=encoder.n_bits_)
    program, weights = Program(), encoder.search_weights_
    names = {"values": encoder.express(program, "X"), "query_values": encoder.express(program, "X", n_bits)}
    about = {
        "n_features": int(encoder.n_features_in_),
        "n_bits": int(n_bits),
        "bit_order": "little",
        "class": type(encoder).__name__,
        "fingerprint": encoder.fingerprint(),
        "queries_differ": bool(encoder.queries_differ(n_bits)),
        "weights": None if weights is None else encoder.weights_at(n_bits).tolist(),
        "steps": {output: program.steps_to(name) for output, name in names.items()},
    }
    exported = Exported(about, program.arrays)
    _check(encoder, exported)
    return exported


def npz_bytes(exported: Exported) -> bytes:
    """A .npz file of the constants, and of the facts as JSON text in an array ``about``; for `Encoder`."""
    buffer, arrays = BytesIO(), dict(exported.arrays)
    np.savez(buffer, allow_pickle=False, about=np.array(json.dumps(exported.about)), **arrays)
    return buffer.getvalue()


def _check(encoder: HashEncoder, exported: Exported) -> None:
    """ValueError if drawn rows and queries get other codes, apart from rounding."""
    width, n_bits, rng = exported.about["n_features"], exported.about["n_bits"], np.random.default_rng(0)
    centers = [np.zeros(width), *(each for each in exported.arrays.values() if each.shape == (width,))][:3]
    rows = np.concatenate(
        [center + size * rng.normal(size=(_N_PROBES, width)) for center in centers for size in (0.1, 1.0, 10.0)]
    ).astype(np.float32)
    own = Encoder(BytesIO(npz_bytes(exported)))
    for queries in (False, True):
        values = own.values(rows, queries)
        codes = encoder._encode_opened(rows, n_bits, queries and encoder.queries_differ(n_bits))
        differ = (values > 0) != unpack(codes, n_bits)
        if (np.abs(values) > MAX_ROUNDED_VALUE * np.abs(values).mean(axis=1, keepdims=True))[differ].any():
            raise ValueError(
                f"{type(encoder).__name__} cannot be exported: a part of it overrides how rows are encoded, "
                "but not `express`; give it an `express` of its own"
            )
