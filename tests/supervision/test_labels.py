"""Labels, one a row and several; partners drawn at random and hard ones; what y may be."""

import logging

import numpy as np
import pytest
from scipy.stats import chi2

from structhash import CGHash, Labels, StructHash
from structhash.supervision import _nearest
from structhash.supervision.labels import check_labels

# one label a row, partners at random


def rows(n):
    return np.zeros((n, 1))


KINDS = {
    "unsorted numbers": np.random.default_rng(0).integers(-3, 3, 60) * 7,
    "sorted": np.repeat([0, 1, 2], [5, 30, 25]),
    "backwards": np.repeat([2, 1, 0], [5, 30, 25]),
    "strings": np.random.default_rng(1).choice(["cat", "dog", "a very long name"], 60),
    "floats": np.random.default_rng(2).choice([5.0, -1.0, 3.0], 60),
    "booleans": np.random.default_rng(3).random(60) < 0.3,
    "objects": np.random.default_rng(4).choice(np.array(["x", "yy"], object), 60),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_near", "n_far"), [(1, 1), (3, 8), (50, 100), (4, 59)])
def test_labels_draw_right_partners_once_each(kind, n_near, n_far, partners, rng):
    y = KINDS[kind]
    rankings = Labels(y, n_near, n_far).comparisons(rows(60), rng)
    for i, near, far in partners(rankings):
        assert (y[near] == y[i]).all()
        assert (y[far] != y[i]).all()
        assert i not in near
        assert len(set(near)) == len(near) == min(n_near, (y == y[i]).sum() - 1)
        assert len(set(far)) == len(far) == min(n_far, (y != y[i]).sum())
    np.testing.assert_array_equal(rankings.queries, [i for i in range(60) if (y == y[i]).sum() > 1])
    assert rankings.weights is None
    assert [part.dtype for part in rankings[:5]] == ["i8", "i4", "i8", "i4", "i8"]


@pytest.mark.parametrize("y", [np.tile([2, 0, 1], 8), np.repeat([5, 1, 3], 8), np.array(list("bacbac" * 4))])
def test_every_right_partner_is_drawn_alike(y, partners):
    n, repeats, rng = len(y), 200, np.random.default_rng(0)
    near_count, far_count = np.zeros((2, n, n))
    for _ in range(repeats):
        for i, near, far in partners(Labels(y, 3, 5).comparisons(rows(n), rng)):
            near_count[i, near] += 1
            far_count[i, far] += 1
    same = y == y[:, None]
    np.fill_diagonal(same, False)
    for count, allowed, share in ((near_count, same, 3 / 7), (far_count, y != y[:, None], 5 / 16)):
        assert not count[~allowed].any()
        expected = repeats * share
        # each count is binomial; draws without replacement only lower the sum's spread
        statistic = ((count[allowed] - expected) ** 2 / (expected * (1 - share))).sum()
        assert statistic < chi2.ppf(0.9999, allowed.sum())
        assert statistic > chi2.ppf(0.0001, allowed.sum()) / 2


def test_points_alone_in_their_class_are_skipped_and_counted_in_the_log(partners, rng, caplog):
    y = np.array([4, 1, 1, 9, 1, 7])
    with caplog.at_level(logging.WARNING, "structhash.supervision"):
        rankings = Labels(y).comparisons(rows(6), rng)
    np.testing.assert_array_equal(rankings.queries, [1, 2, 4])
    assert [record.getMessage() for record in caplog.records] == [
        "3 of 6 points are the only ones of their class: skipped as queries"
    ]
    for _, _, far in partners(rankings):
        np.testing.assert_array_equal(np.sort(far), [0, 3, 5])  # they still are partners


def test_without_lone_points_the_log_is_silent(rng, caplog):
    with caplog.at_level(logging.DEBUG, "structhash"):
        Labels(np.array([0, 0, 1, 1])).comparisons(rows(4), rng)
    assert not caplog.records


def test_the_same_generator_draws_the_same_partners():
    y = KINDS["sorted"]
    one, two, other = (Labels(y, 3, 5).comparisons(rows(60), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one[:5], two[:5]))
    assert not np.array_equal(one.near, other.near)


def test_the_rows_do_not_matter_only_the_labels():
    y = KINDS["sorted"]
    one = Labels(y, 3, 5).comparisons(rows(60), np.random.default_rng(1))
    two = Labels(list(y), 3, 5).comparisons(np.random.default_rng(9).random((60, 4)), np.random.default_rng(1))
    assert all(np.array_equal(a, b) for a, b in zip(one[:5], two[:5]))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Labels(np.zeros(3)), r"labels have shape \(3,\); give one label for each of the 4 rows"),
        (Labels(np.array([1, 1, 1, 1])), "all 4 rows have the label .*1.*; give at least 2 classes"),
        (Labels(np.arange(4)), "each of the 4 rows has a label of its own; at least one class needs 2 rows"),
        (Labels(np.array([0, 0, 1, 1]), n_near=0), "n_near=0: give an integer of at least 1"),
        (Labels(np.array([0, 0, 1, 1]), n_far=-2), "n_far=-2: give an integer of at least 1"),
        (Labels(np.array([0, 0, 1, 1]), n_far=2.5), "n_far=2.5: give an integer of at least 1"),
        (
            Labels(np.array([0, "a", 1, "a"], object)),
            "labels have no common order .*; give numbers only or text only",
        ),
    ],
)
def test_bad_labels_one_a_row(labels, message, rng):
    with pytest.raises(ValueError, match=message):
        labels.comparisons(rows(4), rng)


