"""Inputs of commands: words of the command line, and labels, judgements and columns of data files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import read_labels
from structhash._numerics.validation import describe, join_names
from structhash.cli._options import Choices
from structhash.estimators.base import HashEncoder
from structhash.evaluation.judged import check_judged_method
from structhash.evaluation.methods import Method, every_method, parse_method, split_specs
from structhash.evaluation.scoring import MEASURES, check_measures
from structhash.io import Dataset, read
from structhash.supervision.judgements import check_judgements

__all__ = [
    "Choices",
    "check_columns",
    "check_labels",
    "learns_without_labels",
    "read_for",
    "read_judgements",
    "split_measures",
    "split_methods",
    "split_numbers",
    "where_labels_are",
]

_Check = Callable[[Method], None]


def split_numbers(option: str, text: str, least: int) -> list[int]:
    """Whole numbers, separated by commas, each once.

    Parameters
    ----------
    option : str
        Their name in an error message.
    text : str
    least : int
        The smallest number that is allowed.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If a part is not a whole number, or is too small.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= least for word in words):
        raise ValueError(
            f"{option} {describe(text)}: give whole numbers of at least {least}, separated by commas"
        )
    return list(dict.fromkeys(int(word) for word in words))


def split_measures(texts: Iterable[str] | None) -> list[str]:
    """Names of measures from an option that is repeated or has commas; the usual ones by default."""
    return check_measures(name.strip() for text in texts or MEASURES for name in text.split(","))


def split_methods(text: str, check: _Check | None = None) -> list[Method]:
    """Methods from a comma-separated option; "all" means those of `every_method` that a check lets pass."""
    if text.strip() == "all":
        found = [parse_method(spec) for spec in every_method()]
        return found if check is None else [each for each in found if learns_without_labels(each, check)]
    specs = split_specs(text)
    if not specs:
        raise ValueError("--methods is empty; give names such as distilhash,lsh, or all")
    found = [parse_method(spec) for spec in dict.fromkeys(specs)]
    for method in found:
        if "n_bits=" in method.name and not method.own_length:
            raise ValueError(f"{method.name!r}: give the length of the code by --bits")
    return found


def learns_without_labels(method: Method, check: _Check = check_judged_method) -> bool:
    """Whether a protocol without labels can run a method, by its check that raises ValueError."""
    try:
        check(method)
    except ValueError:
        return False
    return True


def read_for(encoder: HashEncoder, path: Path, choices: Choices | None = None) -> Dataset:
    """Read a data set for a model; ValueError unless its columns are those that the model was fitted on.

    Parameters
    ----------
    encoder : HashEncoder
        A fitted model.
    path : path
    choices : dict, optional
        How the file is read: keywords of `structhash.io.read`.

    Returns
    -------
    Dataset
    """
    data = read(path, features=encoder.column_names_, **(choices or {}))
    check_columns(data.names, path, encoder.column_names_, "the model")
    return data


def check_columns(names: list[str] | None, path: Path, needed: list[str] | None, whose: str) -> None:
    """Refuse columns with other names, or in another order. Where names are unknown, nothing is refused.

    Parameters
    ----------
    names : list of str or None
        Names of the columns.
    path : path
        The file that has them.
    needed : list of str or None
        Names of the columns that are needed.
    whose : str
        What needs them, for the error message.
    """
    if names and needed and names != needed:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(names, needed))
        raise ValueError(
            f"{path} has the columns {join_names(names)}; {whose} needs {join_names(needed)} in this order; "
            f"the first to differ is column {len(list(same)) + 1}"
        )


def where_labels_are(data: Dataset) -> str:
    """What a file holds and where labels are looked for; ``""`` where files of its kind have no labels."""
    if not data.held:
        return ""
    return f"it holds {join_names(data.held)}, and labels are y or label; name others by --label"


def check_labels(data: Dataset, path: Path, why: str) -> NDArray[Any]:
    """Labels of a data set, checked.

    Parameters
    ----------
    data : Dataset
    path : path
        The file that it came from.
    why : str
        Why labels are needed, for the error message.

    Returns
    -------
    ndarray (n,) or bool (n, L)
        One value a row, or indicators where some row has none or several labels.

    Raises
    ------
    ValueError
        If there are none, or `read_labels` refuses them.
    """
    if data.y is None:
        raise ValueError(
            f"{path} holds no labels y, but {why}; {where_labels_are(data) or 'use a .npz or .csv with y'}"
        )
    try:
        labels = read_labels(data.y, len(data.X))
    except ValueError as error:
        raise ValueError(f"y of {path}: {error}") from None
    return labels.values[labels.class_index] if labels.indicators is None else labels.indicators


def read_judgements(data: Dataset, path: Path) -> NDArray[np.int64]:
    """Judgements of a data set that has them, checked. Its queries are Q, or the rows of X where there is no Q.

    Parameters
    ----------
    data : Dataset
    path : path
        The file that it came from.

    Returns
    -------
    int64 (m, 3)
        Rows (query, document, grade).

    Raises
    ------
    ValueError
        If `check_judgements` refuses them, or no document is relevant.
    """
    n_queries = len(data.X if data.Q is None else data.Q)
    try:
        table = check_judgements(data.qrels, n_queries, len(data.X))
    except ValueError as error:
        raise ValueError(f"qrels of {path}: {error}") from None
    if not (table[:, 2] > 0).any():
        raise ValueError(f"qrels of {path} call no document relevant; give grades above 0")
    return table
