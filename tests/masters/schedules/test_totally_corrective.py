"""All columns and all weights as they are."""

import numpy as np

from structhash.masters.schedules.totally_corrective import TotallyCorrective


def test_totally_corrective_changes_nothing(rng):
    bits = rng.integers(0, 2, (9, 30), dtype=np.uint8)
    columns, costs = TotallyCorrective().reduce(bits, np.arange(9.0))
    np.testing.assert_array_equal(columns, bits)
    np.testing.assert_array_equal(costs, np.arange(9.0))
    np.testing.assert_array_equal(TotallyCorrective().expand(np.arange(9.0), 9), np.arange(9.0))
