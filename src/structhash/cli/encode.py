"""``structhash encode``: packed codes of the rows, or of the queries, of a data file."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import BLOCK_ROWS, row_slices
from structhash.cli._encode_parts import encode_parts
from structhash.cli.console import say
from structhash.cli.display import bar, print_facts
from structhash.cli.inputs import Choices, check_columns
from structhash.cli.outputs import check_output
from structhash.estimators._input import warn_of_unit
from structhash.estimators._new_classes import MIN_WARNED_ROWS
from structhash.estimators._unit import judged_step
from structhash.estimators.base import HashEncoder
from structhash.estimators.contract import EncoderContract
from structhash.estimators.loading import load_model
from structhash.io import CODE_SUFFIXES, Rows, number_note, parts_of, read_rows, save_codes, suffixes

__all__ = ["ROWS_AT_ONCE", "coded", "encode"]

ROWS_AT_ONCE = 4 * BLOCK_ROWS  # a step of the progress bar; multiples of BLOCK_ROWS do not change codes


def encode(
    model: Path,
    data: Sequence[Path],
    out: Path,
    *,
    bits: int | None,
    as_queries: bool,
    force: bool,
    as_json: bool,
    choices: Choices,
    as_lists: bool = False,
    jobs: int = 1,
    in_parts: bool = False,
) -> None:
    """Write packed codes, a block of rows at a time.

    Parameters
    ----------
    model : path
        A model file.
    data : sequence of path
        A data file, a folder of such files, or a pattern of their names; or several of these.
    out : path
        The file to write: a bare array if its name ends in .npy, else one that names the model and keeps ids.
        Or a folder, for a file of codes from each file of vectors.
    bits : int or None
        Length of the codes; None for all bits of the model.
    as_queries : bool
        Whether to encode queries: Q of the data, or X where there is no Q. Rows of X are encoded otherwise.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    as_lists, jobs : bool, int
        Whether a Parquet file has codes as lists of bytes; number of processes that encode files into a folder.
    in_parts : bool
        Whether `out` is a folder, whatever else its name says.
    """
    folders = {each: parts for each in data if (parts := parts_of(each)) is not None}
    files = [path for each in data for path in folders.get(each, [each])]
    _refuse_repeated(files)
    several = len(files) > 1 or bool(folders)
    in_parts = in_parts or out.is_dir() or (several and not out.suffix)
    _check_output(model, folders, files, out, in_parts, force)
    if not in_parts:
        _check_one_file(out, jobs, as_lists)
    encoder = load_model(model)
    work = _Encoding(encoder, bits or encoder.n_bits_, as_queries, as_lists, force, choices)
    rows = work.open(files)
    if in_parts:
        made, n_kept = encode_parts(files, out, work.about(), work.write, force, jobs)
        facts: dict[str, Any] = {"files": len(made), "complete before": n_kept}
    else:
        work.write_rows(rows, files, out, force)
        facts = {}
        _warn_of_numbers(encoder, out)
    facts |= _ids_facts(rows, files, out, in_parts)
    sizes = {"rows": rows.shape[0], "bits": work.n_bits, "bytes": rows.shape[0] * -(-work.n_bits // 8)}
    print_facts({**sizes, **facts, "coded as": _word(as_queries), "file": str(out)}, as_json)


def _check_one_file(out: Path, jobs: int, as_lists: bool) -> None:
    """ValueError if an option does not fit one file of codes."""
    if jobs > 1:
        raise ValueError(f"--jobs {jobs} encodes each file of a folder into another folder: give two folders")
    if as_lists and out.suffix.lower() != ".parquet":
        raise ValueError(f"--lists is about Parquet files: give -o a name that ends in .parquet, not {out}")


def _refuse_repeated(files: Sequence[Path]) -> None:
    """ValueError if a file is given twice, even by two names."""
    seen: set[Path] = set()
    for path in files:
        if (place := path.resolve()) in seen:
            raise ValueError(f"{path} is given twice; give each file once")
        seen.add(place)


def _check_output(
    model: Path,
    folders: Mapping[Path, Sequence[Path]],
    files: Sequence[Path],
    out: Path,
    in_parts: bool,
    force: bool,
) -> None:
    """ValueError or OSError if codes cannot be written there, or the next run would read them as vectors."""
    for folder, parts in folders.items():
        _refuse_part(out, folder, parts)
    if not in_parts:
        refused = tuple({*suffixes()} - {*CODE_SUFFIXES})
        check_output(out, model, *folders, *files, makes="codes", force=force, refused=refused)


def _refuse_part(out: Path, data: Path, parts: Sequence[Path]) -> None:
    """ValueError if a folder or a pattern that is read would hold the output."""
    place = out.resolve()
    beside = place.parent in {path.resolve().parent for path in parts}
    if beside and (place.name[0] not in "._" if data.is_dir() else fnmatch(place.name, data.name)):
        raise ValueError(
            f"cannot write {out}: it would be a part of {data}, which is read; give another folder"
        )


def _ids_facts(rows: Rows, files: Sequence[Path], out: Path, in_parts: bool) -> dict[str, Any]:
    """What the ids of codes are, and their column; lines on stderr where ids of the data may be lost."""
    if rows.ids is None:
        if note := number_note(files, rows.id_candidates):
            say("note", note)
        return {"ids": "row numbers"}
    if not in_parts and out.suffix.lower() == ".npy":
        say(
            "warning",
            f"{out} is a bare array, which keeps no ids: give a name that ends in .parquet to keep them",
        )
        return {"ids": "row numbers"}
    return {"ids": "text" if rows.ids.text else "numbers", "id column": rows.ids.name}


def _warn_of_numbers(encoder: HashEncoder, out: Path) -> None:
    """Warn where codes are no bits, and the file cannot say so."""
    if out.suffix.lower() == ".npy" and not encoder.codes_are_bits:
        say(
            "warning",
            f"{out} is a bare array, which does not say that its codes are numbers of centroids: dedup and an "
            "index of it compare their bits, which finds wrong rows; give a name that does not end in .npy",
        )


@dataclass(frozen=True)
class _Encoding:
    """What codes are made with; a process takes it along."""

    encoder: HashEncoder
    n_bits: int
    as_queries: bool
    as_lists: bool
    force: bool
    choices: Choices

    def about(self) -> dict[str, Any]:
        """What codes depend on, apart from the vectors."""
        about = {
            "source": self.encoder.fingerprint(),
            "n_bits": self.n_bits,
            "coded_as": _word(self.as_queries),
        }
        return {**about, **self.choices, **({"lists": True} if self.as_lists else {})}

    def open(self, files: Sequence[Path]) -> Rows:
        """The rows of one or more files; ValueError if the model cannot encode them, or has fewer bits."""
        encoder = self.encoder
        rows = read_rows(files, self.as_queries, features=encoder.column_names_, **self.choices)
        check_columns(rows.names, files[0], encoder.column_names_, "the model")
        if not rows.shape[0] and not rows.shape[1]:  # a file without rows may not say how many columns it has
            return rows
        width = encoder.n_features_in_
        if rows.shape[1] != width:
            raise ValueError(
                f"{files[0]} has rows of {rows.shape[1]} features, and the model encodes rows of {width} "
                "features; give vectors of the kind that it learned from"
            )
        encoder.encode(np.zeros((1, width), np.float32), self.n_bits)
        return rows

    def write(self, source: Path, target: Path, ours: bool) -> int:
        """Encode a file into another, which may be replaced if it is ours, and return the number of rows."""
        rows = self.open([source])
        self.write_rows(rows, [source], target, self.force or ours)
        return rows.shape[0]

    def write_rows(self, rows: Rows, files: Sequence[Path], out: Path, force: bool) -> None:
        """Encode rows of these files into a file of codes, which keeps their ids."""
        encoder, word, n = self.encoder, _word(self.as_queries), rows.shape[0]
        name = f"X of {files[0].name}" if len(files) == 1 else "X"
        with bar("encode", n, word, ROWS_AT_ONCE) as advance:
            save_codes(
                out,
                coded(encoder, rows.blocks, n, self.n_bits, advance, self.as_queries, name),
                n,
                self.n_bits,
                encoder.fingerprint(),
                coded_as=word,
                queries_differ=encoder.queries_differ(self.n_bits),
                weighted=encoder.search_weights_ is not None,
                codes_are_bits=encoder.codes_are_bits,
                ids=rows.ids,
                as_lists=self.as_lists,
                force=force,
            )


def _word(as_queries: bool) -> str:
    """What is encoded."""
    return "queries" if as_queries else "rows"


def coded(
    encoder: HashEncoder,
    blocks: Iterable[NDArray[Any]],
    n_rows: int,
    bits: int | None,
    advance: Callable[[int], None],
    as_queries: bool = False,
    name: str = "X",
) -> Iterator[NDArray[np.uint8]]:
    """Encode blocks of rows, and report progress.

    Warnings come at the end and are about all rows: where most are in another unit than the training rows, or
    many of new classes. Those of a block do not count, since its rows may differ from the others.

    Parameters
    ----------
    encoder : HashEncoder
    blocks : iterable of ndarray (b, d)
    n_rows : int
        How many rows all blocks have.
    bits : int or None
        Length of the codes; None for all bits of the model.
    advance : callable
        Called with the number of rows after each step.
    as_queries : bool
        Whether to encode queries.
    name : str
        What the rows are called in the warning.

    Yields
    ------
    uint8 array (m, n_bytes)
        Codes, in the order of the rows.
    """
    code = encoder.encode_queries if as_queries else encoder.encode
    steps = judged_step(n_rows), max(1, n_rows // MIN_WARNED_ROWS)
    start = 0
    for_unit: list[NDArray[Any]] = []
    for_classes: list[NDArray[Any]] = []
    for block in blocks:
        for judged, step in zip((for_unit, for_classes), steps, strict=True):
            judged.append(block[-start % step :: step].copy())
        start += len(block)
        for part in row_slices(len(block), ROWS_AT_ONCE):
            with _without_warnings("most rows of X are", "many of these rows are"):
                codes = code(block[part], bits)
            yield codes
            advance(part.stop - part.start)
    if for_unit:
        warn_of_unit(name, np.concatenate(for_unit), encoder)
    judges = type(encoder).new_class_share is not EncoderContract.new_class_share
    if judges and start >= MIN_WARNED_ROWS and not as_queries:
        with _without_warnings("most rows of X are"):
            encoder.encode(np.concatenate(for_classes), bits)  # warns where many are of new classes


@contextlib.contextmanager
def _without_warnings(*starts: str) -> Iterator[None]:
    """No warnings inside the block whose text starts so."""
    with warnings.catch_warnings():
        for each in starts:
            warnings.filterwarnings("ignore", each)
        yield
