"""Binary codes: packed bytes, their distances, prepared queries, and codes of rows by planes.

A code of ``n_bits`` bits is a row of ``ceil(n_bits / 8)`` bytes. Bit j is in byte j // 8 and has the value
2 ** (j % 8) there (little bit order). The pad bits of the last byte are zero.
"""

from structhash.codes.decoding import Decoder, byte_vectors
from structhash.codes.distances import (
    as_words,
    byte_tables,
    code_distances,
    hamming,
    table_distances,
    weighted_hamming,
    weighted_tables,
)
from structhash.codes.packing import check_codes, check_n_bits, pack, unpack
from structhash.codes.planes import (
    PlaneProduct,
    Planes,
    make_planes,
    make_product,
    plane_distances,
    write_codes,
)
from structhash.codes.prepared import PreparedQueries, prepare_values, prepared_distances

__all__ = [
    "Decoder",
    "PlaneProduct",
    "Planes",
    "PreparedQueries",
    "as_words",
    "byte_tables",
    "byte_vectors",
    "check_codes",
    "check_n_bits",
    "code_distances",
    "hamming",
    "make_planes",
    "make_product",
    "pack",
    "plane_distances",
    "prepare_values",
    "prepared_distances",
    "table_distances",
    "unpack",
    "weighted_hamming",
    "weighted_tables",
    "write_codes",
]
