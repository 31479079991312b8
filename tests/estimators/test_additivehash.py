"""AdditiveHash: distances, what it finds next to other methods, settings, and what it refuses."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, DistilHash, Labels, Qrels, fit_reader, load_model
from structhash.baselines import ITQ, RQ
from structhash.codes import hamming, prepared_distances
from structhash.codes.sums import SumCoder, sums_of
from structhash.embeddings._factors import MOST_ALIKE
from structhash.embeddings.mixture import Mixture
from structhash.estimators import _sum_points, additivehash
from structhash.io import container
from structhash.search import Exact

X = load_digits().data.astype(np.float32)
Q, X = X[1500:], X[:1500]


@pytest.fixture(scope="module")
def encoder():
    return AdditiveHash(32, random_state=0).fit(X)


def found(n_bits, codes, queries, k=10):
    """Ids of the nearest codes."""
    index = Exact(n_bits)
    index.add(codes)
    return index.search(queries, k)[1]


def recall(ids):
    """Share of the ten nearest rows that were found."""
    nearest = np.argsort(((Q[:, None] - X) ** 2).sum(axis=2), axis=1, kind="stable")[:, : ids.shape[1]]
    return np.mean([len(np.intersect1d(*each)) for each in zip(ids, nearest)]) / ids.shape[1]


def test_a_distance_is_that_to_the_sum_of_the_vectors(encoder):
    codes = encoder.encode(X)
    sums = sum(encoder.centroids_[m][codes[:, m]].astype(float) for m in range(4))
    expected = ((Q[:, None] - sums * encoder.scale_ - encoder.mean_) ** 2).sum(axis=2)
    distances = prepared_distances(encoder.prepare_queries(Q), codes) * encoder.scale_**2
    np.testing.assert_allclose(distances, expected, rtol=1e-4)


@pytest.mark.slow
def test_it_finds_more_than_bits_and_than_residual_quantisation(encoder):
    ours = recall(found(32, encoder.encode(X), encoder.prepare_queries(Q)))
    bits = DistilHash(32, random_state=0).fit(X)
    read = fit_reader(bits, X, reader="tables")
    peer = RQ(32, random_state=0).fit(X)
    assert ours > recall(found(32, bits.encode(X), read.prepare(Q))) + 0.05
    assert ours > recall(found(32, peer.encode(X), peer.prepare_queries(Q)))


def test_what_is_left_over_is_reported(encoder):
    codes = encoder.encode(X)
    sums = sum(encoder.centroids_[m][codes[:, m]].astype(float) for m in range(4)) * encoder.scale_
    centred = X - encoder.mean_
    assert encoder.errors_[-1] == pytest.approx(((centred - sums) ** 2).sum() / (centred**2).sum(), rel=0.05)
    assert encoder.about()["left over"].startswith(f"{100 * encoder.errors_[-1]:.1f} percent")


def test_a_wider_beam_codes_nearer(encoder):
    Z = encoder._scaled(Q)
    coders = [SumCoder(encoder.centroids_, np.full(4, 256), beam) for beam in (1, 4, encoder.beam_)]
    left = [((Z - sums_of(coder.code(Z), encoder.centroids_)) ** 2).sum() for coder in coders]
    assert left[0] > left[1] > left[2]
    np.testing.assert_array_equal(coders[2].code(Z), encoder.encode(Q))


@pytest.mark.parametrize("n_bits", [1, 7, 12, 24])
def test_a_last_byte_has_as_many_vectors_as_its_bits_allow(n_bits):
    encoder = AdditiveHash(n_bits, random_state=0).fit(X)
    assert encoder.encode(X)[:, -1].max() < 2 ** ((n_bits - 1) % 8 + 1)
    assert not encoder.centroids_[-1, 2 ** ((n_bits - 1) % 8 + 1) :].any()


def test_the_same_numbers_give_the_same_model_and_units_do_not_matter(encoder):
    assert AdditiveHash(32, random_state=0).fit(X.astype(np.float64)).fingerprint() == encoder.fingerprint()
    small = AdditiveHash(32, random_state=0).fit(X * np.float32(2.0**-40))
    np.testing.assert_array_equal(small.encode(X * np.float32(2.0**-40)), encoder.encode(X))
    other = AdditiveHash(32, random_state=1).fit(X)
    assert other.fingerprint() != encoder.fingerprint()


def test_a_model_comes_back_from_a_file(encoder, tmp_path):
    encoder.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.fingerprint() == encoder.fingerprint()
    np.testing.assert_array_equal(again.encode(X), encoder.encode(X))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"beam_": 10**12}, "'beam_' holds numbers from 1e[+]12 to 1e[+]12; 1 to 1024 are allowed"),
        ({"n_bits_": 4096}, "'n_bits_' holds numbers from 4096 to 4096; 1 to 256 are allowed"),
    ],
)
def test_a_file_that_would_take_much_memory_is_refused(changed, message, tmp_path):
    AdditiveHash(8, random_state=0).fit(X[:, :3]).save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    n_bits = changed.get("n_bits_", 8)
    arrays |= {"weights_": np.ones(n_bits), "errors_": np.ones(n_bits // 8)}
    arrays["centroids_"] = np.repeat(arrays["centroids_"], n_bits // 8, axis=0)
    header = {**header, "fitted": {**header["fitted"], **changed}}
    container.save(tmp_path / "m", arrays, header, "model", force=True)
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "m")


def test_one_row_many_and_several_threads_have_the_same_codes(encoder):
    codes = encoder.encode(X)
    parts = [X[:1], X[:2], X[:700], X[:1025], X[:1], X]
    with ThreadPoolExecutor(3) as pool:
        for part, found in zip(parts, pool.map(pickle.loads(pickle.dumps(encoder)).encode, parts), strict=True):
            np.testing.assert_array_equal(found, codes[: len(part)])


@pytest.mark.slow
def test_model_and_codes_do_not_depend_on_n_jobs(encoder, tmp_path):
    for given in ((X,), (X[:500], Y[:500])):
        one, three = (AdditiveHash(16, random_state=0, n_jobs=n_jobs).fit(*given) for n_jobs in (1, 3))
        assert one.fingerprint() == three.fingerprint()
        np.testing.assert_array_equal(three.encode(X), one.encode(X))
    three.save(tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X), three.encode(X))
    np.testing.assert_array_equal(
        AdditiveHash(32, random_state=0, n_jobs=-1).fit(X).encode(X), encoder.encode(X)
    )


def test_the_coder_is_made_once_and_again_when_the_model_changes(encoder):
    again = AdditiveHash(16, random_state=0).fit(X)
    size = len(pickle.dumps(again))
    again.encode(X)
    assert additivehash._coder_of(again) is additivehash._coder_of(again)
    assert len(pickle.dumps(again)) == size
    again.set_params(n_bits=32).fit(X)
    np.testing.assert_array_equal(again.encode(X), encoder.encode(X))
    again.beam_ = 1
    np.testing.assert_array_equal(
        again.encode(Q), SumCoder(again.centroids_, np.full(4, 256), 1).code(again._scaled(Q))
    )


@pytest.mark.parametrize("n_bits", [1, 13, 24])
@pytest.mark.parametrize(
    "case", ["two rows", "one column", "repeats", "constant columns", "int8", "float16", "tiny"]
)
@pytest.mark.filterwarnings("error")
def test_strange_rows_find_codes_at_the_least_distance(case, n_bits):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5))
    rows = {
        "two rows": rows[:2],
        "one column": rows[:, :1],
        "repeats": np.repeat(rows[:3], 100, axis=0),
        "constant columns": rows * [0, 0, 0, 0, 1] + 1e6,
        "int8": (10 * rows).astype(np.int8),
        "float16": (1e4 * rows).astype(np.float16),
        "tiny": 1e-310 * rows,
    }[case]
    model = AdditiveHash(n_bits, random_state=0).fit(rows)
    codes, part = model.encode(rows), rows[:20].astype(float)
    tables = model.centroids_.astype(float)
    sums = sum(tables[m][codes[:, m]] for m in range(len(tables)))
    apart = (((part - model.mean_) / model.scale_)[:, None] - sums) ** 2
    first = found(n_bits, codes, model.prepare_queries(rows[:20]), 1)[:, 0]
    least = apart.sum(axis=2)
    np.testing.assert_allclose(least[np.arange(len(part)), first], least.min(axis=1), rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:most rows of X")
def test_queries_too_far_out_to_tell_codes_apart_are_refused(encoder):
    far = X[:3] * np.array([[1], [1e6], [1]])
    assert encoder.encode(far).shape == (3, 4)
    with pytest.raises(ValueError, match=r"query 1 is .* times as far out as the training rows.*AdditiveHash"):
        encoder.prepare_queries(far)
    Z = (1000 * (Q - X.mean(axis=0))).astype(float)
    codes = encoder.encode(X)
    sums = sum(encoder.centroids_[m][codes[:, m]].astype(float) for m in range(4))
    scaled = encoder._scaled(Z)
    exact = ((scaled[:, None] - sums) ** 2).sum(axis=2)
    first = found(32, codes, encoder.prepare_queries(Z), 1)[:, 0]
    np.testing.assert_allclose(exact[np.arange(len(Z)), first], exact.min(axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bits": 0}, "n_bits=0: give an integer of at least 1"),
        ({"n_bits": 257}, "n_bits=257: give an integer of at least 1 and at most 256"),
        ({"beam": 0}, "beam=0: give an integer of at least 1"),
        ({"beam": 10**9}, "beam=1000000000: give an integer of at least 1 and at most 1024"),
        ({"random_state": "a"}, "random_state='a'"),
        ({"n_jobs": 0}, "n_jobs=0: give None for one thread, a number of threads, or -1 for all cores"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        AdditiveHash(**settings).fit(X)


def test_rows_that_are_all_the_same_are_refused():
    with pytest.raises(ValueError, match="all rows of X are the same"):
        AdditiveHash(8).fit(np.ones((5, 3)))


def test_queries_have_no_codes_and_codes_no_prefix(encoder):
    with pytest.raises(ValueError, match=r"prepare_queries\(Q\)"):
        encoder.encode_queries(Q)
    with pytest.raises(ValueError, match="codes of AdditiveHash have no prefixes; give 32"):
        encoder.encode(X, n_bits=16)


def test_many_rows_are_sampled_and_few_are_enough(monkeypatch):
    monkeypatch.setattr("structhash.estimators._sum_points._MAX_ROWS", 300)
    few = AdditiveHash(16, random_state=0).fit(X)
    assert few.encode(X).shape == (1500, 2)
    two = AdditiveHash(16, random_state=0).fit([[0.0, 1.0], [2.0, 5.0]])
    assert len(np.unique(two.encode([[0.0, 1.0], [2.0, 5.0]]), axis=0)) == 2


# labels

Y = load_digits().target
QY, Y = Y[1500:], Y[:1500]
OLD = np.flatnonzero(Y < 7)[:500]  # digits 7, 8 and 9 are new


@pytest.fixture(scope="module")
def labelled():
    """A model of seven digits, for a database of ten."""
    return AdditiveHash(64, random_state=0).fit(X[OLD], Y[OLD], unlabeled=X)


def mean_precision(ids, which, k=10):
    """Share of the k nearest that are of the query's class, over some of the queries."""
    return np.mean(Y[ids[which, :k]] == QY[which, None])


