"""Differing bits of a query and of eight codes at once, inside numba kernels.

Vectors are written out, because LLVM finds slower ones in a loop. It turns them into those of any machine.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

__all__ = [
    "CODES_AT_ONCE",
    "N_PLANES",
    "bits_of_four_words",
    "bits_of_two_words",
    "bits_of_words",
    "levels_of_four_words",
    "levels_of_two_words",
    "levels_of_words",
]

CODES_AT_ONCE = 8  # a word of each takes 64 bytes
N_PLANES = 4  # levels of a bit are numbers of 4 bits

_INT, _LONG = ir.IntType(32), ir.IntType(64)
_NUMBERS, _WORDS = ir.VectorType(_INT, CODES_AT_ONCE), ir.VectorType(_LONG, CODES_AT_ONCE)


def _vector(kind, numbers):
    return ir.Constant(ir.VectorType(kind, len(numbers)), numbers)


def _builder(width, n_planes):
    """What writes the code of an intrinsic for codes of `width` words; without planes, each bit counts as 1."""
    many = ir.VectorType(_LONG, CODES_AT_ONCE * width)

    def repeated(builder, word):
        one = builder.insert_element(ir.Constant(_WORDS, ir.Undefined), word, _INT(0))
        return builder.shuffle_vector(one, one, _vector(_INT, [0] * CODES_AT_ONCE))

    def build(context, builder, signature, arguments):
        def array(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i])

        row, all_words = arguments[5], builder.extract_value(array(4).shape, 1)

        def word(i, row, j):
            place = builder.add(builder.mul(row, all_words), builder.add(arguments[6], _LONG(j)))
            return builder.load(builder.gep(array(i).data, [place]))

        kind = ir.FunctionType(_WORDS, [_WORDS])
        count = get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{CODES_AT_ONCE}i64")
        place = builder.bitcast(builder.gep(array(2).data, [arguments[3]]), many.as_pointer())
        codes, total = builder.load(place, align=8), _vector(_LONG, [0] * CODES_AT_ONCE)
        for j in range(width):
            own = _vector(_INT, [width * i + j for i in range(CODES_AT_ONCE)])
            differing = builder.shuffle_vector(codes, codes, own)
            differing = builder.xor(differing, repeated(builder, word(4, row, j)))
            if not n_planes:
                total = builder.add(total, builder.call(count, [differing]))
            for p in range(n_planes):
                plane = word(8, builder.add(builder.mul(row, _LONG(n_planes)), _LONG(p)), j)
                under = builder.call(count, [builder.and_(differing, repeated(builder, plane))])
                total = builder.add(total, builder.shl(under, _vector(_LONG, [p] * CODES_AT_ONCE)))
        target = builder.bitcast(builder.gep(array(0).data, [arguments[1]]), _NUMBERS.as_pointer())
        more = builder.icmp_signed("!=", arguments[7], _LONG(0))
        before = builder.select(more, builder.load(target, align=4), _vector(_INT, [0] * CODES_AT_ONCE))
        builder.store(builder.add(before, builder.trunc(total, _NUMBERS)), target, align=4)
        return context.get_dummy_value()

    return build


def _compiled(width):
    """Two intrinsics for codes of `width` words: of the number of bits, and of their levels."""
    i64 = types.int64

    @intrinsic
    def count_levels(typingctx, found, i, words, at, queries, q, j, more, planes):
        """Write into found[i : i + 8] the levels of the bits in which codes differ from a query.

        Parameters
        ----------
        found : uint32 (m,)
        i : int64
        words : uint64, in C order
            The words of the first code begin at place `at`; each code has `width` words.
        at : int64
        queries : uint64 (n_queries, w)
            The words queries[q, j : j + width] count.
        q, j : int64
        more : int64
            0 to overwrite, 1 to add.
        planes : uint64 (n_queries, N_PLANES, w)
            planes[q, p] holds digit p of the levels.
        """
        return types.void(found, i64, words, i64, queries, i64, i64, i64, planes), _builder(width, N_PLANES)

    @intrinsic
    def count_bits(typingctx, found, i, words, at, queries, q, j, more):
        """Write the numbers of these bits; parameters as in `count_levels`."""
        return types.void(found, i64, words, i64, queries, i64, i64, i64), _builder(width, 0)

    return count_bits, count_levels


def _interpreted(width):
    """Both, where NUMBA_DISABLE_JIT lets kernels run as plain Python."""

    def count_levels(found, i, words, at, queries, q, j, more, planes):
        codes = words.reshape(-1)[at : at + CODES_AT_ONCE * width].reshape(-1, width)
        differing = (codes ^ queries[q, j : j + width])[:, None] & planes[q, :, j : j + width]
        levels = np.bitwise_count(differing).sum(axis=2, dtype=np.uint32) << np.arange(planes.shape[1])
        part = slice(i, i + CODES_AT_ONCE)
        found[part] = more * found[part] + levels.sum(axis=1)

    def count_bits(found, i, words, at, queries, q, j, more):
        every = np.full((len(queries), 1, queries.shape[1]), 2**64 - 1, np.uint64)
        count_levels(found, i, words, at, queries, q, j, more, every)

    return count_bits, count_levels


def _of_width(width):
    return _interpreted(width) if config.DISABLE_JIT else _compiled(width)


bits_of_words, levels_of_words = _of_width(1)
bits_of_two_words, levels_of_two_words = _of_width(2)
bits_of_four_words, levels_of_four_words = _of_width(4)
