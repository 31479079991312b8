"""The claims about the cost of training: seconds and inferences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from structhash.reproduce._verdicts import Claim, verdict
from structhash.reproduce.published import published
from structhash.reproduce.results import Results
from structhash.reproduce.sets import SETS

_ORDER = 10.0  # an order of magnitude
_STEADY = 1.5  # growth over the bits that counts as none
_ORIGINAL, _STAGE, _SIMPLE = "StructH-N", "StructH-N-Stage", "StructH-SN-Stage"


def cost_claims(results: Results) -> list[Claim]:
    """The claims about seconds and inferences, in the paper's order."""
    where = "Section 5.2, Table 4"
    faster = _totals(results, "seconds", _ORIGINAL, _STAGE)
    fewer = _totals(results, "rounds", _ORIGINAL, _STAGE)
    half = _totals(results, "seconds", _STAGE, _SIMPLE)
    cheap = _cheap_original(results)
    growth = {name: _growth(results, name) for name in (_STAGE, _ORIGINAL)}
    return [
        _every(
            "Stage-wise training is faster than the original", where, "fewer seconds for 64 bits", faster, 1.0
        ),
        _every(
            "Stage-wise training is faster by orders of magnitude",
            where,
            "a tenth of the seconds or less",
            faster,
            _ORDER,
            cheap,
        ),
        _every("Stage-wise training needs fewer inferences", where, "fewer in all for 64 bits", fewer, 1.0),
        _every(
            "Stage-wise training needs fewer inferences by orders of magnitude",
            where,
            "a tenth of the inferences or less",
            fewer,
            _ORDER,
            cheap,
        ),
        _growing(
            growth[_STAGE], "Stage-wise, the inferences of a bit do not grow with the number of bits", False
        ),
        _growing(
            growth[_ORIGINAL],
            "In the original, the inferences of a bit grow with the number of bits",
            True,
            cheap,
        ),
        _every("The SNDCG loss halves the time of stage-wise training", where, "half or less", half, 2.0),
        _every("The SNDCG loss is faster than the NDCG loss", where, "fewer seconds for 64 bits", half, 1.0),
        _by_points(results, _ORIGINAL, _STAGE),
        _by_points(results, _STAGE, _SIMPLE),
    ]


def _totals(results: Results, what: str, a: str, b: str) -> list[tuple[float, str]]:
    """By data set: how many times as much a costs as b, and a line that says so."""
    found = []
    for data in results.sets:
        both = [results.history(data, method, what) for method in (a, b)]
        if both[0] is None or both[1] is None:
            continue
        costs = [float(np.sum(each)) for each in both if each is not None]
        unit = "s" if what == "seconds" else "inferences"
        ratio = costs[0] / costs[1]
        both_costs = f"{a} {costs[0]:.1f} {unit}, {b} {costs[1]:.1f} {unit}"
        line = f"{SETS[data].title}: {both_costs}, so {a} takes {ratio:.1f} times as much"
        found.append((ratio, line))
    return found


def _every(
    statement: str, where: str, rule: str, found: list[tuple[float, str]], least: float, note: str = ""
) -> Claim:
    """A claim that every ratio is at least so large, and above 1."""
    holds = all(ratio >= least and ratio > 1 for ratio, _ in found) if found else None
    return verdict(statement, where, f"{rule}, on every set", holds, [line for _, line in found], note)


def _cheap_original(results: Results) -> str:
    """Why ours is not slower by as much: what the last bit takes, in the paper and here."""
    for data in results.sets:
        rounds = results.history(data, _ORIGINAL, "rounds")
        paper = published().training.get((SETS[data].in_paper, _ORIGINAL))
        if rounds is not None and paper is not None:
            return (
                f"Our {_ORIGINAL} is cheaper than the paper's: bit 64 of {SETS[data].title} takes "
                f"{rounds[-1]:.1f} inferences, in the paper {paper.inferences[64]:g}. Ours keeps the cutting "
                "planes of earlier bits and has a slack for each of a few groups of queries."
            )
    return ""


def _growth(results: Results, method: str) -> list[tuple[float, str]]:
    """By data set: inferences of the last quarter of the bits over those of the second quarter."""
    found = []
    for data in results.sets:
        rounds = results.history(data, method, "rounds")
        if rounds is None:
            continue
        early, late = (float(np.mean(rounds[part])) for part in (slice(16, 32), slice(48, 64)))
        line = (
            f"{SETS[data].title}: {early:.1f} inferences a bit for bits 17 to 32, {late:.1f} for bits 49 to 64"
        )
        found.append((late / early, line))
    return found


def _growing(found: list[tuple[float, str]], statement: str, grows: bool, note: str = "") -> Claim:
    """A claim about the growth of the inferences."""
    ok: Callable[[float], bool] = (lambda r: r > 1) if grows else (lambda r: r <= _STEADY)
    rule = "more for the later bits" if grows else f"at most {_STEADY:g} times as many for the later bits"
    holds = all(ok(ratio) for ratio, _ in found) if found else None
    evidence = [line for _, line in found]
    return verdict(statement, "Section 5.2, Table 4", f"{rule}, on every set", holds, evidence, note)


def _by_points(results: Results, a: str, b: str) -> Claim:
    """The claim of the figure of training points: b is faster than a at every number of points."""
    slow, fast = dict(results.timed(a)), dict(results.timed(b))
    common = sorted(slow.keys() & fast.keys())
    lines = [f"{n:,} points: {a} {slow[n]:.1f} s, {b} {fast[n]:.1f} s" for n in common]
    holds = all(fast[n] < slow[n] for n in common) if common else None
    statement = f"{b} is faster than {a} at every number of training points"
    return verdict(statement, "Section 5.2.2, Figure 7", "fewer seconds for 32 bits", holds, lines)