@pytest.mark.slow
def test_known_and_new_classes_are_found_in_one_database(labelled):
    ids = found(64, labelled.encode(X), labelled.prepare_queries(Q))
    bits = ITQ(64, random_state=0).fit(X)
    peer = found(64, bits.encode(X), bits.encode(Q))
    for which in (QY < 7, QY >= 7):
        assert mean_precision(ids, which) > mean_precision(peer, which)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:many of these rows")  # of new digits
def test_without_the_database_new_classes_are_found_nearly_as_by_itq_and_known_ones_better(monkeypatch):
    def precision(model):
        ids = found(64, model.encode(X), model.prepare_queries(Q))
        return [mean_precision(ids, which) for which in (QY < 7, QY >= 7)]

    model = AdditiveHash(64, random_state=0).fit(X[OLD], Y[OLD])
    assert prepared_distances(model.prepare_queries(X), model.encode(X)).min() > 0
    known, new = precision(model)
    bits = ITQ(64, random_state=0).fit(X[OLD])
    peer = found(64, bits.encode(X), bits.encode(Q))
    assert known > mean_precision(peer, QY < 7)
    assert new > mean_precision(peer, QY >= 7) - 0.06
    monkeypatch.setattr(_sum_points, "normal_rows", lambda rows, n, rng: rows)
    assert new > precision(AdditiveHash(64, random_state=0).fit(X[OLD], Y[OLD]))[1] + 0.02


