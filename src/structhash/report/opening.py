"""The first lines of a page about a comparison: what codes cost and find, what was asked, the best codes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from structhash.estimators.loading import ESTIMATORS
from structhash.evaluation.methods import spec_name
from structhash.evaluation.protocols import PROTOCOLS
from structhash.evaluation.report import SIGNIFICANCE_LEVEL, Line
from structhash.evaluation.splits import seen_classes
from structhash.report._best_codes import best_code, p_below, p_words
from structhash.report.elements import Html, element
from structhash.report.figures import bytes_of

__all__ = ["opening", "protocol_words"]

_MEANINGS = {
    "seen": "Classes are those known at training.",
    "unseen": "Classes are new: no method has seen those of the queries and of the database.",
    "mixed-known": "Classes of the queries are those known at training; the database also holds new ones.",
    "mixed-new": "Classes of the queries are new: no method has seen them; the database also holds known ones.",
    "coarse": "Methods learn classes that are merged in pairs; the classes before are judged.",
    "tail": "Classes are those known at training, from 300 training rows down to 2.",
    "instances": "Relevant are the ten rows of the query's own class that are nearest to it by the vectors.",
    "judged": "Relevant is what judgements say; methods learn from the judgements of other queries.",
    "neighbours": "There are no labels: the ten rows nearest to a query by the vectors are relevant.",
}


def opening(document: dict[str, Any], lines: Sequence[Line]) -> list[Html]:
    """The first lines of a page.

    Parameters
    ----------
    document : dict
        What `structhash compare` writes.
    lines : sequence of Line
        Its lines with scores; nan where a value is missing.

    Returns
    -------
    list of Html
    """
    measures = document["options"]["measures"]
    measure = "map" if "map" in measures else measures[0]
    meaning = protocol_words(document["protocol"])
    said = [*_answer(lines, measure, document["features"]), meaning]
    lengths = sorted({line.n_bits for line in lines if line.is_code})
    best = [_best_of(lines, n_bits, measure) for n_bits in lengths]
    return [
        element("p", " ".join(filter(None, said)), class_="answer"),
        element("p", _counts(document, lines)),
        element("ul", *best, class_="plain"),
    ]


def protocol_words(protocol: str) -> str:
    """What a protocol measures, in a sentence; ``""`` for one that is not known.

    >>> protocol_words("few-5")
    'Classes are those known at training, by at most 5 labelled rows each.'
    """
    if few := re.fullmatch(r"few-(\d+)", protocol):
        rows = f"{few[1]} labelled row{'' if few[1] == '1' else 's'}"
        return f"Classes are those known at training, by at most {rows} each."
    return _MEANINGS.get(protocol, "")


def _answer(lines: Sequence[Line], measure: str, n_features: int) -> list[str]:
    """Bytes and quality of the best code, of the float vectors, and of the best other code of these bytes."""
    codes = [line for line in lines if line.is_code and math.isfinite(line.mean[measure])]
    ours = [line for line in codes if _is_ours(line)]
    if not codes:
        return []
    best = max(ours or codes, key=lambda line: (line.mean[measure], -line.n_bits))
    size, value = bytes_of(best, n_features), best.mean[measure]
    name = "mAP" if measure == "map" else measure
    vectors = next((x for x in lines if not x.n_bits and math.isfinite(x.mean[measure])), None)
    place = "" if vectors is None else f" in place of {bytes_of(vectors, n_features):,}"
    plural = "" if size == 1 else "s"
    said = [f"{best.method} stores {size:,} byte{plural} a row{place}: {name} {value:.3f}."]
    if vectors is not None:
        said.append(_against_vectors(best, vectors, measure, name))
    others = [x for x in codes if not _is_ours(x) and x.method != best.method]
    others = [x for x in others if bytes_of(x, n_features) == size]
    if others:
        other = max(others, key=lambda line: line.mean[measure])
        tested = _significance(other, best, lines, measure)
        head = f"{other.method}, the best other code of {size:,} byte{plural}"
        said.append(f"{head}: {_beside(other, best, measure)}{tested}.")
    return said


def _against_vectors(best: Line, vectors: Line, measure: str, name: str) -> str:
    """How far the best code is from the float vectors, with the interval where the document has it."""
    interval = (best.above_vectors or {}).get(measure)
    if interval is None:
        return f"The vectors themselves: {_beside(vectors, best, measure)}."
    difference = best.mean[measure] - vectors.mean[measure]
    size, (low, high) = f"{abs(difference):.3f}", interval
    word = f"{size} {'above' if difference > 0 else 'below'}" if float(size) else "the same as"
    if low < 0 < high:
        covered = f"{-low:.3f} below to {high:.3f} above"
    else:
        covered = " to ".join(f"{bound:.3f}" for bound in sorted((abs(low), abs(high))))
    return (
        f"{name} is {word} that of the float vectors, {vectors.mean[measure]:.3f} (95 percent interval over "
        f"queries: {covered})."
    )


def _is_ours(line: Line) -> bool:
    """Whether a method is one of this package's own, not a baseline."""
    return spec_name(line.method) in ESTIMATORS


