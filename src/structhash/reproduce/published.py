"""The numbers of the paper's tables, as they stand there."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Published", "TrainingCost", "published"]


class TrainingCost(NamedTuple):
    """What it costs to learn 64 bits, as in one line of Table 4.

    Attributes
    ----------
    inferences : dict of float
        Searches for the most violated rankings that one bit needs, by the number of that bit.
    seconds_per_inference : float
    seconds : float
        To learn all 64 bits.
    """

    inferences: dict[int, float]
    seconds_per_inference: float
    seconds: float


class Published(NamedTuple):
    """All tables.

    Attributes
    ----------
    scores : dict of float
        Tables 1 to 3: by (table, measure, data set, method).
    methods : dict of list of str
        The methods of each table, in the paper's order.
    training : dict of TrainingCost
        Table 4: by (data set, method).
    """

    scores: dict[tuple[int, str, str, str], float]
    methods: dict[int, list[str]]
    training: dict[tuple[str, str], TrainingCost]


@cache
def published() -> Published:
    """The numbers of the paper, from the file ``paper.toml`` of this package.

    >>> published().scores[1, "ndcg_paper@100", "usps", "ITQ"]
    0.804
    """
    document = tomllib.loads(files("structhash.reproduce").joinpath("paper.toml").read_text("utf-8"))
    scores = {
        (part["table"], part["measure"], data, method): value
        for part in document["scores"]
        for data, values in part["data"].items()
        for method, value in zip(part["methods"], values, strict=True)
    }
    methods = {part["table"]: part["methods"] for part in document["scores"]}
    training = {}
    for line in document["training"]:
        inferences = dict(zip(line["bits"], line["inferences"], strict=True))
        cost = TrainingCost(inferences, line["seconds_per_inference"], line["seconds"])
        training[line["data"], line["method"]] = cost
    return Published(scores, methods, training)