@pytest.mark.filterwarnings("ignore:many of these rows")  # by five rows, no class is known to be new
@pytest.mark.parametrize("rows", [np.flatnonzero(Y >= 7), np.arange(5)], ids=["of new classes", "five"])
def test_known_classes_are_found_where_unlabeled_holds_few_of_their_rows(rows):
    model = AdditiveHash(64, random_state=0).fit(X[OLD], Y[OLD], unlabeled=X[rows])
    ids = found(64, model.encode(X), model.prepare_queries(Q))
    assert mean_precision(ids, QY < 7) > 0.8


def found_early(distances):
    """Share of the ten nearest rows of a query's class, by the vectors, in the first tenth of that class."""
    shares = []
    for i in range(0, len(Q), 5):
        rows = np.flatnonzero(QY[i] == Y)
        nearest = np.argsort(((Q[i] - X[rows]) ** 2).sum(axis=1))[:10]
        order = np.argsort(np.argsort(distances[i, rows], kind="stable"))
        shares.append((order[nearest] < len(rows) / 10).mean())
    return np.mean(shares)


@pytest.mark.filterwarnings("ignore:many of these rows")  # three digits are new to the class bits
def test_an_order_is_kept_inside_classes(labelled):
    """Of the rows of a query's class, those that are nearest by the vectors come early."""
    distances = prepared_distances(labelled.prepare_queries(Q), labelled.encode(X))
    bits = DistilHash(16, embedding="posterior", random_state=0).fit(X[OLD], Y[OLD])
    plain = hamming(bits.encode_queries(Q), bits.encode(X)).astype(float)
    assert found_early(distances) > found_early(plain) + 0.1


