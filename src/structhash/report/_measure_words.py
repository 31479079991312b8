"""What the measures of a comparison are, in words."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["measure_words"]

_WORDS = {  # `{k}` is the rank that a name ends with
    "ndcg": "NDCG of the first {k}",
    "ndcg_paper": "NDCG of the first {k}, with the discount of the StructHash paper",
    "precision": "relevant rows among the first {k}, divided by {k}",
    "recall": "relevant rows among the first {k}, divided by all relevant rows",
    "map": "mean average precision",
    "map_hits": "mean average precision of the first {k}, divided by the hits among them",
    "pr_area": "area under the precision-recall curve",
    "recall_tenth": "relevant rows in the first tenth of the ranking, divided by all relevant rows",
    "auc": "area under the ROC curve",
    "sndcg": "simplified NDCG of the StructHash paper",
    "mrr": "mean reciprocal rank of the first relevant row",
}


def measure_words(names: Iterable[str]) -> str:
    """What measures are, in a sentence; one without a known meaning is left out.

    >>> measure_words(["map", "map@50", "mine"])
    'map: mean average precision; map@50: mean average precision of the first 50.'
    """
    said = [f"{name}: {words}" for name in names if (words := _words(name))]
    return f"{'; '.join(said)}." if said else ""


def _words(name: str) -> str:
    """What one measure is."""
    kind, _, k = name.partition("@")
    words = _WORDS.get(kind, "")
    if words and k and "{k}" not in words:
        words += " of the first {k}"
    return words.format(k=k)
