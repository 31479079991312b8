"""Join indexes in a file, in memory that does not grow with their files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from structhash.search._index_file import save_parts
from structhash.search.base import Index, all_bits, joined_source

__all__ = ["save_merged"]


def save_merged(indexes: Sequence[Index], path: str | os.PathLike[str], force: bool = False) -> None:
    """Save the codes of several indexes as one index file; the indexes stay as they are.

    Codes are read and written some at a time. So the codes of indexes that are mapped are never all in memory,
    and `path` may be the file of one of them. Running numbers go on from index to index. Own ids stay.

    Parameters
    ----------
    indexes : sequence of Index
        At least one. The file is of the class of the first.
    path : str or path
    force : bool
        As in `Index.save`.

    Raises
    ------
    TypeError
        If one is no index, or some have numbers as ids and others text.
    ValueError
        If an index is given twice, lengths, weights or known models differ, an id comes twice, or only some
        have ids of their own.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from structhash.search import Exact, load_index
    >>> path, more = f"{tempfile.mkdtemp()}/index", Exact(n_bits=8)
    >>> Exact(n_bits=8).save(path)
    >>> more.add(np.array([[5], [6]], dtype=np.uint8))
    >>> for _ in range(2):
    ...     save_merged([load_index(path, mmap=True), more], path)
    >>> len(load_index(path))
    4
    """
    source = joined_source(indexes)
    parts = [part for index in indexes for part in index._parts()]
    about = indexes[0]._about()._replace(source=source, codes_are_bits=all_bits(indexes))
    save_parts(path, parts, about, force)
