"""The scan for every kind of query, against brute force in float64."""

import numpy as np
import pytest

from structhash.codes import PreparedQueries, byte_tables, hamming, pack, prepare_values, unpack
from structhash.pieces import classes
from structhash.search import Exact

EVERY = pytest.mark.parametrize("piece", [classes("indexes")[name] for name in ("exact", "flat")])


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
@pytest.mark.parametrize("kind", ["random", "clustered", "learned"])
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
    for k in (1, 7, 300):
        found = index.search(queries, k)
        assert found[0].dtype == np.float32
        for mine, theirs in zip(found, first_pairs(distances, ids, k)):
            np.testing.assert_array_equal(mine, theirs)
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "clustered", "learned"])
@pytest.mark.parametrize("form", ["values", "ties", "tables"])
def test_many_codes_over_several_blocks(kind, form):
    bits, queries = bits_of(kind, 20_000, 24, 1), queries_of(form, 24, 2)
    distances, index = brute_force(queries, bits), Exact(24)
    index.add(pack(bits))
    for k in (1, 100, 5000):
        for mine, theirs in zip(index.search(queries, k), first_pairs(distances, np.arange(20_000), k)):
            np.testing.assert_array_equal(mine, theirs)


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
