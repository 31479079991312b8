"""Models as steps, by the NumPy encoder: every embedding and family, refusals, and the check of an export."""

from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from structhash import DistilHash, StructHash, load_model
from structhash._numerics.program import Program
from structhash.embeddings.base import Embedding
from structhash.export import export_model
from structhash.export.encoder import Encoder
from structhash.export.model import npz_bytes
from structhash.families.base import Family
from structhash.families.rbf import RBF
from structhash.families.stump import Stump
from structhash.pieces import classes, load, names

LABELLED = [
    "posterior",
    "metric",
    "class_directions",
    "mixture",
    "mixture_of_few",
    "multilabel",
    "posterior_of_trees",
]
OTHERS = [
    "centered",
    "manifold",
    "linear",
    "rbf",
    "stump",
    "tree",
    "itq",
    "lsh",
    "weighted",
    "binary_quantization",
]


def encoder_of(model, n_bits=None):
    return Encoder(BytesIO(npz_bytes(export_model(model, n_bits))))


@pytest.mark.slow
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("name", [*LABELLED, *OTHERS])
def test_codes_are_those_of_the_model(model_of, rows, assert_same_codes, name, queries):
    model = model_of(name)
    assert_same_codes(model, encoder_of(model).encode(rows, queries), rows, queries)


def test_every_embedding_and_family_has_steps():
    for kind, contract in (("embeddings", Embedding), ("families", Family)):
        assert [name for name in names(kind) if classes(kind)[name].express is contract.express] == []


@pytest.mark.parametrize("n_bits", [1, 9, 17, 31])
def test_a_shorter_code_has_the_queries_of_its_length(model_of, rows, assert_same_codes, n_bits):
    model = model_of("posterior")
    short = encoder_of(model, n_bits)
    for queries in (False, True):
        assert_same_codes(model, short.encode(rows[:200], queries), rows[:200], queries, n_bits)
    long = encoder_of(model).encode(rows[:200])
    np.testing.assert_array_equal(
        np.unpackbits(short.encode(rows[:200]), axis=1, bitorder="little")[:, :n_bits],
        np.unpackbits(long, axis=1, bitorder="little")[:, :n_bits],
    )


def test_values_and_coefficients_are_those_of_the_real_reader(model_of, rows):
    for name in ("posterior", "centered", "weighted", "rbf"):
        model = model_of(name)
        found = encoder_of(model)
        np.testing.assert_allclose(
            found.values(rows[:50]), model._values(rows[:50].astype(float)), rtol=1e-5, atol=1e-5
        )
        prepared = model.prepare_queries(rows[:50], reader="real")
        np.testing.assert_allclose(found.coefficients(rows[:50]), prepared.values, rtol=1e-5, atol=1e-5)
    assert encoder_of(model_of("weighted")).about["weights"] is not None


def test_a_query_map_has_queries_of_its_own(model_of, rows, assert_same_codes, rng):
    from structhash.training.query_map import QueryMap, QueryMapped

    model = DistilHash(20, random_state=0).fit(rows[:300])
    turn = QueryMap(rng.normal(size=(64, 3)), rng.normal(size=3), rng.normal(size=(3, 64)))
    model.hash_function_ = QueryMapped(model.hash_function_, turn)
    found = encoder_of(model)
    for queries in (False, True):
        assert_same_codes(model, found.encode(rows[:300], queries), rows[:300], queries)
    assert (found.encode(rows[:300]) != found.encode(rows[:300], queries=True)).any()


def test_the_file_of_a_model_gives_the_same_export(model_of, tmp_path):
    model = model_of("posterior")
    model.save(tmp_path / "m")
    assert npz_bytes(export_model(load_model(tmp_path / "m"))) == npz_bytes(export_model(model))


def test_facts_name_the_model(model_of):
    model = model_of("posterior")
    about = export_model(model, 24).about
    del about["steps"]
    assert about == {
        "n_features": 64,
        "n_bits": 24,
        "bit_order": "little",
        "class": "DistilHash",
        "fingerprint": model.fingerprint(),
        "queries_differ": True,
        "weights": None,
    }


@pytest.mark.parametrize("name", ["agh:n_bits=8", "sh:n_bits=8", "spher:n_bits=8", "pq:n_bits=16"])
def test_bits_that_are_no_planes_of_a_baseline_are_refused(rows, name):
    model = load("baselines", name).fit(rows[:300])
    with pytest.raises(ValueError, match=f"the bits of {type(model).__name__} cannot be exported; encode with"):
        export_model(model)


def test_what_cannot_be_exported_is_refused(model_of):
    with pytest.raises(NotFittedError):
        export_model(DistilHash(8))
    for n_bits in (0, 33, True, 2.5):
        with pytest.raises(ValueError, match=r"n_bits=.*: give an integer of at least 1"):
            export_model(model_of("posterior"), n_bits)
    with pytest.raises(ValueError, match="the embedding Embedding cannot be exported; learn with another one"):
        Embedding().express(Program(), "X", 1.0, {})
    with pytest.raises(ValueError, match="bits of the family Family cannot be exported; learn another family"):
        Family().express(Program(), "X", {}, {})


@dataclass(frozen=True)
class Opposite(Stump):
    """Stumps that decide the other way; they inherit steps that are wrong for them."""

    def decide(self, Z, params):
        return -super().decide(Z, params)


@dataclass(frozen=True)
class Shifted(RBF):
    """Features that are moved; they inherit steps that are wrong for them."""

    def features(self, X, state):
        return super().features(X, state) + 0.05


@pytest.mark.parametrize(("family", "other"), [("stump", Opposite()), ("rbf:n_anchors=9", Shifted(9))])
def test_inherited_steps_that_are_wrong_are_refused(rows, family, other):
    model = StructHash(8, family=family, random_state=0).fit(rows[:100], load_digits()["target"][:100])
    export_model(model)
    model.hash_function_ = replace(model.hash_function_, family=other)
    with pytest.raises(ValueError, match="a part of it overrides how rows are encoded, but not `express`"):
        export_model(model)
