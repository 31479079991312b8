"""Rows in another unit than the training rows."""

import warnings

import numpy as np
import pytest

from structhash import AdditiveHash, CGHash, DistilHash, load_model
from structhash.baselines import ITQ
from structhash.estimators._unit import FAR, doubt_unit, extreme_lengths
from structhash.estimators.reader import fit_reader
from structhash.supervision import Qrels

X = np.random.default_rng(0).normal(size=(200, 6)) + 3
LENGTHS = np.sqrt((X**2).sum(axis=1))


def fitted(kind=ITQ):
    return kind(n_bits=6, random_state=0).fit(X)


def said(call):
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_lengths_are_those_of_the_shortest_and_the_longest_row(dtype):
    rows = X.astype(dtype)
    lengths = [sum(float(number) ** 2 for number in row) ** 0.5 for row in rows]
    assert extreme_lengths(rows) == pytest.approx([min(lengths), max(lengths)], rel=1e-12)


def test_rows_of_0_have_no_say():
    assert extreme_lengths(np.vstack([X, np.zeros((9, 6))])).tolist() == extreme_lengths(X).tolist()
    assert extreme_lengths(np.zeros((3, 6))).tolist() == [0, 0]
    far = np.vstack([10 * X[:1], np.zeros((9, 6))])
    assert doubt_unit("X", far, extreme_lengths(X))
    assert not doubt_unit("X", np.zeros((3, 6)), extreme_lengths(X))
    assert not doubt_unit("X", X[:0], extreme_lengths(X))


@pytest.mark.parametrize("times", [1, 0.01, 100])
def test_the_doubt_begins_at_twice_and_at_half(times):
    training = times * np.array([LENGTHS.min(), LENGTHS.max()])
    row = times * X[:1] / LENGTHS[0]
    for side, edge in (("over 2 times", FAR * LENGTHS.max()), ("under 1/2", LENGTHS.min() / FAR)):
        beyond = 1.001 if side == "over 2 times" else 0.999
        assert side in doubt_unit("X", row * edge * beyond, training)
        assert not doubt_unit("X", row * edge / beyond, training)


def test_few_rows_among_many_are_no_doubt():
    mixed = X.copy()
    mixed[:80] *= 50
    assert not doubt_unit("X", mixed, extreme_lengths(X))
    mixed[:120] = 50 * X[:120]
    assert doubt_unit("X", mixed, extreme_lengths(X))


@pytest.mark.parametrize("n", [99, 100, 101, 199, 200, 5003])
def test_rows_are_judged_all_over(n):
    rows = np.tile(50 * X, (26, 1))[:n]
    assert doubt_unit("X", rows, extreme_lengths(X))
    rows[: int(0.6 * n)] /= 50
    assert not doubt_unit("X", rows, extreme_lengths(X))


@pytest.mark.parametrize("kind", [ITQ, DistilHash, AdditiveHash])
def test_rows_and_queries_in_another_unit_are_warned_of(kind):
    encoder = fitted(kind)
    calls = [encoder.encode, encoder.prepare_queries]
    if encoder.codes_are_bits:
        calls += [encoder.encode_queries, encoder.transform, fit_reader(encoder, X, reader="tables").prepare]
    for call in calls:
        for n in (1, 200):
            assert said(lambda call=call, n=n: call(X[:n])) == []
            assert "over 2 times" in said(lambda call=call, n=n: call(10 * X[:n]))[0]
            assert "under 1/2" in said(lambda call=call, n=n: call(X[:n] / 10))[0]


def test_a_warning_names_the_line_of_the_caller():
    encoder = fitted()
    for call in (encoder.encode, encoder.encode_queries, encoder.prepare_queries):
        with pytest.warns(UserWarning, match="unit") as caught:
            call(10 * X)
        assert caught[0].filename == __file__


def test_with_labels_queries_in_another_unit_are_warned_of():
    y = np.arange(200) % 3
    for encoder in (
        CGHash(n_bits=6, random_state=0),
        DistilHash(6, random_state=0),
        AdditiveHash(8, random_state=0),
    ):
        encoder.fit(X, y)
        assert "over 2 times" in said(lambda encoder=encoder: encoder.prepare_queries(10 * X[:1]))[0]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused_without_a_warning(number):
    encoder, bad = fitted(), X.copy()
    bad[:150, 2] = number
    with pytest.raises(ValueError, match="row 0"):  # warnings are errors here
        encoder.encode(bad)


def test_lengths_beyond_float64_say_nothing():
    huge = np.full((3, 6), 1e300)
    assert extreme_lengths(huge).tolist() == [0, 0]
    assert not doubt_unit("X", huge, extreme_lengths(X))
    assert not doubt_unit("X", X, extreme_lengths(huge))


def test_a_file_keeps_the_lengths_and_the_fingerprint_does_not_depend_on_them(tmp_path):
    encoder = fitted()
    encoder.save(tmp_path / "model.structhash")
    again = load_model(tmp_path / "model.structhash")
    assert again.row_lengths_.tolist() == encoder.row_lengths_.tolist() == [LENGTHS.min(), LENGTHS.max()]
    del again.row_lengths_
    assert again.fingerprint() == encoder.fingerprint()
    assert said(lambda: again.encode(10 * X)) == []  # as a model of an earlier version


def test_unlabeled_rows_in_another_unit_are_warned_of(caplog):
    y = np.arange(200) % 3
    DistilHash(6, random_state=0).fit(X, y, unlabeled=X[::-1])
    assert not caplog.records
    DistilHash(6, random_state=0).fit(X, y, unlabeled=X + 30)
    assert "most rows of unlabeled are over 2 times as long" in caplog.text


@pytest.mark.parametrize("fit", [DistilHash(6, random_state=0).fit, CGHash(n_bits=6, random_state=0).fit])
def test_judged_queries_in_another_unit_are_warned_of(fit, caplog):
    judgements = np.array([[q, (7 * q + i) % 200, i % 2] for q in range(40) for i in range(6)])
    fit(X, Qrels(judgements, X[:40]))
    assert "unit" not in caplog.text
    fit(X, Qrels(judgements, (10 * X[:40]).tolist()))
    assert "most rows of Q are over 2 times as long as the longest training row" in caplog.text


def test_queries_to_map_in_another_unit_are_warned_of(caplog):
    judgements = np.array([[q, (7 * q + i) % 200, i % 2] for q in range(40) for i in range(6)])
    encoder = fitted(DistilHash)
    encoder.adapt_queries(X, Qrels(judgements, X[:40]))
    assert "unit" not in caplog.text
    encoder.adapt_queries(X, Qrels(judgements, X[:40] / 10))
    assert "most rows of Q are under 1/2 as long as the shortest training row" in caplog.text
