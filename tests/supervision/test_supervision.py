import logging

import numpy as np
import pytest
from scipy.stats import chi2

from structhash.pair_weights import pair_graph
from structhash.supervision import Labels, Supervision, Triplets, as_supervision, list_triplets, pointers


def rows(n):
    return np.zeros((n, 1))


def partners(rankings):
    """(query, near rows, far rows) of each query."""
    for q, i in enumerate(rankings.queries):
        near = rankings.near[rankings.near_ptr[q] : rankings.near_ptr[q + 1]]
        far = rankings.far[rankings.far_ptr[q] : rankings.far_ptr[q + 1]]
        yield i, near, far


KINDS = {
    "unsorted numbers": np.random.default_rng(0).integers(-3, 3, 60) * 7,
    "sorted": np.repeat([0, 1, 2], [5, 30, 25]),
    "backwards": np.repeat([2, 1, 0], [5, 30, 25]),
    "strings": np.random.default_rng(1).choice(["cat", "dog", "a very long name"], 60),
    "floats": np.random.default_rng(2).choice([0.5, -1.25, 3.0], 60),
    "booleans": np.random.default_rng(3).random(60) < 0.3,
    "objects": np.random.default_rng(4).choice(np.array(["x", "yy"], object), 60),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_near", "n_far"), [(1, 1), (3, 8), (50, 100), (4, 59)])
def test_labels_draw_right_partners_once_each(kind, n_near, n_far, rng):
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
def test_every_right_partner_is_drawn_alike(y):
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


def test_points_alone_in_their_class_are_skipped_and_counted_in_the_log(rng, caplog):
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


def test_triplets_of_labels_list_their_rankings():
    y = KINDS["unsorted numbers"]
    rankings = Labels(y, 2, 3).comparisons(rows(60), np.random.default_rng(1))
    triplets, weights = Labels(y, 2, 3).triplets(rows(60), np.random.default_rng(1))
    expected = {(i, j, k) for i, near, far in partners(rankings) for j in near for k in far}
    assert triplets.dtype == np.int32
    assert weights is None
    assert len(triplets) == len(expected)
    assert set(map(tuple, triplets.tolist())) == expected


def test_list_triplets_holds_every_triplet_in_order(rng, make_rankings, triplets_of):
    for _ in range(5):
        rankings = make_rankings(rng)
        np.testing.assert_array_equal(list_triplets(rankings), triplets_of(rankings)[:, 1:])


def test_explicit_triplets_become_queries_of_one_near_and_one_far_point(rng):
    given = np.array([[3, 1, 2], [0, 2, 1], [3, 0, 1]], np.uint8)
    rankings = Triplets(given, [1, 0, 2]).comparisons(rows(4), rng)
    np.testing.assert_array_equal(list_triplets(rankings), given)
    np.testing.assert_array_equal(rankings.weights, [1.0, 0.0, 2.0])
    assert [part.dtype for part in rankings[:5]] == ["i8", "i4", "i8", "i4", "i8"]
    triplets, weights = Triplets(given, [1, 0, 2]).triplets(rows(4), rng)
    np.testing.assert_array_equal(triplets, given)
    assert (triplets.dtype, weights.dtype) == (np.int32, np.float64)
    assert Triplets(given).triplets(rows(4), rng)[1] is None
    assert Triplets(given).comparisons(rows(4), rng).weights is None
    assert pair_graph(rankings, 4).n_points == 4


def test_as_supervision_wraps_labels_and_keeps_the_rest():
    triplets = Triplets(np.array([[0, 1, 2]]))
    assert as_supervision(triplets) is triplets
    labels = as_supervision([1, 0, 1], n_near=7, n_far=9)
    assert (labels.y.tolist(), labels.n_near, labels.n_far) == ([1, 0, 1], 7, 9)
    assert isinstance(labels, Supervision)
    assert isinstance(triplets, Supervision)
    assert not isinstance(np.zeros(3), Supervision)


def test_pointers_cut_a_list_of_arrays():
    np.testing.assert_array_equal(pointers([np.zeros(2), np.zeros(0), np.zeros(3)]), [0, 2, 2, 5])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Labels(np.zeros(3)), r"labels have shape \(3,\); give one label for each of the 4 rows"),
        (Labels(np.zeros((4, 1))), r"labels have shape \(4, 1\); give one label for each of the 4 rows"),
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
def test_bad_labels(labels, message, rng):
    with pytest.raises(ValueError, match=message):
        labels.comparisons(rows(4), rng)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (
            np.zeros((2, 2), int),
            r"triplets are int64 of shape \(2, 2\); give integers of shape \(T, 3\), T >= 1",
        ),
        (np.zeros(3, int), r"of shape \(3,\); give integers"),
        (np.zeros((0, 3), int), r"of shape \(0, 3\); give integers"),
        (np.array([[0.0, 1.0, 2.0]]), "triplets are float64 of shape"),
        (np.array([[True, False, True]]), "triplets are bool of shape"),
        (np.array([[0, 1, 4]]), "triplets name rows 0 to 4; the matrix has rows 0 to 3"),
        (np.array([[0, -1, 2]]), "triplets name rows -1 to 2; the matrix has rows 0 to 3"),
        (np.array([[0, 1, 2], [1, 1, 2]]), r"triplet 1 is \[1, 1, 2\]; its three rows must differ"),
        (np.array([[2, 1, 2]]), r"triplet 0 is \[2, 1, 2\]"),
        (np.array([[0, 1, 1]]), r"triplet 0 is \[0, 1, 1\]"),
    ],
)
def test_bad_triplets(indices, message, rng):
    for method in (Triplets(indices).triplets, Triplets(indices).rankings):
        with pytest.raises(ValueError, match=message):
            method(rows(4), rng)


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, -0.1], [np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [[1.0, 1.0]]]
)
def test_bad_triplet_weights(weights, rng):
    triplets = Triplets(np.array([[0, 1, 2], [1, 0, 2]]), np.array(weights))
    with pytest.raises(
        ValueError, match="triplet weights must be 2 finite numbers >= 0, not all 0 and not huge; got shape"
    ):
        triplets.comparisons(rows(4), rng)