@pytest.mark.slow
def test_where_all_classes_are_known_more_order_is_kept_than_by_bits_without_labels():
    model, peer = AdditiveHash(64, random_state=0).fit(X, Y, unlabeled=X), ITQ(64, random_state=0).fit(X)
    distances = prepared_distances(model.prepare_queries(Q), model.encode(X))
    assert found_early(distances) > found_early(hamming(peer.encode(Q), peer.encode(X)).astype(float)) + 0.1


@pytest.mark.filterwarnings("ignore:many of these rows")  # of new digits
@pytest.mark.parametrize("unlabeled", [None, X])
def test_queries_that_ask_for_near_rows_find_more_of_them_by_the_same_codes(unlabeled):
    model = AdditiveHash(64, random_state=0).fit(X[OLD], Y[OLD], unlabeled=unlabeled)
    codes = model.encode(X)
    usual, near = (found(64, codes, model.prepare_queries(Q, reader=each), 50) for each in ("auto", "near"))
    nearest = np.argsort(((Q[:, None] - X) ** 2).sum(axis=2), axis=1, kind="stable")[:, :10]
    shares = [np.mean([np.isin(*each).mean() for each in zip(nearest, ids)]) for ids in (usual, near)]
    assert shares[1] > shares[0] + 0.02
    bits = ITQ(64, random_state=0).fit(X)
    peer = found(64, bits.encode(X), bits.encode(Q))
    assert mean_precision(near, QY < 7) > mean_precision(peer, QY < 7)


