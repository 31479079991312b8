"""Protocols by name: all share their queries, and names that are none are refused."""

import numpy as np
import pytest

from structhash import HashEncoder
from structhash.evaluation import (
    PROTOCOLS,
    Method,
    coarse_labels,
    compare,
    few_labels,
    find_protocol,
    protocol_names,
    seen_classes,
)

Y = np.random.default_rng(0).permutation(np.repeat(np.arange(8), 80))
X = np.random.default_rng(1).standard_normal((640, 4)) + np.eye(8)[Y] @ np.ones((8, 4)) * Y[:, None]
EVERY = [*PROTOCOLS, "few-1", "few-20"]


@pytest.mark.parametrize("name", EVERY)
def test_a_seed_gives_one_split_with_queries_apart_from_the_other_rows(name):
    protocol = find_protocol(name)
    a, b, c = protocol.draw(Y, 3), protocol.draw(Y, 3), protocol.draw(Y, 4)
    for one, two, other in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(one, two)
        assert not np.array_equal(one, other)
    assert not set(a.queries) & set(a.database)
    assert not set(a.queries) & set(a.train)
    assert name == "unseen" or set(a.train) <= set(a.database)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "unseen"])
def test_a_seed_gives_all_protocols_one_database_and_the_queries_of_seen_classes(name):
    split, seen = find_protocol(name).draw(Y, 2, n_queries=100), seen_classes(Y, 2, 100)
    np.testing.assert_array_equal(split.database, seen.database)
    part = name.startswith("mixed")
    expected = [row for row in seen.queries if row in split.queries] if part else seen.queries.tolist()
    assert split.queries.tolist() == expected


def test_few_takes_any_number_from_1_on():
    assert protocol_names() == [*PROTOCOLS, "few-N"]
    for n in (1, 3, 20, 10**8):
        found, expected = find_protocol(f"few-{n}").draw(Y, 1, n_queries=50), few_labels(Y, 1, 50, n)
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["few-0", "few-", "few-N", "few--1", "few-01", "few-1.5", "few-" + "9" * 5000])
def test_a_number_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match=r"protocol='few-.*: give seen or .* or few-N, N from 1 on$"):
        find_protocol(name)


@pytest.mark.parametrize("name", ["known", "", None, 5, ["seen"]])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=r"protocol=.*: give seen or unseen or mixed-known or"):
        find_protocol(name)


@pytest.mark.parametrize("name", ["few-5", "tail"])
def test_a_protocol_of_few_labels_counts_its_training_rows_itself(name):
    message = f"n_train=9: protocol='{name}' sets how many rows of a class train; leave n_train out"
    with pytest.raises(ValueError, match=message):
        compare(["float"], X, Y, name, n_train=9)


def test_measures_of_a_mean_curve_are_refused_where_classes_are_ranked():
    with pytest.raises(ValueError, match=r"pr_area needs rankings of one length.*leave pr_area out"):
        compare(["float"], X, Y, "instances", measures=["mAP", "PR_area"])


class Recorder(HashEncoder):
    """Keeps what it is fitted on. Its one bit is the sign of the first feature."""

    takes_unlabeled = True

    def __init__(self, n_bits=1):
        self.n_bits = n_bits

    def fit(self, X, y=None, unlabeled=None):
        self.log.append((X, y, unlabeled))
        self.n_bits_, self.weights_, self.history_, self.n_features_in_ = 1, np.ones(1), [], X.shape[1]
        return self

    def _bits(self, X):
        return X[:, :1] > 0


@pytest.mark.parametrize("name", EVERY)
def test_methods_learn_from_the_labels_of_the_protocol_and_get_the_database(name, monkeypatch):
    monkeypatch.setattr(Recorder, "log", [], raising=False)
    protocol, method = find_protocol(name), Method("recorder", (Recorder(),), on_database=True)
    (result,) = compare([method], X, Y, name, [1], [1], n_queries=60)
    split = protocol.draw(Y, 1, n_queries=60)
    ((rows, labels, unlabeled),) = Recorder.log
    np.testing.assert_array_equal(rows, X[split.train])
    np.testing.assert_array_equal(unlabeled, X[split.database])
    taught = coarse_labels(Y, 1) if name == "coarse" else Y
    np.testing.assert_array_equal(labels, taught[split.train])
    assert list(result.scores.mean) == list(protocol.measures)
    assert len(next(iter(result.scores.per_query.values()))) == len(split.queries)


def test_coarse_labels_teach_and_fine_labels_judge():
    (coarse,) = compare(["float"], X, Y, "coarse", seeds=[1], measures=["map"], n_queries=60)
    (seen,) = compare(["float"], X, Y, "seen", seeds=[1], measures=["map"], n_queries=60)
    assert coarse.scores.mean == seen.scores.mean
    with pytest.raises(ValueError, match="the data have 2 classes; give at least 3"):
        list(compare(["float"], X, Y % 2, "coarse"))


SEVERAL = np.column_stack([Y % 2, Y % 3 == 0, Y > 5]).astype(int)


@pytest.mark.parametrize("name", EVERY)
def test_protocols_that_look_at_no_class_take_several_labels_a_row(name):
    protocol = find_protocol(name)
    assert protocol.takes_several_labels == (name == "seen")
    if protocol.takes_several_labels:
        for one, two in zip(protocol.draw(SEVERAL, 3), protocol.draw(Y, 3), strict=True):
            np.testing.assert_array_equal(one, two)
        return
    row, n_labels = next((i, sum(labels)) for i, labels in enumerate(SEVERAL.tolist()) if sum(labels) != 1)
    message = (
        f"protocol='{name}' splits rows by their class, and row {row} of y has {n_labels} of 3 labels; "
        "give protocol='seen', or one label a row"
    )
    with pytest.raises(ValueError, match=message):
        compare(["float"], X, SEVERAL, name)
    one_hot = np.eye(8, dtype=int)[Y]  # these are classes
    (a,), (b,) = (compare(["float"], X, y, name, seeds=[1], n_queries=60) for y in (one_hot, Y))
    assert a.scores.mean == b.scores.mean
