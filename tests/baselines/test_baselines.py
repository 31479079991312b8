"""Every baseline in the folder is held to one contract."""

import copy
import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import structhash.baselines
from structhash.baselines import SupervisedBaseline
from structhash.codes import prepared_distances
from structhash.estimators.loading import load_model
from structhash.pieces import classes, load, names
from structhash.supervision import Labels

BASELINES = classes("baselines")
DIGITS = tuple(array[:400] for array in load_digits(return_X_y=True))


@pytest.fixture(scope="module")
def digits():
    return DIGITS


def unfitted(cls):
    encoder = cls(n_bits=8)
    return encoder.set_params(random_state=0) if "random_state" in encoder.get_params() else encoder


@pytest.fixture(params=sorted(BASELINES))
def baseline(request):
    return unfitted(BASELINES[request.param])


def fit(encoder, X, y):
    return encoder.fit(X, y) if get_tags(encoder).target_tags.required else encoder.fit(X)


@functools.cache
def learned(cls, dtype=np.float32):
    """What a baseline learns from digits. One pixel of those of float64 is a number that float32 does not hold.

    Tests share it, so none of them changes it.
    """
    X, y = DIGITS[0].copy(), DIGITS[1]
    if dtype == np.float64:
        X[-1, -1] += 1e-6
    return fit(unfitted(cls), X, y)


@pytest.mark.slow
@parametrize_with_checks([baseline(n_bits=4) for baseline in BASELINES.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_names():
    assert {"itq", "lsh", "one_hot"} <= set(names("baselines"))
    assert load("baselines", "itq:n_bits=16,max_iter=5").max_iter == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_the_layout_of_the_rows_does_not_matter(baseline, digits):
    X, y = digits[0][:120] + 0.1, digits[1][:120]
    plain = fit(clone(baseline), X, y)
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], pd.DataFrame(X)):
        other = fit(clone(baseline), rows, y)
        assert other.fingerprint() == plain.fingerprint()
        np.testing.assert_array_equal(other.encode(rows), plain.encode(X))


@pytest.mark.slow
def test_fitted_state(baseline, digits):
    X, y = digits
    assert fit(baseline, X, y) is baseline
    assert (baseline.n_bits_, type(baseline.n_bits_)) == (8, int)
    assert (baseline.weights_.shape, baseline.weights_.dtype) == ((8,), np.float64)
    assert len(baseline.history_) in (0, 8)
    bits = baseline.transform(X)
    assert (bits.dtype, bits.shape, bits.max()) == (np.uint8, (400, 8), 1)
    np.testing.assert_array_equal(learned(type(baseline)).transform(X), bits)
    assert baseline.score(X, y) > 0.2  # 10 classes


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(baseline, digits, dtype, tmp_path):
    X, baseline = digits[0].astype(dtype), learned(type(baseline), dtype)
    baseline.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(X), baseline.encode(X))
    np.testing.assert_array_equal(again.weights_, baseline.weights_)
    assert (type(again), again.n_bits_, again.history_) == (type(baseline), 8, baseline.history_)
    assert again.get_params() == baseline.get_params()


@pytest.mark.slow
def test_equal_values_of_every_type_learn_the_same(baseline, digits):
    """And have the same codes. tests/estimators/test_input.py learns from each type of whole numbers."""
    X, y = digits[0][:120], digits[1][:120]
    single = fit(clone(baseline), X.astype(np.float32), y)
    for rows in (*(X.astype(kind) for kind in "bBqed"), np.asfortranarray(X)):
        assert fit(clone(baseline), rows, y).fingerprint() == single.fingerprint(), rows.dtype
    codes = single.encode(digits[0])
    for kind in np.typecodes["AllInteger"] + "efd":
        np.testing.assert_array_equal(single.encode(digits[0].astype(kind)), codes)


@pytest.mark.slow
def test_a_number_that_float32_does_not_hold_keeps_float64(baseline, digits):
    names = ("mean_", "planes_", "coef_", "intercept_")
    single, double = (learned(type(baseline), dtype) for dtype in (np.float32, np.float64))
    for model, dtype in ((single, np.float32), (double, np.float64)):
        arrays = [getattr(model, name, None) for name in names]
        assert {a.dtype for a in arrays if a is not None} <= {np.dtype(dtype)}
    X = digits[0]
    assert np.mean(single.transform(X) == double.transform(X)) > 0.9  # AGH mixes eigenvectors of equal values


@pytest.mark.slow
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


@pytest.mark.slow
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
        X = X[:, :1] + 2 * y[:, None]  # label probabilities are alike where rows say nothing of labels
    fit(baseline, X, y)
    for value in vars(baseline).values():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all()
    bits = baseline.transform(np.concatenate([X, X + rng.standard_normal(X.shape)]))
    assert set(np.unique(bits)) == {0, 1}
    if case == "duplicates":
        np.testing.assert_array_equal(np.unique(bits[:40], axis=0).shape[0], 2)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e200])
