"""The contract of a file format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from structhash.io.dataset import Dataset, check_dataset

__all__ = ["Format"]


class Format:
    """A file format of data sets, chosen by the extension of the file.

    A subclass is a frozen dataclass that can be made without arguments, in a file of its own in this folder.
    It sets `suffixes` and implements `read`. A format that needs an optional library imports it inside its
    methods, so that the other formats work without it.

    Attributes
    ----------
    suffixes : tuple of str
        Extensions of its files, lower case, with the dot. No two formats share one.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()

    def read(self, path: Path) -> Dataset:
        """Read a data set.

        `structhash.io.read` calls this for an existing file that is not empty, and checks afterwards that the
        arrays are a data set (`structhash.io.dataset.check_dataset`).

        Parameters
        ----------
        path : Path

        Returns
        -------
        data : Dataset
            X is needed; y, Q, qrels and names are None where the file lacks them.

        Raises
        ------
        ValueError
            If the file is damaged or lacks X. The message begins with ``cannot read PATH: ``.
        """
        raise NotImplementedError

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe a file for `structhash info`; by default the facts of its data set."""
        return check_dataset(self.read(path), path).facts()
