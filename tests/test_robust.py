"""Regressions: each case once lost something, or gave a wrong answer without an error."""

import os
import sys
import threading

import numpy as np
import pytest
from scipy.linalg import eigh

from structhash import CGHash, StructHash, Triplets
from structhash.baselines import ITQ, LSH, OneHot
from structhash.families.starts.spectral import Spectral
from structhash.io.container import atomic
from structhash.metrics import ndcg, tie_blocks
from structhash.pair_weights import laplacian, pair_graph
from structhash.search import Exact


def test_codes_added_while_others_search_are_not_lost():
    index, stop = Exact(64), threading.Event()
    codes = np.random.default_rng(0).integers(0, 256, (50, 8), dtype=np.uint8)
    index.add(codes)

    def search():
        while not stop.is_set():
            index.search(codes[:2], 3)

    readers = [threading.Thread(target=search) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for reader in readers:
            reader.start()
        for _ in range(300):
            index.add(codes)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(before)
    assert index.ntotal == 301 * 50


def test_equal_sums_of_weights_tie_and_go_by_id():
    rng = np.random.default_rng(0)
    for weight in (0.7, 0.1, 1 / 3):
        index = Exact(24, np.full(24, weight))
        plain = Exact(24)
        codes = rng.integers(0, 256, (200, 3), dtype=np.uint8)
        index.add(codes)
        plain.add(codes)
        np.testing.assert_array_equal(index.search(codes[:9], 50)[1], plain.search(codes[:9], 50)[1])


@pytest.mark.parametrize(
    "model", [CGHash(4, random_state=0), StructHash(4), LSH(4), ITQ(4), OneHot(4)], ids=repr
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(model, digits):
    X, y = digits
    codes = model.fit(X, y).encode(X)
    with pytest.raises(ValueError, match="the same"):
        model.fit(np.zeros((30, 5)), np.arange(30) % 3)
    np.testing.assert_array_equal(model.encode(X), codes)


def test_a_fit_left_half_way_leaves_the_model_as_it_was(digits):
    X, y = digits
    model = StructHash(3, random_state=0).fit(X, y)
    codes = model.encode(X)
    steps = model.steps(X[:, :9], y)
    next(steps)
    steps.close()
    np.testing.assert_array_equal(model.encode(X), codes)


@pytest.mark.parametrize("model", [StructHash(2), LSH(2)], ids=repr)
def test_input_that_would_be_misread_is_refused(model, digits):
    X, y = digits
    with pytest.raises(TypeError, match="masked"):
        model.fit(np.ma.masked_greater(X, 8), y)
    with pytest.raises(TypeError, match="datetime64"):
        model.fit(X.astype(int).astype("datetime64[D]"), y)
    with pytest.raises(ValueError, match="near the end of float64"):
        model.fit(X * 1e306, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 10**400}, "C=1000"),
        ({"C": 1e9}, "at most 1e"),
        ({"n_jobs": 0}, "n_jobs=0: give None"),
        ({"n_jobs": "a"}, "n_jobs='a': give None"),
        ({"random_state": -1}, "random_state=-1: give None"),
        ({"random_state": "a"}, "random_state='a': give None"),
        ({"family": "linear:max_iter=2.5"}, "max_iter=2.5: give an integer"),
        ({"family": "linear:sharpness=nan"}, "sharpness='nan': give a finite number"),
    ],
)
def test_settings_are_named_where_they_are_refused(settings, message, digits):
    with pytest.raises(ValueError, match=message):
        StructHash(2, **settings).fit(*digits)


def test_labels_with_fractions_are_no_classes(digits):
    X, y = digits
    with pytest.raises(ValueError, match="continuous"):
        StructHash(2).fit(X, y + 0.5)


def test_triplet_weights_that_overflow_are_refused(digits):
    t = np.array([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(ValueError, match="finite numbers"):
        CGHash(2).fit(digits[0], Triplets(t, np.full(2, 1e308)))


def test_a_long_name_can_be_written_and_its_rights_are_kept(tmp_path):
    path = tmp_path / ("漢" * 80)
    for text in ("one", "two"):
        with atomic(path) as temporary:
            temporary.write_text(text)
        path.chmod(0o600)
    with atomic(path) as temporary:
        temporary.write_text("three")
    assert path.read_text() == "three"
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_cut_far_beyond_the_items_costs_nothing():
    blocks = tie_blocks([[1, 2, 3]], [[0, 1, 1]])
    assert ndcg(blocks, k=10**12) == ndcg(blocks, k=3)


def test_spectral_start_with_fewer_rows_than_features_is_the_same_eigenvector(make_rankings):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((12, 40))
    comparisons = make_rankings(rng)
    graph = pair_graph(comparisons, 12)
    pairs = graph.pair_weights(rng.standard_normal(len(graph.indices)))
    plane = Spectral(ridge=2.0)(Z, pairs, rng)["normal"][:, 0]
    gram = Z.T @ Z
    gram[np.diag_indices(40)] += (2.0 + 1e-6) * np.trace(gram) / 40
    values, vectors = eigh(Z.T @ laplacian(pairs, Z), gram)
    best = vectors[:, -1]
    assert values[-1] > 0
    assert abs(plane @ best) / np.linalg.norm(plane) / np.linalg.norm(best) == pytest.approx(1, abs=1e-6)
