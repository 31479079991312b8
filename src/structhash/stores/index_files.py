"""Files of codes that programs with faiss or usearch open.

They hold one index each, with whole numbers as ids and nothing about the model. So they are no stores: a search
in them may miss near codes, and the order of equal distances is that of the library.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import check_choice, check_count
from structhash.io.container import atomic
from structhash.search import Exact, Flat

__all__ = ["write_faiss", "write_usearch"]

_KINDS = ("flat", "hnsw", "ivf")
_MAX_LINKS = 256
_ROWS_OF_LIST = 39  # faiss asks for as many training codes of each list


def write_faiss(
    path: str | os.PathLike[str],
    codes: NDArray[np.uint8],
    n_bits: int,
    ids: ArrayLike | None = None,
    *,
    kind: str = "hnsw",
    n_links: int = 32,
) -> None:
    """Write a file that ``faiss.read_index_binary`` opens, whole or not at all.

    A file of this name is replaced. Distances are Hamming distances. "flat" is exact. "hnsw" is a graph of
    near codes, which a search follows. "ivf" has about sqrt(n) lists, of which a search
    looks at `nprobe`; with all of them it is exact
    (https://github.com/facebookresearch/faiss/wiki/Binary-indexes).

    Parameters
    ----------
    path : str or path
    codes : uint8 array of shape (n, ceil(n_bits / 8))
        At least one. A code is as long as its bytes; the bits at the end are 0.
    n_bits : int
    ids : array of shape (n,), optional
        Unique whole numbers of at least 0. By default row numbers.
    kind : str
        "flat", "hnsw" or "ivf".
    n_links : int
        Links of a code of the graph, 2 to 256.

    Raises
    ------
    TypeError, ValueError
        If the codes are not packed codes of `n_bits` bits, the ids break a rule above, or a setting is unknown.
    ImportError
        If faiss is not installed.
    """
    check_choice("kind", kind, _KINDS)
    codes, numbers = _checked(codes, n_bits, ids, n_links)
    flat = Flat(n_bits)
    if kind == "flat":
        flat.add(codes, numbers)
        flat.write_faiss(path)
        return
    import faiss

    width = 8 * codes.shape[1]
    index: Any = faiss.IndexBinaryHNSW(width, n_links)
    if kind == "ivf":
        n_lists = max(1, min(round(len(codes) ** 0.5), len(codes) // _ROWS_OF_LIST))
        quantizer = faiss.IndexBinaryFlat(width)
        index = faiss.IndexBinaryIVF(quantizer, width, n_lists)
        index.train(codes)
    mapped = faiss.IndexBinaryIDMap2(index)
    mapped.add_with_ids(codes, numbers)
    with atomic(path) as temporary:
        faiss.write_index_binary(mapped, str(temporary))


def write_usearch(
    path: str | os.PathLike[str],
    codes: NDArray[np.uint8],
    n_bits: int,
    ids: ArrayLike | None = None,
    *,
    n_links: int = 16,
) -> None:
    """Write a file that ``usearch.index.Index.restore`` opens, whole or not at all.

    A file of this name is replaced. It holds a graph of vectors of bits (b1) with Hamming distances. A search
    follows the graph; with ``exact=True`` it reads all codes (https://unum-cloud.github.io/usearch).

    Parameters
    ----------
    path, codes, n_bits, ids
        As in `write_faiss`.
    n_links : int
        Links of a code of the graph, 2 to 256.

    Raises
    ------
    TypeError, ValueError
        As `write_faiss`.
    ImportError
        If usearch is not installed.
    """
    codes, numbers = _checked(codes, n_bits, ids, n_links)
    try:
        from usearch.index import Index
    except ImportError as error:
        raise not_installed("usearch", "write_usearch", "stores", error) from error
    index = Index(ndim=8 * codes.shape[1], metric="hamming", dtype="b1", connectivity=n_links)
    index.add(numbers.astype(np.uint64), codes, threads=1)  # the same codes give the same file
    with atomic(path) as temporary:
        index.save(str(temporary))


def _checked(
    codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None, n_links: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Codes and their ids, which ascend; errors if they are not valid, or there are none."""
    check_count("n_links", n_links, least=2, most=_MAX_LINKS)
    index = Exact(n_bits)
    index.add(codes, ids)
    if index.id_kind == "text":
        raise ValueError("the ids are text, and such files hold whole numbers; give numbers, or use a store")
    if not len(index):
        raise ValueError("there are no codes; give at least one")
    return np.ascontiguousarray(index.table()[0]), index.ids
