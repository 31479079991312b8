import numpy as np
import pytest

from structhash.metrics import precision, tie_blocks


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_precision_is_the_mean_over_all_orders(k, assert_mean_over_orders):
    assert_mean_over_orders(
        lambda blocks: precision(blocks, k),
        lambda grades: (grades[:k] > 0).sum() / k,
    )


def test_ranks_without_a_document_count_as_irrelevant():
    np.testing.assert_allclose(precision(tie_blocks([[1, 2, 2]], [[0, 1, 1]]), 10), [0.2])
