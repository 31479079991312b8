"""Protocols by name: how labelled rows are split, what labels teach, and what is relevant to a query."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.evaluation.instances import instance_queries
from structhash.evaluation.label_splits import coarse_labels, few_labels, tail_classes
from structhash.evaluation.scoring import MEASURES
from structhash.evaluation.splits import (
    Split,
    mixed_known_classes,
    mixed_new_classes,
    seen_classes,
    unseen_classes,
)

__all__ = ["PROTOCOLS", "Protocol", "find_protocol", "protocol_names"]


class Protocol(NamedTuple):
    """One way to measure methods on labelled rows.

    Attributes
    ----------
    draw : callable
        Takes labels (n,), a seed, `n_queries` and, where `takes_n_train`, `n_train`; returns a `Split`. At one
        seed, all protocols except ``"unseen"`` have the same database.
    training_labels : callable or None
        Takes labels (n,) and a seed; returns the labels (n,) that methods learn from. None leaves them.
    inside_class : bool
        Whether the documents of a query's own class are ranked, by how near the vectors are. Otherwise all
        documents are, by their labels.
    takes_n_train : bool
        Whether the number of training rows can be set.
    measures : tuple of str
        What is measured by default.
    takes_several_labels : bool
        Whether y may be indicators (n, L): `draw` then counts the rows and asks for no class.
    """

    draw: Callable[..., Split]
    training_labels: Callable[[NDArray[Any], int], NDArray[Any]] | None = None
    inside_class: bool = False
    takes_n_train: bool = True
    measures: tuple[str, ...] = MEASURES
    takes_several_labels: bool = False


PROTOCOLS: dict[str, Protocol] = {
    "seen": Protocol(seen_classes, takes_several_labels=True),
    "unseen": Protocol(unseen_classes),
    "mixed-known": Protocol(mixed_known_classes),
    "mixed-new": Protocol(mixed_new_classes),
    "coarse": Protocol(seen_classes, coarse_labels),
    "tail": Protocol(tail_classes, takes_n_train=False),
    "instances": Protocol(instance_queries, inside_class=True, measures=("recall_tenth",)),
}
_FEW = "few-N"  # N labelled rows of each class; protocols of all N


def protocol_names() -> list[str]:
    """Names of all protocols; ``few-N`` means any N of at least 1.

    >>> protocol_names()[-2:]
    ['instances', 'few-N']
    """
    return [*PROTOCOLS, _FEW]


def find_protocol(name: str) -> Protocol:
    """The protocol of a name: one of `PROTOCOLS`, or few-1, few-2 and so on; ValueError for any other name.

    >>> find_protocol("few-20").takes_n_train
    False
    """
    if isinstance(name, str) and name in PROTOCOLS:
        return PROTOCOLS[name]
    few = re.fullmatch("few-([1-9][0-9]{0,8})", name) if isinstance(name, str) else None
    if few is None:
        raise ValueError(f"protocol={describe(name)}: give {' or '.join(protocol_names())}, N from 1 on")
    return Protocol(partial(few_labels, n_labelled=int(few[1])), takes_n_train=False)
