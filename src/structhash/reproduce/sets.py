"""The data sets of a reproduction: what the paper calls them, and how ours differ."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from structhash._numerics.validation import join_names
from structhash.io import read

__all__ = ["SETS", "Loaded", "SetInfo", "check_data", "load_set"]


class SetInfo(NamedTuple):
    """What is known of a data set before it is read.

    Attributes
    ----------
    title : str
    in_paper : str
        Its name in the tables of the paper; ``""`` where the paper has nothing like it.
    difference : str
        How it differs from the paper's; ``""`` where it is the same.
    labelled : bool
        Whether rows of one label are relevant to each other. Otherwise the nearest 2 percent by L2 are.
    image_shape : tuple of int
        Height and width, where the features are the pixels of an image and large values are ink.
    """

    title: str
    in_paper: str
    difference: str = ""
    labelled: bool = True
    image_shape: tuple[int, int] | None = None


SETS = {
    "usps": SetInfo("USPS", "usps", image_shape=(16, 16)),
    "isolet": SetInfo("ISOLET", "isolet"),
    "mnist": SetInfo("MNIST", "mnist", image_shape=(28, 28)),
    "cifar10_gist512": SetInfo("CIFAR-10", "cifar", "our own GIST features; the paper's are not available"),
    "sift_bsds100k": SetInfo(
        "SIFT, 100,000", "sift1m", "SIFT of other images, a tenth of the rows, 1,000 queries", labelled=False
    ),
    "glove6b50_100k": SetInfo(
        "GloVe, 100,000", "", "word vectors in place of the paper's large image sets", labelled=False
    ),
}


class Loaded(NamedTuple):
    """A data set in memory."""

    name: str
    X: NDArray[Any]
    y: NDArray[Any] | None
    Q: NDArray[Any] | None
    sha256: str  # of its file

    @property
    def info(self) -> SetInfo:
        """What is known of the set."""
        return SETS[self.name]


def check_data(folder: Path, names: list[str]) -> None:
    """Refuse a folder that lacks a data set, before the first run.

    Raises
    ------
    FileNotFoundError
        Naming the folder and the files that it lacks.
    """
    missing = [f"{name}.npz" for name in names if not (folder / f"{name}.npz").is_file()]
    if missing:
        raise FileNotFoundError(
            f"{folder} has no {join_names(missing)}; give --data FOLDER, or set STRUCTHASH_DATA, "
            "to a folder of the data sets that docs/reproduce.md lists"
        )


def load_set(folder: Path, name: str) -> Loaded:
    """Read the data set of a name from its file in a folder.

    Raises
    ------
    ValueError
        If the file lacks labels, or queries where the set has no labels.
    """
    path = folder / f"{name}.npz"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    data = read(path)
    if SETS[name].labelled and data.y is None:
        raise ValueError(f"{path} holds no labels y; give the file that docs/reproduce.md describes")
    if not SETS[name].labelled and data.Q is None:
        raise ValueError(f"{path} holds no queries Q; give the file that docs/reproduce.md describes")
    return Loaded(name, data.X, data.y, data.Q, digest)
