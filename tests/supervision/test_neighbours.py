import numpy as np
import pytest

from structhash import CGHash, Neighbours, StructHash
from structhash.supervision import Supervision, _nearest


@pytest.fixture(params=[1_000, 4_000_000])
def block_size(request, monkeypatch):
    """Some rows at a time, or all."""
    monkeypatch.setattr(_nearest, "MAX_DISTANCES_IN_MEMORY", request.param)


@pytest.mark.parametrize("k", [1, 5, 40, 88])
def test_the_k_nearest_are_near_and_all_others_far(vectors, k, nearest_first, partners, rng, block_size):
    found = list(partners(Neighbours(k, n_near=100, n_far=100).comparisons(vectors, rng)))
    assert [i for i, _, _ in found] == list(range(90))
    for (i, near, far), order in zip(found, nearest_first(vectors), strict=True):
        assert sorted(near) == sorted(order[:k]), i
        assert sorted(far) == sorted(order[k:]), i


@pytest.mark.parametrize(("fraction", "k"), [(0.001, 1), (0.02, 2), (0.25, 22), (0.97, 87)])
def test_the_fraction_says_how_many(fraction, k, rng):
    r = Neighbours(fraction=fraction, n_near=90).comparisons(rng.normal(size=(90, 3)), rng)
    assert np.diff(r.near_ptr).tolist() == [k] * 90
    assert Neighbours(fraction=fraction).count(90) == k


def test_partners_are_drawn_once_each_and_at_random(nearest_first, partners, rng):
    X = rng.normal(size=(60, 2))
    seen = np.zeros((60, 60), int)
    for _ in range(100):
        for i, near, far in partners(Neighbours(10, n_near=4, n_far=7).comparisons(X, rng)):
            assert (len(set(near)), len(set(far))) == (4, 7)
            seen[i, near] += 1
            seen[i, far] += 1
    for i, order in enumerate(nearest_first(X)):
        assert seen[i, order[:10]].sum() == 400
        assert seen[i, i] == 0
        assert np.abs(seen[i, order[:10]] - 40).max() < 30  # binomial, deviation below 5
        assert np.abs(seen[i, order[10:]] - 100 * 7 / 49).max() < 20


def test_the_shape_of_the_comparisons():
    X = np.random.default_rng(0).normal(size=(30, 2))
    r = Neighbours(3, n_far=5).comparisons(X, np.random.default_rng(1))
    assert r.weights is None
    assert [part.dtype for part in r[:5]] == ["i8", "i4", "i8", "i4", "i8"]
    assert isinstance(Neighbours(), Supervision)
    assert Neighbours().training_matrix(X) is X


@pytest.mark.parametrize(
    ("supervision", "message"),
    [
        (Neighbours(0), "k=0: give an integer of at least 1"),
        (Neighbours(1.5), "k=1.5: give an integer"),
        (Neighbours(True), "k=True: give an integer"),
        (Neighbours(9), "9 neighbours of each of 10 rows leave none to be far; give at most 8, or more rows"),
        (Neighbours(fraction=0.95), "10 neighbours of each of 10 rows leave none to be far"),
        *[
            (Neighbours(fraction=share), f"fraction={share!r}: give a number between 0 and 1")
            for share in (0, 1, -0.1, float("nan"), "0.1")
        ],
        (Neighbours(n_near=0), "n_near=0: give an integer of at least 1"),
        (Neighbours(n_far="2"), "n_far='2': give an integer of at least 1"),
    ],
    ids=repr,
)
def test_bad_settings(supervision, message, rng):
    with pytest.raises(ValueError, match=message):
        supervision.comparisons(rng.normal(size=(10, 2)), rng)


@pytest.mark.parametrize("cls", [StructHash, CGHash])
def test_codes_learned_from_neighbours_find_them(cls, digits, nearest_first):
    X = digits[0]
    model = cls(n_bits=12, random_state=0).fit(X, Neighbours(10, n_near=10, n_far=30))
    assert model.n_features_in_ == 64
    assert model.n_skipped_ == 0
    apart = (model.transform(X)[:, None] != model.transform(X)[None]).mean(axis=-1)
    near = np.mean([apart[i, order[:10]].mean() for i, order in enumerate(nearest_first(X))])
    assert near < 0.6 * apart.mean()
