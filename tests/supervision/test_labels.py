"""Several labels a row, and hard sampling; see test_supervision.py for one label a row, at random."""

import logging

import numpy as np
import pytest

from structhash import CGHash, Labels, StructHash
from structhash.supervision import is_indicator, list_triplets, nearest

Y = (np.random.default_rng(0).random((90, 5)) < 0.2).astype(int)
CLASSES = np.random.default_rng(1).integers(0, 4, 90)


@pytest.fixture(params=[1_000, 4_000_000])
def block_size(request, monkeypatch):
    """Some rows at a time, or all."""
    monkeypatch.setattr(nearest, "PAIRS", request.param)


def shared(Y):
    return (Y[:, None].astype(bool) & Y[None].astype(bool)).any(axis=-1)


@pytest.mark.parametrize("dtype", [int, bool, np.uint8, np.float64])
@pytest.mark.parametrize(("n_near", "n_far"), [(3, 8), (100, 100)])
def test_rows_that_share_a_label_are_near(dtype, n_near, n_far, partners, rng, block_size):
    together = shared(Y)
    expected = [i for i in range(90) if together[i].sum() > 1]
    r = Labels(Y.astype(dtype), n_near, n_far).comparisons(np.zeros((90, 1)), rng)
    assert r.queries.tolist() == expected
    for i, near, far in partners(r):
        assert together[i, near].all()
        assert not together[i, far].any()
        assert i not in near
        assert len(set(near)) == len(near) == min(n_near, together[i].sum() - 1)
        assert len(set(far)) == len(far) == min(n_far, (~together[i]).sum())


def test_a_row_without_a_label_is_no_query_and_never_near_but_may_be_far(partners, rng, caplog):
    y = Y.copy()
    y[:4] = 0
    skipped = 90 - (shared(y).sum(axis=1) > 1).sum()
    with caplog.at_level(logging.WARNING, "structhash.supervision"):
        r = Labels(y, n_far=100).comparisons(np.zeros((90, 1)), rng)
    assert caplog.messages == [
        f"{skipped} of 90 points have no relevant or no irrelevant partner: skipped as queries"
    ]
    assert not set(range(4)) & {*r.queries, *r.near}
    for _, _, far in partners(r):
        assert set(range(4)) <= set(far)


def test_one_label_of_two_columns_means_the_same_as_classes(partners, rng):
    y = CLASSES % 2
    a, b = (Labels(each, 100, 100).comparisons(np.zeros((90, 1)), rng) for each in (y, np.eye(2)[y]))
    for (i, *one), (j, *two) in zip(partners(a), partners(b), strict=True):
        assert (i, *map(sorted, one)) == (j, *map(sorted, two))


@pytest.mark.parametrize("n_far", [1, 6, 100])
@pytest.mark.parametrize("y", [CLASSES, CLASSES.astype(str), Y], ids=["numbers", "text", "several"])
def test_hard_far_points_are_the_nearest_of_the_wrong_class(
    vectors, y, n_far, nearest_first, partners, rng, block_size
):
    together = shared(y) if y.ndim == 2 else y[:, None] == y
    r = Labels(y, 3, n_far, sampling="hard").comparisons(vectors, rng)
    orders = nearest_first(vectors)
    for i, near, far in partners(r):
        assert sorted(far) == sorted([j for j in orders[i] if not together[i, j]][:n_far])
        assert together[i, near].all()
        assert i not in near
        assert len(set(near)) == len(near) == min(3, together[i].sum() - 1)
    assert r.queries.tolist() == [i for i in range(90) if 1 < together[i].sum() < 90]


def test_hard_near_points_are_drawn_at_random(rng):
    X = rng.normal(size=(90, 2))
    seen = {tuple(Labels(CLASSES, 3, 3, "hard").comparisons(X, rng).near[:3]) for _ in range(10)}
    assert len(seen) > 5


def test_hard_triplets_list_the_rankings():
    X = np.random.default_rng(0).normal(size=(90, 2))
    one, two = (getattr(Labels(Y, 2, 3, "hard"), name) for name in ("triplets", "rankings"))
    triplets, weights = one(X, np.random.default_rng(1))
    np.testing.assert_array_equal(triplets, list_triplets(two(X, np.random.default_rng(1))))
    assert weights is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Labels(CLASSES, sampling="soft"), "sampling='soft': give random or hard"),
        (Labels(Y * 2), r"labels of shape \(90, 5\) must be 0 or 1, which of 5 a row has"),
        (Labels(Y.astype(str)), r"labels of shape \(90, 5\) must be 0 or 1"),
        (Labels(np.where(Y, 1.0, np.nan)), r"labels of shape \(90, 5\) must be 0 or 1"),
        (Labels(Y[:9]), r"labels have shape \(9, 5\); give one label for each of the 90 rows"),
        (Labels(Y[:, :1]), r"labels have shape \(90, 1\); give one label for each of the 90 rows"),
        (Labels(Y[None]), r"labels have shape \(1, 90, 5\); give one label"),
        (Labels(Y * 0), "none of the 90 rows shares a label with some row and none with another"),
        (Labels(Y * 0 + 1), "none of the 90 rows shares a label with some row and none with another"),
        (Labels(np.arange(90), sampling="hard"), "each of the 90 rows has a label of its own"),
        (Labels(CLASSES * 0, sampling="hard"), "all 90 rows have the label 0; give at least 2 classes"),
    ],
)
def test_bad_labels(labels, message, rng):
    with pytest.raises(ValueError, match=message):
        labels.comparisons(np.zeros((90, 1)), rng)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (Y, True),
        (Y.tolist(), True),
        (Y.astype(bool), True),
        (Y[:, :1], False),
        (Y[:, 0], False),
        (Y[:, 0].tolist(), False),
        (Y + 1, False),
        (Y.astype(str), False),
        (Y[:0], False),
        ([[0, 1], [1]], False),
        (["ab", "cd"], False),
        ("ab", False),
        (None, False),
    ],
)
def test_indicators_are_known(y, expected):
    assert is_indicator(y) is expected


@pytest.mark.parametrize("cls", [StructHash, CGHash])
def test_both_methods_learn_from_several_labels(cls, digits):
    X, y = digits
    several = np.column_stack([y[:, None] == np.arange(10), y % 2])  # a digit, and whether it is odd
    encoder = cls(n_bits=6, random_state=0)
    model = encoder.fit(X, Labels(several))
    bits = model.transform(X)
    apart = (bits[:, None] != bits[None]).mean(axis=-1)
    together = shared(several)
    assert apart[together].mean() < 0.8 * apart[~together].mean()
    np.testing.assert_array_equal(cls(n_bits=6, random_state=0).fit(X, several).transform(X), bits)
    with pytest.raises(ValueError, match=r"labels have shape \(40, 11\); give one label for each of the 300"):
        cls(n_bits=6).fit(X, several[:40])


@pytest.mark.parametrize("cls", [StructHash, CGHash])
def test_both_methods_learn_from_hard_labels(cls, digits):
    X, y = digits
    soft, hard = (
        cls(n_bits=8, random_state=0).fit(X, Labels(y, 10, 20, sampling)) for sampling in ("random", "hard")
    )
    assert (soft.transform(X) != hard.transform(X)).any()
    assert hard.score(X, y) > 0.4
