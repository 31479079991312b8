"""The reader that a fit chooses: its recalls against brute force, and where it is stored."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, CGHash, DistilHash, load_model
from structhash.codes import prepared_distances, unpack
from structhash.estimators import _model_file, _reader_choice
from structhash.estimators._reader_choice import hold_out, reader_recalls
from structhash.io import container
from structhash.pieces import classes

X, Y = load_digits(return_X_y=True)
X, Y = X[:600] + np.random.default_rng(0).normal(0, 0.1, (600, 64)), Y[:600]  # no ties


def peer(name, rows=X, n_bits=12):
    return classes("baselines")[name](n_bits=n_bits).fit(rows)


def test_held_out_rows_and_their_nearest_are_those_of_brute_force():
    encoder = peer("itq")
    trial = hold_out(encoder, X, 12, np.random.default_rng(3))
    assert len(trial.queries) == 120
    both = np.vstack([trial.queries, trial.others])
    np.testing.assert_array_equal(both[np.lexsort(both.T)], X[np.lexsort(X.T)])
    np.testing.assert_array_equal(trial.codes, encoder.encode(trial.others))
    apart = ((trial.queries[:, None] - trial.others[None]) ** 2).sum(axis=2)
    expected = np.sort(np.argsort(apart, axis=1)[:, :10], axis=1)
    np.testing.assert_array_equal(np.sort(trial.nearest, axis=1), expected)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_numbers_of_any_size_have_the_same_nearest(factor):
    encoder = peer("itq")
    given, expected = (hold_out(encoder, rows, 12, np.random.default_rng(3)) for rows in (X * factor, X))
    np.testing.assert_array_equal(np.sort(given.nearest, axis=1), np.sort(expected.nearest, axis=1))


@pytest.mark.parametrize("name", ["itq", "lsh", "sh"])
def test_recalls_are_those_of_brute_force(name):
    encoder = peer(name)
    trial = hold_out(encoder, X, 12, np.random.default_rng(0))
    bits = encoder.encode_queries(trial.queries)
    plain = (unpack(bits, 12)[:, None] != unpack(trial.codes, 12)[None]).sum(axis=2)
    distances = [plain]
    if name != "sh":
        real = encoder.prepare_queries(trial.queries, reader="real")
        distances.append(prepared_distances(real, trial.codes))
    shares = [0.0, 0.0]
    for i, each in enumerate(distances):
        found = np.argsort(each, axis=1, kind="stable")[:, :10]
        hits = [len(set(mine) & set(theirs)) for mine, theirs in zip(found, trial.nearest, strict=True)]
        shares[i] = np.mean(hits) / 10
    np.testing.assert_allclose(encoder.reader_recalls_, shares)
    assert encoder.default_reader() == ("real" if shares[1] > shares[0] else "bits")
    assert encoder.recalls_by_reader() == {"bits": shares[0], "real": shares[1]}


@pytest.mark.parametrize(
    ("recalls", "expected"), [([0.2, 0.3], "real"), ([0.3, 0.2], "bits"), ([0.3, 0.3], "bits")]
)
def test_the_reader_that_found_most_is_taken_and_bits_of_equal_ones(recalls, expected):
    encoder = peer("itq")
    encoder.reader_recalls_ = np.array(recalls)
    assert encoder.default_reader() == expected
    assert (encoder.prepare_queries(X[:3]).codes() is not None) == (expected == "bits")


@pytest.mark.parametrize(
    "encoder",
    [
        DistilHash(8, random_state=0).fit(X, Y),
        CGHash(4, random_state=0, n_near=3, n_far=3).fit(X[:60], Y[:60]),
        classes("baselines")["sdh"](n_bits=8).fit(X, Y),
        AdditiveHash(8, random_state=0).fit(X),
    ],
    ids=["distilhash", "cghash", "sdh", "additivehash"],
)
def test_nothing_is_tried_with_labels_and_for_sums(encoder):
    assert encoder.reader_recalls_ is None
    assert reader_recalls(encoder, X) is None


def test_nothing_is_tried_with_few_rows():
    assert peer("itq", X[:500]).reader_recalls_ is not None
    few = peer("itq", X[:499])
    assert (few.reader_recalls_, few.default_reader()) == (None, "real")


def test_fewer_wide_rows_are_looked_at(monkeypatch):
    encoder, seen = peer("lsh"), []

    def watched(encoder, rows, n_bits, rng):
        seen.append(len(rows))
        return hold_out(encoder, rows, n_bits, rng)

    monkeypatch.setattr(_reader_choice, "hold_out", watched)
    for most in (64 * 550, 64):
        monkeypatch.setattr(_reader_choice, "_MAX_NUMBERS", most)
        reader_recalls(encoder, X)
    assert seen == [550, 500]


def test_rows_that_are_searched_decide_where_they_are_given():
    few = DistilHash(8, random_state=0).fit(X[:30], unlabeled=X)
    assert few.reader_recalls_ is not None
    np.testing.assert_array_equal(few.reader_recalls_, reader_recalls(few, X))


def test_the_choice_is_in_the_file_and_not_in_the_fingerprint(tmp_path):
    encoder = DistilHash(8, random_state=0).fit(X)
    encoder.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.reader_recalls_, encoder.reader_recalls_)
    before = encoder.fingerprint()
    del encoder.reader_recalls_
    assert encoder.fingerprint() == loaded.fingerprint() == before
    encoder.save(tmp_path / "old")  # as files were before there was a choice
    old = load_model(tmp_path / "old")
    assert (old.reader_recalls_, old.default_reader()) == (None, "real")


@pytest.mark.parametrize("bad", [[0.5], [0.5, 1.5], [np.nan, 0.0], [0.1, 0.2, 0.3]], ids=str)
def test_a_file_with_other_recalls_is_refused(tmp_path, bad):
    peer("itq").save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", _model_file.MODEL)
    container.save(tmp_path / "m", {**arrays, "reader_recalls_": np.array(bad)}, header, _model_file.MODEL)
    with pytest.raises(ValueError, match="reader_recalls_"):
        load_model(tmp_path / "m")


def test_a_fit_with_labels_forgets_the_choice_of_one_without():
    encoder = DistilHash(8, random_state=0).fit(X)
    assert encoder.reader_recalls_ is not None
    assert encoder.fit(X, Y).reader_recalls_ is None
    assert encoder.default_reader() == "bits"