def _beside(line: Line, best: Line, measure: str) -> str:
    """A mean, and how far it is from that of the first line."""
    difference = line.mean[measure] - best.mean[measure]
    size = f"{abs(difference):.3f}"
    word = "the same" if float(size) == 0 else f"{size} {'more' if difference > 0 else 'less'}"
    return f"{line.mean[measure]:.3f}, {word}"


def _significance(one: Line, other: Line, lines: Sequence[Line], measure: str) -> str:
    """What the test of two lines says; ``""`` where they were not tested against each other."""
    low, high = sorted((one, other), key=lambda line: line.mean[measure])
    p_value = p_below(low, high, measure)
    if best_code(lines, measure, low.n_bits) is not high or p_value is None:
        return ""
    word = "significant" if p_value < SIGNIFICANCE_LEVEL else "not significant"
    return f" ({word}: {p_words(p_value)})"


def _counts(document: dict[str, Any], lines: Sequence[Line]) -> str:
    """How many rows there are, and what was asked in each seed, as far as the document says."""
    seeds = document["options"]["seeds"]
    many = "" if len(seeds) == 1 else "s"
    said = f"{document['rows']:,} rows of {document['features']:,} features, protocol {document['protocol']}"
    said += f", {len(seeds)} seed{many}"
    sized = next((line for line in lines if line.sizes), None)
    sizes = sized.sizes if sized else _sizes_of_seen(document)
    if sizes and len({tuple(each) for each in sizes}) == 1:
        return f"{said}{': ' if len(seeds) == 1 else ', each with '}{_split(sizes[0])}."
    if sized:
        each = "; ".join(f"seed {seed} has {_split(size)}" for seed, size in zip(sized.seeds, sizes))
        return f"{said}: {each}."
    classes = (document.get("details") or {}).get("classes")
    if classes:
        return f"{said}: {sum(classes['queries']):,} queries{' in all' if many else ''}."
    return f"{said}."


def _split(sizes: Sequence[int]) -> str:
    """The numbers of one split."""
    n_train, n_queries, n_database = sizes
    return f"{n_train:,} training rows, {n_database:,} database rows and {n_queries:,} queries"


def _sizes_of_seen(document: dict[str, Any]) -> list[tuple[int, int, int]]:
    """The numbers of an earlier document whose splits need no labels; empty for any other."""
    options, protocol = document["options"], PROTOCOLS.get(document["protocol"])
    if protocol is None or protocol.draw is not seen_classes or not options.get("queries"):
        return []
    sizes = {"n_queries": options["queries"], "n_train": options.get("train")}
    kept = {name: value for name, value in sizes.items() if value is not None}
    train, queries, database = seen_classes(np.zeros(document["rows"]), 0, **kept)
    return [(len(train), len(queries), len(database))]


def _best_of(lines: Sequence[Line], n_bits: int, measure: str) -> Html | None:
    """Which code of a length is best, and which are not significantly below it."""
    best = best_code(lines, measure, n_bits)
    if best is None:
        return None
    others = [x for x in lines if x.is_code and x.n_bits == n_bits and x is not best]
    others = [x for x in others if math.isfinite(x.mean[measure])]
    p_values = [p_below(x, best, measure) for x in others]
    near = [x for x, p in zip(others, p_values) if p is not None and p >= SIGNIFICANCE_LEVEL]
    rest = " All others are significantly below." if others and None not in p_values else ""
    if near:
        rest = f" Not significantly below: {', '.join(f'{x.method} ({x.distance})' for x in near)}."
    said = f" ({best.distance}) is best: {measure} {best.mean[measure]:.3f}.{rest}"
    return element("li", f"At {n_bits} bits, ", element("b", best.method), said)
