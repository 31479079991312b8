"""Splits keep queries, database and training rows apart as the protocols say."""

import numpy as np
import pytest

from structhash.evaluation import (
    mixed_known_classes,
    mixed_new_classes,
    seen_classes,
    unseen_classes,
)
from structhash.evaluation.splits import labelled_queries


@pytest.mark.parametrize("n", [4, 7, 40, 1000])
@pytest.mark.parametrize("seed", [0, 1])
def test_seen_classes_split_all_rows_and_train_in_the_database(n, seed):
    split = seen_classes(np.arange(n) % 3, seed, n_queries=100, n_train=300)
    assert sorted([*split.queries, *split.database]) == list(range(n))
    assert len(split.queries) == min(100, n // 4)
    assert len(split.train) == min(300, len(split.database)) == len(set(split.train))
    assert set(split.train) <= set(split.database)


def test_the_default_sizes_are_those_of_the_paper():
    seen = seen_classes(np.arange(10_000) % 10)
    assert (len(seen.queries), len(seen.train), len(seen.database)) == (2000, 2000, 8000)
    unseen = unseen_classes(np.arange(40_000) % 10)
    assert (len(unseen.train), len(unseen.queries)) == (4000, 2000)
    assert len(unseen.database) == 3 * 4000 - 2000


@pytest.mark.parametrize("n_classes", [5, 6, 8, 10, 77])
@pytest.mark.parametrize("seed", [0, 1])
def test_unseen_classes_train_on_three_quarters_of_the_classes_and_search_the_others(n_classes, seed):
    y = np.array([f"class {i % n_classes}" for i in range(n_classes * 12)])
    split = unseen_classes(y, seed, n_queries=50, n_train=10**6)
    rest = np.concatenate([split.queries, split.database])
    assert len(set(y[split.train])) == n_classes * 3 // 4
    assert len(set(y[rest])) == n_classes - n_classes * 3 // 4
    assert not set(y[split.train]) & set(y[rest])
    assert not set(split.queries) & set(split.database)
    assert sorted([*split.train, *rest]) == list(range(len(y)))
    assert len(split.queries) == min(50, len(rest) // 4)


@pytest.mark.parametrize("n_classes", [5, 8, 77])
def test_mixed_classes_share_training_rows_and_database(n_classes):
    y = np.array([f"class {i % n_classes}" for i in range(n_classes * 40)])
    old, new = (draw(y, 1, 200, 10**6) for draw in (mixed_known_classes, mixed_new_classes))
    np.testing.assert_array_equal(old.train, new.train)
    np.testing.assert_array_equal(old.database, new.database)
    known = set(y[old.train])
    assert len(known) == n_classes * 3 // 4
    assert sorted(old.train) == sorted(row for row in old.database if y[row] in known)
    assert set(y[old.queries]) <= known
    assert not set(y[new.queries]) & known
    assert set(y[old.database]) == set(y)
    everything = [*old.queries, *new.queries, *old.database]
    assert sorted(everything) == list(range(len(y)))
    assert len(old.queries) + len(new.queries) == min(200, len(y) // 4)
    assert len(mixed_new_classes(y, 1, 200, 30).train) == 30
    assert sorted([*old.queries, *new.queries]) == sorted(seen_classes(y, 1, 200).queries)


def test_mixed_classes_without_a_query_of_a_kind_are_refused():
    def draw_both(seed):
        return [draw(np.arange(50) % 5, seed, n_queries=1) for draw in (mixed_known_classes, mixed_new_classes)]

    for seed in range(3):
        with pytest.raises(
            ValueError, match=r"queries of (new|known) classes: 0 of 1, rows to train on: \d+; give more"
        ):
            draw_both(seed)


def test_unseen_classes_train_on_at_most_n_train_rows():
    split = unseen_classes(np.arange(400) % 8, 0, n_train=30)
    assert len(split.train) == len(set(split.train)) == 30


@pytest.mark.parametrize("protocol", [seen_classes, unseen_classes, mixed_known_classes, mixed_new_classes])
def test_a_seed_gives_one_shuffled_split_and_leaves_the_global_random_state(protocol):
    y = np.repeat(np.arange(8), 50)  # sorted by class
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b, c = protocol(y, 3), protocol(y, 3), protocol(y, 4)
    for one, two, other in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(one, two)
        assert not np.array_equal(one, other)
        assert (np.diff(one) < 0).any()
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert len(set(y[seen_classes(y, 0).queries])) == 8


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4])
def test_too_few_classes_are_refused(n_classes):
    held = "the data have 1 class" if n_classes == 1 else f"the data have {n_classes} classes"
    with pytest.raises(
        ValueError, match=f"trains on three quarters of the classes and needs 2 others; {held}; give"
    ):
        unseen_classes(np.arange(100) % n_classes)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"the data have 3 rows.*give at least 4"):
        seen_classes(np.arange(3))
    with pytest.raises(ValueError, match="the data have 1 row, a quarter of which"):
        seen_classes(np.arange(1))
    with pytest.raises(ValueError, match="the 2 classes left for retrieval have 2 rows; give at least 4"):
        unseen_classes(np.arange(5))


def test_queries_without_a_label_are_left_out():
    Y = np.random.default_rng(0).random((80, 3)) < 0.3
    split = seen_classes(Y, 1, n_queries=15)
    found = labelled_queries(split, Y)
    assert found.queries.tolist() == [row for row in split.queries if set(Y[row]) != {False}]
    assert 0 < len(found.queries) < 15
    assert found.train is split.train
    assert found.database is split.database
    assert labelled_queries(split, np.zeros(80)) is split  # 0 is a label
    Y[split.queries] = False
    with pytest.raises(ValueError, match="none of the 15 queries has a label; give more rows with labels"):
        labelled_queries(split, Y)
