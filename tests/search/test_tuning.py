"""Settings are chosen on held-out queries."""

import numpy as np
import pytest

from structhash.codes import pack, prepare_values
from structhash.search import HNSW, IVF, Exact, MultiHash, tune
from structhash.search.tuning import _smallest


def clustered_codes(n, seed):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).integers(0, 2, (20, 64))
    return pack((centres[rng.integers(0, 20, n)] ^ (rng.random((n, 64)) < 0.1)).astype(np.uint8))


def filled(index, n=12_000):
    index.add(clustered_codes(n, 0))
    return index


def recall_of(index, queries, k):
    exact = Exact(64)
    exact.merge(index)
    reach = exact.search(queries, k)[0][:, -1:]
    return (index.search(queries, k)[0] <= reach).mean()


@pytest.mark.parametrize("made", [IVF(64, n_lists=150), HNSW(64)], ids=["ivf", "hnsw"])
@pytest.mark.parametrize("recall", [0.7, 0.97])
def test_the_chosen_value_reaches_the_recall_and_less_does_not(made, recall):
    index, queries = filled(made) if not len(made) else made, clustered_codes(200, 1)
    before = repr(index)
    tuned = tune(index, queries, 10, recall)
    assert repr(index) == before
    assert getattr(tuned.chosen, tuned.setting) == tuned.value
    assert recall_of(tuned.chosen, queries, 10) >= recall
    values = [point.value for point in tuned.points]
    assert values == sorted(set(values))
    for point in tuned.points:
        assert point.recall == recall_of(index.with_settings(**{tuned.setting: point.value}), queries, 10)
        assert point.milliseconds > 0
        assert point.cost > 0
    less = [point for point in tuned.points if point.value < tuned.value]
    assert all(point.recall < recall for point in less)
    assert recall_of(tuned.chosen, clustered_codes(400, 2), 10) > recall - 0.05  # other queries


def test_prepared_queries_are_tuned():
    rng = np.random.default_rng(0)
    queries = prepare_values(rng.normal(size=(50, 64)))
    tuned = tune(filled(IVF(64, n_lists=100)), queries, 5, 0.9)
    exact = filled(Exact(64))
    reach = exact.search(queries, 5)[0][:, -1:]
    assert (tuned.chosen.search(queries, 5)[0] <= reach).mean() >= 0.9


def test_ties_count_as_found():
    """All codes are equal: whichever ten are found, they are as near as the ten nearest."""
    index = IVF(64, n_lists=20)
    index.add(np.repeat(clustered_codes(20, 0), 600, axis=0))
    assert tune(index, clustered_codes(20, 0), 10, 1.0).value == 1


def test_more_neighbours_than_codes():
    assert tune(filled(IVF(64), 30), clustered_codes(3, 1), 50, 1.0).points[0].recall == 1


def test_a_recall_that_is_not_reached_is_said(monkeypatch):
    monkeypatch.setattr("structhash.search.tuning._LARGEST", 2)
    with pytest.raises(
        ValueError, match=r"recall=1.0: n_probe=2 has 0\.\d+; give a lower recall, or use Exact"
    ):
        tune(filled(IVF(64, n_lists=150)), clustered_codes(100, 1), 10, 1.0)


@pytest.mark.parametrize("least", [1, 2, 3, 7, 8, 9, 40, 63, 100])
def test_doubling_and_halving_comes_near_the_smallest(least):
    found = _smallest(lambda value: value >= least)
    assert least <= found <= least + max(0, least // 8)


@pytest.mark.parametrize(
    ("index", "recall", "error", "message"),
    [
        (Exact(64), 0.9, TypeError, "index=Exact.*: give an IVF or an HNSW; other indexes miss nothing"),
        (MultiHash(64), 0.9, TypeError, "give an IVF or an HNSW"),
        ("x", 0.9, TypeError, "index='x': give an IVF or an HNSW"),
        (IVF(64), 0.9, ValueError, "0 codes and 3 queries; give some of both"),
        (IVF(64), 0, ValueError, "recall=0: give a number above 0 and at most 1"),
        (IVF(64), "high", ValueError, "recall='high': give a number above 0 and at most 1"),
        (IVF(64), 1.1, ValueError, "recall=1.1: give a number above 0"),
        (IVF(64), np.nan, ValueError, "recall=nan: give a number above 0"),
    ],
)
def test_arguments_are_checked(index, recall, error, message):
    with pytest.raises(error, match=message):
        tune(index, clustered_codes(3, 0), 5, recall)


def test_no_queries_are_refused():
    with pytest.raises(ValueError, match="30 codes and 0 queries; give some of both"):
        tune(filled(IVF(64), 30), clustered_codes(0, 0), 5)
