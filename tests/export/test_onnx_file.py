"""ONNX under onnxruntime: the codes of `encode`, apart from bits of values that rounding moves over 0.

`MAX_ROUNDED_VALUE`, the tolerance, is 1e-6 of the mean size of a row's values; and fewer than 1 in 10,000 bits
may be within it and differ.
"""

import json
import sys
from io import BytesIO

import numpy as np
import pytest

from structhash.export import export_model
from structhash.export.encoder import Encoder
from structhash.export.model import npz_bytes
from structhash.export.onnx_file import onnx_bytes

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
NAMES = [
    "posterior",
    "centered",
    "metric",
    "class_directions",
    "manifold",
    "mixture",
    "mixture_of_few",
    "multilabel",
    "linear",
    "rbf",
    "stump",
    "tree",
]


def session_of(exported):
    return runtime.InferenceSession(onnx_bytes(exported))


def outputs_of(session, X):
    return dict(zip((each.name for each in session.get_outputs()), session.run(None, {"X": X}), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "posterior_of_trees", "itq", "lsh"])
def test_codes_and_values_are_those_of_the_model(model_of, rows, assert_same_codes, name):
    model = model_of(name)
    found = outputs_of(session_of(export_model(model)), rows)
    assert_same_codes(model, found["codes"], rows)
    assert_same_codes(model, found["query_codes"], rows, queries=True)
    np.testing.assert_allclose(found["values"], model._values(rows.astype(float)), rtol=1e-5, atol=1e-5)
    assert found["query_values"].dtype == np.float32


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("name", ["banking77_minilm", "cifar10_gist512", "mnist"])
def test_ten_thousand_rows_of_real_data(real_model_of, assert_same_codes, name, labelled):
    model, rows = real_model_of(name, labelled)
    exported = export_model(model)
    found, alone = outputs_of(session_of(exported), rows), Encoder(BytesIO(npz_bytes(exported)))
    for queries, codes in ((False, "codes"), (True, "query_codes")):
        assert assert_same_codes(model, found[codes], rows, queries) <= 1e-4
        assert assert_same_codes(model, alone.encode(rows, queries), rows, queries) <= 1e-4


def test_shapes_and_metadata(model_of):
    exported = export_model(model_of("posterior"), 9)
    session = session_of(exported)
    (given,) = session.get_inputs()
    assert (given.name, given.type, given.shape) == ("X", "tensor(float)", ["n", 64])
    assert [(each.name, each.type, each.shape) for each in session.get_outputs()] == [
        ("values", "tensor(float)", ["n", 9]),
        ("codes", "tensor(uint8)", ["n", 2]),
        ("query_values", "tensor(float)", ["n", 9]),
        ("query_codes", "tensor(uint8)", ["n", 2]),
    ]
    facts = session.get_modelmeta().custom_metadata_map
    assert facts["fingerprint"] == model_of("posterior").fingerprint()
    assert facts["bit_order"] == "little"
    assert (json.loads(facts["n_bits"]), json.loads(facts["queries_differ"])) == (9, True)


def test_a_row_has_its_code_alone_and_no_rows_have_none(model_of, rows):
    session = session_of(export_model(model_of("posterior")))
    together = outputs_of(session, rows[:5])["codes"]
    np.testing.assert_array_equal(outputs_of(session, rows[3:4])["codes"], together[3:4])
    assert outputs_of(session, rows[:0])["codes"].shape == (0, 4)


def test_a_row_that_is_not_finite_has_values_that_say_so(model_of, rows):
    spoiled = rows[:2].copy()
    spoiled[1, 5] = np.nan
    for name in ("posterior", "centered"):
        values = outputs_of(session_of(export_model(model_of(name))), spoiled)["values"]
        assert np.isfinite(values).all(axis=1).tolist() == [True, False]


def test_without_onnx_the_extra_is_named(model_of, monkeypatch):
    exported = export_model(model_of("centered"))
    monkeypatch.setitem(sys.modules, "onnx", None)
    message = r"the format onnx needs onnx, which is not installed; pip install structhash\[onnx\]"
    with pytest.raises(ImportError, match=message):
        onnx_bytes(exported)
