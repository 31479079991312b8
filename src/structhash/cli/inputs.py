"""What commands read: words of the command line, labels and judgements of data files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash import metrics
from structhash._numerics.validation import describe, join_names
from structhash.evaluation import compare as evaluate
from structhash.evaluation.judged import check_method
from structhash.evaluation.methods import Method, every_method, parse_method, split_specs
from structhash.io import Dataset, read


class Retrieval(NamedTuple):
    """Queries, the database to be searched, and which rows of it are relevant."""

    by: str  # "labels" or "judgements"
    queries: NDArray[Any]
    database: NDArray[Any]
    relevance: Callable[[slice], NDArray[Any]]


def numbers(option: str, text: str, least: int) -> list[int]:
    """Whole numbers, separated by commas, each once."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= least for word in words):
        raise ValueError(
            f"{option} {describe(text)}: give whole numbers of at least {least}, separated by commas"
        )
    return list(dict.fromkeys(int(word) for word in words))


def measures(texts: Iterable[str] | None) -> list[str]:
    """Names of measures from a repeated or comma-separated option; the usual ones by default."""
    names = [name.strip() for text in texts or evaluate.MEASURES for name in text.split(",")]
    evaluate.parse_measures(names)
    return list(dict.fromkeys(names))


def methods(text: str, judged: bool = False) -> list[Method]:
    """Methods of a comma-separated option; "all" for `every_method`, less those that judgements can't teach."""
    if text.strip() == "all":
        found = [parse_method(spec) for spec in every_method()]
        return [each for each in found if learns(each) and not each.on_database] if judged else found
    specs = split_specs(text)
    if not specs:
        raise ValueError("--methods is empty; give names such as structhash,lsh, or all")
    found = [parse_method(spec) for spec in dict.fromkeys(specs)]
    for method in found:
        if "n_bits=" in method.name and not method.own_length:
            raise ValueError(f"{method.name!r}: give the length of the code by --bits")
    return found


def learns(method: Method) -> bool:
    """Whether a method can be fitted without class labels."""
    try:
        check_method(method)
    except ValueError:
        return False
    return True


def labels(data: Dataset, path: Path, why: str) -> NDArray[Any]:
    """Labels (n,) of a data set.

    Raises
    ------
    ValueError
        If it has none, or they are not one value a row.
    """
    if data.y is None:
        raise ValueError(f"{path} holds no labels y, but {why}; use a .npz with y or a .csv with a column y")
    if data.y.ndim != 1:
        raise ValueError(f"y of {path} has shape {data.y.shape}; give one label a row")
    if data.y.dtype.kind == "f" and not np.isfinite(data.y).all():
        raise ValueError(f"y of {path} holds NaN or infinite values; give each row a label")
    return data.y


def read_for(encoder: Any, path: Path) -> Dataset:
    """A data set for a model: its columns must be those that the model was fitted on, where both have names.

    Raises
    ------
    ValueError
        If they are not.
    """
    data, names = read(path), getattr(encoder, "column_names_", None)
    if names and data.names and data.names != names:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(data.names, names))
        raise ValueError(
            f"{path} has the columns {join_names(data.names)}; the model needs {join_names(names)} in this order; "
            f"the first to differ is column {len(list(same)) + 1}"
        )
    return data


def retrieval(path: Path, n_queries: int, seed: int, encoder: Any) -> Retrieval:
    """Queries and database of a data file: judged ones where it has them, else a split by labels.

    Raises
    ------
    ValueError
        If it has neither, or nothing in it is relevant to any query.
    """
    data = read_for(encoder, path)
    if data.Q is not None and data.qrels is not None:
        size = len(data.Q), len(data.X)
        judged = evaluate.judged(judgements(data.qrels, *size, path), *size)
        return Retrieval("judgements", data.Q, data.X, judged)
    y = labels(data, path, "an evaluation needs them (or queries Q and judgements qrels)")
    split = evaluate.seen_classes(y, seed, n_queries)
    if not np.isin(y[split.queries], y[split.database]).any():
        raise ValueError(f"{path}: no query shares its label with a row of the database; give more rows")
    relevance = evaluate.same_label(y[split.queries], y[split.database])
    return Retrieval("labels", data.X[split.queries], data.X[split.database], relevance)


def judgements(qrels: NDArray[Any], n_queries: int, n: int, path: Path) -> NDArray[np.int64]:
    """Checked judgements, rows (query, document, grade)."""
    top = (n_queries - 1, n - 1, metrics.MAX_GRADE)
    if qrels.ndim != 2 or qrels.shape[1] != 3 or qrels.dtype.kind not in "iu":
        raise ValueError(
            f"qrels of {path} are {qrels.dtype} of shape {qrels.shape}; "
            "give integer rows (query, document, grade)"
        )
    for column, (name, most) in enumerate(zip(("queries", "documents", "grades"), top, strict=True)):
        values = qrels[:, column]
        if len(values) and not 0 <= values.min() <= values.max() <= most:
            raise ValueError(
                f"{name} in qrels of {path} run from {values.min()} to {values.max()}, not 0 to {most}"
            )
    if not (qrels[:, 2] > 0).any():
        raise ValueError(f"qrels of {path} call no document relevant; grades above 0 are needed")
    return qrels.astype(np.int64)
