"""``structhash index``: an index of packed codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.cli._appending import appending
from structhash.cli.console import say
from structhash.cli.display import print_facts
from structhash.cli.ids import read_ids
from structhash.cli.outputs import check_output
from structhash.estimators.base import HashEncoder
from structhash.estimators.loading import load_model
from structhash.io import Codes, load_codes, suffixes
from structhash.pieces import classes, settings, snake
from structhash.search import Index, load_index, save_merged

__all__ = ["index", "kind_of_ids", "replaced_index"]


def index(
    codes: Path,
    out: Path,
    *,
    bits: int | None,
    backend: str | None,
    ids: Path | None,
    model: Path | None,
    force: bool,
    as_json: bool,
    append: bool = False,
    id_column: str | None = None,
) -> None:
    """Put codes into an index and save it.

    Parameters
    ----------
    codes : path
        A file of packed codes.
    out : path
        The index file to write.
    bits : int or None
        Length of the codes; None for that of the codes, else of the model, else of `out`, else 8 a byte.
    backend : str or None
        Name of an index, and its settings: ``ivf:n_probe=32``. None for exact, or for that of `out`.
    ids : path or None
        A file of ids, as `read_ids` reads it; None for those of the codes, or row numbers.
    model : path or None
        The model that made the codes, checked where they name it. It gives their length and any weights.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    append : bool
        Whether to add to the index in `out`.
    id_column : str or None
        The column of a .csv file of ids.

    Raises
    ------
    ValueError
        If there is no such index, it cannot weigh bits as the model does, or the codes are of another model.
    """
    check_output(out, codes, ids, model, makes="index", force=force and not append, refused=suffixes())
    with appending(out) if append else nullcontext():
        old = _opened(out, backend) if append else None
        found, encoder = load_codes(codes), None if model is None else load_model(model)
        n_bits = _length(codes, found, bits, model, encoder, old)
        Piece, words = _piece(backend or "exact") if old is None else (type(old), {})
        _refuse_centroids(codes, found, encoder, Piece)
        weights = _weights(Piece, n_bits, encoder, model) if old is None else old.weights
        made = Piece(n_bits, **words) if weights is None else Piece(n_bits, weights, **words)
        made.source, made.codes_are_bits = _origin(found, encoder), _are_bits(found, encoder)
        made.add(found.table, _ids(ids, id_column, old, found))
        indexes = [made] if old is None else [old, made]
        replaced = replaced_index(out) if old is None else {}
        save_merged(indexes, out, force)
    for doubt in (*_doubts(codes, found, made, bits, model), *_unnamed(codes, made, out, old)):
        say("warning", doubt)
    sizes = {"codes": sum(map(len, indexes)), "bits": n_bits, "ids": kind_of_ids(indexes)}
    how = {"backend": backend or snake(Piece.__name__), "weighted": weights is not None}
    print_facts({**sizes, **how, **replaced, "file": str(out)}, as_json)


def _ids(path: Path | None, column: str | None, old: Index | None, found: Codes) -> NDArray[Any] | None:
    """The ids of codes, text where they are added to an index with text; None for row numbers."""
    if path is not None:
        return read_ids(path, column, as_text=old is not None and old.id_kind == "text")
    if column is not None:
        raise ValueError(f"--id {column} is a column of a .csv file: give that by --ids")
    if found.ids is None and old is not None and old.id_kind != "row numbers":
        raise ValueError("--append: the index has ids of its own; give --ids too")
    return found.ids


def _opened(out: Path, backend: str | None) -> Index:
    """The index that codes are added to."""
    old = load_index(out, mmap=True)
    if backend not in (None, name := snake(type(old).__name__)):
        raise ValueError(f"--backend {backend}: the index in {out} is {name}; leave --backend out")
    return old


def _weights(
    piece: type[Index], n_bits: int, encoder: HashEncoder | None, model: Path | None
) -> NDArray[np.float64] | None:
    """The weights of the model, where it has some; ValueError if the index takes none."""
    if encoder is None or encoder.search_weights_ is None:
        return None
    if piece.takes_weights:
        return encoder.weights_at(n_bits)
    able = ", ".join(name for name, each in _known().items() if each.takes_weights)
    raise ValueError(
        f"{model} weighs its bits, which {snake(piece.__name__)} cannot; use --backend {able}, or give --bits "
        "and no --model"
    )


def _origin(found: Codes, encoder: HashEncoder | None) -> str | None:
    """Fingerprint of the model of codes, as far as their file or the model says."""
    return found.source if encoder is None else encoder.fingerprint()


def _are_bits(found: Codes, encoder: HashEncoder | None) -> bool:
    """Whether codes are bits, as far as their file and the model say."""
    return found.codes_are_bits is not False and (encoder is None or encoder.codes_are_bits)


def _refuse_centroids(codes: Path, found: Codes, encoder: HashEncoder | None, piece: type[Index]) -> None:
    """ValueError if codes are no bits, and an index takes nothing else."""
    if not _are_bits(found, encoder) and not piece.takes_prepared:
        able = ", ".join(name for name, each in _known().items() if each.takes_prepared)
        raise ValueError(
            f"{codes} holds codes that are numbers of centroids, and {snake(piece.__name__)} compares bits; "
            f"use --backend {able}"
        )


def kind_of_ids(indexes: Sequence[Index]) -> str:
    """What the ids of codes are, of indexes that are joined: row numbers, numbers or text."""
    return next((each.id_kind for each in indexes if len(each)), "row numbers")


def replaced_index(out: Path) -> dict[str, str]:
    """What a report says of the index that a new one replaces; nothing where there is none."""
    with suppress(OSError, ValueError):
        return {"replaced": f"an index of {len(load_index(out, mmap=True, verify=False))} codes"}
    return {}


def _unnamed(codes: Path, added: Index, out: Path, old: Index | None) -> Iterator[str]:
    """What is lost where only one of an index and the codes that are added to it names its model."""
    if old is not None and len(old) and (old.source is None) != (added.source is None):
        unnamed = codes if added.source is None else f"{out}, as it was,"
        yield f"{unnamed} does not say which model made its codes, so {out} does not either now"


def _known() -> dict[str, type[Index]]:
    """The indexes, by name."""
    return classes("indexes")


def _piece(backend: str) -> tuple[type[Index], dict[str, Any]]:
    """The class and the settings that a text names; ValueError if it is not known or refuses them."""
    known = _known()
    name, _, rest = backend.partition(":")
    if name not in known:
        raise ValueError(f"--backend {backend!r}: give one of {', '.join(known)}")
    piece = known[name]
    words = settings(piece, backend, rest)
    if unknown := sorted(words.keys() - set(piece.setting_names)):
        able = ", ".join(piece.setting_names) or "none"
        raise ValueError(f"--backend {backend!r}: {unknown[0]} is no setting; it has {able}")
    try:
        piece(1, **words)
    except TypeError as error:
        raise ValueError(f"--backend {backend!r}: {error}") from None
    return piece, words


def _doubts(codes: Path, found: Codes, built: Index, bits: int | None, model: Path | None) -> Iterator[str]:
    """What may be wrong with an index, by what its file of codes says and does not say."""
    if model is not None and found.source is None:
        yield (
            f"{codes} does not say which model made its codes: that it was {model} is not checked; encode into "
            "a file that does not end in .npy to have it checked"
        )
    used = _used_bits(found.table)
    if bits is None and found.n_bits is None and used < built.n_bits:
        yield (
            f"{codes} does not say how many bits its codes have, and the last {built.n_bits - used} of "
            f"{built.n_bits} are 0 in all codes: give --bits {used} if the codes have {used} bits"
        )
    if found.coded_as == "queries" and found.queries_differ:
        yield (
            f"{codes} holds codes of queries, and its model codes rows differently: to index rows, encode them "
            "without --queries"
        )
    if found.weighted and model is None and built.takes_weights and built.weights is None:
        yield f"the model that made {codes} weighs its bits: give --model for distances by weight"


def _used_bits(table: NDArray[np.uint8]) -> int:
    """Length of codes without the bits at the end of the last byte that are 0 in all codes: maybe padding."""
    last_byte = int(np.bitwise_or.reduce(table[:, -1])) if table.size else 255
    return 8 * (table.shape[1] - 1) + max(last_byte.bit_length(), 1)  # a byte begins with its lowest bit


def _length(
    codes: Path,
    found: Codes,
    bits: int | None,
    model: Path | None,
    encoder: HashEncoder | None,
    old: Index | None,
) -> int:
    """Bits of the codes, as the command, the file of codes or the model says; ValueError if these disagree."""
    if encoder is not None and found.source not in (None, encoder.fingerprint()):
        raise ValueError(f"{codes} holds codes of another model than {model}; give that one, or encode again")
    of_model = None if encoder is None else encoder.n_bits_
    n_bytes = found.table.shape[1]
    n_bits = bits or found.n_bits or of_model or (old.n_bits if old is not None else 8 * n_bytes)
    if found.n_bits not in (None, n_bits):
        raise ValueError(f"--bits {n_bits}: {codes} holds codes of {found.n_bits} bits; leave --bits out")
    if of_model is not None and (n_bits > of_model or n_bytes != -(-n_bits // 8)):
        raise ValueError(
            f"{codes} holds codes of {n_bytes} bytes; {model} makes codes of {of_model} bits; give the model "
            "that made the codes, or the length of its prefix as --bits"
        )
    if old is not None and n_bits != old.n_bits:
        raise ValueError(
            f"{codes} holds codes of {n_bits} bits, the index of {old.n_bits}; give codes of one length"
        )
    return n_bits
