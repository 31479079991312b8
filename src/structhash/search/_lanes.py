"""Sums of one code for many queries at once, inside numba kernels.

Each query has a lane. The entries of all lanes for one byte value lie side by side, so one vector addition
serves all queries. LLVM turns the vectors into those of any machine.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

__all__ = ["LANES", "near_lanes"]

LANES = 32  # queries; the tables of 32 queries and 8 bytes take 64 KB

_BYTE, _LONG = ir.IntType(8), ir.IntType(64)
_ENTRIES, _SUMS = ir.VectorType(_BYTE, LANES), ir.VectorType(ir.IntType(16), LANES)


@intrinsic
def _compiled(typingctx, tables, codes, row, start, limits):
    """Return the lanes in which start + the sum of one entry a byte is at most the limit, as bits of a uint64.

    Parameters
    ----------
    tables : uint8 (n_bytes, 256, LANES)
    codes : uint8 (n, n_bytes)
    row : int64
        Row of the code.
    start : uint16
    limits : uint16 (LANES,)
        Sums stop at 65535.
    """

    def build(context, builder, signature, arguments):
        def array(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i])

        def long(value):
            return ir.Constant(_LONG, value)

        width = builder.extract_value(array(1).shape, 1)
        code = builder.gep(array(1).data, [builder.mul(arguments[2], width)])
        table = builder.bitcast(array(0).data, _ENTRIES.as_pointer())
        limit = builder.bitcast(array(4).data, _SUMS.as_pointer())
        add = get_or_insert_function(
            builder.module, ir.FunctionType(_SUMS, [_SUMS, _SUMS]), f"llvm.uadd.sat.v{LANES}i16"
        )
        lane = ir.IntType(32)
        one = builder.insert_element(ir.Constant(_SUMS, ir.Undefined), arguments[3], ir.Constant(lane, 0))
        everywhere = ir.Constant(ir.VectorType(lane, LANES), [0] * LANES)
        starts = builder.shuffle_vector(one, one, everywhere)

        before = builder.block
        loop, after = builder.append_basic_block("bytes"), builder.append_basic_block("sums")
        builder.branch(loop)
        builder.position_at_end(loop)
        place, sums = builder.phi(_LONG), builder.phi(_SUMS)
        value = builder.zext(builder.load(builder.gep(code, [place])), _LONG)
        entries = builder.load(builder.gep(table, [builder.add(builder.mul(place, long(256)), value)]), align=1)
        more, following = builder.call(add, [sums, builder.zext(entries, _SUMS)]), builder.add(place, long(1))
        for phi, first, later in ((place, long(0), following), (sums, starts, more)):
            phi.add_incoming(first, before)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following, width), loop, after)
        builder.position_at_end(after)
        near = builder.icmp_unsigned("<=", more, builder.load(limit, align=2))
        return builder.zext(builder.bitcast(near, ir.IntType(LANES)), _LONG)

    return types.uint64(tables, codes, types.int64, types.uint16, limits), build


def _interpreted(tables, codes, row, start, limits):
    """Return what `_compiled` returns, where NUMBA_DISABLE_JIT lets kernels run as plain Python."""
    entries = tables[np.arange(len(tables)), codes[row]]
    sums = np.minimum(int(start) + entries.sum(axis=0, dtype=np.int64), 65535)
    return int((sums <= limits) @ (1 << np.arange(LANES)))


near_lanes = _interpreted if config.DISABLE_JIT else _compiled
