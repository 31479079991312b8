"""Search packed codes by Hamming or weighted Hamming distance.

`Exact` needs numpy and numba alone; `Flat` is a faiss index and imports faiss when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from structhash._numerics.validation import describe
from structhash.io import container as files
from structhash.search.exact import Exact

if TYPE_CHECKING:
    from structhash.search.faiss import Flat

__all__ = ["Exact", "Flat", "load_index"]


def __getattr__(name):
    if name == "Flat":
        from structhash.search.faiss import Flat

        return Flat
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_index(path):
    """Open an index file of any kind.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    index : Exact or Flat

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, foreign, or holds no index.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "index"
    >>> Exact(n_bits=8).save(path)
    >>> load_index(path)
    Exact(n_bits=8, ntotal=0)
    """
    kind = files.header(path, "index")["kind"]
    if kind == "index.exact":
        return Exact.load(path)
    if kind == "index.flat":
        return __getattr__("Flat").load(path)
    raise ValueError(
        f"cannot read {path}: it holds {describe(kind)}, not 'index.exact' or 'index.flat'; upgrade structhash"
    )
