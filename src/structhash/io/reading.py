"""Read data sets in every format of `structhash.io.formats`, found by the extension of the file."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from structhash import pieces
from structhash._numerics.addresses import as_path
from structhash._numerics.validation import describe, join_names
from structhash.io._opening import check_file, suffix_of
from structhash.io._parts import find_parts, join_datasets, join_rows
from structhash.io._remote import fetched, is_remote, readable
from structhash.io.dataset import Dataset, check_dataset
from structhash.io.formats._texts import Texts
from structhash.io.formats.base import Format, Rows
from structhash.io.qrels import read_qrels

__all__ = ["facts", "number_note", "parts_of", "read", "read_rows", "suffixes"]

_LOG = logging.getLogger(__name__)


def read(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    label: str | None = None,
    ignore: Sequence[str] = (),
    features: Sequence[str] | None = None,
    column: str | None = None,
    id: str | None = None,
    text: str | None = None,
    text_model: str | os.PathLike[str] | None = None,
    query_file: str | os.PathLike[str] | None = None,
    qrels: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read a data set.

    The extension of the file, in any case, chooses the format. Where a file allows two answers, such as which
    column holds the labels, the error has the question and these keywords answer it.

    Parameters
    ----------
    path : str or path
        A file, or several as one data set: a folder, or a pattern such as ``vectors/*.parquet``; an address.
    header : bool, optional
        Whether the first line of a .csv file names the columns.
    label : str, optional
        The column (its number, from 1, if it has no name) or array of labels; "none" if there is none.
    ignore : sequence of str
        Columns of a table that are neither features nor labels; ["none"] if there are none.
    features : sequence of str, optional
        Names of the features, where they are known, such as those of a model: X has these columns, in this
        order. A format without names takes no notice.
    column, id : str, optional
        The columns of vectors and of ids of a .parquet file; id="none" if there are no ids.
    text, text_model, query_file, qrels : str or path, optional
        The column of texts of a .csv file, and the folder of a model that embeds them; files of Q, read as X
        where they have its extension; judgements by ids (`structhash.io.qrels`).

    Returns
    -------
    data : Dataset
        X and Q as `check_matrix` returns them.

    Raises
    ------
    FileNotFoundError, ConnectionError, ValueError
        If the file is missing, does not arrive, is empty, damaged or no data set (X is missing or not finite,
        lengths differ), its extension is unknown, a question is open, or it takes no such keyword.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = path.write_text("height,width,label\\n1,2,cat\\n3,4,dog\\n")
    >>> read(path).y
    array(['cat', 'dog'], dtype='<U3')
    """
    settings: dict[str, Any] = {"header": header, "label": label, "ignore": ignore, "features": features}
    settings |= {"column": column, "id": id, "text": text, "text_model": text_model}
    return _read_all(as_path(path), settings, query_file, qrels)


def _read_all(
    path: Path,
    settings: Mapping[str, Any],
    query_file: str | os.PathLike[str] | None,
    qrels: str | os.PathLike[str] | None,
) -> Dataset:
    """`read` of rows, of queries and of judgements."""
    data = _read(path, settings)
    query_ids = range(len(data.Q)) if data.Q is not None else _ids(data)
    if query_file is not None:
        asked = _read_queries(data, path, as_path(query_file), settings)
        data, query_ids = check_dataset(data._replace(Q=asked.X), path), _ids(asked)
        if qrels is not None:
            _warn_of_row_numbers(asked, as_path(query_file))
    if qrels is None:
        return data
    _warn_of_row_numbers(data, path)
    return _judged(data, path, qrels, query_ids)


def _warn_of_row_numbers(data: Dataset, path: Path) -> None:
    """Warn where judgements meet row numbers, though a column may hold the ids that they mean."""
    if note := number_note(path, data.id_candidates):
        _LOG.warning("%s", note)


def number_note(path: Path | Sequence[Path], candidates: Sequence[str]) -> str | None:
    """What to say where rows are numbered though a column may hold their ids; None where none may.

    Parameters
    ----------
    path : Path, or sequence of Path
        As `read_rows` takes it.
    candidates : sequence of str
        `id_candidates` of its data set, or of its rows.

    Returns
    -------
    str or None
    """
    if not candidates:
        return None
    first = path if isinstance(path, Path) else path[0]
    kind: Any = _formats()[suffix_of((parts_of(first) or [first])[0])]
    how = "structhash index --ids FILE takes ids"
    if "id" in {field.name for field in fields(kind)}:
        how = "--id NAME (id='NAME') takes one"
    left_out = f"(columns left out: {join_names(candidates)})"
    return f"no column of ids in {_named(path)} {left_out}: rows are numbered; {how}"


def _named(path: Path | Sequence[Path]) -> str:
    """A path, or the first of several and how many others there are."""
    first, *others = [path] if isinstance(path, Path) else path
    words = f" and {len(others)} other file{'s' if len(others) > 1 else ''}"
    return f"{first}{words if others else ''}"


