import numpy as np
import pytest

from structhash.metrics import recall, tie_blocks


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_recall_is_the_mean_over_all_orders(k, assert_mean_over_orders):
    assert_mean_over_orders(
        lambda blocks: recall(blocks, k),
        lambda grades: (grades[:k] > 0).sum() / (grades > 0).sum(),
    )


def test_beyond_the_documents_all_relevant_ones_are_found():
    np.testing.assert_allclose(recall(tie_blocks([[1, 2, 2]], [[0, 1, 1]]), 10), [1])


def test_recall_does_not_round_by_the_cut():
    blocks = tie_blocks([np.arange(60)], [np.ones(60, int)])
    np.testing.assert_array_equal(
        [recall(blocks, k)[0] for k in range(1, 99)], np.minimum(np.arange(1, 99), 60) / 60
    )
    assert recall(blocks, 10**400) == 1
