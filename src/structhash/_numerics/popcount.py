"""Count the set bits of a word inside numba kernels."""

from __future__ import annotations

from numba import config, types
from numba.extending import intrinsic

__all__ = ["popcount"]


@intrinsic
def _compiled(typingctx, word):
    """Return the number of set bits of a uint64; LLVM's ctpop makes it one instruction on most machines."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


def _interpreted(word):
    """Return the number of set bits of a uint64, where NUMBA_DISABLE_JIT lets kernels run as plain Python."""
    return int(word).bit_count()


popcount = _interpreted if config.DISABLE_JIT else _compiled
