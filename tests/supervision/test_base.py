"""The contract of every supervision; a new file is found and trains."""

import numpy as np
import pytest

from structhash import CGHash, Labels, Neighbours, Qrels, StructHash, Triplets
from structhash.pieces import classes, names
from structhash.supervision import Supervision
from structhash.supervision.base import check_partners

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.repeat([0, 1], 10)
EVERY = {
    "labels": Labels(Y, 3, 4),
    "neighbours": Neighbours(3, n_near=2, n_far=4),
    "qrels": Qrels(np.array([[0, 1, 2], [1, 3, 1]]), X[:2]),
    "triplets": Triplets(np.array([[0, 1, 2]])),
}


def test_every_supervision_is_tried_here():
    assert sorted(EVERY) == names("supervision")


@pytest.mark.parametrize("name", EVERY)
def test_every_supervision_keeps_the_contract(name, partners, rng):
    supervision = EVERY[name]
    assert isinstance(supervision, Supervision)
    assert type(supervision) is classes("supervision")[name]
    matrix = supervision.training_matrix(X)
    np.testing.assert_array_equal(matrix[: len(X)], X)
    found = list(partners(supervision.comparisons(X, rng)))
    assert found
    for i, near, far in found:
        assert len(near)
        assert len(far)
        assert {i, *near, *far} <= set(range(len(matrix)))
        assert len({i, *near, *far}) == 1 + len(near) + len(far)


def test_a_supervision_that_gives_nothing_says_so(rng):
    with pytest.raises(NotImplementedError):
        Supervision().comparisons(X, rng)
    assert Supervision().training_matrix(X) is X


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "3", None])
def test_numbers_of_partners_are_checked(count):
    with pytest.raises(ValueError, match=r"n_near=.*: give an integer of at least 1"):
        check_partners(count, 3)
    with pytest.raises(ValueError, match=r"n_far=.*: give an integer of at least 1"):
        check_partners(np.int64(3), count)


TOY = '''
"""A supervision that is only in a test."""

from dataclasses import dataclass

import numpy as np

from structhash.pair_weights import Comparisons
from structhash.supervision.base import Supervision


@dataclass(frozen=True)
class ToyChain(Supervision):
    """Each row is nearer to the next one than to the one after a gap."""

    gap: int = 5

    def comparisons(self, X, rng):
        queries = np.arange(len(X) - self.gap)
        pointer = np.arange(len(queries) + 1)
        near, far = ((queries + step).astype(np.int32) for step in (1, self.gap))
        return Comparisons(queries, near, pointer, far, pointer)
'''


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_a_new_file_is_a_new_supervision_that_trains(cls, drop_piece):
    """It gives what explicit triplets give."""
    drop_piece("supervision", TOY)
    assert "toy_chain" in names("supervision")
    i = np.arange(16)
    given = classes("supervision")["toy_chain"](gap=4), Triplets(np.column_stack([i, i + 1, i + 4]))
    toy, same = (cls(n_bits=3, random_state=0).fit(X, y) for y in given)
    assert toy.n_skipped_ == 4
    np.testing.assert_array_equal(toy.transform(X), same.transform(X))
    np.testing.assert_array_equal(toy.weights_, same.weights_)
