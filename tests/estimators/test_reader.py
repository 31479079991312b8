"""Fitted readers: what they compute, what they choose, and their files."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.codes import hamming, prepared_distances, unpack
from structhash.estimators import _decoders
from structhash.estimators.reader import Reader, fit_reader, load_reader
from structhash.io import container
from structhash.pieces import classes
from structhash.search import Exact

X, Y = load_digits(return_X_y=True)
X, Y, Q = X[:600], Y[:600], X[600:640]
READERS = ["bits", "real", "cells", "linear", "tables"]


@pytest.fixture(scope="module")
def encoder():
    return classes("baselines")["itq"](n_bits=20, random_state=0).fit(X)


def bits_of(encoder, rows, n_bits):
    return unpack(encoder.encode(rows, n_bits), n_bits).astype(float)


@pytest.mark.parametrize("n_bits", [20, 13])
def test_the_linear_decoder_is_a_ridge_regression(encoder, n_bits):
    reader = fit_reader(encoder, X, n_bits, "linear")
    scale = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    target = (X - X.mean(axis=0)) / scale
    B = bits_of(encoder, X, n_bits)
    # stationary: the gradient of the loss is zero
    left = target - reader.arrays["offset"] - B @ reader.arrays["vectors"].astype(float)
    np.testing.assert_allclose(B.T @ left, _decoders.RIDGE * reader.arrays["vectors"], atol=1e-3)
    np.testing.assert_allclose(left.sum(axis=0), 0, atol=1e-3)
    decoded = reader.arrays["offset"] + B @ reader.arrays["vectors"].astype(float)
    q = (Q - X.mean(axis=0)) / scale
    expected = ((q[:, None] - decoded[None]) ** 2).sum(axis=2)
    found = prepared_distances(reader.prepare(Q), encoder.encode(X, n_bits))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_a_reader_prints_what_was_chosen_and_no_arrays(encoder):
    reader = Reader(encoder, "cells", 20, {"cells": np.zeros((2, 20))}, {"cells": 0.5})
    assert repr(reader) == f"Reader(encoder={encoder!r}, name='cells', n_bits=20, recalls={{'cells': 0.5}})"


def test_tables_minimise_their_loss_ever_better_and_start_from_the_linear_decoder(encoder, monkeypatch):
    codes = encoder.encode(X)
    target = X - X.mean(axis=0)
    linear = _decoders.fit_linear(codes, 20, target)

    def loss(tables):
        values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        padded = np.zeros((24, 64))
        padded[:20] = linear.vectors
        start = np.stack([values @ part for part in padded.reshape(3, 8, 64)])
        left = target - tables.offset - sum(tables.vectors[j][codes[:, j]] for j in range(3))
        return (left**2).sum() + _decoders.SHRINKAGE * ((tables.vectors - start) ** 2).sum()

    losses = []
    for n_sweeps in (0, 1, 3, 60):
        monkeypatch.setattr(_decoders, "N_SWEEPS", n_sweeps)
        losses.append(loss(_decoders.fit_tables(codes, 20, target)))
    assert np.all(np.diff(losses) < 0)
    best = _decoders.fit_tables(codes, 20, target)
    rng = np.random.default_rng(0)
    for _ in range(5):  # no step away from the end lowers the loss
        step = 1e-3 * rng.normal(size=best.vectors.shape)
        assert loss(best._replace(vectors=best.vectors + step)) > loss(best)


def test_cells_are_means_of_values(encoder):
    reader = fit_reader(encoder, X, reader="cells")
    z, z_rows, B = (encoder._values(Q), encoder._values(X), bits_of(encoder, X, 20))
    expected = np.zeros((len(Q), len(X)))
    for j in range(20):
        means = np.array([z_rows[B[:, j] == b, j].mean() for b in (0, 1)])
        expected += (z[:, [j]] - means[B[:, j].astype(int)][None]) ** 2
    found = prepared_distances(reader.prepare(Q), encoder.encode(X))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_bits_and_real_are_those_of_the_encoder(encoder):
    codes = encoder.encode(X)
    bits = prepared_distances(fit_reader(encoder, X, reader="bits").prepare(Q), codes)
    np.testing.assert_array_equal(bits, hamming(encoder.encode_queries(Q), codes))
    real = fit_reader(encoder, X, reader="real").prepare(Q)
    np.testing.assert_array_equal(real.values, encoder.prepare_queries(Q, reader="real").values)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("n_bits", [20, 9])
def test_an_index_finds_what_the_distances_say(encoder, reader, n_bits):
    fitted = fit_reader(encoder, X, n_bits, reader)
    index, codes, queries = Exact(n_bits), encoder.encode(X, n_bits), fitted.prepare(Q)
    index.add(codes[:400])
    index.search(queries, 3)
    index.add(codes[400:])  # lengths of the first codes are known, the others are not
    distances = prepared_distances(queries, codes)
    order = np.lexsort([np.broadcast_to(np.arange(600), distances.shape), distances])[:, :30]
    for _ in range(2):
        near, ids = index.search(queries, 30)
        np.testing.assert_array_equal(ids, order)
        np.testing.assert_array_equal(near, np.take_along_axis(distances, order, 1))
    index.replace([0, 599], codes[[599, 0]])
    swapped = distances.copy()
    swapped[:, [0, 599]] = distances[:, [599, 0]]
    near, ids = index.search(queries, 1)
    np.testing.assert_array_equal(near[:, 0], swapped.min(axis=1))
    np.testing.assert_array_equal(ids[:, 0], swapped.argmin(axis=1))
    lims, near, ids = index.radius(queries, 0.9)
    for q in range(len(Q)):
        np.testing.assert_array_equal(
            np.sort(ids[lims[q] : lims[q + 1]]), np.flatnonzero(swapped[q] <= np.float32(0.9))
        )


def test_auto_takes_what_finds_most_of_the_nearest_held_out(encoder):
    reader = fit_reader(encoder, X)
    assert list(reader.recalls) == READERS
    assert reader.recalls[reader.name] == max(reader.recalls.values())
    assert reader.recalls[reader.name] > reader.recalls["bits"]
    assert fit_reader(encoder, X).recalls == reader.recalls
    assert all(0 < each < 1 for each in reader.recalls.values())


def test_a_model_of_labels_is_read_by_its_bits():
    reader = fit_reader(DistilHash(8, random_state=0).fit(X, Y), X)
    assert (reader.name, reader.recalls, reader.nbytes) == ("bits", {}, 0)


def test_methods_without_real_values_have_decoders():
    encoder = classes("baselines")["sh"](n_bits=12).fit(X)
    assert list(fit_reader(encoder, X).recalls) == ["bits", "linear", "tables"]
    for name in ("real", "cells"):
        with pytest.raises(ValueError, match="are no signs of real values; give reader='bits', 'linear'"):
            fit_reader(encoder, X, reader=name)


def test_rows_with_named_columns_are_read_without_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    encoder = classes("baselines")["itq"](n_bits=16, random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reader = fit_reader(encoder, frame)
        prepared = reader.prepare(frame[:3])
    plain = fit_reader(classes("baselines")["itq"](n_bits=16, random_state=0).fit(X), X)
    assert reader.recalls == plain.recalls
    np.testing.assert_array_equal(prepared.values, plain.prepare(X[:3]).values)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_the_unit_of_rows_does_not_count(unit):
    encoder = classes("baselines")["lsh"](n_bits=16, random_state=0).fit(X * unit)
    usual = classes("baselines")["lsh"](n_bits=16, random_state=0).fit(X)
    for name in ("real", "linear", "tables"):
        here = fit_reader(encoder, X * unit, reader=name).prepare(Q * unit)
        there = fit_reader(usual, X, reader=name).prepare(Q)
        np.testing.assert_allclose(here.values, there.values, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("reader", READERS)
def test_a_file_holds_a_reader_and_not_its_model(encoder, reader, tmp_path):
    fitted = fit_reader(encoder, X, 13, reader)
    fitted.save(tmp_path / "r")
    loaded = load_reader(tmp_path / "r", encoder)
    assert (loaded.name, loaded.n_bits, loaded.recalls) == (reader, 13, {})
    assert loaded.nbytes == fitted.nbytes
    mine, theirs = fitted.prepare(Q), loaded.prepare(Q)
    np.testing.assert_array_equal(mine.values, theirs.values)
    np.testing.assert_array_equal(mine.base, theirs.base)


def test_a_reader_and_its_model_do_not_replace_each_other(encoder, tmp_path):
    fitted, path = fit_reader(encoder, X, 13, "real"), tmp_path / "m"
    encoder.save(path)
    with pytest.raises(FileExistsError, match=r"m: .* of kind 'model'; give another name, or force=True"):
        fitted.save(path)
    fitted.save(path, force=True)
    with pytest.raises(FileExistsError, match=r"m: .* of kind 'reader'; give another name, or force=True"):
        encoder.save(path)
    assert load_reader(path, encoder).name == "real"


def test_a_chosen_reader_keeps_the_recalls(encoder, tmp_path):
    fitted = fit_reader(encoder, X)
    fitted.save(tmp_path / "r")
    assert load_reader(tmp_path / "r", encoder).recalls == fitted.recalls


def test_a_reader_of_another_model_is_refused(encoder, tmp_path):
    fit_reader(encoder, X, reader="real").save(tmp_path / "r")
    with pytest.raises(ValueError, match="is a reader of another model; give that one, or fit a reader again"):
        load_reader(tmp_path / "r", classes("baselines")["lsh"](n_bits=20, random_state=0).fit(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reader": "tables"}, "more than its class stores"),
        ({"reader": "none"}, "no whole reader"),
        ({"n_bits": 21}, "n_bits=21"),
        ({"n_bits": 12}, "has shape"),
        ({"recalls": None}, "no whole reader"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(encoder, tmp_path, change, message):
    reader = fit_reader(encoder, X, reader="cells")
    facts = {"reader": "cells", "n_bits": 20, "recalls": {}, "source": encoder.fingerprint(), **change}
    container.save(tmp_path / "r", reader.arrays, facts, "reader")
    with pytest.raises(ValueError, match=message):
        load_reader(tmp_path / "r", encoder)


@pytest.mark.parametrize(
    ("name", "array", "number"),
    [
        ("cells", "cells", 1e300),
        ("cells", "cells", -1e35),
        ("linear", "mean", 1e300),
        ("tables", "mean", -1e35),
        ("tables", "scale", 1e-300),
        ("linear", "offset", 1e35),
        ("linear", "vectors", -1e35),
        ("tables", "vectors", 1e35),
    ],
)
@pytest.mark.parametrize("place", [0, -1])
def test_a_file_whose_distances_leave_their_range_is_refused(encoder, tmp_path, name, array, number, place):
    """And not at the first search."""
    reader = fit_reader(encoder, X, reader=name)
    changed = reader.arrays[array].copy()
    changed.put(place, number)
    Reader(encoder, name, 20, {**reader.arrays, array: changed}).save(tmp_path / "r")
    with pytest.raises(ValueError, match=r"cannot read .*r: it is no whole reader \(.*fit it again"):
        load_reader(tmp_path / "r", encoder)


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        (X, {"reader": "x"}, "reader='x': give one of auto, bits, real, cells, linear, tables"),
        (X, {"n_bits": 21}, "n_bits=21: this model has 20 bits"),
        (X[:30], {}, "X has 30 rows; give at least 50, or name a reader"),
        (X[:, :9], {}, "X has 9 features"),
        (np.where(X > 15, np.nan, X), {}, "NaN"),
        (X[:0], {"reader": "linear"}, "X has no rows"),
    ],
)
def test_what_no_reader_can_be_fitted_to(encoder, rows, settings, message):
    with pytest.raises(ValueError, match=message):
        fit_reader(encoder, rows, **settings)


def test_queries_that_are_not_finite_are_refused(encoder):
    for name in READERS:
        with pytest.raises(ValueError, match="NaN"):
            fit_reader(encoder, X, reader=name).prepare(np.full((1, 64), np.nan))


def test_few_rows_and_equal_rows():
    encoder = classes("baselines")["itq"](n_bits=20, random_state=0).fit(X)
    for name in READERS:
        reader = fit_reader(encoder, np.repeat(X[:1], 3, axis=0), reader=name)
        assert isinstance(reader, Reader)
        assert np.isfinite(prepared_distances(reader.prepare(Q), encoder.encode(X))).all()


@pytest.mark.parametrize("name", READERS)
def test_a_later_fit_of_the_model_does_not_reach_a_reader(name, tmp_path):
    """The queries still fit the codes of the first fit, and the file is not taken for one of the second."""
    model = classes("baselines")["itq"](n_bits=20, random_state=0).fit(X)
    reader = fit_reader(model, X, reader=name)
    expected = prepared_distances(reader.prepare(Q), model.encode(X))
    codes = model.encode(X)
    model.fit(X[:200] * np.arange(X.shape[1]))
    np.testing.assert_array_equal(prepared_distances(reader.prepare(Q), codes), expected)
    reader.save(tmp_path / "reader")
    with pytest.raises(ValueError, match="is a reader of another model"):
        load_reader(tmp_path / "reader", model)


def test_what_is_no_model_is_refused(encoder):
    with pytest.raises(TypeError, match=r"encoder=ndarray of shape .*: give a fitted model, then its rows"):
        fit_reader(X, encoder)


def test_a_random_state_that_draws_nothing_is_refused(encoder):
    assert fit_reader(encoder, X, reader="bits", random_state=np.random.RandomState(0)).name == "bits"
    with pytest.raises(ValueError, match="random_state='x': give None, an integer >= 0"):
        fit_reader(encoder, X, random_state="x")
