"""The scan for every kind of query, against brute force in float64."""

import numpy as np
import pytest

import structhash.search._scan as scan
from structhash.codes import (
    Decoder,
    PreparedQueries,
    byte_tables,
    hamming,
    pack,
    prepare_values,
    prepared_distances,
    unpack,
)
from structhash.pieces import classes
from structhash.search import Exact

EVERY = pytest.mark.parametrize("piece", [classes("indexes")[name] for name in ("exact", "flat")])


KINDS = ["random", "clustered", "learned"]


def bits_of(kind, n, n_bits, seed):
    """Random bits, bits of clusters, and bits of planes among correlated rows; all with many ties."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.integers(0, 2, (n, n_bits), dtype=np.uint8)
    if kind == "clustered":
        centres = rng.integers(0, 2, (5, n_bits), dtype=np.uint8)
        return centres[rng.integers(0, 5, n)] ^ (rng.random((n, n_bits)) < 0.05).astype(np.uint8)
    rows = rng.normal(size=(n, 8)) ** 3 @ np.random.default_rng(0).normal(size=(8, n_bits))
    return (rows > 0).astype(np.uint8)


def queries_of(form, n_bits, seed):
    """Prepared queries of a form, with many equal sums."""
    rng = np.random.default_rng(seed)
    if form == "values":
        return prepare_values(rng.normal(size=(6, n_bits)))
    if form == "ties":
        return prepare_values(rng.integers(-2, 3, (6, n_bits)))
    if form == "bits":
        return prepare_values(rng.choice([-1.0, 1.0], (6, n_bits)))
    return PreparedQueries(n_bits, rng.normal(size=6), rng.normal(size=(6, -(-n_bits // 8), 256)) - 3)


def brute_force(queries, bits):
    """Distances summed in float64, a bit or a byte at a time, and rounded once."""
    if queries.values.ndim == 2:
        sums = queries.values.astype(float) @ bits.T.astype(float)
    else:
        codes = pack(bits)
        sums = sum(queries.values[:, b, codes[:, b]].astype(float) for b in range(codes.shape[1]))
    return (queries.base[:, None] + sums).astype(np.float32)


def first_pairs(distances, ids, k):
    """The first k by (distance, id)."""
    order = np.lexsort([np.broadcast_to(ids, distances.shape), distances])[:, :k]
    return np.take_along_axis(distances, order, 1), ids[order]


@EVERY
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["values", "ties", "bits", "tables"])
@pytest.mark.parametrize("n_bits", [1, 3, 8, 20, 33, 64, 65, 100, 256])
def test_prepared_queries_find_what_brute_force_finds(piece, kind, form, n_bits):
    bits, queries = bits_of(kind, 300, n_bits, 1), queries_of(form, n_bits, 2)
    rng, distances = np.random.default_rng(3), brute_force(queries, bits)
    ids = rng.permutation(5000)[:300]
    mask = rng.random(300) < 0.2
    index = piece(n_bits)
    for part in np.array_split(np.arange(300), 3):
        index.add(pack(bits[part]), ids[part])
    right = first_pairs(distances, ids, 300)
    for k in (1, 7, 300):
        found = index.search(queries, k)
        assert found[0].dtype == np.float32
        for mine, theirs in zip(found, right):
            np.testing.assert_array_equal(mine, theirs[:, :k])
    padded, none = index.search(queries, 305)
    assert (padded[:, 300:] == np.inf).all()
    assert (none[:, 300:] == -1).all()

    expected = first_pairs(distances[:, mask], ids[mask], 5)
    for among in (ids[mask], mask[np.argsort(ids)]):
        for mine, theirs in zip(index.search(queries, 5, among=among), expected):
            np.testing.assert_array_equal(mine, theirs)

    r = max(0.0, float(np.sort(distances[0])[20]))  # a distance that occurs: it is included
    for kept, limit in ((np.ones(300, bool), {}), (mask, {"among": ids[mask]})):
        lims, near, names = index.radius(queries, r, **limit)
        all_near, all_names = first_pairs(distances[:, kept], ids[kept], 300)
        for q in range(6):
            own = slice(lims[q], lims[q + 1])
            n_within = int((all_near[q] <= r).sum())
            np.testing.assert_array_equal(near[own], all_near[q, :n_within])
            np.testing.assert_array_equal(names[own], all_names[q, :n_within])


@pytest.mark.parametrize("n_bits", range(1, 257, 15))
def test_packed_queries_with_and_without_weights(n_bits):
    bits, queries = bits_of("learned", 200, n_bits, 1), bits_of("learned", 5, n_bits, 2)
    weights = np.random.default_rng(0).random(n_bits)
    tables, differing = byte_tables(weights), pack(queries)[:, None] ^ pack(bits)[None]
    weighted = sum(tables[b][differing[:, :, b]] for b in range(len(tables)))
    for given, distances in (
        (None, hamming(pack(queries), pack(bits))),
        (weights, weighted.astype(np.float32)),
    ):
        index = Exact(n_bits, given)
        index.add(pack(bits))
        for k in (3, 200):
            for mine, theirs in zip(index.search(pack(queries), k), first_pairs(distances, np.arange(200), k)):
                np.testing.assert_array_equal(mine, theirs)


def asked_in(form, queries, rng):
    """What is searched for, the weights of the index, and the distances to codes as a function of these."""
    n, n_bits = queries.shape
    packed, weights = pack(queries), None
    if form == "plain":
        return packed, None, lambda codes: hamming(packed, codes)
    if form == "weights":
        weights = rng.integers(0, 5, n_bits) / 4 * rng.choice([1, 1, 3.3], n_bits)

        def weighted(codes):
            tables, total = byte_tables(weights), 0.0
            for b in range(codes.shape[1]):
                total = total + tables[b][packed[:, b][:, None] ^ codes[:, b]]
            return np.float32(total)

        return packed, weights, weighted
    signed = queries * 2.0 - 1
    values = {"real": signed * rng.exponential(size=signed.shape), "ties": signed * rng.integers(0, 3, n_bits)}
    decoder, base = None, rng.normal(size=n)
    if form in values:
        asked = prepare_values(values[form])
    elif form == "linear":
        vectors = rng.normal(size=(n_bits, 3))
        decoder = Decoder(n_bits, rng.normal(size=3), vectors)
        asked = PreparedQueries(n_bits, base, -2 * rng.normal(size=(n, 3)) @ vectors.T, decoder)
    else:
        vectors = rng.integers(-3, 4, (-(-n_bits // 8), 256, 3))
        decoder = Decoder(n_bits, np.zeros(3), vectors) if form == "tables and lengths" else None
        tables = -2 * np.einsum("qd,bvd->qbv", rng.integers(-3, 4, (n, 3)), vectors)
        asked = PreparedQueries(
            n_bits, np.round(base), tables + (0 if decoder else rng.random(tables.shape)), decoder
        )

    def prepared(codes):
        tables, total = asked.tables(), 0.0
        for b in range(codes.shape[1]):
            total = total + tables[:, b, codes[:, b]]
        lengths = 0.0 if decoder is None else decoder.squared_lengths(codes)
        return np.float32(asked.base[:, None] + total + lengths)

    return asked, None, prepared


@pytest.mark.slow
@pytest.mark.parametrize("form", ["plain", "weights", "real", "ties", "linear", "tables", "tables and lengths"])
def test_ten_thousand_queries_of_every_length(form, monkeypatch):
    """By each way of the engine, with and without a filter.

    Kinds of bits take turns. As 3 and 64 have no common factor, each kind meets every number of bits in the
    last word of a code.
    """
    n_queries = 0
    for n_bits in range(1, 257):
        rng, kind = np.random.default_rng(n_bits), KINDS[n_bits % 3]
        bits, near = bits_of(kind, 340, n_bits, n_bits), bits_of(kind, 40, n_bits, 1000 + n_bits)
        asked, weights, distances_to = asked_in(form, near, rng)
        distances, mask, k = distances_to(pack(bits)), rng.random(340) < 0.3, int(rng.integers(1, 15))
        expected = first_pairs(distances, np.arange(340), k)
        filtered = first_pairs(distances[:, mask], np.flatnonzero(mask), k)
        n_queries += len(near)
        for most_summed, most_by_planes in ((0, 0), (0, 100), (10**9, 0)):  # by tables, by planes, in float64
            monkeypatch.setattr(scan, "_MOST_SUMMED", most_summed)
            monkeypatch.setattr(scan, "_MOST_BY_PLANES", most_by_planes)
            index = Exact(n_bits, weights)
            index.add(pack(bits))
            for among, right in ((None, expected), (mask, filtered)):
                for mine, theirs in zip(index.search(asked, k, among=among), right):
                    np.testing.assert_array_equal(mine, theirs)
    assert n_queries > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["plain", "weights", "ties", "tables", "tables and lengths"])
def test_many_codes(kind, form):
    bits, rng = bits_of(kind, 20_000, 24, 1), np.random.default_rng(0)
    asked, weights, distances_to = asked_in(form, bits_of(kind, 40, 24, 2), rng)
    index, right = Exact(24, weights), first_pairs(distances_to(pack(bits)), np.arange(20_000), 5000)
    index.add(pack(bits))
    for k in (1, 100, 5000):
        for mine, theirs in zip(index.search(asked, k), right):
            np.testing.assert_array_equal(mine, theirs[:, :k])


def hard_weights(form, n_bits, rng):
    """Weights of the bits that may break a bound in whole numbers."""
    weights = rng.random(n_bits)
    if form == "ties":
        weights = rng.integers(0, 3, n_bits).astype(float)
    if form == "one large":
        weights[0] *= 1e4
    if form == "zeros":
        weights[:] = 0
    if form == "huge":
        weights *= 3e38 / weights.sum()
    if form == "denormal":
        weights *= 1e-310
    if form == "denormal in float32":
        weights *= 1e-41
    if form == "huge and denormal":
        weights *= np.where(np.arange(n_bits) == n_bits // 2, 1e38, 1e-310)
    return weights


HARD = ["ties", "one large", "zeros", "huge", "denormal", "denormal in float32", "huge and denormal"]


@pytest.mark.parametrize("n_bits", [1, 5, 64, 100, 128])
@pytest.mark.parametrize("form", HARD)
@pytest.mark.parametrize("most_by_planes", [0, 100])
@pytest.mark.parametrize("n_queries", [1, 12])
def test_weights_and_values_that_are_hard_to_bound(n_bits, form, most_by_planes, n_queries, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    monkeypatch.setattr(scan, "_MOST_BY_PLANES", most_by_planes)
    rng = np.random.default_rng(0)
    bits, near = bits_of("learned", 2000, n_bits, 1), bits_of("learned", n_queries, n_bits, 2)
    weights, codes = hard_weights(form, n_bits, rng), pack(bits)
    values = rng.choice([-1.0, 1.0], (n_queries, n_bits)) * np.minimum(weights / n_bits, 1e34)
    real = PreparedQueries(n_bits, rng.normal(size=n_queries) * np.abs(values).sum() / 100, values)
    for asked, own in ((pack(near), weights), (real, None)):
        base, tables = scan.Tabled(asked, own).tables()
        total = sum(tables[:, b, codes[:, b]] for b in range(codes.shape[1]))
        index, distances = Exact(n_bits, own), (base[:, None] + total).astype(np.float32)
        index.add(codes)
        right = first_pairs(distances, np.arange(2000), 700)
        for k in (1, 10, 700):
            for mine, theirs in zip(index.search(asked, k), right):
                np.testing.assert_array_equal(mine, theirs[:, :k])


@pytest.mark.parametrize("n_bits", [1, 20, 64, 65, 128, 190, 256, 257])
@pytest.mark.parametrize("kind", ["clustered", "learned"])
def test_one_query_at_a_time_finds_what_all_find(kind, n_bits):
    codes, queries = pack(bits_of(kind, 3000, n_bits, 1)), pack(bits_of(kind, 5, n_bits, 2))
    index, distances = Exact(n_bits), np.bitwise_count(queries[:, None] ^ codes).sum(axis=2)
    index.add(codes)
    right = first_pairs(distances, np.arange(3000), 700)
    for k in (1, 30, 700):
        for one, all_, theirs in zip(
            zip(*(index.search(query[None], k) for query in queries)), index.search(queries, k), right
        ):
            np.testing.assert_array_equal(np.concatenate(one), theirs[:, :k])
            np.testing.assert_array_equal(all_, theirs[:, :k])


@pytest.mark.parametrize("n_bits", [7, 57, 64, 65, 121, 128])
@pytest.mark.parametrize("form", ["weights", "real", "linear", "tables", "tables and lengths"])
def test_one_query_by_tables_finds_what_brute_force_finds(form, n_bits, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    monkeypatch.setattr(scan, "_MOST_BY_PLANES", 0)
    rng = np.random.default_rng(n_bits)
    bits, near = bits_of("learned", 1500, n_bits, 1), bits_of("learned", 3, n_bits, 2)
    asked, weights, distances_to = asked_in(form, near, rng)
    index, distances = Exact(n_bits, weights), distances_to(pack(bits))
    index.add(pack(bits))
    mask = rng.random(1500) < 0.3
    for among, kept in ((None, np.arange(1500)), (mask, np.flatnonzero(mask))):
        right = first_pairs(distances[:, kept], kept, 300)
        for q in range(3):
            for k in (1, 30, 300):
                for mine, theirs in zip(index.search(asked[q : q + 1], k, among=among), right):
                    np.testing.assert_array_equal(mine, theirs[q : q + 1, :k])


def masks_of(n, rng):
    """Masks that keep codes here and there, in runs, at either end, and all."""
    range_, last, first, gaps = (np.zeros(n, bool) for _ in range(4))
    range_[n // 3 : n // 3 + n // 4], last[-n // 5 :], first[: n // 5] = True, True, True
    gaps[:70], gaps[-400:] = True, True
    return rng.random(n) < 0.1, rng.random(n) < 0.5, range_, last, first, gaps, np.ones(n, bool)


@pytest.mark.parametrize("n_bits", [5, 64, 65, 128, 190, 256])
@pytest.mark.parametrize("form", ["bits", "ties", "real", "terms"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_mask_finds_what_brute_force_finds_among_what_it_keeps(n_bits, form, n_jobs, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    monkeypatch.setattr(scan, "_LEAST_CODES_A_THREAD", 500)
    rng, n = np.random.default_rng(0), 3010
    bits, near = bits_of("learned", n, n_bits, 1), bits_of("learned", 4, n_bits, 2)
    codes, asked, weights = pack(bits), pack(near), None
    if form == "bits":
        distances = (near[:, None] != bits).sum(axis=2)
    if form == "ties":
        weights = rng.integers(0, 3, n_bits).astype(float)
        distances = ((near[:, None] != bits) @ weights).astype(np.float32)
    if form in ("real", "terms"):
        decoder = Decoder(n_bits, rng.normal(size=3), rng.normal(size=(n_bits, 3))) if form == "terms" else None
        asked = PreparedQueries(n_bits, rng.normal(size=4), rng.normal(size=(4, n_bits)), decoder)
        distances = brute_force(asked, bits) if decoder is None else prepared_distances(asked, codes)
    index, ids = Exact(n_bits, weights, n_jobs=n_jobs), np.sort(rng.permutation(5 * n)[:n])
    index.add(codes, ids)
    for mask in masks_of(n, rng):
        kept = np.flatnonzero(mask)
        right = first_pairs(distances[:, kept], ids[kept], 400)
        for k in (1, 100, 400):
            for part in (slice(0, 1), slice(1, 4)):
                for mine, theirs in zip(index.search(asked[part], k, among=mask), right):
                    theirs = theirs[part, :k]
                    np.testing.assert_array_equal(mine[:, : theirs.shape[1]], theirs)


@pytest.mark.parametrize(("bounds", "units"), [("byte_bounds", 300), ("plane_bounds", 30)])
def test_a_bound_above_a_distance_would_lose_neighbours(bounds, units, monkeypatch):
    """So the tests of exact results see a wrong bound."""
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    monkeypatch.setattr(scan, "_MOST_BY_PLANES", 100 if bounds == "plane_bounds" else 0)
    index, asked = Exact(64), prepare_values(np.random.default_rng(0).normal(size=(12, 64)))
    index.add(pack(bits_of("learned", 2000, 64, 1)))
    right, inner = index.search(asked, 10), getattr(scan, bounds)

    def too_high(*words):
        *judges, found = inner(*words)
        return *judges, found._replace(lowest=found.lowest + units * found.unit)

    monkeypatch.setattr(scan, bounds, too_high)
    assert (index.search(asked, 10)[1] != right[1]).any()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e33])
def test_nothing_is_lost_to_rounding_where_a_large_base_hides_small_values(scale):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 64)) * scale
    queries = PreparedQueries(64, np.array([0, 1e3, -1e3, 7]) * scale, values)
    bits = bits_of("random", 5000, 64, 1)
    index, distances = Exact(64), brute_force(queries, bits)
    index.add(pack(bits))
    for mine, theirs in zip(index.search(queries, 50), first_pairs(distances, np.arange(5000), 50)):
        np.testing.assert_array_equal(mine, theirs)


@EVERY
def test_prepared_queries_of_another_length_are_refused(piece):
    index = piece(16)
    index.add(np.zeros((2, 2), dtype=np.uint8))
    for n_bits in (15, 8):
        queries = prepare_values(np.ones((1, n_bits)))
        with pytest.raises(
            ValueError, match=f"prepared for {n_bits} bits, codes have 16; prepare them with n_bits=16"
        ):
            index.search(queries, 1)
        with pytest.raises(ValueError, match=f"prepared for {n_bits} bits"):
            index.radius(queries, 1)


@EVERY
def test_no_prepared_queries_and_no_codes(piece):
    index, queries = piece(12), prepare_values(np.ones((2, 12)))
    distances, ids = index.search(queries, 3)
    assert (distances == np.inf).all()
    assert (ids == -1).all()
    assert index.radius(queries, 12)[0].tolist() == [0, 0, 0]
    index.add(np.zeros((2, 2), dtype=np.uint8))
    assert index.search(queries[:0], 3)[0].shape == (0, 3)
    assert index.radius(queries[:0], 3)[0].tolist() == [0]


def test_prepared_queries_bring_their_own_weights():
    bits = bits_of("random", 50, 12, 0)
    queries = prepare_values(bits_of("random", 3, 12, 1) * 2.0 - 1)
    plain, weighted = Exact(12), Exact(12, np.arange(12))
    for index in (plain, weighted):
        index.add(pack(bits))
    for mine, theirs in zip(plain.search(queries, 5), weighted.search(queries, 5)):
        np.testing.assert_array_equal(mine, theirs)
    assert unpack(queries.codes(), 12).shape == (3, 12)