# what y may be


@pytest.mark.parametrize("kind", KINDS)
def test_labels_become_class_indices_in_the_order_of_the_labels(kind):
    y = KINDS[kind]
    index = check_labels(y, 60)
    assert (index.dtype, index.shape) == (np.int64, (60,))
    names = sorted(set(y.tolist()))
    assert [names[c] for c in index] == y.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0.5, 1, 1, 1],
            "Unknown label type: continuous; y holds fractions: give classes; StructHash and CGHash also take ",
        ),
        ([np.nan, 1, 1, 1], "y holds NaN in row 0; give each row a label"),
        ([0, 1, 1], r"labels have shape \(3,\); give one label for each of the 4 rows"),
        (np.eye(4), "each of the 4 rows has a label of its own; at least one class needs 2 rows"),
        (None, "requires y to be passed, but the target y is None"),
        ([1, 1, 1, 1], "all 4 rows have the label 1; give at least 2 classes"),
        (list("abcd"), "each of the 4 rows has a label of its own; at least one class needs 2 rows"),
        (np.array([0, "a", 1, "a"], object), "labels have no common order .*; give numbers only or text only"),
    ],
)
def test_labels_that_are_no_classes_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, 4)


# several labels a row, and hard sampling

Y = (np.random.default_rng(0).random((90, 5)) < 0.2).astype(int)
CLASSES = np.random.default_rng(1).integers(0, 4, 90)


@pytest.fixture(params=[1_000, 4_000_000])
def block_size(request, monkeypatch):
    """Some rows at a time, or all."""
    monkeypatch.setattr(_nearest, "MAX_DISTANCES_IN_MEMORY", request.param)


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Labels(CLASSES, sampling="soft"), "sampling='soft': give random or hard"),
        (Labels(Y * 2), r"labels of shape \(90, 5\) must be 0 or 1, which of 5 a row has"),
        (Labels(Y.astype(str)), r"labels of shape \(90, 5\) must be 0 or 1"),
        (Labels(np.where(Y, 1.0, np.nan)), r"labels of shape \(90, 5\) must be 0 or 1"),
        (Labels(Y[:9]), r"labels have shape \(9, 5\); give one label for each of the 90 rows"),
        (Labels(Y[None]), r"labels have shape \(1, 90, 5\); give one label"),
        (Labels(Y * 0), "none of the 90 rows has both kinds of partner; give other labels"),
        (Labels(Y * 0 + 1), "none of the 90 rows has both kinds of partner; give other labels"),
        (Labels(np.arange(90), sampling="hard"), "each of the 90 rows has a label of its own"),
        (Labels(CLASSES * 0, sampling="hard"), "all 90 rows have the label 0; give at least 2 classes"),
    ],
)
def test_bad_labels(labels, message, rng):
    with pytest.raises(ValueError, match=message):
        labels.comparisons(np.zeros((90, 1)), rng)


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


def test_one_row_a_class_is_enough_where_it_is_said_so():
    assert check_labels(list("cab"), 3, single_rows=True).tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="each of the 3 rows has a label of its own"):
        check_labels(list("cab"), 3)
    with pytest.raises(ValueError, match="the only row has the label 'a'"):
        check_labels(["a"], 1, single_rows=True)


@pytest.mark.parametrize(
    ("y", "warned"),
    [
        ([-1, -1, 0, 0, 1, 1], True),
        ([-1, 1, -1, 1], False),  # two classes
        ([-2, -2, -1, 0, 1], False),  # numbers below 0 are labels here
        (["-1", "-1", "0", "1"], False),
    ],
)
def test_minus_one_beside_other_classes_is_pointed_out(y, warned, caplog):
    assert check_labels(np.array(y), len(y)).tolist() == [sorted(set(y)).index(each) for each in y]
    assert ("the label -1 is a class like any other" in caplog.text) == warned


def test_several_labels_a_row_are_those_that_some_row_has():
    sets = np.array([[0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    found = check_labels(sets, 4)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, sets[:, [1, 3]])
    of_columns = check_labels(np.eye(3)[[1, 0, 0, 1]], 4)
    assert (of_columns.dtype, of_columns.tolist()) == (np.int64, [1, 0, 0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1, 0, 0], [0, 1, 1], [0, 0, 0]], "no two of the 3 rows share a label; give rows that do"),
        ([[0, 0, 0]] * 3, "none of the 3 rows of y has a label; give rows that have labels"),
        ([[1, 1, 0]] * 3, "all 3 rows have the same 2 labels; give rows whose labels differ"),
        ([[1, 1, 0]] * 2, "labels have shape"),
    ],
)
def test_several_labels_a_row_that_cannot_be_learned_from_are_refused(y, message):
    for single_rows in (False, True):
        with pytest.raises(ValueError, match=message):
            check_labels(y, 3, single_rows)
