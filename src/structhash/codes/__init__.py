"""Binary codes: packed bytes, their distances, and codes of rows by planes.

A code of ``n_bits`` bits is a row of ``ceil(n_bits / 8)`` bytes. Bit j is in byte j // 8 and has the value
2 ** (j % 8) there (little bit order). The pad bits of the last byte are zero.
"""

from structhash.codes.distances import byte_tables, code_distances, hamming, weighted_hamming
from structhash.codes.packing import check_codes, check_n_bits, pack, unpack
from structhash.codes.planes import PlaneProduct, Planes, make_planes, make_product, write_codes

__all__ = [
    "PlaneProduct",
    "Planes",
    "byte_tables",
    "check_codes",
    "check_n_bits",
    "code_distances",
    "hamming",
    "make_planes",
    "make_product",
    "pack",
    "unpack",
    "weighted_hamming",
    "write_codes",
]
