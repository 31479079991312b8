"""Rows of pixels as pictures inside a page."""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import spread_rows
from structhash._numerics.validation import describe
from structhash.report.elements import Html, element

__all__ = ["find_shape", "parse_shape", "picture", "png"]

_MIN_SIDE = 8  # pixels of a picture that is recognised
_MAX_ROWS = 500  # that are looked at
_MIN_CORRELATION = 0.25  # of neighbouring pixels, above that of any two


def find_shape(X: NDArray[Any]) -> tuple[int, int] | None:
    """Height and width of rows that are square grey pictures; None where they do not look so.

    In a picture, neighbouring pixels are much more correlated than any two pixels, across and down.

    Parameters
    ----------
    X : ndarray (n, d)

    Returns
    -------
    tuple or None

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> find_shape(load_digits().data)
    (8, 8)
    >>> find_shape(np.random.default_rng(0).normal(size=(100, 64))) is None
    True
    """
    side = math.isqrt(X.shape[1])
    if side < _MIN_SIDE or side * side != X.shape[1] or len(X) < 2:
        return None
    rows = X[spread_rows(len(X), _MAX_ROWS)].astype(np.float64)
    rows -= rows.mean(axis=0)
    spread = np.sqrt((rows**2).mean(axis=0))
    rows /= np.where(spread > 0, spread, np.inf)
    pixels = rows.reshape(len(rows), side, side)
    shuffled = np.random.default_rng(0).permutation(X.shape[1])
    usual = _correlation(rows, rows[:, shuffled])
    across = _correlation(pixels[:, :, 1:], pixels[:, :, :-1])
    down = _correlation(pixels[:, 1:], pixels[:, :-1])
    return (side, side) if min(across, down) > usual + _MIN_CORRELATION else None


def parse_shape(text: str, n_features: int) -> tuple[int, ...]:
    """The shape of pictures: ``"28x28"``, ``"32x32x3"`` (colours last) or ``"3x32x32"`` (colours first).

    Parameters
    ----------
    text : str
    n_features : int
        The product of the shape.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If it is not a shape, or one of other rows.
    """
    found = tuple(map(int, text.split("x"))) if re.fullmatch(r"[0-9]{1,5}(x[0-9]{1,5}){1,2}", text) else ()
    if len(found) == 3 and 3 not in (found[0], found[2]):
        found = ()
    if not found or math.prod(found) != n_features:
        raise ValueError(
            f"images={describe(text)}: give auto, none, a folder of image files, or the shape of {n_features} "
            "pixels, such as 28x28, 32x32x3 or 3x32x32"
        )
    return found


def picture(row: NDArray[Any], shape: tuple[int, ...], low: float, high: float, about: str) -> Html:
    """A row as a picture.

    Parameters
    ----------
    row : ndarray (d,)
    shape : tuple of int
        As `parse_shape` returns it.
    low, high : float
        Values that are black and white.
    about : str
        What it shows, for readers that do not see it.

    Returns
    -------
    Html
        An ``<img>`` that holds its own pixels.
    """
    scaled = (row.astype(np.float64) - low) / ((high - low) or 1.0)
    pixels = (np.clip(scaled, 0, 1) * 255).round().astype(np.uint8).reshape(shape)
    if len(shape) == 3 and shape[2] != 3:
        pixels = np.moveaxis(pixels, 0, 2)
    address = "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
    return element("img", src=address, alt=about)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels (height, width), grey, or (height, width, 3) as a PNG file, https://www.w3.org/TR/png-3/."""
    height, width = pixels.shape[:2]
    lines = np.ascontiguousarray(pixels).reshape(height, -1)
    content = np.hstack([np.zeros((height, 1), np.uint8), lines]).tobytes()  # 0: a line without a filter
    colour = 2 if pixels.ndim == 3 else 0
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = [_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(content, 9)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file: length, kind, content, checksum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Mean correlation of columns of unit variance; a constant column is 0 and counts as uncorrelated."""
    return float((a * b).mean())
