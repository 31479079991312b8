"""The part of the contract of an index that is about its codes as a whole: in blocks, and in files."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash.search._blocks import Block
from structhash.search._checks import as_ids
from structhash.search._index_file import FileAbout, load_table, save_parts
from structhash.search._text_ids import shown

__all__ = ["SavedIndex", "given_settings"]


class SavedIndex:
    """Codes that are saved and loaded; what `structhash.search.base.Index` is built on."""

    kind: ClassVar[str]
    takes_weights: ClassVar[bool] = False
    takes_prepared: ClassVar[bool] = True
    setting_names: ClassVar[tuple[str, ...]] = ()

    n_bits: int
    source: str | None
    codes_are_bits: bool = True
    weights: NDArray[np.float64] | None

    def add(self, codes: NDArray[np.uint8], ids: ArrayLike | None = None) -> None:
        """As `Index.add`."""
        raise NotImplementedError

    def table(self) -> tuple[NDArray[np.uint8], NDArray[Any] | None]:
        """As `Index.table`."""
        raise NotImplementedError

    def _parts(self) -> tuple[Block, ...]:
        """All codes in blocks that never change, in the order of row numbers where they have these."""
        codes, ids = self.table()
        return (Block(codes.copy(), None if ids is None else as_ids(ids, len(codes))),)

    def _take(self, parts: tuple[Block, ...]) -> None:
        """Add blocks that never change, of another index or of a file."""
        for codes, ids in parts:
            self.add(codes, None if ids is None else shown(ids))

    def _about(self) -> FileAbout:
        """What its file says beside codes and ids."""
        settings = given_settings(self)
        return FileAbout(self.kind, self.n_bits, self.weights, self.source, settings, self.codes_are_bits)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Save the index as one file, codes in ascending order of their ids.

        A file that holds an index is replaced, and an empty one; any other file only with `force`.
        """
        save_parts(path, self._parts(), self._about(), force)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mmap: bool = False, verify: bool = True) -> Self:
        """Load a file that `save` wrote; errors as `structhash.search.load_index`.

        Parameters
        ----------
        path : str or path
        mmap, verify : bool
            Whether codes stay on disk, and whether such a file is checked; as in `load_index`.

        Returns
        -------
        index : Index
        """
        table = load_table(path, cls.kind, mmap, verify)
        if table.weights is not None and not cls.takes_weights:
            raise ValueError(
                f"cannot read {path}: it has weights, which {cls.__name__} does not take; index the codes again"
            )
        words = {name: table.header[name] for name in cls.setting_names if name in table.header}
        if table.weights is not None:
            words["weights"] = table.weights
        try:
            index = cls(n_bits=table.n_bits, **words)  # type: ignore[call-arg]
        except (TypeError, ValueError) as error:
            raise ValueError(f"cannot read {path}: {error}") from None
        index._take((Block(table.codes, table.ids),))
        index.source = table.source
        index.codes_are_bits = table.header.get("codes_are_bits") is not False
        return index


def given_settings(of: SavedIndex) -> dict[str, Any]:
    """The settings of an index, besides n_bits and weights, that are not left to the class."""
    values = {name: getattr(of, name) for name in of.setting_names}
    return {name: value for name, value in values.items() if value is not None}
