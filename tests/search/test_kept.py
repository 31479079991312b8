"""What is derived from blocks of codes."""

import gc
import weakref

import numpy as np

from structhash.codes import Decoder
from structhash.search._kept import _PARTS, _WORDS, Kept, long_words, part_of, squared_lengths


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


def test_lengths_of_a_part_are_those_of_its_block(monkeypatch, rng):
    """So a search with a filter decodes no code again."""
    decoded, inner = [], Decoder.squared_lengths

    def counted(decoder, codes):
        decoded.append(len(codes))
        return inner(decoder, codes)

    monkeypatch.setattr(Decoder, "squared_lengths", counted)
    decoder, codes = (
        Decoder(16, np.zeros(3), rng.normal(size=(16, 3))),
        rng.integers(0, 256, (1000, 2), np.uint8),
    )
    few, many = rng.permutation(1000)[:20], rng.permutation(1000)[:500]
    for rows, total in ((few, [20]), (many, [20, 1000]), (few, [20, 1000]), (many, [20, 1000])):
        part = part_of(codes, rows)
        np.testing.assert_array_equal(part, codes[rows])
        np.testing.assert_array_equal(squared_lengths(decoder, part), inner(decoder, codes[rows]))
        assert decoded == total


def test_a_part_keeps_its_block_only_while_it_lives():
    codes = np.zeros((10, 1), np.uint8)
    part = part_of(codes, np.arange(5))
    assert _PARTS.peek(part)[0] is codes
    assert _PARTS.peek(codes) is None
    gone = weakref.ref(codes)
    del codes
    assert gone() is not None
    del part
    gc.collect()
    assert gone() is None
