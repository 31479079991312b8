"""Texts in a .csv file, embedded by a model of sentence-transformers or model2vec that lies in a folder.

Only `_load` needs one of these libraries. Nothing is downloaded.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.optional import not_installed
from structhash._numerics.validation import describe
from structhash.io._opening import check_text
from structhash.io.dataset import Dataset
from structhash.io.formats._cells import as_labels, missing_label
from structhash.io.formats._columns import (
    NONE,
    choose_columns,
    column_names,
    find_label,
    is_id_name,
)
from structhash.io.formats.base import Format, Rows, checked_rows
from structhash.io.formats.csv import _numbered, _read_label

__all__ = ["Texts"]

_TEXTS_AT_ONCE = 8192
_STATIC = "StaticEmbedding"  # the kind of module that model2vec loads without torch


class _Model(NamedTuple):
    """A loaded model: what embeds a list of texts, and names of the coordinates."""

    embed: Callable[[list[str]], NDArray[Any]]
    names: list[str]


class _Table(NamedTuple):
    """The texts of a file, and its labels with the name of their column and those of all columns."""

    texts: list[str]
    labels: list[str]
    label: str | None
    id_candidates: tuple[str, ...]
    held: tuple[str, ...]


@dataclass(frozen=True)
class Texts(Format):
    """Texts in a column of a .csv file with a header. X are their embeddings.

    The features are named after the folder of the model and a checksum of its files. So a model of structhash
    refuses texts that another model embedded.

    Parameters
    ----------
    text : str
        The column of texts.
    text_model : str or path
        The folder of the model.
    label, ignore : str or None, sequence of str
        The column of labels, as for `Csv`; columns that hold none. Without `features` a doubtful name is a
        question.
    header : bool, optional
        False is refused: columns are found by name.
    features : sequence of str, optional
        Names of the features of the model that reads the embeddings, where one does. The other columns then
        raise no question.
    """

    text: str = ""
    text_model: Any = None
    label: str | None = None
    ignore: Sequence[str] = ()
    header: bool | None = None
    features: Sequence[str] | None = None

    def read(self, path: Path) -> Dataset:
        """Read and embed all texts.

        Raises
        ------
        ValueError, FileNotFoundError, ImportError
            If the file is no such table, a text is empty, or the model cannot be loaded.
        """
        table = self._table(path)
        rows = self._embedded(path, table.texts)
        y = as_labels(table.labels) if table.labels else None
        X = np.concatenate([*rows.blocks])
        data = Dataset(X, y, names=rows.names, label=table.label, held=table.held)
        return data._replace(id_candidates=table.id_candidates)

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read all texts, and embed them a block at a time."""
        table = self._table(path)
        return self._embedded(path, table.texts)._replace(id_candidates=table.id_candidates)

    def _embedded(self, path: Path, texts: list[str]) -> Rows:
        """Embeddings of the texts of a file."""
        if self.text_model is None:
            raise ValueError(f"text={self.text!r}: give text_model, the folder of a model, too (--text-model)")
        model = _load(str(self.text_model))
        blocks = (model.embed(texts[part]) for part in row_slices(len(texts), _TEXTS_AT_ONCE))
        return checked_rows((len(texts), len(model.names)), np.float32, blocks, f"X of {path}", model.names)

    def _table(self, path: Path) -> _Table:
        """The columns of texts and of labels; ValueError if the file is no table of them."""
        if path.suffix.lower() != ".csv" or self.header is False:
            raise ValueError(f"{path}: texts are read from a .csv file with a header; give one")
        check_text(path)
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                return self._read_table(csv.reader(file, strict=True))
        except (UnicodeDecodeError, csv.Error, ValueError) as error:
            raise ValueError(f"cannot read {path}: {error}") from None

    def _read_table(self, lines: Any) -> _Table:
        """The columns of texts and of labels, of a `csv.reader`."""
        first: list[str] = next(filter(None, lines), [])
        names, label = column_names(first, True), self.label
        if label is None and self.features is None:
            label = (
                find_label([name for name in names if name != self.text and name not in self.ignore]) or NONE
            )
        columns = choose_columns(names, label, self.ignore, [self.text])
        texts, labels = [], []
        for line, cells in _numbered(lines, first, True):
            texts.append(cells[columns.features[0]])
            if not texts[-1].strip():
                raise ValueError(
                    f"line {line}, column {self.text}: the text is empty; fill it or remove the line"
                )
            if columns.label is not None:
                labels.append(_read_label(cells[columns.label], line, names[columns.label]))
        if not texts:
            raise ValueError("it has no line after the header")
        if (missing := missing_label(labels)) is not None:
            raise ValueError(f"the label of row {missing} is missing; give each row a label")
        candidates = tuple(filter(is_id_name, columns.left_out))
        label = None if columns.label is None else names[columns.label]
        return _Table(texts, labels, label, candidates, tuple(names))


@functools.lru_cache(maxsize=1)
def _load(folder: str) -> _Model:
    """Load a model; errors if the folder holds none, or its library is not installed."""
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(
            f"text_model={folder!r}: there is no such folder; give the folder of a saved model"
        )
    embed = _static(path) if _is_static(path) else _transformer(path)
    size = np.shape(embed(["size"]))[1]
    made_by = f"{path.resolve().name}:{_checksum(path)}"
    return _Model(embed, [f"{made_by}:{j}" for j in range(size)])


def _is_static(path: Path) -> bool:
    """Whether model2vec loads the model; ValueError if neither library saved it."""
    try:
        modules = json.loads((path / "modules.json").read_text("utf-8"))
        return str(modules[0]["type"]).endswith(_STATIC)
    except (OSError, ValueError, LookupError, TypeError):
        raise ValueError(
            f"text_model={describe(str(path))}: modules.json is missing or damaged; give the folder of a model "
            "that sentence-transformers or model2vec saved"
        ) from None


def _static(path: Path) -> Callable[[list[str]], NDArray[Any]]:
    """What embeds texts by model2vec."""
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise not_installed("model2vec", str(path), "text", error) from error
    model = StaticModel.from_pretrained(path)
    return lambda texts: np.asarray(model.encode(texts, use_multiprocessing=False))


def _transformer(path: Path) -> Callable[[list[str]], NDArray[Any]]:
    """What embeds texts by sentence-transformers."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise not_installed("sentence_transformers", str(path), "sentences", error) from error
    model = SentenceTransformer(str(path), local_files_only=True)
    return lambda texts: np.asarray(model.encode(texts, show_progress_bar=False))


def _checksum(path: Path) -> str:
    """A checksum of the files of a model, but of no page about it."""
    digest = hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file() and each.suffix != ".md"):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0")
        with open(file, "rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:12]
