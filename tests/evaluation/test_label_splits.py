"""Few, uneven and coarse labels: counts of training rows and merged classes, by counting."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from structhash.evaluation import coarse_labels, few_labels, seen_classes, tail_classes


def labels(sizes, seed=0):
    """Text labels: sizes[i] rows of class i, shuffled."""
    y = np.repeat([f"class {i:02}" for i in range(len(sizes))], sizes)
    return np.random.default_rng(seed).permutation(y)


UNEVEN = labels([3, 8, 50, 200, 40, 41, 42])


@pytest.mark.parametrize("n_labelled", [1, 2, 5, 20, 10**30])
@pytest.mark.parametrize("seed", [0, 1])
def test_few_labels_train_on_the_first_rows_of_each_class_in_the_database(n_labelled, seed):
    split, seen = few_labels(UNEVEN, seed, 60, n_labelled), seen_classes(UNEVEN, seed, 60)
    np.testing.assert_array_equal(split.queries, seen.queries)
    np.testing.assert_array_equal(split.database, seen.database)
    wanted, taken = [], Counter()
    for row in split.database:  # one at a time
        if taken[UNEVEN[row]] < n_labelled:
            wanted.append(row)
            taken[UNEVEN[row]] += 1
    assert split.train.tolist() == wanted
    there = Counter(UNEVEN[split.database].tolist())
    assert taken == {label: min(n_labelled, count) for label, count in there.items()}


def test_more_labels_have_the_fewer_among_them():
    trains = [set(few_labels(UNEVEN, 3, 60, n).train.tolist()) for n in (1, 2, 4, 8, 16)]
    assert all(one < two for one, two in pairwise(trains))


@pytest.mark.parametrize("n_labelled", [0, -1, 2.0, True, "5"])
def test_few_labels_refuse_a_number_that_is_none(n_labelled):
    with pytest.raises(ValueError, match=f"n_labelled={n_labelled!r}: give an integer of at least 1"):
        few_labels(UNEVEN, n_labelled=n_labelled)


@pytest.mark.parametrize("draw", [few_labels, tail_classes])
def test_too_few_rows_are_refused(draw):
    with pytest.raises(ValueError, match=r"the data have 3 rows.*give at least 4"):
        draw(np.arange(3))


@pytest.mark.parametrize(
    ("n_classes", "sizes"),
    [(2, [300, 2]), (3, [300, 24, 2]), (6, [300, 110, 40, 15, 5, 2])],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_tail_falls_by_one_factor_from_300_rows_to_2(n_classes, sizes, seed):
    factor = (300 / 2) ** (1 / (n_classes - 1))
    assert sizes == [round(300 / factor**place) for place in range(n_classes)]
    y = labels([500] * n_classes)
    split, seen = tail_classes(y, seed, 100), seen_classes(y, seed, 100)
    np.testing.assert_array_equal(split.queries, seen.queries)
    np.testing.assert_array_equal(split.database, seen.database)
    assert sorted(Counter(y[split.train].tolist()).values(), reverse=True) == sizes
    assert set(split.train) <= set(split.database)
    assert len(set(split.train)) == len(split.train)


def test_the_order_of_the_classes_in_the_tail_is_drawn():
    y = labels([500] * 6)
    largest = {Counter(y[tail_classes(y, seed).train].tolist()).most_common(1)[0][0] for seed in range(20)}
    assert len(largest) > 3


def test_a_class_with_fewer_rows_than_its_share_of_the_tail_gives_all():
    y = labels([30] * 6)
    split = tail_classes(y, 0, 40)
    there, taken = (Counter(y[rows].tolist()) for rows in (split.database, split.train))
    asked = [300, 110, 40, 15, 5, 2]
    full = [label for label, count in taken.items() if count == there[label]]
    assert len(full) >= 2
    assert (
        sorted(count for label, count in taken.items() if label not in full) == sorted(asked)[: 6 - len(full)]
    )


@pytest.mark.parametrize("n_classes", [3, 4, 7, 10, 77])
@pytest.mark.parametrize("seed", [0, 1])
def test_coarse_labels_merge_classes_in_pairs(n_classes, seed):
    y = labels([4] * n_classes)
    coarse = coarse_labels(y, seed)
    members = {pair: sorted(set(y[coarse == pair].tolist())) for pair in set(coarse.tolist())}
    each = [label for pair in members.values() for label in pair]
    assert sorted(each) == sorted(set(y.tolist()))  # each class is whole, in one pair
    assert sorted(map(len, members.values()), reverse=True) == [2] * (n_classes // 2) + [1] * (n_classes % 2)
    np.testing.assert_array_equal(coarse, coarse_labels(y, seed))


def test_the_pairs_are_drawn_by_the_seed():
    y = labels([4] * 10)
    drawn = {tuple(coarse_labels(y, seed).tolist()) for seed in range(10)}
    assert len(drawn) == 10


@pytest.mark.parametrize(("n_classes", "found"), [(1, "1 class"), (2, "2 classes")])
def test_two_classes_are_too_few_to_merge(n_classes, found):
    with pytest.raises(ValueError, match=f"the data have {found}; give at least 3"):
        coarse_labels(labels([9] * n_classes))
