"""What is derived from blocks of codes."""

import gc

import numpy as np

from structhash.search._kept import _WORDS, Kept, long_words


def test_what_is_kept_of_a_block_goes_with_it():
    kept, codes = Kept(), np.zeros((10, 1), np.uint8)
    assert kept.get(codes, len) == kept.get(codes, lambda block: -1) == 10
    other = np.zeros((11, 1), np.uint8)
    assert kept.get(other, len) == 11
    del codes
    gc.collect()
    assert len(kept._entries) == 1


def test_words_that_are_copied_are_kept_and_others_keep_nothing():
    before = len(_WORDS._entries)
    codes = np.arange(32, dtype=np.uint8).reshape(2, 16)
    assert np.shares_memory(long_words(codes), codes)
    assert len(_WORDS._entries) == before
    for make in (lambda: codes[:, :7].copy(), lambda: np.frombuffer(bytes(33), np.uint8)[1:].reshape(2, 16)):
        block = make()
        assert long_words(block) is long_words(block)
        assert long_words(block).view(np.uint8)[:, : block.shape[1]].tolist() == block.tolist()
        assert len(_WORDS._entries) == before + 1
        del block
        gc.collect()
        assert len(_WORDS._entries) == before