def test_the_unit_does_not_matter_or_is_refused(baseline, unit):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    X[:, 0] += 3 * y
    if not baseline.magnitudes[0] <= unit <= baseline.magnitudes[1]:
        with pytest.raises(ValueError, match=r"X reaches .*, whose square .* cannot hold; divide X by that"):
            fit(baseline, X * unit, y)
        return
    if not baseline.codes_are_bits:  # centroids may have other numbers
        codes = fit(baseline, X * unit, y).encode(X * unit)
        apart = prepared_distances(baseline.prepare_queries(X * unit), codes)
        assert (apart.argmin(axis=1) == np.arange(40)).mean() > 0.9
        return
    expected = fit(clone(baseline), X, y).transform(X)
    assert (fit(baseline, X * unit, y).transform(X * unit) == expected).mean() > 0.9


def test_equal_rows(baseline):
    with pytest.raises(ValueError, match="all 6 training rows are the same; give rows that differ"):
        fit(baseline, np.full((6, 3), 0.1), np.arange(6) % 2)


@pytest.mark.slow
@pytest.mark.parametrize("n_bits", [0, -1, 2.5, True, "8"])
def test_number_of_bits(baseline, n_bits, digits):
    with pytest.raises(ValueError, match=r"n_bits=.*: give an integer of at least 1"):
        fit(baseline.set_params(n_bits=n_bits), *digits)


@pytest.mark.parametrize(
    "name", [name for name, each in BASELINES.items() if issubclass(each, SupervisedBaseline)]
)
def test_other_supervision_is_refused(name, digits):
    X, y = digits
    message = "learns from labels of rows; Labels is for StructHash and CGHash"
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


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_settings_are_refused_before_there_are_data(name):
    encoder = BASELINES[name]()
    encoder.check_settings()
    with pytest.raises(ValueError, match="n_bits=0: give an integer of at least 1"):
        encoder.set_params(n_bits=0).check_settings()
    for setting in {"max_iter", "n_anchors", "n_trees"} & set(encoder.get_params()):
        with pytest.raises(ValueError, match=f"{setting}=0: give an integer of at least 1"):
            BASELINES[name](**{setting: 0}).check_settings()


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_a_length_of_its_own_is_allowed_where_there_is_one(name):
    encoder = BASELINES[name](n_bits=None)
    if encoder.own_length:
        encoder.check_settings()
    else:
        with pytest.raises(ValueError, match="n_bits=None: give an integer of at least 1"):
            encoder.check_settings()


@pytest.mark.parametrize(
    "name", sorted(name for name, each in BASELINES.items() if "random_state" in each().get_params())
)
def test_random_state(name):
    with pytest.raises(
        ValueError, match="random_state=-1: give None, an integer >= 0, a RandomState or a Generator"
    ):
        BASELINES[name](random_state=-1).check_settings()
    drawn = np.random.RandomState(0)
    BASELINES[name](random_state=drawn).check_settings()
    assert drawn.randint(2**31) == np.random.RandomState(0).randint(2**31)  # a check draws nothing


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_what_the_benchmarks_need(name):
    baseline = BASELINES[name]
    assert baseline.source
    assert baseline.settings_from
    assert baseline.original is None or baseline.original.count("/") == 1
    assert baseline.specs()[0] == name
    for spec in baseline.specs():
        assert type(load("baselines", spec.removesuffix("@database"))) is baseline
    needs_labels = get_tags(baseline()).target_tags.required
    assert not (needs_labels and f"{name}@database" in baseline.specs())


@pytest.mark.slow
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(baseline):
    baseline = copy.copy(learned(type(baseline)))
    before = dict(vars(baseline))
    with pytest.raises(ValueError, match="all 6 training rows are the same"):
        fit(baseline, np.ones((6, 3)), np.arange(6) % 2)
    assert vars(baseline).keys() == before.keys()
    assert all(vars(baseline)[name] is value for name, value in before.items())


def test_all_are_listed():
    assert {"ITQ", "KSH", "SDH", "OneHot"} <= set(dir(structhash.baselines))


@pytest.mark.parametrize("name", ["cosdish", "hdml", "tsh"])
def test_denormal_rows_that_overflow_are_refused(name, digits):
    X, y = digits
    tiny = (X * 1e-40).astype(np.float32) if name != "tsh" else X * 1e-320
    with pytest.raises(ValueError, match=r"divided by their largest number|divide X by that"):
        load("baselines", name).set_params(n_bits=4).fit(tiny, y)
