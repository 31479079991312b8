"""Two-stage search of the command line: vectors are opened, and how many codes they order is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structhash.cli._options import Rescoring
from structhash.cli.console import say
from structhash.cli.display import bar
from structhash.cli.ids import read_ids
from structhash.io import map_array
from structhash.search import FactorChoice, Index, Rescored, choose_factor

__all__ = ["open_rescored"]

_N_HELD_OUT = 200


def open_rescored(
    index: Index, asked: Rescoring, k: int, width: int, code: Callable[[Any], Any]
) -> tuple[Rescored, dict[str, Any]]:
    """Open the vectors that order the nearest codes of an index.

    Parameters
    ----------
    index : Index
    asked : Rescoring
        The options that go with --rescore.
    k : int
        Neighbours a query.
    width : int
        Numbers of a query.
    code : callable
        Makes what the index is searched for of vectors (n, d).

    Returns
    -------
    rescored : Rescored
    chosen : dict
        For JSON: the factor and its recall, if it was chosen for a recall.

    Raises
    ------
    ValueError, TypeError
        If vectors or their ids do not fit the index.
    """
    if asked.ids is None and index.id_kind != "row numbers":
        raise ValueError(f"--rescore {asked.vectors}: the index has ids of its own; give --rescore-ids too")
    ids = None if asked.ids is None else read_ids(asked.ids, as_text=index.id_kind == "text")
    try:
        rescored = Rescored(index, map_array(asked.vectors), asked.metric, asked.factor, ids)
    except (TypeError, ValueError) as error:
        raise type(error)(f"--rescore {asked.vectors}: {error}") from None
    if rescored.vectors.shape[1] != width:
        raise ValueError(
            f"--rescore {asked.vectors} holds {rescored.vectors.shape[1]} numbers a row, a query has {width}; "
            "give the rows that the codes were made of"
        )
    if asked.recall is None:
        return rescored, {}
    chosen = _chosen(rescored, asked.recall, k, code)
    rescored = Rescored(index, rescored.vectors, asked.metric, chosen.factor, ids)
    return rescored, {"factor": chosen.factor, "recall": chosen.recall}


def _chosen(rescored: Rescored, recall: float, k: int, code: Callable[[Any], Any]) -> FactorChoice:
    """The least factor with a recall for rows of the index that are held out; it is printed, too."""
    others, rows = rescored.hold_out(_N_HELD_OUT)
    if len(others.index) < k:
        raise ValueError(
            f"--recall: without {len(rows)} rows, the index has less than k={k} codes; give --factor"
        )
    queries = code(rows)
    with bar("factor", None, "factors"):
        chosen = choose_factor(others, queries, rows, k, recall)
    share = f"{chosen.recall:.3f} of the {k} nearest of {len(rows)} rows that were held out"
    say("note", f"--factor {chosen.factor} finds {share}")
    return chosen