def test_a_near_distance_counts_the_rows_themselves_sixteen_times(labelled):
    codes, state = labelled.encode(X[:50]), labelled.embedding_state_
    rows = sum(labelled.centroids_[m][codes[:, m]].astype(float) for m in range(8))
    rows = rows * labelled.scale_ + labelled.mean_
    vectors = Mixture().factors(Mixture().embed(Q, state), state, queries=True)
    own = 0.7 * (centred := Q - X.mean(axis=0)) / np.linalg.norm(centred, axis=1)[:, None]
    np.testing.assert_allclose(vectors[:, -64:], own, atol=1e-5)
    expected = MOST_ALIKE + 16 - vectors @ rows.T - 15 * own @ rows[:, -64:].T
    distances = prepared_distances(labelled.prepare_queries(Q, reader="near"), codes)
    np.testing.assert_allclose(distances, expected, atol=1e-4)
    assert distances.min() > 0


def test_without_labels_every_query_asks_for_near_rows(encoder):
    usual, near = (encoder.prepare_queries(Q, reader=each) for each in ("auto", "near"))
    codes = encoder.encode(X)
    np.testing.assert_array_equal(prepared_distances(usual, codes), prepared_distances(near, codes))


@pytest.mark.parametrize("reader", ["real", "nosuch", None, ["near"]])
def test_a_reader_that_sums_lack_is_refused(reader, encoder):
    with pytest.raises(ValueError, match="AdditiveHash are numbers, not bits; give reader='auto' or 'near'"):
        encoder.prepare_queries(Q, reader=reader)


def test_a_labelled_distance_is_how_unlike_the_sums_are(labelled):
    codes, state = labelled.encode(X[:50]), labelled.embedding_state_
    sums = sum(labelled.centroids_[m][codes[:, m]].astype(float) for m in range(8))
    rows = sums * labelled.scale_ + labelled.mean_
    vectors = Mixture().factors(Mixture().embed(Q, state), state, queries=True)
    distances = prepared_distances(labelled.prepare_queries(Q), codes)
    np.testing.assert_allclose(distances, MOST_ALIKE - vectors @ rows.T, atol=1e-4)
    assert prepared_distances(labelled.prepare_queries(X), labelled.encode(X)).min() > 0
    own = Mixture().factors(Mixture().embed(X, state), state)
    left = ((own - own.mean(axis=0)) ** 2).sum()
    whole = sum(labelled.centroids_[m][labelled.encode(X)[:, m]].astype(float) for m in range(8))
    assert ((own - whole * labelled.scale_ - labelled.mean_) ** 2).sum() / left < 0.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:many of these rows")  # of new digits
@pytest.mark.parametrize("unlabeled", [None, X])
def test_a_labelled_model_comes_back_from_a_file(unlabeled, tmp_path):
    model = AdditiveHash(16, random_state=0).fit(X[OLD], Y[OLD], unlabeled=unlabeled)
    assert model.about()["embedding"] == ("class_directions" if unlabeled is None else "mixture")
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.fingerprint() == model.fingerprint()
    np.testing.assert_array_equal(again.encode(X), model.encode(X))
    np.testing.assert_array_equal(again.prepare_queries(Q).values, model.prepare_queries(Q).values)
    again.fit(X)
    assert again.embedding_state_ is None
    assert "embedding" not in again.about()


def test_a_labelled_file_without_a_part_is_refused(labelled, tmp_path):
    labelled.save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    arrays = {name: array for name, array in arrays.items() if name != "embedding_state_/trust"}
    header = {**header, "arrays": sorted(arrays)}
    container.save(tmp_path / "m", arrays, header, "model", force=True)
    with pytest.raises(ValueError, match="less than its class stores: trust"):
        load_model(tmp_path / "m")


def test_a_file_whose_later_bytes_have_class_numbers_is_refused(labelled, tmp_path):
    labelled.save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    arrays["centroids_"] = arrays["centroids_"].copy()
    arrays["centroids_"][1, 0, 7] = 0.5  # the last class number: that of new classes
    container.save(tmp_path / "m", arrays, header, "model", force=True)
    with pytest.raises(ValueError, match="not only the first byte of 'centroids_' is for classes"):
        load_model(tmp_path / "m")


def test_the_first_byte_alone_says_the_class(labelled):
    assert labelled.has_class_byte_
    codes = labelled.encode(X[OLD])
    sums = sums_of(codes, labelled.centroids_) * np.float32(labelled.scale_) + labelled.mean_
    assert len(np.unique(sums[:, :8], axis=0)) == len(np.unique(codes[:, 0])) > 7
    assert (sums[:, :7].argmax(axis=1) == Y[OLD]).mean() > 0.98


