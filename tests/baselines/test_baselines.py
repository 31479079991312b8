"""Every baseline in the folder is held to one contract; then each to its own mathematics."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes, svd
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import structhash.baselines
from structhash.baselines import ITQ, LSH, OneHot
from structhash.baselines._shared import Supervised
from structhash.baselines.one_hot import _codebook
from structhash.codes import hamming
from structhash.estimators.base import load_model
from structhash.metrics import average_precision, tie_blocks
from structhash.pieces import classes, load, names
from structhash.supervision import Labels

BASELINES = classes("baselines")
DATA = Path(os.environ.get("STRUCTHASH_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.fixture(params=sorted(BASELINES))
def baseline(request):
    encoder = BASELINES[request.param](n_bits=8)
    return encoder.set_params(random_state=0) if "random_state" in encoder.get_params() else encoder


def fit(encoder, X, y):
    return encoder.fit(X, y) if get_tags(encoder).target_tags.required else encoder.fit(X)


@parametrize_with_checks([baseline(n_bits=4) for baseline in BASELINES.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_names():
    assert {"itq", "lsh", "one_hot"} <= set(names("baselines"))
    assert load("baselines", "itq:n_bits=16,n_iter=5").n_iter == 5


def test_fitted_state(baseline, digits):
    X, y = digits
    assert fit(baseline, X, y) is baseline
    assert (baseline.n_bits_, type(baseline.n_bits_)) == (8, int)
    assert (baseline.weights_.shape, baseline.weights_.dtype) == ((8,), np.float64)
    assert len(baseline.history_) in (0, 8)
    bits = baseline.transform(X)
    assert (bits.dtype, bits.shape, bits.max()) == (np.uint8, (400, 8), 1)
    np.testing.assert_array_equal(fit(clone(baseline), X, y).transform(X), bits)
    assert baseline.score(X, y) > 0.2  # 10 classes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(baseline, digits, dtype, tmp_path):
    X, y = digits[0].astype(dtype), digits[1]
    fit(baseline, X, y).save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(X), baseline.encode(X))
    np.testing.assert_array_equal(again.weights_, baseline.weights_)
    assert (type(again), again.n_bits_, again.history_) == (type(baseline), 8, baseline.history_)
    assert again.get_params() == baseline.get_params()


def test_float32_stays_so(baseline, digits):
    X, y = digits
    wide = fit(clone(baseline), X, y).transform(X)
    fit(baseline, X.astype(np.float32), y)
    learned = [getattr(baseline, name, None) for name in ("mean_", "planes_", "coef_", "intercept_")]
    assert {a.dtype for a in learned if a is not None} <= {np.dtype(np.float32)}
    assert np.mean(baseline.transform(X.astype(np.float32)) == wide) > 0.995


@pytest.mark.parametrize("name", sorted(name for name, cls in BASELINES.items() if cls.own_distance_))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_own_distances(name, dtype, digits, tmp_path):
    X, y = digits[0].astype(dtype), digits[1]
    encoder = fit(load("baselines", f"{name}:n_bits=8"), X[:300], y[:300])
    found = encoder.own_distances(X[:300])(X[300:])
    assert (found.shape, found.dtype) == ((100, 300), np.float64)
    assert np.isfinite(found).all()
    one_by_one = np.concatenate([encoder.own_distances(X[:300])(row[None]) for row in X[300:320]])
    np.testing.assert_allclose(one_by_one, found[:20], rtol=1e-6)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").own_distances(X[:300])(X[300:]), found)
    same = y[300:, None] == y[:300]
    order = np.argsort(found + 1e-9 * np.random.default_rng(0).random(found.shape), axis=1)
    assert np.take_along_axis(same, order[:, :10], axis=1).mean() > 2 * same.mean()  # nearest rows are alike


@pytest.mark.parametrize(
    "case", ["few rows", "constant features", "duplicates", "far away", "huge", "one feature"]
)
def test_awkward_rows(baseline, case):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    if case == "few rows":
        X, y = X[:3], y[:3]
    elif case == "constant features":
        X[:, 1:4] = [0, 7, -1e6]
    elif case == "duplicates":
        X[:] = X[y]
    elif case == "far away":
        X += 1e9
    elif case == "huge":
        X *= 1e150
    else:
        X = X[:, :1]
    fit(baseline, X, y)
    for value in vars(baseline).values():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all()
    bits = baseline.transform(np.concatenate([X, X + rng.standard_normal(X.shape)]))
    assert set(np.unique(bits)) == {0, 1}
    if case == "duplicates":
        np.testing.assert_array_equal(np.unique(bits[:40], axis=0).shape[0], 2)


@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e200])
def test_the_unit_does_not_matter_or_is_refused(baseline, unit):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    X[:, 0] += 3 * y
    if not baseline.reach_[0] <= unit <= baseline.reach_[1]:
        with pytest.raises(ValueError, match=r"X reaches .*, whose square .* cannot hold; divide X by that"):
            fit(baseline, X * unit, y)
        return
    expected = fit(clone(baseline), X, y).transform(X)
    assert (fit(baseline, X * unit, y).transform(X * unit) == expected).mean() > 0.9


def test_equal_rows(baseline):
    with pytest.raises(ValueError, match="all 6 training rows are the same; give rows that differ"):
        fit(baseline, np.full((6, 3), 0.1), np.arange(6) % 2)


@pytest.mark.parametrize("n_bits", [0, -1, 2.5, True, "8"])
def test_number_of_bits(baseline, n_bits, digits):
    with pytest.raises(ValueError, match=r"n_bits=.*: give an integer of at least 1"):
        fit(baseline.set_params(n_bits=n_bits), *digits)


@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_lsh_collisions(shift):
    half = np.random.default_rng(1).standard_normal((6, 5))
    X = np.concatenate([half, -half])  # of mean 0
    bits = LSH(n_bits=20_000, random_state=0).fit(X + shift).transform(X + shift)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    chance = 1 - np.arccos(np.clip(unit @ unit.T, -1, 1)) / np.pi
    same = np.mean(bits[:, None] == bits[None], axis=2)
    deviation = np.sqrt(chance * (1 - chance) / 20_000)
    assert (np.abs(same - chance) <= 4 * deviation + 1e-7).all()


def test_lsh_prefix(digits):
    long, short = (LSH(n_bits=m, random_state=3).fit(digits[0]) for m in (16, 8))
    np.testing.assert_array_equal(long.encode(digits[0], n_bits=8), short.encode(digits[0]))
    assert (LSH(n_bits=8, random_state=4).fit(digits[0]).planes_ != short.planes_).all()


def dense_itq(X, n_bits, n_iter, seed):
    """The square problem with V padded by zeros, by other routines."""
    Z = X - X.mean(axis=0)
    _, s, directions = svd(Z, full_matrices=False)
    k = min(n_bits, int((s > 1e-6 * s[0]).sum()))
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    V = np.zeros((len(X), n_bits))
    V[:, :k] = Z @ directions[:k].T
    R, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n_bits, n_bits)))
    for _ in range(n_iter):
        R, _ = orthogonal_procrustes(V, np.where(V @ R > 0, 1.0, -1.0))
    return V @ R > 0, R[:k]


@pytest.mark.parametrize(
    ("n_bits", "rows", "features"), [(16, 400, 64), (32, 400, 12), (24, 20, 64), (1, 400, 64)]
)
def test_itq_against_dense(digits, n_bits, rows, features):
    X = digits[0][:rows, 20 : 20 + features] if features < 64 else digits[0][:rows]
    encoder = ITQ(n_bits=n_bits, n_iter=20, random_state=5).fit(X)
    bits, rotation = dense_itq(X, n_bits, 20, 5)
    np.testing.assert_allclose(encoder.rotation_, rotation, atol=1e-8)
    np.testing.assert_array_equal(encoder.transform(X), bits)


@pytest.mark.parametrize("n_bits", [4, 16, 61, 100])
def test_itq_loss_and_rotation(digits, n_bits):
    encoder = ITQ(n_bits=n_bits, random_state=0).fit(digits[0])
    R = encoder.rotation_
    np.testing.assert_allclose(R @ R.T, np.eye(len(R)), atol=1e-12)
    assert encoder.losses_.shape == (51,)
    assert (np.diff(encoder.losses_) <= 1e-12).all()
    assert encoder.losses_[-1] < 0.95 * encoder.losses_[0]
    VR = (digits[0] - encoder.mean_) @ encoder.planes_.T
    VR /= np.sqrt(np.mean(VR**2))
    assert np.mean((np.sign(VR) - VR) ** 2) == pytest.approx(encoder.losses_[-1])


@pytest.mark.parametrize(("rows", "features", "k", "distinct"), [(400, 8, 8, 24), (13, 64, 12, 48)])
def test_itq_with_more_bits_than_directions(digits, rows, features, k, distinct):
    X = digits[0][:rows, 18 : 18 + features] if features < 64 else digits[0][:rows]
    encoder = ITQ(n_bits=64, random_state=0).fit(X)
    assert encoder.rotation_.shape == (k, 64)
    bits = encoder.transform(digits[0][:, 18:26] if features < 64 else digits[0])
    assert (bits.min(axis=0) < bits.max(axis=0)).all()
    up_to_complement = bits ^ bits[:1]
    assert len(np.unique(up_to_complement, axis=1).T) > distinct


def test_itq_scale_and_threads(digits):
    X = digits[0]
    encoder = ITQ(n_bits=16, random_state=0).fit(X)
    for factor in (2.0**-900, 2.0**900):
        again = ITQ(n_bits=16, random_state=0).fit(X * factor)
        np.testing.assert_array_equal(again.transform(X * factor), encoder.transform(X))
    for threads in (1, 2):
        with threadpool_limits(threads):
            again = ITQ(n_bits=16, random_state=0).fit(X)
        np.testing.assert_array_equal(again.planes_, encoder.planes_)


def test_itq_rounds(digits):
    with pytest.raises(ValueError, match="n_iter=0: give an integer of at least 1"):
        ITQ(n_iter=0).fit(digits[0])


@pytest.mark.skipif(not (DATA / "usps.npz").exists(), reason="needs usps.npz in STRUCTHASH_DATA")
@pytest.mark.parametrize(
    ("standardise", "expected"),
    [
        (True, 0.566),  # the paper's row
        (False, 0.589),  # a dense numpy implementation, mean of three splits
    ],
)
def test_itq_on_usps(standardise, expected):
    with np.load(DATA / "usps.npz") as file:
        order = np.random.default_rng(0).permutation(len(file["X"]))
        X, y = file["X"][order], file["y"][order]
    if standardise:
        X = StandardScaler().fit(X[2000:]).transform(X)
    encoder = ITQ(n_bits=64, random_state=0).fit(X[2000:])
    codes = encoder.encode(X)
    blocks = tie_blocks(hamming(codes[:2000], codes[2000:]), y[:2000, None] == y[None, 2000:])
    assert average_precision(blocks).mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("labels", ["integers", "strings", "objects", "two"])
def test_one_hot_is_the_classifier(digits, labels):
    X, y = digits
    y = {"integers": y - 3, "strings": y.astype(str), "objects": y.astype(str).astype(object), "two": y > 4}[
        labels
    ]
    scale = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    shrink = FunctionTransformer(lambda Z: Z / scale)
    pipeline = make_pipeline(StandardScaler(with_std=False), shrink, LogisticRegression(C=10, max_iter=1000))
    predicted = pipeline.fit(X[:200], y[:200]).predict(X)
    encoder = OneHot(n_bits=2 if labels == "two" else 10).fit(X[:200], y[:200])
    assert encoder.classes_ == sorted(set(y.tolist()))
    expected = predicted[:, None] == np.array(encoder.classes_, dtype=y.dtype)
    np.testing.assert_array_equal(encoder.transform(X), expected)


def test_one_hot_labels_survive_saving(digits, tmp_path):
    X, y = digits
    for labels in (y.astype(str), y.astype(str).astype(object), y.astype(np.uint8), y > 4):
        OneHot(n_bits=10).fit(X[:200], labels[:200]).save(tmp_path / "model")
        assert load_model(tmp_path / "model").classes_ == sorted(set(labels.tolist()))


def test_one_hot_with_more_bits(digits):
    X, y = digits
    short, long = (OneHot(n_bits=m).fit(X, y) for m in (10, 64))
    assert not long.transform(X)[:, 10:].any()
    distances = [hamming(each.encode(X), each.encode(X)) for each in (short, long)]
    np.testing.assert_array_equal(*distances)


@pytest.mark.parametrize(
    ("n_bits", "n_classes", "least"),
    [(1, 2, 1), (3, 8, 1), (4, 10, 1), (16, 26, 5), (64, 100, 22)],
)
def test_one_hot_with_fewer_bits(n_bits, n_classes, least):
    rng = np.random.default_rng(0)
    centres = np.eye(n_classes)
    y = np.tile(np.arange(n_classes), 4)
    X = centres[y] + 0.01 * rng.standard_normal((len(y), n_classes))
    encoder = OneHot(n_bits=n_bits, random_state=0).fit(X, y)
    codes = encoder.encode(centres)
    apart = hamming(codes, codes)[~np.eye(n_classes, dtype=bool)]
    assert apart.min() >= least
    np.testing.assert_array_equal(encoder.transform(X), encoder.codebook_[y])
    again = OneHot(n_bits=n_bits, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.codebook_, encoder.codebook_)


def test_codebook_of_many_classes():
    book = _codebook(5000, 13, np.random.default_rng(0))  # of 8192 codewords
    assert len(np.unique(book, axis=0)) == 5000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bits": 3}, "n_bits=3 gives 8 codes for 10 classes; give at least 4 bits"),
        ({"C": 0}, "C=0: give a finite number above 0"),
        ({"C": np.inf}, "C=inf: give a finite number above 0"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"family": "nothing"}, "no piece of families is called 'nothing'"),
    ],
)
def test_one_hot_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        OneHot(**settings).fit(*digits)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(400, int), "y has one class only, .*0.*; give labels of at least two"),
        (np.linspace(0, 1, 400), "Unknown label type"),
        (np.zeros((400, 2), int), "y should be a 1d array"),
        (np.zeros(3, int), "inconsistent numbers of samples"),
    ],
)
def test_one_hot_labels(digits, y, message):
    with pytest.raises(ValueError, match=message):
        OneHot().fit(digits[0], y)


@pytest.mark.parametrize("name", [name for name, each in BASELINES.items() if issubclass(each, Supervised)])
def test_other_supervision_is_refused(name, digits):
    X, y = digits
    message = "learns from one label a row; Labels is for StructHash and CGHash"
    with pytest.raises(TypeError, match=message):
        BASELINES[name]().fit(X, Labels(y))


@pytest.mark.parametrize("spec", ["ksh:max_rows=1", "bre:max_rows=1"])
def test_least_number_of_rows(spec, digits):
    with pytest.raises(ValueError, match="max_rows=1: give an integer of at least 2"):
        load("baselines", spec).fit(*digits)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_diverged_is_no_model(digits):
    encoder = load("baselines", "rph:n_bits=8,learning_rate=1e200,random_state=0")
    with pytest.raises(ValueError, match="learning diverged: give a smaller learning rate"):
        encoder.fit(*digits)
    assert not hasattr(encoder, "planes_")


def test_all_are_listed():
    assert {"ITQ", "KSH", "SDH", "OneHot"} <= set(dir(structhash.baselines))
