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

__all__ = ["FEW_LANES", "MANY_LANES", "near_in_few_lanes", "near_in_many_lanes"]

FEW_LANES, MANY_LANES = 8, 32  # the tables of 8 bytes take 16 KB or 64 KB

_BYTE, _SHORT, _INT, _LONG = (ir.IntType(size) for size in (8, 16, 32, 64))


def _compiled(lanes):
    """An intrinsic for a number of lanes."""
    entry_vector, sum_vector = ir.VectorType(_BYTE, lanes), ir.VectorType(_SHORT, lanes)

    @intrinsic
    def near_lanes(typingctx, tables, codes, row, start, limits):
        """Return the lanes in which start + the sum of one entry a byte is at most the limit, as bits.

        Parameters
        ----------
        tables : uint8 (n_bytes, 256, lanes)
        codes : uint8 (n, n_bytes)
        row : int64
            Row of the code.
        start : uint16
        limits : uint16 (lanes,)
            Sums stop at 65535.
        """

        def build(context, builder, signature, arguments):
            def array(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i])

            width = builder.extract_value(array(1).shape, 1)
            code = builder.gep(array(1).data, [builder.mul(arguments[2], width)])
            table = builder.bitcast(array(0).data, entry_vector.as_pointer())
            limit = builder.bitcast(array(4).data, sum_vector.as_pointer())
            kind = ir.FunctionType(sum_vector, [sum_vector, sum_vector])
            add = get_or_insert_function(builder.module, kind, f"llvm.uadd.sat.v{lanes}i16")
            one = builder.insert_element(ir.Constant(sum_vector, ir.Undefined), arguments[3], _INT(0))
            starts = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, lanes), [0] * lanes))

            before = builder.block
            loop, after = builder.append_basic_block("bytes"), builder.append_basic_block("sums")
            builder.branch(loop)
            builder.position_at_end(loop)
            place, sums = builder.phi(_LONG), builder.phi(sum_vector)
            value = builder.zext(builder.load(builder.gep(code, [place])), _LONG)
            where = builder.gep(table, [builder.add(builder.mul(place, _LONG(256)), value)])
            more = builder.call(add, [sums, builder.zext(builder.load(where, align=1), sum_vector)])
            following = builder.add(place, _LONG(1))
            for phi, first, later in ((place, _LONG(0), following), (sums, starts, more)):
                phi.add_incoming(first, before)
                phi.add_incoming(later, loop)
            builder.cbranch(builder.icmp_signed("<", following, width), loop, after)
            builder.position_at_end(after)
            near = builder.icmp_unsigned("<=", more, builder.load(limit, align=2))
            return builder.zext(builder.bitcast(near, ir.IntType(lanes)), _LONG)

        return types.uint64(tables, codes, types.int64, types.uint16, limits), build

    return near_lanes


def _interpreted(tables, codes, row, start, limits):
    """Return what the intrinsics return, where NUMBA_DISABLE_JIT lets kernels run as plain Python."""
    entries = tables[np.arange(len(tables)), codes[row]]
    sums = np.minimum(int(start) + entries.sum(axis=0, dtype=np.int64), 65535)
    return int((sums <= limits) @ (1 << np.arange(len(limits))))


near_in_few_lanes, near_in_many_lanes = (
    _interpreted if config.DISABLE_JIT else _compiled(lanes) for lanes in (FEW_LANES, MANY_LANES)
)
