"""Check the arguments that metrics share."""

from __future__ import annotations

from typing import Any

from structhash._numerics.validation import check_count, describe
from structhash.metrics.tie_blocks import TieBlocks


def check_blocks(blocks: Any) -> None:
    """Raise TypeError unless `blocks` are `TieBlocks`."""
    if not isinstance(blocks, TieBlocks):
        raise TypeError(f"blocks={describe(blocks)}: give tie_blocks(distances, relevance)")


def check_cut(blocks: TieBlocks, k: Any) -> int:
    """Return the cut k, clipped to the longest ranking but at least 1; no rank lies beyond it.

    Arrays over ranks get this length, so that a huge k needs no memory. TypeError unless `blocks` are
    `TieBlocks`; ValueError unless k is an integer >= 1.
    """
    check_blocks(blocks)
    check_count("k", k, most=None)
    return max(1, min(int(k), blocks.max_documents))