def test_a_file_that_says_nothing_of_a_class_byte_codes_with_all_bytes(labelled, tmp_path):
    labelled.save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    fitted = {name: value for name, value in header["fitted"].items() if name != "has_class_byte_"}
    container.save(tmp_path / "m", arrays, {**header, "fitted": fitted}, "model", force=True)
    loaded = load_model(tmp_path / "m")
    rows = labelled._scaled(X[:50].astype(float))
    expected = SumCoder(labelled.centroids_, np.full(8, 256), 16).code(rows)
    np.testing.assert_array_equal(loaded.encode(X[:50]), expected)
    assert (expected != labelled.encode(X[:50])).any()


@pytest.mark.slow
def test_many_classes_share_all_bytes():
    rng = np.random.default_rng(0)
    rows, y = (
        rng.normal(size=(800, 20)) + 5 * rng.normal(size=(400, 20)).repeat(2, axis=0),
        np.arange(400).repeat(2),
    )
    model = AdditiveHash(16, random_state=0).fit(rows, y)
    assert not model.has_class_byte_
    assert (model.centroids_[:, :, :401] != 0).any(axis=(1, 2)).all()


def test_unlabeled_rows_without_labels_are_what_is_learned_from():
    assert (
        AdditiveHash(16, random_state=0).fit(X[:3], unlabeled=X).fingerprint()
        == AdditiveHash(16, random_state=0).fit(X).fingerprint()
    )


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(1500, int), "label"),
        (Y[:9], "9"),
        (
            Qrels(np.array([[0, 1, 1]])),
            "AdditiveHash learns from labels of rows or from rows alone; y is Qrels",
        ),
        (Labels(Y), "y is Labels: pass its y itself"),
    ],
)
def test_labels_that_cannot_be_learned_from_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AdditiveHash(8).fit(X, y)


def test_rows_of_new_classes_are_warned_of_unless_the_database_was_known(labelled):
    model = AdditiveHash(8, random_state=0).fit(X[OLD], Y[OLD])
    assert 0.1 < model.new_class_share(X) < 0.3  # 30 percent are
    with pytest.warns(UserWarning, match="many of these rows are like no class"):
        model.encode(X)
    model.encode(np.repeat(X[Y < 7][:550], 2, axis=0))
    assert labelled.new_class_share(X) == 0
    assert AdditiveHash(8, random_state=0).fit(X[:300]).new_class_share(X) == 0


@pytest.mark.parametrize("of_labels", [True, False])
def test_a_file_whose_rows_are_of_another_width_is_refused(of_labels, labelled, encoder, tmp_path):
    (labelled if of_labels else encoder).save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    arrays |= {"mean_": arrays["mean_"][1:], "centroids_": arrays["centroids_"][..., 1:]}
    container.save(tmp_path / "m", arrays, header, "model", force=True)
    with pytest.raises(ValueError, match=r"'mean_' has \d+ numbers, and a row \d+"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("of_labels", "name", "number"),
    [
        (True, "mean_", 1e300),
        (True, "mean_", -1e35),
        (True, "scale_", 1e300),
        (True, "centroids_", 1e35),
        (False, "centroids_", -1e35),
    ],
)
def test_a_file_with_numbers_that_no_fit_gives_is_refused(of_labels, name, number, labelled, encoder, tmp_path):
    """And not at the first search."""
    (labelled if of_labels else encoder).save(tmp_path / "m")
    arrays, header = container.load(tmp_path / "m", "model")
    if name == "scale_":
        header["fitted"][name] = number
    else:
        arrays[name] = arrays[name].copy()
        arrays[name].flat[3] = number
    container.save(tmp_path / "m", arrays, header, "model", force=True)
    with pytest.raises(ValueError, match=f"'{name}'"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(("n_bits", "expected"), [(8, False), (15, False), (16, True)])
def test_codes_below_two_bytes_keep_none_for_the_class(n_bits, expected):
    model = AdditiveHash(n_bits, random_state=0).fit(X[:300], Y[:300], unlabeled=X)
    assert model.has_class_byte_ is expected