def _judged(data: Dataset, path: Path, qrels: str | os.PathLike[str], query_ids: Sequence[Any]) -> Dataset:
    """A data set with the judgements of a file."""
    if data.qrels is not None:
        raise ValueError(f"{path} holds judgements of its own; leave qrels={str(as_path(qrels))!r} out")
    return data._replace(qrels=read_qrels(qrels, query_ids, _ids(data)))


def _ids(data: Dataset) -> Sequence[Any]:
    """The ids of the rows, or row numbers."""
    return range(len(data.X)) if data.ids is None else data.ids.tolist()


def _read_queries(data: Dataset, path: Path, queries: Path, settings: Mapping[str, Any]) -> Dataset:
    """The data set whose rows are the queries of another."""
    if data.Q is not None:
        raise ValueError(f"{path} holds queries Q of its own; leave query_file={str(queries)!r} out")
    same = suffix_of(queries) == suffix_of(path)
    names = ("header", "column", "id", "text", "text_model")
    shared = {name: settings[name] for name in names if same}
    return _read(queries, {**shared, "features": data.names})


def _read(path: Path, settings: Mapping[str, Any]) -> Dataset:
    """`read` of a file, or of all files of a folder or a pattern."""
    if (parts := find_parts(path, _formats())) is None:
        made, place = _opened(path, settings)
        return check_dataset(made.read(place), path)
    opened = {part: read_rows(part, **settings)._replace(blocks=iter(())) for part in parts}
    join_rows(path, parts, opened.__getitem__)  # refuses parts that differ
    used = [part for part in parts if opened[part].shape[0]] or parts
    return check_dataset(join_datasets(path, used, [_read(part, settings) for part in used]), path)


def read_rows(path: str | os.PathLike[str] | Sequence[Path], queries: bool = False, **settings: Any) -> Rows:
    """Read the rows of X, or for queries those of Q where the file has it, a block at a time.

    Labels and the other arrays of a .npz file are not read, and a .npy or .npz file may have no row.

    Parameters
    ----------
    path : str, path, or sequence of path
        As `read` takes it, or one or more files as one data set, in this order.
    queries : bool
    **settings
        Keywords of `read`. Errors are those of `read`, too.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If there is no path in the sequence.
    """
    if not isinstance(path, (str, os.PathLike)):
        if not path:
            raise ValueError(f"path={describe(path)}: give a file, or a sequence of one or more files")
        if len(path) > 1:
            return _join(_named(path), path, queries, settings)
        path = path[0]
    path = as_path(path)
    if (parts := find_parts(path, _formats())) is None:
        made, place = _opened(path, settings)
        return made.rows(place, queries)
    return _join(path, parts, queries, settings)


def _join(name: str | Path, parts: Sequence[Path], queries: bool, settings: Mapping[str, Any]) -> Rows:
    """The rows of several files as one matrix."""
    return join_rows(name, parts, lambda part: read_rows(part, queries, **settings))


def parts_of(path: Path) -> list[Path] | None:
    """The files of a folder or a pattern, in the order of their names; None where `path` is one file."""
    return find_parts(path, _formats())


def facts(path: str | os.PathLike[str], **settings: Any) -> dict[str, Any]:
    """Describe a data file by its kind, sizes and dtypes; `settings` and errors are those of `read`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = path.write_text("1,2.5\\n3,4\\n")
    >>> facts(path)
    {'kind': 'data', 'rows': 2, 'features': 2, 'dtype': 'float64'}
    """
    path = as_path(path)
    if (parts := find_parts(path, _formats())) is not None:
        found = [facts(part, **settings) for part in parts]
        first = next((each for each in found if each["rows"]), found[0])
        return first | {"rows": sum(each["rows"] for each in found), "files": len(parts)}
    made, place = _opened(path, settings)
    return made.facts(place)


def suffixes() -> tuple[str, ...]:
    """Extensions of data files, lower case, with the dot.

    >>> ".csv" in suffixes(), ".parquet" in suffixes()
    (True, True)
    """
    return tuple(_formats())


def _formats() -> dict[str, type[Format]]:
    """The format of each extension."""
    found: dict[str, Any] = dict(pieces.classes("formats"))
    return {suffix: piece for piece in found.values() for suffix in piece.suffixes}


def _opened(path: Path, settings: Mapping[str, Any]) -> tuple[Format, Path]:
    """The format of an existing file, with the settings that are given, and where it reads the file.

    ValueError if the format lacks one of the settings.
    """
    known = _formats()
    kind: Any = known.get(suffix_of(path))
    if kind is not None:
        path = readable(path) if kind.reads_addresses else fetched(path)
    if kind is None or not is_remote(path):
        check_file(path, known)
    piece: Any = kind if settings.get("text") is None else Texts
    takes = {field.name for field in fields(piece)}
    given = {name: value for name, value in settings.items() if value is not None and value != ()}
    if lacking := sorted(given.keys() - takes - {"features"}):
        words = " and ".join(f"{name}={describe(given[name])}" for name in lacking)
        raise ValueError(f"{words}: {path.suffix} files have no such choice; leave it out for {path}")
    return piece(**{name: value for name, value in given.items() if name in takes}), path
