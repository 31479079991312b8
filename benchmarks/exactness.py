"""Results of exact search against brute force in float64, for each form of query.

    python benchmarks/exactness.py benchmarks/results/search/exactness.json

Each form of query asks 10,000 queries of `Exact` and `Flat`, spread over lengths of 1 to 256 bits and three
kinds of codes: random bits, few centres with some bits flipped, and codes of digits with jitter, by a
`DistilHash` that learned from digits. All have many ties. Each index answers a query six times: the k nearest
and all within a radius, among all codes, by a mask, and by ids. Brute force multiplies matrices of bits, or
adds entries of tables, in float64; the numbers are such that no sum is rounded before the end. It sorts all
codes by (distance, id). Queries come one at a time, in fives and in larger batches, which the scan serves in
different ways. Lines with more codes have single queries. An answer differs if a distance or an id of it does.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.codes import Decoder, PreparedQueries, pack, prepare_values, unpack
from structhash.search import Exact, Flat

FORMS = ("plain", "weights", "real", "linear", "tables", "tables and lengths")
KINDS = ("random", "clustered", "learned")
BITS = (1, 7, 8, 24, 63, 64, 65, 100, 128, 200, 256)
N_QUERIES, N_CODES = 10_000, 9_000  # queries a form, codes an index
BATCHES = (1, 5, 40)  # sizes of the first batches; the others come at once
LARGE = 70_000  # codes, for few single queries
WAYS = ("all codes", "mask", "ids")


class Asked(NamedTuple):
    """What is searched for, the weights of the index, and the distances of all queries to bits of codes."""

    queries: object
    weights: object
    distances: object


def learned_bits():
    """Bits of a model of digits, for jittered digits."""
    X, _ = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = X[rng.integers(0, len(X), LARGE + 400)] + rng.normal(0, 1, (LARGE + 400, X.shape[1]))
    return unpack(DistilHash(max(BITS), random_state=0).fit(X).encode(rows), max(BITS))


def bits_of(kind, n, n_bits, learned, rng):
    """Bits (n, n_bits) of a kind of codes."""
    if kind == "learned":
        return learned[rng.permutation(len(learned))[:n], :n_bits]
    if kind == "random":
        return rng.integers(0, 2, (n, n_bits), dtype=np.uint8)
    centres = rng.integers(0, 2, (20, n_bits), dtype=np.uint8)
    return centres[rng.integers(0, 20, n)] ^ (rng.random((n, n_bits)) < 0.02).astype(np.uint8)


def differing(bits, weights):
    """A function that sums the weights of the bits that differ from `bits`."""
    of_ones, of_zeros = bits * weights, (1 - bits) * weights
    return lambda other: of_ones @ (1.0 - other).T + of_zeros @ other.T


def ask(form, bits, rng):
    """Queries of a form near to bits (n, n_bits)."""
    n, n_bits = bits.shape
    if form in ("plain", "weights"):
        weights = None if form == "plain" else rng.choice([0, 0.5, 1, np.float32(rng.random())], n_bits)
        return Asked(pack(bits), weights, differing(bits, np.ones(n_bits) if weights is None else weights))
    if form == "real":
        sizes = np.where(
            rng.random((n, 1)) < 0.5, rng.integers(0, 3, bits.shape), rng.exponential(size=bits.shape)
        )
        asked = prepare_values((bits * 2.0 - 1) * sizes)
        return Asked(asked, None, lambda other: asked.base[:, None] + asked.values.astype(float) @ other.T)
    n_bytes, points = -(-n_bits // 8), rng.integers(-3, 4, (n, 3))
    base = (points**2).sum(axis=1).astype(float)
    if form == "linear":
        vectors = rng.integers(-3, 4, (n_bits, 3)).astype(float)
        asked = PreparedQueries(n_bits, base, -2.0 * points @ vectors.T, Decoder(n_bits, np.zeros(3), vectors))
        return Asked(asked, None, lambda other: ((points[:, None] - other @ vectors) ** 2).sum(axis=2))
    if form == "tables":
        asked = PreparedQueries(n_bits, base, np.float32(rng.exponential(size=(n, n_bytes, 256))))
    else:
        vectors = rng.integers(-3, 4, (n_bytes, 256, 3))
        decoder = Decoder(n_bits, np.zeros(3), vectors)
        asked = PreparedQueries(n_bits, base, -2.0 * np.einsum("qd,bvd->qbv", points, vectors), decoder)

    def distances(other):
        bits = other.astype(int)
        columns = [
            bits[:, 8 * b : 8 * b + 8] @ (1 << np.arange(min(8, n_bits - 8 * b))) for b in range(n_bytes)
        ]
        if form == "tables":
            return base[:, None] + sum(asked.values[:, b, x].astype(float) for b, x in enumerate(columns))
        rows = sum(vectors[b, x] for b, x in enumerate(columns))
        return ((points[:, None] - rows) ** 2).sum(axis=2)

    return Asked(asked, None, distances)


def in_blocks(search, n, batches):
    """Answers of a search to each query, asked in batches."""
    ends = [each for each in np.cumsum(batches) if each < n] + [n]
    for first, end in zip([0, *ends], ends):
        yield from search(slice(first, end))


def nearest(index, queries, k, among):
    """A function that answers a batch: (distances, ids) of each query."""
    return lambda part: zip(*index.search(queries[part], k, among=among))


def within(index, queries, r, among):
    """As `nearest`, for all codes within r."""

    def search(part):
        lims, distances, ids = index.radius(queries[part], r, among=among)
        return [(distances[a:b], ids[a:b]) for a, b in pairwise(lims)]

    return search


def n_different(found, distances, ids, sizes):
    """Number of answers that are not the first `sizes` of the sorted distances and ids of a query."""
    found = list(found)
    assert len(found) == len(distances)
    return sum(
        not (np.array_equal(near, d[:size]) and np.array_equal(names, i[:size]))
        for (near, names), d, i, size in zip(found, distances, ids, sizes, strict=True)
    )


def case(form, kind, n_bits, n_queries, n_codes, batches, learned):
    """Numbers of queries, answers and those that differ, and the share of near codes that are tied."""
    rng = np.random.default_rng([FORMS.index(form), KINDS.index(kind), n_bits, n_codes])
    rows = bits_of(kind, n_codes + n_queries, n_bits, learned, rng)
    bits, asked = rows[:n_codes], ask(form, rows[n_codes:], rng)
    ids = np.sort(rng.permutation(5 * n_codes)[:n_codes])
    distances = asked.distances(bits.astype(float)).astype(np.float32)
    order = np.argsort(distances, axis=1, kind="stable")  # bits stand in ascending order of ids
    mixed, k = rng.permutation(n_codes), int(rng.integers(1, 120))
    mask, n_answers, n_wrong = rng.random(n_codes) < rng.choice([0.01, 0.1, 0.6]), 0, 0
    indexes = Exact(n_bits, asked.weights), Flat(n_bits, asked.weights)
    for index in indexes:
        for part in np.array_split(mixed, 3):
            index.add(pack(bits[part]), ids[part])
    for way, among in zip(WAYS, (None, mask, rng.permutation(ids[mask]))):
        kept = order if way == "all codes" else order[mask[order]].reshape(n_queries, -1)
        right, names = np.take_along_axis(distances, kept, axis=1), ids[kept]
        r = float(np.sort(right[0])[min(30, len(names[0]) - 1)])  # a distance that occurs
        within_r, nearest_k = (right <= r).sum(axis=1), np.full(n_queries, min(k, len(names[0])))
        for index in indexes:
            few = int(nearest_k[0])
            n_wrong += n_different(
                in_blocks(nearest(index, asked.queries, few, among), n_queries, batches),
                right,
                names,
                nearest_k,
            )
            n_wrong += n_different(
                in_blocks(within(index, asked.queries, r, among), n_queries, batches), right, names, within_r
            )
            n_answers += 2 * n_queries
    ties = float((np.diff(np.take_along_axis(distances, order[:, : k + 1], 1), axis=1) == 0).mean())
    return {"queries": n_queries, "answers": n_answers, "different": n_wrong, "ties": ties}


def main(out):
    """Run all cases, and write a line for each form and kind of codes."""
    learned, each, lines = learned_bits(), -(-N_QUERIES // (len(KINDS) * len(BITS))), []
    for form in FORMS:
        for kind in KINDS:
            cases = [case(form, kind, n_bits, each, N_CODES, BATCHES, learned) for n_bits in BITS]
            single = case(form, kind, 64, 10, LARGE, (1,) * 10, learned)
            for n_codes, found in ((N_CODES, cases), (LARGE, [single])):
                sums = {name: sum(line[name] for line in found) for name in ("queries", "answers", "different")}
                ties = round(float(np.mean([line["ties"] for line in found])), 3)
                lines.append({"form": form, "codes": kind, "n_codes": n_codes, **sums, "ties": ties})
                print(lines[-1], flush=True)
    write(out, lines)


def write(out, lines):
    """Write lines and their sums."""
    sums = {name: sum(line[name] for line in lines) for name in ("queries", "answers", "different")}
    rows = ",\n  ".join(json.dumps(line) for line in lines)
    out.write_text(f'{json.dumps({"bits": BITS, **sums})[:-1]}, "lines": [\n  {rows}\n]}}\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
