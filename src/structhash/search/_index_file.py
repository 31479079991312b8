"""Index files: written a block at a time, and checked when they are opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.validation import describe
from structhash.codes import check_codes, check_n_bits
from structhash.io import container as files
from structhash.search._blocks import Block, count, merge, own_ids, widest_ids
from structhash.search._checks import Ids, refuse_repeated
from structhash.search._text_ids import check_same_kind, check_text, from_stored, to_stored

__all__ = ["FileAbout", "Table", "in_order", "load_table", "save_parts"]

_ROWS_AT_ONCE = 1 << 14


class FileAbout(NamedTuple):
    """What an index file says beside codes and ids."""

    kind: str
    n_bits: int
    weights: NDArray[Any] | None
    source: str | None
    settings: dict[str, Any]  # others of its class
    codes_are_bits: bool = True


class Table(NamedTuple):
    """The content of an index file."""

    n_bits: int
    codes: NDArray[np.uint8]  # (n, ceil(n_bits / 8))
    ids: Ids | None  # (n,), strictly ascending; None for row numbers
    weights: NDArray[Any] | None  # (n_bits,)
    source: str | None  # fingerprint of the model that made the codes
    header: files.Header  # the whole of it


def in_order(parts: Sequence[Block]) -> Iterator[Block]:
    """Yield all codes in ascending order of ids, some at a time; ValueError if an id comes twice."""
    if not own_ids(parts):
        for part in parts:
            yield from (part.part(rows) for rows in row_slices(len(part.codes), _ROWS_AT_ONCE))
        return
    left = [part for part in parts if len(part.codes)]
    while left:
        windows = [part.part(slice(_ROWS_AT_ONCE)) for part in left]
        last = min(ids[-1] for ids in own_ids(windows))  # no part has an id up to this one outside its window
        ends = [int(np.searchsorted(ids, last, "right")) for ids in own_ids(windows)]
        found = merge([window.part(slice(end)) for window, end in zip(windows, ends)])
        refuse_repeated(own_ids([found])[0])
        yield found
        left = [part.part(slice(end, None)) for part, end in zip(left, ends)]
        left = [part for part in left if len(part.codes)]


def save_parts(path: str | os.PathLike[str], parts: Sequence[Block], about: FileAbout, force: bool) -> None:
    """Write an index file of blocks of codes; what is held in memory does not grow with them.

    Parameters
    ----------
    path : str or path
    parts : sequence of Block
    about : FileAbout
    force : bool
        Whether to replace a file that is no structhash file.

    Raises
    ------
    TypeError, ValueError, OSError
        If an id comes twice, parts have ids of several kinds, or `structhash.io.container.save` refuses to
        write.
    """
    parts = [part for part in parts if len(part.codes)]
    own = own_ids(parts)
    if 0 < len(own) < len(parts):
        raise ValueError(
            "one index has row numbers, another ids of its own; index all codes with ids, or all without"
        )
    for ids in own:
        check_same_kind(ids, own[0])
    n, n_bits = count(parts), about.n_bits
    coded = (part.codes for part in in_order(parts))
    arrays: dict[str, Any] = {"codes": files.Blocks(np.dtype(np.uint8), (n, -(-n_bits // 8)), coded)}
    widest = widest_ids(parts)
    if widest is not None:
        dtype, named = widest.dtype, (part.ids for part in in_order(parts))
        blocks = (to_stored(ids.astype(dtype, copy=False)) for ids in named if ids is not None)
        like = to_stored(widest[:0])
        arrays["ids"] = files.Blocks(like.dtype, (n, *like.shape[1:]), blocks)
    if about.weights is not None:
        arrays["weights"] = about.weights
    header = {"n_bits": n_bits, "source": about.source, **about.settings}
    header |= {} if about.codes_are_bits else {"codes_are_bits": False}
    files.save(path, arrays, header, kind=about.kind, force=force)


def load_table(path: str | os.PathLike[str], kind: str, mmap: bool = False, verify: bool = True) -> Table:
    """Load an index file and check it.

    Parameters
    ----------
    path : str or path
    kind : str
        Such as "index.exact".
    mmap, verify : bool
        As in `structhash.search.base.Index.load`.

    Returns
    -------
    table : Table

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If `structhash.io.container.load` refuses the file, its arrays do not fit each other, or a file that is
        not mapped should not be verified.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/index"
    >>> files.save(path, {"codes": np.zeros((2, 1), dtype=np.uint8)}, {"n_bits": 8}, kind="index.exact")
    >>> load_table(path, "index.exact").n_bits
    8
    """
    if not (mmap or verify):
        raise ValueError("verify=False: give mmap=True too; a file that is read into memory is always verified")
    arrays, header = files.load(path, kind, mmap, verify)
    ids, source = arrays.get("ids"), header.get("source")
    try:
        if not {"codes"} <= arrays.keys() <= {"codes", "ids", "weights"} or not isinstance(source, str | None):
            raise ValueError(f"it holds {sorted(arrays)} of the model {describe(source)}, not an index")
        n_bits = check_n_bits(header.get("n_bits"))
        codes = arrays["codes"]
        for rows in row_slices(len(codes) if codes.ndim and verify else 0, _ROWS_AT_ONCE):
            check_codes(codes[rows], n_bits)
        check_codes(codes[:0] if codes.ndim else codes, n_bits)  # length and type
        if ids is not None:
            ids = _checked_ids(ids, len(codes), verify)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return Table(n_bits, codes, ids, arrays.get("weights"), source, header)


def _checked_ids(stored: NDArray[Any], n: int, verify: bool) -> Ids:
    """The ids of n codes from their array in a file; ValueError if they are not what `save_parts` writes."""
    numbered = stored.dtype == np.int64 and stored.shape == (n,)
    if not numbered and not (
        stored.dtype == np.uint8 and stored.ndim == 2 and stored.size and len(stored) == n
    ):
        raise ValueError(
            f"its ids are {stored.dtype} of shape {stored.shape}, not int64 of ({n},) or bytes of text"
        )
    ids: Ids = stored if numbered else from_stored(stored)
    for rows in row_slices(n if verify else 0, _ROWS_AT_ONCE):
        part = ids[max(rows.start - 1, 0) : rows.stop]
        if not numbered:
            check_text(stored[rows])
        if (numbered and part[0] < 0) or (part[1:] <= part[:-1]).any():
            raise ValueError("its ids do not ascend from 0" if numbered else "its ids do not ascend")
    return ids
