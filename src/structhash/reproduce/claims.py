"""What the paper claims, checked against our runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.evaluation.report import SIGNIFICANCE_LEVEL, paired_test
from structhash.reproduce._costs import cost_claims
from structhash.reproduce._verdicts import MARGIN, Claim, verdict
from structhash.reproduce.published import published
from structhash.reproduce.results import Results
from structhash.reproduce.sets import SETS
from structhash.reproduce.tables import TITLES

__all__ = ["Pair", "check_claims", "compare_pairs"]

_PEERS = ("SPLH", "STHs", "BREs", "ITQ", "SPHER", "MDSH", "AGH", "LSH")
_OTHERS = ("ndcg_paper@100", "precision@100", "map", "pr_area")
_COMPARABLE = f"comparable: at most {MARGIN:g} below"


class Pair(NamedTuple):
    """Two codes compared on the same queries.

    Attributes
    ----------
    data, measure, a, b : str
        `a` and `b` name a method, or a method and a distance.
    mean_a, mean_b : float
    p_value : float
        Of the paired t-test over the queries of all seeds, times the number of pairs of the claim (Bonferroni).
    """

    data: str
    measure: str
    a: str
    b: str
    mean_a: float
    mean_b: float
    p_value: float

    @property
    def outcome(self) -> str:
        """Where a stands: ``"ahead"``, ``"behind"``, or ``"level"`` where the difference is not significant."""
        if self.p_value >= SIGNIFICANCE_LEVEL or self.mean_a == self.mean_b:
            return "level"
        return "ahead" if self.mean_a > self.mean_b else "behind"

    @property
    def text(self) -> str:
        """One line of evidence."""
        return (
            f"{SETS[self.data].title}, {TITLES[self.measure]}: {self.a} {self.mean_a:.3f}, {self.b} "
            f"{self.mean_b:.3f}, {self.outcome} (p {_shown(self.p_value)})"
        )


def check_claims(results: Results) -> list[Claim]:
    """Every claim, with what the runs say."""
    return [
        _best_of_all(
            results,
            ("ndcg_paper@100",),
            "Table 1",
            "StructHash with the NDCG loss has the best NDCG in most cases",
        ),
        _best_of_all(
            results,
            ("precision@100", "map", "pr_area"),
            "Table 2",
            "StructHash with the NDCG loss has the best precision, mAP and precision-recall in most cases",
        ),
        _ahead(
            results,
            "StructHash is ahead of the methods of others",
            "Section 5.1",
            [(data, "ndcg_paper@100", "StructH-N", peer) for data in _labelled(results) for peer in _PEERS],
        ),
        _ahead(
            results,
            "The NDCG loss does better than the AUC loss on precision, mAP and precision-recall",
            "Section 5.1",
            [(data, m, "StructH-N", "StructH-A") for data in _labelled(results) for m in _OTHERS[1:]],
        ),
        _similar(results),
        _no_worse(
            results, "StructH-N-Stage", "StructH-N", "Stage-wise training is as accurate as the original"
        ),
        _no_worse(
            results, "StructH-SN-Stage", "StructH-N-Stage", "The SNDCG loss is as accurate as the NDCG loss"
        ),
        *cost_claims(results),
        _unweighted(results),
        _ahead(
            results,
            "On large sets StructHash is ahead of the other methods",
            "Section 5.1, Figure 2",
            [
                (data, m, "StructH-N", peer)
                for data in _unlabelled(results)
                for m in ("ndcg_paper@100", "map")
                for peer in _PEERS
            ],
        ),
        _ahead(
            results,
            "Kernel StructHash is ahead of linear StructHash",
            "Section 5.1, Figure 3",
            [(data, "ndcg_paper@100", "StructH-Kernel", "StructH-N-Stage") for data in results.sets],
        ),
        _ahead(
            results,
            "Kernel StructHash is ahead of KSH",
            "Section 5.1, Figure 3",
            [(data, "ndcg_paper@100", "StructH-Kernel", "KSH") for data in results.sets],
        ),
    ]


def compare_pairs(results: Results, wanted: list[tuple[str, str, str, str]]) -> list[Pair]:
    """The comparisons that can be made, with p-values corrected for their number.

    Parameters
    ----------
    results : Results
    wanted : list of (data set, measure, a, b)
        A method ``"NAME@plain"`` is searched by plain Hamming distance.

    Returns
    -------
    list of Pair
    """
    pairs = []
    for data, measure, a, b in wanted:
        mean_a, values_a = _measured(results, data, a, measure)
        mean_b, values_b = _measured(results, data, b, measure)
        if mean_a is None or mean_b is None or len(values_a) != len(values_b):
            continue  # one of them was not scored
        pairs.append(Pair(data, measure, a, b, mean_a, mean_b, paired_test(values_a, values_b)))
    return [pair._replace(p_value=min(1.0, len(pairs) * pair.p_value)) for pair in pairs]


def _measured(results: Results, data: str, name: str, measure: str) -> tuple[float | None, NDArray[np.float64]]:
    """Mean of a measure, and its value for each query."""
    method, _, distance = name.partition("@")
    which = data, method, measure
    return results.mean(*which, distance=distance or None), results.per_query(*which, distance or None)


def _labelled(results: Results) -> list[str]:
    return [data for data in results.sets if SETS[data].labelled]


def _unlabelled(results: Results) -> list[str]:
    return [data for data in results.sets if not SETS[data].labelled]


def _shown(p_value: float) -> str:
    """A p-value as people read it."""
    return "< 1e-99" if p_value < 1e-99 else f"{p_value:.2g}"


def _by_pairs(
    statement: str,
    where: str,
    rule: str,
    pairs: list[Pair],
    holds: Callable[[Pair], bool],
    most: bool,
    note: str = "",
) -> Claim:
    """A claim that holds if all pairs, or more than half of them, are as it says."""
    good = sum(holds(pair) for pair in pairs)
    needed = len(pairs) // 2 + 1 if most else len(pairs)
    note = f"{good} of {len(pairs)} comparisons are as claimed{note}."
    return verdict(statement, where, rule, good >= needed if pairs else None, [p.text for p in pairs], note)


def _ahead(results: Results, statement: str, where: str, wanted: list[tuple[str, str, str, str]]) -> Claim:
    """A claim that one method is ahead of others in most cases."""
    rule = "significantly ahead in more than half of the comparisons"
    pairs = compare_pairs(results, wanted)
    all_of, ahead_of = Counter(pair.b for pair in pairs), Counter(p.b for p in pairs if p.outcome == "ahead")
    behind = [f"of {b} in {ahead_of[b]} of {n}" for b, n in all_of.items() if ahead_of[b] < n]
    note = f"; ahead {', '.join(behind)}" if behind and len(all_of) > 1 else ""
    return _by_pairs(statement, where, rule, pairs, lambda pair: pair.outcome == "ahead", most=True, note=note)


def _best_of_all(results: Results, measures: tuple[str, ...], where: str, statement: str) -> Claim:
    """The claim that StructH-N is the best of a table in most cases."""
    wanted = []
    for data in _labelled(results):
        others = [m for m in ("StructH-A", "CGH", *_PEERS) if m in results.methods(data)]
        for measure in measures:
            if others:
                means = [results.mean(data, method, measure) or 0.0 for method in others]
                wanted.append((data, measure, "StructH-N", others[int(np.argmax(means))]))
    rule = "a higher mean than every other method of the table in more than half of the comparisons"
    pairs = compare_pairs(results, wanted)
    in_paper = [_best_in_paper(int(where[-1]), pair) for pair in pairs]
    note = f"; by the paper's own numbers, {sum(in_paper)} of {len(in_paper)} are"
    return _by_pairs(statement, where, rule, pairs, lambda p: p.mean_a > p.mean_b, most=True, note=note)


def _best_in_paper(table: int, pair: Pair) -> bool:
    """Whether a method has the highest number of its line in a table of the paper."""
    numbers, line = published(), (table, pair.measure, SETS[pair.data].in_paper)
    return max(numbers.methods[table], key=lambda method: numbers.scores[*line, method]) == pair.a


def _similar(results: Results) -> Claim:
    """The claim that the AUC loss and the triplet loss are alike."""
    wanted = [(data, m, "StructH-A", "CGH") for data in _labelled(results) for m in ("ndcg_paper@100", "map")]
    far = 0.03
    return _by_pairs(
        "StructHash with the AUC loss does about as well as CGHash",
        "Section 5.1",
        f"means differ by at most {far:g} everywhere (the paper's own differ by up to 0.07)",
        compare_pairs(results, wanted),
        lambda pair: abs(pair.mean_a - pair.mean_b) <= far,
        most=False,
    )


def _no_worse(results: Results, a: str, b: str, statement: str) -> Claim:
    """A claim that one method is at least as accurate as another, on every measure of Table 3."""
    wanted = [(data, measure, a, b) for data in results.sets for measure in _OTHERS]
    return _by_pairs(
        statement,
        "Section 5.2, Table 3",
        f"{_COMPARABLE} everywhere",
        compare_pairs(results, wanted),
        lambda pair: pair.mean_a >= pair.mean_b - MARGIN,
        most=False,
    )


def _unweighted(results: Results) -> Claim:
    """The claim that bits matter more than their weights."""
    wanted = [(data, "ndcg_paper@100", "StructH-N@plain", "StructH-N") for data in results.sets]
    return _by_pairs(
        "Plain Hamming distance retrieves as well as weighted: bits matter more than their weights",
        "Section 5.2.1, and the section on stage-wise training",
        f"the same totally corrective code, without its weights; {_COMPARABLE} everywhere",
        compare_pairs(results, wanted),
        lambda pair: pair.mean_a >= pair.mean_b - MARGIN,
        most=False,
    )
