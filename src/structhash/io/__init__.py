"""Files: data sets, arrays of codes, and our own container for models and indexes.

Each file format of a data set is a piece in `structhash.io.formats`. `structhash.io.container` holds the
container and atomic writes.
"""

from __future__ import annotations

from structhash.io._opening import suffix_of, unreadable
from structhash.io._remote import fetched
from structhash.io.arrays import map_array, read_codes, write_npy
from structhash.io.codes import CODE_SUFFIXES, Codes, holds_codes, load_codes, save_codes
from structhash.io.dataset import Dataset, check_matrix
from structhash.io.formats._columns import id_candidates
from structhash.io.formats.base import Rows
from structhash.io.reading import facts, number_note, parts_of, read, read_rows, suffixes

__all__ = [
    "CODE_SUFFIXES",
    "Codes",
    "Dataset",
    "Rows",
    "check_matrix",
    "facts",
    "fetched",
    "holds_codes",
    "id_candidates",
    "load_codes",
    "map_array",
    "number_note",
    "parts_of",
    "read",
    "read_codes",
    "read_rows",
    "save_codes",
    "suffix_of",
    "suffixes",
    "unreadable",
    "write_npy",
]
