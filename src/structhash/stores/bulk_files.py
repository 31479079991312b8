"""Files of codes that servers read: Elasticsearch, Milvus, Qdrant, Vespa.

Each function yields the lines of a file, and `write_bulk_file` writes them. Nothing is sent to a server.
Except in Qdrant, a code has all the bits of its bytes, even where `n_bits` is no multiple of 8. The bits at the
end are 0 in codes. They must be 0 in queries, too, so that they do not change distances.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash.codes import unpack
from structhash.io.container import atomic
from structhash.search import Exact

__all__ = ["elasticsearch_lines", "milvus_lines", "qdrant_lines", "vespa_lines", "write_bulk_file"]

_POINTS_A_REQUEST = 1000


def write_bulk_file(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines to a file, all of them or, when that fails, no file; a file of this name is replaced."""
    with atomic(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def elasticsearch_lines(codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None = None) -> Iterator[str]:
    """Lines for ``POST /INDEX/_bulk`` of Elasticsearch 8.15 or later, two for each code.

    The field `code` needs the mapping ``{"type": "dense_vector", "element_type": "bit", "dims": 8 * n_bytes,
    "similarity": "l2_norm"}``. It is a text of hexadecimal digits; the first bit is the highest of its byte, as
    `numpy.packbits` has it. Sources:
    https://www.elastic.co/docs/reference/elasticsearch/mapping-reference/dense-vector and
    https://www.elastic.co/search-labs/blog/bit-vectors-in-elasticsearch.

    Parameters
    ----------
    codes : uint8 array of shape (n, ceil(n_bits / 8))
    n_bits : int
    ids : array of shape (n,), optional
        As in `structhash.search.Index.add`.

    Yields
    ------
    str

    Raises
    ------
    TypeError, ValueError
        If the codes or ids break the rules of `structhash.search.Index.add`.

    Examples
    --------
    >>> list(elasticsearch_lines(np.array([[1]], dtype=np.uint8), n_bits=8, ids=["a"]))
    ['{"index": {"_id": "a"}}', '{"code": "80"}']
    """
    for each, bits in _rows(codes, n_bits, ids):
        yield json.dumps({"index": {"_id": str(each)}})
        yield json.dumps({"code": np.packbits(bits).tobytes().hex()})


def milvus_lines(codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None = None) -> Iterator[str]:
    """Lines of a row-based JSON file that Milvus imports.

    The collection needs the fields `id` (INT64, or VARCHAR for text) and `code` (BINARY_VECTOR of 8 * n_bytes
    dimensions, metric HAMMING). The first bit is the lowest of its byte, as in the codes themselves. Sources:
    https://milvus.io/docs/v2.3.x/bulk_insert.md and https://milvus.io/docs/binary-vector.md.

    Parameters
    ----------
    codes, n_bits, ids
        As in `elasticsearch_lines`, errors too.

    Yields
    ------
    str

    Examples
    --------
    >>> print("".join(milvus_lines(np.array([[1, 3]], dtype=np.uint8), n_bits=10)))
    {"rows": [{"id": 0, "code": [1, 3]}]}
    """
    yield '{"rows": ['
    before = None
    for each, bits in _rows(codes, n_bits, ids):
        if before is not None:
            yield f"{before},"
        before = json.dumps({"id": each, "code": np.packbits(bits, bitorder="little").tolist()})
    yield before or ""
    yield "]}"


def qdrant_lines(codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None = None) -> Iterator[str]:
    """Bodies for ``PUT /collections/NAME/points`` of Qdrant, one a line.

    Qdrant has no Hamming distance. The collection needs vectors of size n_bits, distance Manhattan and datatype
    uint8: the distance of vectors of 0 and 1 is the number of bits that differ. Ids of points are numbers, so
    text is the field `id` of the payload, and points are numbered in ascending order of it. Sources:
    https://qdrant.tech/documentation/concepts/points and https://qdrant.tech/documentation/concepts/vectors.

    Parameters
    ----------
    codes, n_bits, ids
        As in `elasticsearch_lines`, errors too.

    Yields
    ------
    str

    Examples
    --------
    >>> list(qdrant_lines(np.array([[1]], dtype=np.uint8), n_bits=3, ids=["a"]))
    ['{"points": [{"id": 0, "vector": [1, 0, 0], "payload": {"id": "a"}}]}']
    """
    points: list[dict[str, Any]] = []
    for number, (each, bits) in enumerate(_rows(codes, n_bits, ids)):
        if len(points) == _POINTS_A_REQUEST:
            yield json.dumps({"points": points})
            points = []
        named = isinstance(each, str)
        point = {"id": number if named else each, "vector": bits.tolist()}
        points.append({**point, "payload": {"id": each}} if named else point)
    if points:
        yield json.dumps({"points": points})


def vespa_lines(
    codes: NDArray[np.uint8],
    n_bits: int,
    ids: ArrayLike | None = None,
    *,
    namespace: str = "codes",
    document_type: str = "code",
) -> Iterator[str]:
    """Documents for ``vespa feed``, one a line.

    The schema needs a field `code` of type ``tensor<int8>(x[n_bytes])`` with ``distance-metric: hamming``. The
    first bit is the highest of its byte, as in ``pack_bits``. Sources:
    https://docs.vespa.ai/en/reference/document-json-format.html and
    https://docs.vespa.ai/en/binarizing-vectors.html.

    Parameters
    ----------
    codes, n_bits, ids
        As in `elasticsearch_lines`, errors too.
    namespace, document_type : str
        Parts of the ids of documents.

    Yields
    ------
    str

    Examples
    --------
    >>> list(vespa_lines(np.array([[1]], dtype=np.uint8), n_bits=8))
    ['{"put": "id:codes:code::0", "fields": {"code": {"values": [-128]}}}']
    """
    for each, bits in _rows(codes, n_bits, ids):
        values = np.packbits(bits).view(np.int8).tolist()
        yield json.dumps(
            {"put": f"id:{namespace}:{document_type}::{each}", "fields": {"code": {"values": values}}}
        )


def _rows(
    codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None
) -> Iterator[tuple[Any, NDArray[np.uint8]]]:
    """Id and bits of each code, in ascending order of ids."""
    index = Exact(n_bits)
    index.add(codes, ids)
    for each, code in zip(index.ids.tolist(), index.table()[0]):
        yield each, unpack(code[None], n_bits)[0]
