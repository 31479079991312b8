"""Image files of rows: which file is of which row, and small pictures of them inside a page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import counted, describe
from structhash.report.elements import Html, element

__all__ = ["file_name", "image_files", "thumbnail"]

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
_CHECKSUM = re.compile("(?=.*[a-f])[0-9a-f-]{16,}")  # the name of a file that is named by its content
_SIDE = 80  # pixels of a thumbnail, at most; a page has some hundreds of them
_SMALL_SIDE = 48  # pixels up to which single pixels are shown
_QUALITY = 75  # of its JPEG file


def image_files(folder: Path, n_rows: int, ids: NDArray[Any] | None = None) -> list[Path]:
    """The image file of each row.

    With ids, a row's file is the one that its id names, with or without the ending; the file of a number may
    have leading zeros. Other files are left out. Without ids, there is one file a row. Names that are all
    numbers are row numbers from 0. Other names, sorted as text, have the order of the rows; they are refused
    where their numbers would order them differently.

    Parameters
    ----------
    folder : path
        Hidden files, files that are no images and folders inside it are left out.
    n_rows : int
    ids : ndarray (n_rows,), optional

    Returns
    -------
    list of path

    Raises
    ------
    ValueError
        If a row has no file, or it is not sure which one it is.
    ImportError
        If Pillow is missing.
    """
    _import_pillow()
    names = sorted(each.name for each in folder.iterdir() if each.is_file() and _is_image(each))
    held = f"{folder} holds {counted(len(names), 'image file')} for {counted(n_rows, 'row')}"
    if ids is not None:
        wanted = [str(each) for each in ids]
        return [folder / name for name in _named(names, wanted, "id", held, ids.dtype.kind in "iu")]
    if len(names) != n_rows:
        raise ValueError(f"{held}; give one a row, in the order of the rows by name")
    if all(re.fullmatch("[0-9]+", Path(name).stem) for name in names):
        names = _named(names, [str(row) for row in range(n_rows)], "row number", held, True)
    else:
        _check_order(names, held)
    return [folder / name for name in names]


def thumbnail(path: Path) -> Html:
    """An image file as a small picture.

    Parameters
    ----------
    path : path

    Returns
    -------
    Html
        An ``<img>`` that holds its own pixels, at most 80 x 80, with the name of the file.

    Raises
    ------
    ValueError
        If the file is no image, or a damaged one.
    """
    Image, ImageOps = _import_pillow()
    try:
        with Image.open(path) as opened:
            opened.draft("RGB", (_SIDE, _SIDE))  # a JPEG file is decoded at a fraction of its size
            small = _eight_bits(opened, Image).convert("RGBA")
            small.thumbnail((_SIDE, _SIDE))
            small = ImageOps.exif_transpose(small)
    except Exception as error:  # each format has errors of its own
        raise ValueError(f"cannot read {path}: it is no image, or a damaged one ({error})") from error
    flat = Image.new("RGBA", small.size, "white")
    flat.alpha_composite(small)
    file = io.BytesIO()
    flat.convert("RGB").save(file, "JPEG", quality=_QUALITY, optimize=True)
    address = "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
    name, kind = file_name(path), "photo" if max(small.size) > _SMALL_SIDE else None
    return element("img", src=address, alt=name, title=name, class_=kind)


def file_name(path: Path) -> str:
    """The name of a file, with a question mark for each byte that is no text."""
    return path.name.encode("utf-8", "replace").decode()


def _import_pillow() -> tuple[Any, Any]:
    """The modules of Pillow that read and turn images."""
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise not_installed("PIL", "showing image files", "report", error) from error
    return Image, ImageOps


def _is_image(path: Path) -> bool:
    """Whether a file is an image by its name. Names of hidden files begin with a point."""
    return path.suffix.lower() in _SUFFIXES and not path.name.startswith(".")


def _named(names: Sequence[str], ids: Sequence[str], kind: str, held: str, are_numbers: bool) -> list[str]:
    """The name of the file of each id; ValueError if there is none, or several. `kind` is the word for ids."""
    files: dict[str, list[str]] = {}
    for name in names:
        stem = Path(name).stem
        stem = str(int(stem)) if are_numbers and re.fullmatch("[0-9]+", stem) else stem
        files.setdefault(stem, []).append(name)
    files |= {name: [name] for name in names}
    several = next((files[each] for each in ids if len(files.get(each, ())) > 1), None)
    if several:
        raise ValueError(f"{held}; {' and '.join(several)} are of one row; give one of them")
    lacking = [each for each in ids if each not in files]
    if lacking:
        raise ValueError(
            f"{held}; no file for {counted(len(lacking), kind)}, such as {describe(lacking[0])}; give one for "
            "each"
        )
    return [files[each][0] for each in ids]


def _check_order(names: Sequence[str], held: str) -> None:
    """Refuse sorted names if numbers after the same text do not increase: their rows may be in either order.

    Digits of a checksum are no numbers. Two names that differ in leading zeros, case and ending alone are
    refused, too.
    """
    last: dict[tuple[str | int, ...], tuple[int, str]] = {}  # number and name, by what stands before it
    whole: dict[tuple[str | int, ...], str] = {}
    for name in names:
        stem = Path(name).stem.casefold()
        if _CHECKSUM.fullmatch(stem):
            continue
        parts = [int(part) if place % 2 else part for place, part in enumerate(re.split("([0-9]+)", stem))]
        other = whole.get(tuple(parts), "") if len(parts) > 1 else ""
        for place in range(1, len(parts), 2):
            number, before = int(parts[place]), tuple(parts[:place])
            largest, named = last.get(before, (-1, ""))
            other = named if largest > number else other
            last[before] = number, name
        if other:
            raise ValueError(
                f"{held}; {other} is before {name} by name but not by number; name the files by row numbers "
                "from 0, by ids that the data have, or with leading zeros"
            )
        whole[tuple(parts)] = name


def _eight_bits(opened: Any, Image: Any) -> Any:
    """An image whose pixels have eight bits: longer ones, which have no fixed range, from black to white.

    A nan is black.
    """
    if opened.mode not in ("I", "F") and not opened.mode.startswith("I;"):
        return opened
    pixels = np.asarray(opened, np.float64)
    finite = pixels[np.isfinite(pixels)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    pixels = np.nan_to_num(pixels, nan=low, posinf=high, neginf=low)
    return Image.fromarray(((pixels - low) * (255 / ((high - low) or 1.0))).round().astype(np.uint8))
