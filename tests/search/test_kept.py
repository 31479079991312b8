"""What is derived from blocks of codes."""

import gc

import numpy as np

from structhash.search._kept import Kept


def test_what_is_kept_of_a_block_goes_with_it():
    kept, codes = Kept(), np.zeros((10, 1), np.uint8)
    assert kept.get(codes, len) == kept.get(codes, lambda block: -1) == 10
    other = np.zeros((11, 1), np.uint8)
    assert kept.get(other, len) == 11
    del codes
    gc.collect()
    assert len(kept._entries) == 1
