"""Queries read by their real values, for every method."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import CGHash, DistilHash, StructHash, load_model
from structhash.codes import hamming, prepared_distances, unpack, weighted_hamming
from structhash.pieces import classes, names
from structhash.search import Exact
from structhash.training.row_bits import is_row_bit

X, Y = load_digits(return_X_y=True)
X, Y, Q = X[:300], Y[:300], X[300:340]
SMALL = {"n_bits": 12, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}
OURS = {
    "structhash": StructHash(**SMALL, **FEW),
    "structhash stumps": StructHash(**SMALL, **FEW, family="stump"),
    "cghash rbf": CGHash(**SMALL, **FEW, family="rbf"),
    "cghash weighted": CGHash(**SMALL, **FEW),
    "distilhash": DistilHash(**SMALL),
    "distilhash with row bits": DistilHash(40, random_state=0),
    **{f"distilhash {name}": DistilHash(**SMALL, embedding=name) for name in names("embeddings")},
}
BASELINES = classes("baselines")
NO_VALUES = {
    "agh",
    "fast_hash",
    "mdsh",
    "one_hot",
    "predicted_class",
    "predicted_labels",
    "sh",
    "spher",
    "tsh",
}  # their bits are no signs of values


def fitted(encoder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            encoder.fit(X)
            if getattr(encoder, "embedding", "") in ("centered", "manifold")
            else encoder.fit(X, Y)
        )


def baseline(cls):
    known = {"n_bits": 8, "random_state": 0, "n_anchors": 60, "n_trees": 4, "max_iter": 2}
    allowed = cls().get_params()
    return cls(**{name: value for name, value in known.items() if name in allowed})


@pytest.fixture(scope="module", params=OURS)
def ours(request):
    return fitted(OURS[request.param])


def assert_reads_well(encoder, n_bits):
    """The signs of the values are the bits of the queries, and the formula holds."""
    prepared = encoder.prepare_queries(Q, n_bits, reader="real")
    bits = unpack(encoder.encode_queries(Q, n_bits), n_bits).astype(bool)
    x = prepared.values
    assert np.mean((x < 0) == bits) > 0.995  # a value near 0 may be of either sign, by rounding
    np.testing.assert_allclose(prepared.base, np.where(x < 0, -x.astype(float), 0).sum(axis=1))
    if encoder.search_weights_ is None:
        np.testing.assert_allclose(np.abs(x).mean(axis=1), 1, rtol=1e-5)


@pytest.mark.slow
def test_every_method_of_ours_reads_real_values(ours):
    for n_bits in (1, 7, ours.n_bits_):
        assert_reads_well(ours, n_bits)


@pytest.mark.slow
def test_bits_are_the_distances_that_search_has_anyway(ours):
    n_bits = ours.n_bits_
    codes, queries, weights = ours.encode(X), ours.encode_queries(Q), ours.search_weights_
    found = prepared_distances(ours.prepare_queries(Q, reader="bits"), codes)
    plain = hamming(queries, codes) if weights is None else weighted_hamming(queries, codes, weights)
    np.testing.assert_allclose(found, plain, rtol=1e-5, atol=1e-5)
    if weights is None:
        index = Exact(n_bits)
        index.add(codes)
        for mine, theirs in zip(
            index.search(ours.prepare_queries(Q, reader="bits"), 9), index.search(queries, 9)
        ):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name, each in BASELINES.items() if each.codes_are_bits))
def test_every_peer_reads_real_values_or_says_that_it_has_none(name):
    encoder = fitted(baseline(classes("baselines")[name]))
    if name in NO_VALUES:
        with pytest.raises(ValueError, match="are no signs of real values; give reader='bits'"):
            encoder.prepare_queries(Q, reader="real")
        n_bits = encoder.n_bits_
        bits = unpack(encoder.encode_queries(Q), n_bits)
        np.testing.assert_array_equal(encoder.prepare_queries(Q).values < 0, bits)
        assert encoder.prepare_queries(Q, n_bits - 1).n_bits == n_bits - 1
    else:
        assert_reads_well(encoder, encoder.n_bits_)


def test_row_bits_and_class_bits_have_one_unit():
    encoder = fitted(DistilHash(40, random_state=0))
    of_row = is_row_bit(40)
    assert of_row.sum() == 3
    size = np.abs(encoder.prepare_queries(Q, reader="real").values)
    for kind in (of_row, ~of_row):
        np.testing.assert_allclose(size[:, kind].mean(axis=1), 1, rtol=1e-5)


def test_values_of_planes_are_distances_to_them():
    encoder = fitted(DistilHash(**SMALL, embedding="centered"))
    planes = encoder.hash_function_.planes()
    z = (Q - planes.center) @ planes.normals.T - planes.thresholds
    np.testing.assert_allclose(np.linalg.norm(planes.normals, axis=1), 1)
    expected = -z / np.abs(z).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(encoder.prepare_queries(Q).values, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_the_temperature_of_queries_counts():
    encoder = fitted(DistilHash(**SMALL, embedding="posterior"))
    function = encoder.hash_function_
    sharp = [n for n in range(1, 13) if encoder.queries_differ(n)]
    assert sharp
    for n_bits in sharp:
        z = function.query_scores(Q, n_bits)[:, :n_bits]
        expected = -z / np.abs(z).mean(axis=1, keepdims=True)
        found = encoder.prepare_queries(Q, n_bits, reader="real").values
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_weights_are_those_of_the_prefix():
    encoder = CGHash(**SMALL, **FEW, schedule="totally_corrective").fit(X, Y)
    assert encoder.search_weights_ is not None
    plain = np.abs(encoder.hash_function_.values(Q.astype(float))[:, :5])
    plain /= plain.mean(axis=1, keepdims=True)
    found = encoder.prepare_queries(Q, 5, reader="real").values
    np.testing.assert_allclose(np.abs(found), plain * encoder.weights_at(5), rtol=1e-4, atol=1e-6)


def test_the_default_is_real_values_without_labels_and_bits_with_them():
    without, with_labels = DistilHash(8, random_state=0).fit(X), DistilHash(8, random_state=0).fit(X, Y)
    assert (without.default_reader(), with_labels.default_reader()) == ("real", "bits")
    real = without.prepare_queries(Q, reader="real")
    np.testing.assert_array_equal(without.prepare_queries(Q).values, real.values)
    assert with_labels.prepare_queries(Q).codes() is not None
    assert classes("baselines")["itq"]().default_reader() == "real"
    assert classes("baselines")["sdh"]().default_reader() == "bits"
    assert StructHash(2, **FEW, random_state=0).fit(X, Y).default_reader() == "bits"


def test_a_loaded_model_reads_alike(tmp_path):
    encoder = DistilHash(8, random_state=0).fit(X)
    encoder.save(tmp_path / "m")
    mine, theirs = (each.prepare_queries(Q) for each in (encoder, load_model(tmp_path / "m")))
    np.testing.assert_array_equal(mine.values, theirs.values)
    np.testing.assert_array_equal(mine.base, theirs.base)


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        (Q, {"reader": "reel"}, "reader='reel': give one of auto, bits, real"),
        (Q, {"reader": None}, "reader=None: give one of auto"),
        (Q, {"n_bits": 9}, "n_bits=9: this model has 8 bits"),
        (Q[:, :3], {}, "X has 3 features"),
        (np.full_like(Q, np.nan), {}, "NaN"),
        (np.full_like(Q, np.nan), {"reader": "bits"}, "NaN"),
    ],
)
def test_what_cannot_be_read_is_refused(given, settings, message):
    encoder = DistilHash(8, random_state=0).fit(X)
    with pytest.raises(ValueError, match=message):
        encoder.prepare_queries(given, **settings)


def test_no_queries():
    encoder = DistilHash(8, random_state=0).fit(X)
    for reader in ("real", "bits"):
        assert len(encoder.prepare_queries(Q[:0], reader=reader)) == 0
